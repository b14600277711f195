//! The outcome of a replay as JSON lines.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{base::escape, records::record::time::text as instant, review::report::number};

use super::{
    changes::Changes,
    totals::{Client, Crawler, Tally, date},
};

#[derive(Serialize)]
struct CrawlerLine<'a> {
    kind: &'static str,
    site: &'a str,
    product_token: &'a str,
    requests: u64,
    allowed: u64,
    grace: u64,
    log: u64,
    throttle: u64,
    block: u64,
    robots_fetches: u64,
    first: Option<String>,
    last: Option<String>,
    class: &'a str,
    purpose: Option<&'a str>,
    confirmed: u64,
    contradicted: u64,
    first_robots_fetch: Option<String>,
    last_robots_fetch: Option<String>,
    /// Requests for other forms of closed paths.
    forms: u64,
    /// Requests beyond rate limits.
    limited: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    standing: Option<&'static str>,
}

#[derive(Serialize)]
struct RuleLine<'a> {
    kind: &'static str,
    site: &'a str,
    rule: Option<RulePart>,
    violations: u64,
    reason: Option<&'a str>,
}

#[derive(Serialize)]
struct RulePart {
    directive: String,
    pattern: String,
    line: u32,
}

#[derive(Serialize)]
struct PathLine<'a> {
    kind: &'static str,
    site: &'a str,
    path: String,
    violations: u64,
}

#[derive(Serialize)]
struct DayLine {
    kind: &'static str,
    day: String,
    requests: u64,
    violations: u64,
    people: u64,
}

#[derive(Serialize)]
struct ChangeLine<'a> {
    kind: &'static str,
    site: &'a str,
    product_token: &'a str,
    before: &'static str,
    after: &'static str,
    requests: u64,
    paths: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    standing: Option<&'static str>,
}

#[derive(Serialize)]
struct TotalLine {
    kind: &'static str,
    lines: u64,
    parsed: u64,
    malformed: BTreeMap<&'static str, u64>,
    from: Option<String>,
    until: Option<String>,
    people: u64,
    requests: u64,
    violations: u64,
    search: u64,
    search_share: Option<f64>,
    late: u64,
}

/// The outcome as JSON lines: crawlers, rules, paths, days, changes, the total.
pub fn json_lines(tally: &Tally, changes: Option<&Changes>) -> String {
    let mut out = String::new();
    for (site, client, crawler) in tally.crawlers() {
        line(&mut out, &crawler_line(site, client, crawler));
    }
    for (site, rule, violations) in tally.rules() {
        let part = RulePart {
            directive: rule.directive.to_string(),
            pattern: rule.pattern.to_string(),
            line: rule.line,
        };
        let reason = Some(&*rule.reason).filter(|reason| !reason.is_empty());
        let rule = reason.is_none().then_some(part);
        line(&mut out, &RuleLine { kind: "rule", site, rule, violations, reason });
    }
    for (site, path, violations) in tally.paths() {
        let path = escape::text(path);
        line(&mut out, &PathLine { kind: "path", site, path, violations });
    }
    for (day, counts) in &tally.days {
        let (requests, violations, people) = (counts.requests, counts.violations, counts.people);
        let day = date(*day);
        line(&mut out, &DayLine { kind: "day", day, requests, violations, people });
    }
    for (site, client, before, after, change) in changes.iter().flat_map(|all| all.rows()) {
        let (before, after) = (before.as_str(), after.as_str());
        let (requests, paths) = (change.requests, change.paths.as_slice());
        let (product_token, standing) = (client.name, client.claimant.standing());
        let kind = "change";
        let row =
            ChangeLine { kind, site, product_token, before, after, requests, paths, standing };
        line(&mut out, &row);
    }
    let (requests, search) = (tally.requests(), tally.search());
    let malformed = tally.malformed.iter().map(|(code, one)| (*code, one.count));
    let total = TotalLine {
        kind: "total",
        lines: tally.lines,
        parsed: tally.parsed,
        malformed: malformed.collect(),
        from: tally.span.map(|(from, _)| instant(from)),
        until: tally.span.map(|(_, until)| instant(until)),
        people: tally.people,
        requests,
        violations: tally.violations(),
        search,
        search_share: number::quotient(search, requests),
        late: tally.late,
    };
    line(&mut out, &total);
    out
}

fn crawler_line<'a>(site: &'a str, client: Client<'a>, one: &'a Crawler) -> CrawlerLine<'a> {
    CrawlerLine {
        kind: "crawler",
        site,
        product_token: client.name,
        requests: one.requests,
        allowed: one.allow,
        grace: one.grace,
        log: one.log,
        throttle: one.throttle,
        block: one.block,
        robots_fetches: one.fetches,
        first: one.span.map(|(first, _)| instant(first)),
        last: one.span.map(|(_, last)| instant(last)),
        class: one.class,
        purpose: Some(one.purpose).filter(|purpose| !purpose.is_empty()),
        confirmed: one.confirmed,
        contradicted: one.contradicted,
        first_robots_fetch: one.read.map(|(first, _)| instant(first)),
        last_robots_fetch: one.read.map(|(_, last)| instant(last)),
        forms: one.forms,
        limited: one.limited,
        standing: client.claimant.standing(),
    }
}

fn line(out: &mut String, row: &impl Serialize) {
    // Rows have texts and numbers alone.
    if let Ok(text) = serde_json::to_string(row) {
        out.push_str(&text);
        out.push('\n');
    }
}
