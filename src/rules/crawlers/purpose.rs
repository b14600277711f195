//! The purposes of crawlers, by name as the catalogue, the policy and the records write them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::base::text::words;

words! {
    /// The purpose of a crawler's requests.
    #[derive(
        Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize,
    )]
    #[serde(rename_all = "kebab-case")]
    pub enum Purpose {
        /// An index that people search.
        Search = "search",
        /// Text or images for the training of models, or AI use that the operator does not specify.
        AiTraining = "ai-training",
        /// An index for the answers of an AI.
        AiSearch = "ai-search",
        /// A page for a person's question to an AI, fetched at that moment.
        AiUser = "ai-user",
        /// An AI that acts on pages for a person: fills forms, buys, compares.
        AiAgent = "ai-agent",
        /// Link graphs, rankings and audits for marketing; not every crawler of a marketing firm.
        Seo = "seo",
        /// Review, targeting or verification of advertisements.
        Ads = "ads",
        /// Link previews and embeds in chats and social networks.
        Preview = "preview",
        /// Feeds, podcasts and newsletters.
        Feed = "feed",
        /// Availability, speed, changes and mentions of a site.
        Monitoring = "monitoring",
        /// Scans for weaknesses, malware, abuse or brand misuse.
        Security = "security",
        /// Copies for later readers.
        Archiver = "archiver",
        /// Research at universities and institutes.
        Academic = "academic",
        /// Prices, products, jobs and other structured offers.
        Commerce = "commerce",
        /// Checks of mark-up, feeds, certificates and links.
        Validator = "validator",
        /// A program that people run by hand or embed: download tools, webhooks, hosting markers,
        /// schedulers, page optimisers.
        Tool = "tool",
        /// The HTTP client of a programming language or framework.
        HttpLibrary = "http-library",
        /// A browser that a program drives.
        Automation = "automation",
        /// Another purpose, or an unknown one.
        #[default]
        Other = "other",
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purpose_is_serialised_as_its_name() {
        for purpose in Purpose::ALL {
            assert_eq!(serde_json::to_value(purpose).unwrap(), purpose.as_str());
            assert_eq!(Purpose::from_word(purpose.as_str()), Some(purpose));
        }
        assert_eq!(Purpose::from_word("SEO"), None);
    }
}
