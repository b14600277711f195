//! The purposes of crawlers, by name as the catalogue, the policy and the records write them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The purpose of a crawler's requests.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// An index that people search.
    Search,
    /// Text or images for the training of models, or AI use that the operator does not specify.
    AiTraining,
    /// An index for the answers of an AI.
    AiSearch,
    /// A page for a person's question to an AI, fetched at that moment.
    AiUser,
    /// An AI that acts on pages for a person: fills forms, buys, compares.
    AiAgent,
    /// Link graphs, rankings and audits for marketing; not every crawler of a marketing firm.
    Seo,
    /// Review, targeting or verification of advertisements.
    Ads,
    /// Link previews and embeds in chats and social networks.
    Preview,
    /// Feeds, podcasts and newsletters.
    Feed,
    /// Availability, speed, changes and mentions of a site.
    Monitoring,
    /// Scans for weaknesses, malware, abuse or brand misuse.
    Security,
    /// Copies for later readers.
    Archiver,
    /// Research at universities and institutes.
    Academic,
    /// Prices, products, jobs and other structured offers.
    Commerce,
    /// Checks of mark-up, feeds, certificates and links.
    Validator,
    /// A program that people run by hand or embed: download tools, webhooks, hosting markers,
    /// schedulers, page optimisers.
    Tool,
    /// The HTTP client of a programming language or framework.
    HttpLibrary,
    /// A browser that a program drives.
    Automation,
    /// Another purpose, or an unknown one.
    #[default]
    Other,
}

impl Purpose {
    /// Every purpose.
    pub const ALL: [Self; 19] = [
        Self::Search,
        Self::AiTraining,
        Self::AiSearch,
        Self::AiUser,
        Self::AiAgent,
        Self::Seo,
        Self::Ads,
        Self::Preview,
        Self::Feed,
        Self::Monitoring,
        Self::Security,
        Self::Archiver,
        Self::Academic,
        Self::Commerce,
        Self::Validator,
        Self::Tool,
        Self::HttpLibrary,
        Self::Automation,
        Self::Other,
    ];

    /// The purpose's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::AiTraining => "ai-training",
            Self::AiSearch => "ai-search",
            Self::AiUser => "ai-user",
            Self::AiAgent => "ai-agent",
            Self::Seo => "seo",
            Self::Ads => "ads",
            Self::Preview => "preview",
            Self::Feed => "feed",
            Self::Monitoring => "monitoring",
            Self::Security => "security",
            Self::Archiver => "archiver",
            Self::Academic => "academic",
            Self::Commerce => "commerce",
            Self::Validator => "validator",
            Self::Tool => "tool",
            Self::HttpLibrary => "http-library",
            Self::Automation => "automation",
            Self::Other => "other",
        }
    }

    /// The purpose with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|purpose| purpose.as_str() == name)
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
            assert_eq!(Purpose::from_name(purpose.as_str()), Some(purpose));
        }
        assert_eq!(Purpose::from_name("SEO"), None);
    }
}
