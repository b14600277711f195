//! The `rate_limits` of an enforcement: how many requests crawlers may send to the origin.

use std::{collections::HashSet, fmt, time::Duration};

use crate::{
    base::{escape::shown, product_token::ProductToken},
    formats::robots::{self, Pace},
    rules::{crawlers::Kind, keys},
};

use super::{
    fields::Fields,
    findings::Findings,
    mode::PaceMode,
    names::{Names, Selection},
    rate,
    shape::At,
    tag_rules,
};

const HELP: &str = "write requests and a time, for example 1/10s or 10/1m, or how many may be at the \
                    origin at one time: 'concurrent: 2'";
/// The longest time of a limit.
const LONGEST: Duration = Duration::from_secs(86_400);

/// A limit for the requests of crawlers.
#[derive(Clone, Debug)]
pub struct RateLimit {
    /// The crawlers that it names.
    pub tokens: HashSet<ProductToken>,
    /// Whether it names `*`: every client that a group for `*` would bind.
    pub all: bool,
    /// The requests in a time; `None` where any number may come.
    pub pace: Option<Pace>,
    /// The requests that may come at once (default 1).
    pub burst: u32,
    /// The requests that may be at the origin at one time; `None` is any number.
    pub concurrent: Option<u32>,
    /// The paths that count; empty is every path.
    pub paths: Vec<robots::Pattern>,
    /// Whether all these crawlers count as one.
    pub together: bool,
    /// What happens to a request beyond it (default 429).
    pub mode: PaceMode,
}

impl fmt::Display for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |count| if count == 1 { "request" } else { "requests" };
        if let Some(pace) = self.pace {
            let (requests, per) = (pace.requests(), pace.per().as_secs());
            write!(f, "{requests} {} in {per} s, ", word(requests))?;
        }
        if let Some(most) = self.concurrent {
            write!(f, "{most} {} at a time, ", word(most))?;
        }
        let who = if self.together { "all of them together" } else { "each crawler" };
        let paths = if self.paths.is_empty() { "" } else { ", to some paths" };
        write!(f, "{who}{paths}")
    }
}

/// Reads the list.
pub(super) fn read(
    fields: &Fields<'_>,
    names: &Names<'_>,
    findings: &mut Findings,
) -> Vec<RateLimit> {
    let items = fields.list("rate_limits", findings);
    items.iter().filter_map(|at| rate_limit(at, names, findings)).collect()
}

fn rate_limit(at: &At<'_>, names: &Names<'_>, findings: &mut Findings) -> Option<RateLimit> {
    let fields = at.fields(&keys::RATE_LIMIT, findings)?;
    let user_agents = fields.require("user_agents", "write for example [set:ai]", findings);
    let concurrent = fields.some_number("concurrent", findings);
    let requests = match fields.take("concurrent") {
        Some(_) => fields.take("requests"),
        None => fields.require("requests", HELP, findings),
    };
    let pace = requests.and_then(|at| requests_in_a_time(&at, findings));
    let burst = fields.number("burst", findings);
    let (mut tokens, mut all) = (HashSet::new(), false);
    for item in user_agents?.items(findings) {
        match names.select(&item, findings) {
            Some(Selection::Star) => all = true,
            Some(Selection::Tokens(selected)) => {
                refuse_control_token(&item, &selected, names, findings);
                tokens.extend(selected);
            }
            None => {}
        }
    }
    let paths = fields.each("paths", tag_rules::path, findings);
    let together = fields.is("together", findings);
    let mode = fields.choice("mode", [PaceMode::Log, PaceMode::Throttle], findings);
    Some(RateLimit {
        tokens,
        all,
        pace,
        burst,
        concurrent,
        paths,
        together,
        mode: mode.unwrap_or(PaceMode::Throttle),
    })
}

fn requests_in_a_time(at: &At<'_>, findings: &mut Findings) -> Option<Pace> {
    let pace = rate::read(at, findings)?;
    if pace.per() > LONGEST {
        let text = at.text(findings)?;
        let message = format!("'{}' has a time of more than a day", shown(text));
        findings.refuse(at, message, "write fewer requests in a shorter time, for example 60/1d");
        return None;
    }
    Some(pace)
}

/// A name that no request has can't be limited. A set or a purpose may hold some.
fn refuse_control_token(
    at: &At<'_>,
    selected: &[ProductToken],
    names: &Names<'_>,
    findings: &mut Findings,
) {
    let [token] = selected else { return };
    let is_name = at.node.is_text(token.as_str());
    if is_name && names.kind_of(token) == Some(Kind::Control) {
        let message = format!("no request has the name {token}: it stands in robots.txt alone");
        let help = "name the operator's crawlers that fetch pages, or a purpose";
        findings.refuse_as("policy.control_limit", at, message, help);
    }
}

#[cfg(test)]
mod tests;
