//! A decision as data: the JSON of `beadle explain`, and what the pages show.

use jiff::Timestamp;
use serde::Serialize;

use crate::{
    records::record::RobotsRead,
    rules::{crawlers::Class, enforce},
};

use super::{
    excerpt::Excerpt,
    verdict::{Line, VerdictRow},
};

/// The decision about one request. Its fields are written in this order.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Explanation {
    #[serde(flatten)]
    pub(crate) verdict: VerdictRow,
    pub(crate) site: String,
    pub(crate) claim: ClaimRow,
    pub(crate) standing: &'static str,
    pub(crate) evidence: Option<&'static str>,
    pub(crate) action: &'static str,
    /// The stable code of the reason.
    pub(crate) reason: &'static str,
    /// The form of the path that is disallowed, if it is not the letter.
    pub(crate) form: Option<String>,
    /// Which forms of the path count, and why, where the policy says anything about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) forms: Option<String>,
    pub(crate) rung: Option<&'static str>,
    /// Seconds for one request.
    pub(crate) crawl_delay: Option<f64>,
    /// Whether an earlier request gets 429; else Beadle only counts it.
    pub(crate) crawl_delay_enforced: Option<bool>,
    /// The limits of the operator that count the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) rate_limits: Vec<String>,
    /// Whom the client makes room for at the origin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) people_first: Option<String>,
    /// The followed list that the crawler comes from, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) list: Option<String>,
    /// Whether the site lets the client train models on the content: `yes` or `no`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) train_ai: Option<&'static str>,
    /// Whether the site lets the client show the content in a search: `yes` or `no`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) search: Option<&'static str>,
    /// What robots.txt says of the use of the content, each with its line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) preferences: Vec<String>,
    /// `Robots-Tag` of the answer.
    pub(crate) robots_tag: Option<String>,
    /// `X-Robots-Tag` of the answer.
    pub(crate) x_robots_tag: Option<String>,
    /// The last fetch of robots.txt by the client.
    pub(crate) robots_read: RobotsRead,
    /// The editions that count, the one in force first.
    pub(crate) editions: Vec<EditionRow>,
    /// The whole reasoning as text.
    #[serde(skip)]
    pub(crate) lines: Vec<Line>,
    #[serde(skip)]
    pub(crate) edition: String,
    /// The lines of that edition around the rule.
    #[serde(skip)]
    pub(crate) excerpt: Option<Excerpt>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct ClaimRow {
    pub(crate) class: Class,
    /// The names, the primary first.
    pub(crate) product_tokens: Vec<String>,
}

/// An edition that counts for the decision.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct EditionRow {
    pub(crate) edition: String,
    /// The start of its time in force.
    pub(crate) from: String,
    pub(crate) until: Option<String>,
    /// Whether it is in force at another node of the fleet alone.
    #[serde(rename = "elsewhere", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_elsewhere: bool,
    /// `allow` or `disallow`.
    pub(crate) verdict: &'static str,
    /// Whether the client may still use it.
    #[serde(rename = "held")]
    pub(crate) is_known: bool,
    /// The number of editions that are judged as one, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) count: Option<usize>,
}

impl From<enforce::EditionVerdict> for EditionRow {
    fn from(one: enforce::EditionVerdict) -> Self {
        Self {
            edition: one.edition.to_string(),
            from: time(one.from),
            until: one.until.map(time),
            is_elsewhere: one.is_elsewhere,
            verdict: one.access.as_str(),
            is_known: one.is_known,
            count: Some(one.count).filter(|count| *count > 1),
        }
    }
}

/// A time to the second.
pub(super) fn time(time: Timestamp) -> String {
    format!("{time:.0}")
}
