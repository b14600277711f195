//! A catalogue entry as it is written in a file.
//!
//! What is not known is left out, never guessed: an absent key means "unknown", which is not "no".

use serde::{Deserialize, Serialize};

/// A whole catalogue file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogueFile {
    /// The day of the state of knowledge, `2026-11-01`. Later versions compare greater as text.
    pub version: String,
    /// The crawlers, in no particular order.
    pub crawlers: Vec<Entry>,
}

/// One crawler as written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The name that the crawler looks for in robots.txt, as its operator writes it.
    pub product_token: String,
    /// Further names for the same crawler, in robots.txt or in a User-Agent.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Who runs it.
    #[serde(default)]
    pub operator: Option<String>,
    /// What it fetches pages for.
    #[serde(default)]
    pub purpose: Purpose,
    /// How it comes to send a request.
    #[serde(default)]
    pub kind: Kind,
    /// The page on which the operator, or else a public list, describes it.
    #[serde(default)]
    pub documentation: Option<String>,
    /// What it says that it honours.
    #[serde(default)]
    pub honours: Honours,
    /// The groups it obeys where none names it, in this order, before `*`.
    #[serde(default)]
    pub falls_back_to: Vec<String>,
    /// Obeys only a group that names it, never `*`: a crawler whose operator says so, or a machine
    /// that the site itself ordered or depends on and that RFC 9309 doesn't address (webhooks,
    /// certificate validation, health checks, uptime monitors).
    #[serde(default)]
    pub ignores_star: bool,
    /// Better-known names that it puts before its own in a User-Agent; its own is still the first.
    #[serde(default)]
    pub borrows: Vec<String>,
    /// Whether it is still seen.
    #[serde(default)]
    pub status: Status,
    /// Further texts by which its User-Agents are told that are no names for robots.txt:
    /// `LWP::Simple`, a whole sentence.
    #[serde(default)]
    pub phrases: Vec<String>,
    /// A regular expression over the whole User-Agent, for a crawler that does not name itself.
    #[serde(default)]
    pub user_agent_pattern: Option<String>,
    /// Where its token counts in a User-Agent; aliases and phrases always do.
    #[serde(default, rename = "match")]
    pub matching: Match,
    /// Addresses of published lists of its IP ranges.
    #[serde(default)]
    pub ip_ranges: Vec<String>,
    /// How these lists are written (`google-prefixes`, `html`, …).
    #[serde(default)]
    pub ip_format: Option<String>,
    /// Suffixes of its confirmed reverse-DNS names, each with its leading dot.
    #[serde(default)]
    pub reverse_dns: Vec<String>,
    /// The origin that it names in `Signature-Agent`.
    #[serde(default)]
    pub signature_agent: Option<String>,
}

/// What a crawler fetches pages for.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// An index that people search.
    Search,
    /// Text or images that models are trained on, or AI use that the operator doesn't tell apart.
    AiTraining,
    /// An index that an AI answers from.
    AiSearch,
    /// A page that a person asked an AI about, fetched at that moment.
    AiUser,
    /// An AI that acts on pages for somebody: fills forms, buys, compares.
    AiAgent,
    /// Link graphs, rankings and audits for marketing; not whatever marketing firms run.
    Seo,
    /// Review, targeting or verification of advertisements.
    Ads,
    /// Link previews and embeds in chats and social networks.
    Preview,
    /// Feeds, podcasts and newsletters.
    Feed,
    /// Is the site up, fast, changed, or talked about?
    Monitoring,
    /// Scans for weaknesses, malware, abuse or brand misuse.
    Security,
    /// Copies kept for later readers.
    Archiver,
    /// Research at universities and institutes.
    Academic,
    /// Prices, products, jobs and other structured offers.
    Commerce,
    /// Checks of mark-up, feeds, certificates and links.
    Validator,
    /// A program that people run by hand, embed or hook up: download tools, webhooks, hosting
    /// markers, schedulers, page optimisers.
    Tool,
    /// The HTTP client of a programming language or framework.
    HttpLibrary,
    /// A browser driven by a program.
    Automation,
    /// Known, and none of the above; or not known.
    #[default]
    Other,
}

/// How a crawler comes to send a request; decides its [`Class`](super::Class).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// By itself, following links or lists.
    #[default]
    Crawler,
    /// Because a person asked for this page just now.
    UserTriggered,
    /// A program of anybody's (`curl`, a library, a headless browser), or a machine that calls back
    /// or probes what a site ordered (webhooks, health checks). It doesn't crawl, and gives way to
    /// any crawler's name in the same User-Agent.
    Automation,
    /// Never: the token stands in robots.txt only and controls what another crawler's copies are
    /// used for. A client that sends it claims a name that nobody uses.
    Control,
}

/// Whether a crawler is still seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It is.
    #[default]
    Active,
    /// Rarely; kept because old rules and old clients name it.
    Legacy,
    /// Its operator has withdrawn it.
    Retired,
}

/// Where a name counts as the crawler's in a User-Agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Match {
    /// Wherever it stands as a whole word or phrase.
    #[default]
    Word,
    /// Only directly before a `/`.
    Product,
    /// Only as the first word.
    Start,
    /// As the first word, or directly before a `/`.
    Named,
    /// Only with a link right behind it, as the first word (`Name/0.2 (+https://…`) or behind
    /// `compatible;` (`(compatible; Name/1.0; +https://…`).
    Linked,
    /// Only where nothing else stands in the User-Agent but a version, perhaps with the letter of a
    /// platform: `Name/2.19 A`.
    Alone,
    /// As a whole word, also where a version stands: `agent/Nutch-1.7`.
    Version,
    /// As the beginning of a word, the version glued on: `Pingdom.com_bot_version_1.4`.
    Prefix,
    /// Nowhere: the name serves robots.txt only.
    Never,
}

/// What a crawler says that it honours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Honours {
    /// Robots rules at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub robots_txt: Option<Robots>,
    /// The `Crawl-delay` record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crawl_delay: Option<CrawlDelay>,
    /// The `Crawl-delay` of `*` too, where the group that names it has none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub crawl_delay_of_star: bool,
}

/// How far a crawler says that it follows robots rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Robots {
    /// It does.
    Yes,
    /// In part, or only when named, or as whoever runs it sets it.
    Partial,
    /// It doesn't.
    No,
}

/// Whether a crawler says that it keeps to `Crawl-delay`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CrawlDelay {
    /// It does.
    Yes,
    /// It doesn't.
    No,
}
