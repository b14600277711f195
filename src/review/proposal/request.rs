//! What an operator asks for, as entries of the policy file, and what the last days would have been: from the
//! counts, by crawler, impostors apart.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::{
    advice::edit::{self, Entry, List, Refusal, quoted},
    base::{diagnostic::Diagnostic, product_token::ProductToken},
    formats::robots::{Directive, Group},
    records::{
        counts::{Dimension, Question},
        record::Error,
        tally::Claimant,
        violations::Store,
    },
    review::report::number::count,
    rules::policy::{Mode, Policy, RateLimit, Site},
};

/// What is asked for, at one site.
#[derive(Clone, Debug)]
pub(crate) struct Request<'r> {
    pub(crate) site: &'r str,
    /// The crawler, or another word that `user_agents` of a policy takes.
    pub(crate) name: &'r str,
    pub(crate) act: Act,
}

/// What a crawler gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Mode {
        mode: Mode,
        until: Option<Timestamp>,
        /// A path that robots.txt closes for the crawler from now on.
        path: Option<String>,
    },
    Limit {
        /// Requests in a time, as a policy writes it: `60/1m`.
        requests: String,
        burst: Option<u32>,
        /// The paths that count; empty is every path.
        paths: Vec<String>,
        until: Option<Timestamp>,
    },
    Quiet {
        until: Option<Timestamp>,
    },
    /// Nothing of all this: what was written for it is taken back.
    Nothing,
}

#[derive(Debug)]
pub(crate) enum Declined {
    /// The request makes no sense here; a sentence with the repair.
    Senseless(String),
    /// The text can't be edited here; the entry is for an editor.
    ByHand {
        /// The line, from 1; 0 is unknown.
        line: u32,
        why: String,
        entry: String,
    },
    /// The changed policy has these errors, or fails these tests.
    Refused(Vec<Diagnostic>),
}

impl Request<'_> {
    /// The text with the entries that are asked for.
    pub(super) fn edited(&self, text: &str, policy: &Policy) -> Result<String, Declined> {
        let sites = policy.written_sites();
        let site = policy.sites.iter().find(|site| site.name() == self.site);
        // Of a site that is several, the text has the first.
        let site = site.and_then(|site| sites.into_iter().find(|one| one.at == site.at));
        let Some(site) = site else {
            return Err(Declined::Senseless(format!("no site has the name {}", self.site)));
        };
        let at = (site.at.line, site.at.column);
        match &self.act {
            Act::Nothing => self.taken(text, at),
            _ => self.entries(site, policy)?.iter().try_fold(text.to_owned(), |text, entry| {
                edit::put(&text, at, entry).map_err(|refusal| by_hand(refusal, entry.to_string()))
            }),
        }
    }

    fn entries(&self, site: &Site, policy: &Policy) -> Result<Vec<Entry>, Declined> {
        let entry = |list, rest: String| Entry { list, name: self.name.to_owned(), rest };
        let end = |until: &Option<Timestamp>| until.map(|until| format!("until: {until:.0}"));
        let until = |until| end(until).map_or(String::new(), |end| format!(", {end}"));
        match &self.act {
            Act::Nothing => Ok(Vec::new()),
            Act::Quiet { until } => Ok(vec![entry(List::Quiet, end(until).unwrap_or_default())]),
            Act::Mode { until: Some(_), path: Some(_), .. } => {
                let why = "a rule of robots.txt has no end: leave out the path or the time";
                Err(Declined::Senseless(why.to_owned()))
            }
            Act::Mode { mode, until: end, path } => {
                // YAML reads a bare `off` as a boolean.
                let mode = if *mode == Mode::Off { "\"off\"" } else { mode.as_str() };
                let own = entry(List::Overrides, format!("mode: {mode}{}", until(end)));
                let rule =
                    path.as_deref().map(|path| self.rules(path, site, policy)).transpose()?;
                let rule = rule.map(|rules| entry(List::Groups, rules));
                Ok(rule.into_iter().chain([own]).collect())
            }
            Act::Limit { requests, burst, paths, until: end } => {
                let burst = burst.map_or(String::new(), |burst| format!(", burst: {burst}"));
                let paths = match &paths[..] {
                    [] => String::new(),
                    paths => format!(", paths: [{}]", list(paths)),
                };
                let rest =
                    format!("requests: {}{burst}{paths}{}", quoted_pace(requests), until(end));
                Ok(vec![entry(List::RateLimits, rest)])
            }
        }
    }

    /// The rules of a group for this crawler that closes a path. A crawler with a group of its own no
    /// longer follows another one (RFC 9309 §2.2.1), so the rules that it follows now are copied into
    /// its first group.
    fn rules(&self, path: &str, site: &Site, policy: &Policy) -> Result<String, Declined> {
        let known = policy.catalogue.find(self.name);
        if known.is_none() && (self.name == "*" || self.name.contains(':')) {
            let why = format!("a path can be closed for one crawler, not for '{}'", self.name);
            return Err(Declined::Senseless(why));
        }
        let groups = &site.robots_txt.file.groups;
        let mut rules: [Vec<String>; 2] = [Vec::new(), vec![path.to_owned()]];
        if !groups.iter().any(|group| is_for(group, self.name)) {
            let names = known.into_iter().flat_map(|one| one.groups()).map(|token| token.as_str());
            let mut names = names.chain(["*"]);
            let followed = names.find(|name| groups.iter().any(|group| is_for(group, name)));
            let is_followed = |group: &&Group| followed.is_some_and(|name| is_for(group, name));
            for group in groups.iter().filter(is_followed) {
                if !group.records.is_empty() {
                    let why = "the group that it follows now has lines that are no rules: write the \
                               group by hand";
                    return Err(Declined::Senseless(why.to_owned()));
                }
                for rule in &group.rules {
                    let kind = usize::from(rule.directive == Directive::Disallow);
                    rules[kind].push(rule.pattern.clone());
                }
            }
        }
        let [allow, disallow] = rules;
        let allow = match &allow[..] {
            [] => String::new(),
            allow => format!("allow: [{}], ", list(allow)),
        };
        Ok(format!("{allow}disallow: [{}]", list(&disallow)))
    }

    fn taken(&self, text: &str, at: (u32, u32)) -> Result<String, Declined> {
        let mut taken = None;
        for list in [List::Overrides, List::RateLimits, List::Quiet, List::Groups] {
            let now = taken.as_deref().unwrap_or(text);
            let next = edit::take(now, at, list, self.name);
            let next = next.map_err(|refusal| by_hand(refusal, String::new()))?;
            taken = next.or(taken);
        }
        taken.ok_or_else(|| {
            let name = self.name;
            Declined::Senseless(format!(
                "'beadle block', 'limit' and 'quiet' wrote nothing for {name} at {}; what you wrote \
                 yourself is yours to change",
                self.site
            ))
        })
    }
}

fn is_for(group: &Group, name: &str) -> bool {
    group.user_agents.iter().any(|one| one.name.eq_ignore_ascii_case(name))
}

fn by_hand(Refusal { line, why }: Refusal, entry: String) -> Declined {
    Declined::ByHand { line, why, entry }
}

fn list(values: &[String]) -> String {
    values.iter().map(|value| quoted(value)).collect::<Vec<_>>().join(", ")
}

/// A pace as it is, if it is one; anything else in quotation marks, for the reader of policies to refuse.
fn quoted_pace(text: &str) -> String {
    let is_pace = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'/');
    if is_pace { text.to_owned() } else { quoted(text) }
}

/// The days that are looked at.
const PAST: SignedDuration = SignedDuration::from_hours(7 * 24);

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
