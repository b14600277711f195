//! The violation record: its fields, in the order in which they are written.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    base::text::Text,
    records::{
        record::time,
        tally::{FORM, ReadState},
    },
};

/// The version of the record's format, its first field.
pub const SCHEMA: u32 = 1;

/// The reasons of records. The last one is that of earlier versions for other forms of closed paths.
pub const REASONS: [&str; 9] = [
    "robots.disallow",
    "robots.disallow.hidden",
    "robots.disallow.spared",
    FORM,
    "claim.contradicted",
    "robots.crawl_delay",
    "ladder.throttle",
    "breaker.open",
    "robots.disallow.evasion",
];

/// A decision against a request that the rules disallow. The fields are written in this order;
/// their names are a contract with every program that reads the lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// The version of this format: [`SCHEMA`].
    pub schema: u32,
    /// A UUIDv7 (RFC 9562 §5.7), given by the caller; a second record with the same id is ignored.
    pub id: Text,
    /// The time of the decision, kept to the millisecond.
    #[serde(with = "time::required")]
    pub time: Timestamp,
    /// The site, by the name that the policy gives it.
    pub site: Text,
    /// The client, also behind trusted proxies: its address, its network or a hash, as the policy
    /// says.
    pub client_ip: Text,
    /// The request's method.
    pub method: Text,
    /// The request's host.
    pub host: Text,
    /// The path and query as forwarded ([`Text::path`]).
    pub path: Text,
    /// The `User-Agent` field ([`Text::user_agent`]).
    pub user_agent: Text,
    /// The product token that was judged; of several, the one with the strictest verdict.
    pub product_token: Text,
    /// Every product token that the `User-Agent` claims ([`Text::list`]).
    pub product_tokens: Vec<Text>,
    /// The crawler's operator, if the catalogue knows it.
    pub operator: Option<Text>,
    /// The crawler's purpose, if the catalogue knows it.
    pub purpose: Option<Text>,
    /// The standing of the claim: `confirmed`, `contradicted`, `unverifiable`, `unknown`.
    pub standing: Text,
    /// The evidence that confirms or contradicts the claim: `signature`, `ip-range`, `reverse-dns`.
    #[serde(default)]
    pub evidence: Option<Text>,
    /// The verdict of the rules: `disallow`, or `allow` where the request broke a pace or is for another
    /// form of a closed path.
    pub verdict: Text,
    /// The stable code of the reason: `robots.disallow`, …
    pub reason: Text,
    /// The action: `log`, `block`, …
    pub action: Text,
    /// The status of the response.
    pub status: u16,
    /// The broken rule.
    pub robots: Robots,
    /// The edition that the crawler had read.
    pub robots_read: RobotsRead,
}

/// The rule behind a verdict (RFC 9309 §2.2.2) and its edition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Robots {
    /// The edition, by its hash.
    pub edition: Text,
    /// The rule's line in that edition, from 1.
    pub line: Option<u32>,
    /// `disallow` or `allow`; empty where no rule matches.
    pub directive: Text,
    /// The path pattern as written ([`Text::path`]).
    pub pattern: Text,
    /// The product tokens of the group.
    pub group: Vec<Text>,
}

/// The robots.txt that the crawler had read before the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsRead {
    /// How that edition relates to the broken rule's.
    pub state: ReadState,
    /// The edition that the crawler fetched last.
    pub edition: Option<Text>,
    /// The time of that fetch.
    #[serde(with = "time::optional")]
    pub at: Option<Timestamp>,
}

/// The directives of rules and paces in records, and their fields in robots.txt.
const RULE_FIELDS: [(&str, &str); 4] = [
    ("allow", "Allow"),
    ("disallow", "Disallow"),
    ("crawl-delay", "Crawl-delay"),
    ("request-rate", "Request-rate"),
];

/// The rule or pace behind records, whatever its line and edition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenRule {
    /// The directive; empty where no rule was broken.
    pub directive: &'static str,
    /// The path pattern or pace, as recorded.
    pub pattern: String,
    /// The code of the reason, where no rule was broken.
    pub reason: Option<String>,
}

/// A rule or a pace as a line of robots.txt, by the directive in a record or in counts: `Disallow:
/// /private/`. `None` if neither was broken.
pub fn rule_line(directive: &str, pattern: &str) -> Option<String> {
    let (_, field) = RULE_FIELDS.iter().find(|(known, _)| *known == directive)?;
    Some(format!("{field}: {pattern}"))
}

impl BrokenRule {
    /// The rule of a line as [`rule_line`] writes it, or the code of a reason.
    pub fn of_line(text: &str) -> Option<Self> {
        if REASONS.contains(&text) {
            let reason = Some(text.to_owned());
            return Some(Self { directive: "", pattern: String::new(), reason });
        }
        let (field, pattern) = text.split_once(':')?;
        let (directive, _) =
            RULE_FIELDS.iter().find(|(_, known)| known.eq_ignore_ascii_case(field.trim()))?;
        Some(Self { directive, pattern: pattern.trim().to_owned(), reason: None })
    }

    pub(super) fn is_of(&self, violation: &Violation) -> bool {
        self.directive == violation.robots.directive.as_str()
            && self.pattern == violation.robots.pattern.as_str()
            && self.reason.as_ref().is_none_or(|reason| *reason == violation.reason.as_str())
    }
}

impl Violation {
    /// The product token of a client without a name.
    pub const NAMELESS: &'static str = "-";

    /// The approximate bytes of memory of the record; queues are bounded by it.
    pub(crate) fn weight(&self) -> usize {
        let texts = [
            &self.id,
            &self.site,
            &self.method,
            &self.host,
            &self.path,
            &self.user_agent,
            &self.product_token,
            &self.robots.edition,
            &self.robots.pattern,
        ];
        let lists = self.product_tokens.len() + self.robots.group.len();
        let list_bytes = self.product_tokens.iter().chain(&self.robots.group).map(|t| t.len());
        size_of::<Self>()
            + texts.iter().map(|text| text.len()).sum::<usize>()
            + lists * size_of::<Text>()
            + list_bytes.sum::<usize>()
    }
}
