//! What the last days would have been: from the counts, by crawler, impostors apart.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::{
    base::product_token::ProductToken,
    records::{
        counts::{Dimension, Question},
        record::Error,
        tally::Claimant,
        violations::Store,
    },
    review::report::number::count,
    rules::policy::{Mode, Policy, RateLimit, Site},
};

use super::request::{Act, Request};

/// The days that are looked at.
const PAST: SignedDuration = SignedDuration::from_hours(7 * 24);

/// A crawler in the last days.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct PastRow {
    pub(crate) product_token: String,
    pub(crate) requests: u64,
    /// Those that violated the rules: a block would have refused them.
    pub(crate) violations: u64,
    pub(crate) impostor_requests: u64,
    pub(crate) impostor_violations: u64,
    /// At least so many of its requests would have been beyond the limit; `None` without a limit on all
    /// paths.
    pub(crate) beyond_limit: Option<u64>,
}

impl PastRow {
    pub(crate) fn text(&self, act: &Act) -> String {
        let Self { product_token, requests, violations, .. } = self;
        let mut text = format!("{product_token}: {}", count(*requests, "request"));
        match (act, self.beyond_limit) {
            (Act::Limit { .. }, Some(0)) => text.push_str(", none of them surely beyond the limit"),
            (Act::Limit { .. }, Some(beyond)) => {
                text.push_str(&format!(", at least {beyond} of them beyond the limit"));
            }
            (Act::Limit { .. }, None) => text.push_str("; the counts know no paths"),
            (Act::Mode { path: Some(_), .. }, _) => {
                text.push_str("; the counts don't tell which of them the new rule closes");
            }
            (Act::Mode { mode: Mode::Block, .. }, _) => {
                text.push_str(&format!(", {violations} of them violations that would be refused"));
            }
            _ => text.push_str(&format!(", {violations} of them violations")),
        }
        if self.impostor_requests > 0 {
            let (all, some) = (self.impostor_requests, self.impostor_violations);
            text.push_str(&format!("; {all} more of impostors, {some} of them violations"));
        }
        text
    }
}

/// The crawlers that a request names, in the seven days before `now`, those with most requests first.
/// `policy` is the changed one.
pub(crate) fn past(
    store: &Store,
    policy: &Policy,
    request: &Request<'_>,
    now: Timestamp,
) -> Result<Vec<PastRow>, Error> {
    let Some(site) = policy.sites.iter().find(|site| site.name() == request.site) else {
        return Ok(Vec::new());
    };
    let limit = site.enforcement.rate_limits.first();
    let limit =
        limit.filter(|one| matches!(request.act, Act::Limit { .. }) && one.paths.is_empty());
    let mut rows: Vec<PastRow> = Vec::new();
    for claimant in [Claimant::Crawler, Claimant::Impostor] {
        let question = Question {
            since: now - PAST,
            by: vec![Dimension::ProductToken, Dimension::Hour],
            site: Some(request.site.to_owned()),
            claimant: Some(claimant),
            ..Question::default()
        };
        for counted in store.counted(&question)? {
            let Some(token) = counted.key.first().filter(|token| names(site, request, token))
            else {
                continue;
            };
            let number = rows.iter().position(|row| row.product_token == **token);
            let number = number.unwrap_or_else(|| {
                rows.push(PastRow { product_token: token.to_string(), ..PastRow::default() });
                rows.len() - 1
            });
            let row = &mut rows[number];
            match claimant {
                Claimant::Crawler => {
                    row.requests += counted.requests;
                    row.violations += counted.violations;
                    if let Some(most) = limit.and_then(in_an_hour) {
                        let beyond = counted.requests.saturating_sub(most);
                        row.beyond_limit = Some(row.beyond_limit.unwrap_or_default() + beyond);
                    }
                }
                Claimant::Impostor => {
                    row.impostor_requests += counted.requests;
                    row.impostor_violations += counted.violations;
                }
            }
        }
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.requests + row.impostor_requests));
    Ok(rows)
}

/// Whether the entry at the head of its list names a crawler.
fn names(site: &Site, request: &Request<'_>, token: &str) -> bool {
    let enforcement = &site.enforcement;
    let first = match request.act {
        Act::Mode { .. } => enforcement.overrides.first().map(|one| (&one.tokens, one.all)),
        Act::Limit { .. } => enforcement.rate_limits.first().map(|one| (&one.tokens, one.all)),
        Act::Quiet { .. } => enforcement.quiet.first().map(|one| (&one.tokens, one.all)),
        Act::Nothing => return token.eq_ignore_ascii_case(request.name),
    };
    let is_token = |one: &ProductToken| one.as_str().eq_ignore_ascii_case(token);
    let is_named = first.is_some_and(|(tokens, all)| all || tokens.iter().any(is_token));
    is_named && !token.is_empty()
}

/// The requests that a limit lets pass in an hour.
fn in_an_hour(limit: &RateLimit) -> Option<u64> {
    let pace = limit.pace?;
    let paced = 3600 * u64::from(pace.requests()) / pace.per().as_secs().max(1);
    Some(paced + u64::from(limit.burst))
}
