//! A catalogue entry as written in a file.
//!
//! An absent key means "unknown", not "no": the catalogue contains no guesses.

use derive_more::Display;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::base::text::words;

/// A whole catalogue file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogueFile {
    /// The day of the file, `2026-11-01`. Later versions compare greater as text.
    pub version: String,
    /// The crawlers, in no particular order.
    pub crawlers: Vec<Entry>,
    /// Operators of crawlers that send people to sites.
    #[serde(default)]
    pub operators: Vec<OperatorEntry>,
}

/// An operator of crawlers, and the hosts from which it sends people to sites.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperatorEntry {
    /// The name, as in [`Entry::operator`] where it runs a crawler of the catalogue.
    pub name: String,
    /// Hosts in a `Referer`, in lower case without `www.`; `search.*` stands for any country.
    pub referrers: Vec<String>,
}

/// One crawler as written.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The name that the crawler looks for in robots.txt, as its operator writes it.
    pub product_token: String,
    /// Further names for the same crawler, in robots.txt or in a User-Agent.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Further names in robots.txt that are not looked for in User-Agents, where they mean too much:
    /// the name of an app, or of a family of crawlers.
    #[serde(default)]
    pub group_names: Vec<String>,
    /// The operator.
    #[serde(default)]
    pub operator: Option<String>,
    /// The purpose of its requests.
    #[serde(default)]
    pub purpose: Purpose,
    /// The cause of its requests.
    #[serde(default)]
    pub kind: Kind,
    /// The uses of copies that a control token governs; none stands for its purpose.
    #[serde(default)]
    pub governs: Vec<Purpose>,
    /// The page of the operator, or else of a public list, that describes it.
    #[serde(default)]
    pub documentation: Option<String>,
    /// The contact that the operator publishes for questions about the crawler: a mail address, or
    /// the `https://` URL of a form.
    #[serde(default)]
    pub contact: Option<String>,
    /// The rules that it claims to honour.
    #[serde(default)]
    pub honours: Honours,
    /// The groups that it obeys if no group names it, in this order, before `*`.
    #[serde(default)]
    pub falls_back_to: Vec<String>,
    /// Whether it obeys only a group that names it, never `*`. Either its operator says so, or it is
    /// a service that the site itself uses and RFC 9309 does not address: webhooks, certificate
    /// validation, health checks, uptime monitors.
    #[serde(default)]
    pub ignores_star: bool,
    /// Better-known names that it sends before its own. Its own name is still the primary one.
    #[serde(default)]
    pub borrows: Vec<String>,
    /// Whether it is still active.
    #[serde(default)]
    pub status: Status,
    /// Further texts that identify its User-Agents but are no names for robots.txt: `LWP::Simple`, a
    /// whole sentence.
    #[serde(default)]
    pub phrases: Vec<String>,
    /// A regular expression over the whole User-Agent, for a crawler that does not send its name.
    #[serde(default)]
    pub user_agent_pattern: Option<String>,
    /// The places where its token counts in a User-Agent. Aliases and phrases count everywhere.
    #[serde(default, rename = "match")]
    pub matching: Match,
    /// The URLs of its published lists of IP ranges.
    #[serde(default)]
    pub ip_ranges: Vec<String>,
    /// The format of these lists (`google-prefixes`, `html`, …).
    #[serde(default)]
    pub ip_format: Option<String>,
    /// Suffixes of its confirmed reverse-DNS names, each with its leading dot.
    #[serde(default)]
    pub reverse_dns: Vec<String>,
    /// The origin that it sends in `Signature-Agent`.
    #[serde(default)]
    pub signature_agent: Option<String>,
    /// The followed list that it comes from. No file has it.
    #[serde(skip)]
    pub source: Option<Source>,
}

impl Entry {
    /// Its facts in the order of the file, unknown ones too.
    pub(super) fn facts(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(facts)) => facts,
            Ok(_) | Err(_) => Map::new(),
        }
    }
}

/// The followed list that an entry comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub(crate) url: String,
    /// Whether the operator has accepted the name. Requests with another one are recorded, and never
    /// refused.
    pub(crate) is_accepted: bool,
}

words! {
    /// The cause of a crawler's requests; determines its [`Class`](super::Class).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Kind {
        /// The crawler itself, which follows links or lists.
        #[default]
        Crawler = "crawler",
        /// A person who requests this page now.
        UserTriggered = "user-triggered",
        /// A tool that fetches pages in number (`curl`, a crawling library, a headless browser), or a
        /// service that a site uses (webhooks, health checks). A crawler's name in the same User-Agent
        /// displaces it.
        Automation = "automation",
        /// An app, a client of an API, or the HTTP stack of apps (`okhttp`). A crawler's name in the same
        /// User-Agent displaces it.
        App = "app",
        /// No request: the token stands in robots.txt only and controls the use of another crawler's
        /// copies. No honest client sends it.
        Control = "control",
    }
}

/// Whether a crawler is still active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It still sends requests.
    #[default]
    Active,
    /// It rarely sends requests; old rules and old clients name it.
    Legacy,
    /// Its operator has withdrawn it.
    Retired,
}

/// The places where a name counts in a User-Agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Match {
    /// Everywhere, as a whole word or phrase.
    #[default]
    Word,
    /// Only directly before a `/`, behind a comment and before a version at the end (`) Name 4.1`), or
    /// as the whole User-Agent.
    Product,
    /// Only in the first place: as the first word, or right behind `Mozilla/5.0 (compatible;`.
    Start,
    /// In the first place, or before a version as [`Self::Product`].
    Named,
    /// Only with a link right behind it, as the first word (`Name/0.2 (+https://…`) or behind
    /// `compatible;` (`(compatible; Name/1.0; +https://…`), or as the whole User-Agent.
    Linked,
    /// Only if the rest of the User-Agent is a version, perhaps with the letter of a platform:
    /// `Name/2.19 A`.
    Alone,
    /// Everywhere as a whole word, also in the place of a version: `agent/Nutch-1.7`.
    Version,
    /// As the beginning of a word that ends in a version: `Pingdom.com_bot_version_1.4`.
    Prefix,
    /// Nowhere: the name is for robots.txt only.
    Never,
}

/// The rules that a crawler claims to honour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Honours {
    /// Robots rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub robots_txt: Option<Robots>,
    /// The `Crawl-delay` record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crawl_delay: Option<CrawlDelay>,
    /// The `Crawl-delay` of `*` too, if its own group has none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub crawl_delay_of_star: bool,
}

/// The degree to which a crawler claims to follow robots rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Robots {
    /// It does.
    Yes,
    /// In part, only when named, or as configured.
    Partial,
    /// It does not.
    No,
}

/// Whether a crawler claims to honour `Crawl-delay`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CrawlDelay {
    /// It does.
    Yes,
    /// It does not.
    No,
}

words! {
    /// The purpose of a crawler's requests.
    #[derive(
        Clone, Copy, Debug, Default, Display, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize,
        Serialize,
    )]
    #[display("{}", self.as_str())]
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
