//! The outcome of a replay as JSON lines.

use serde_json::{Map, Value, json};

use crate::{base::escape, records::record::time::text as instant, review::report::number};

use super::totals::{Changes, Client, Crawler, Tally, Verdict, date};

/// The outcome as JSON lines: crawlers, rules, paths, days, changes, the total.
pub(crate) fn json_lines(tally: &Tally, changes: Option<&Changes>) -> String {
    let mut out = String::new();
    let mut line = |line: Value| out.push_str(&format!("{line}\n"));
    for (site, client, one) in tally.crawlers() {
        line(crawler(site, client, one));
    }
    for (site, rule) in tally.rules() {
        let reason = Some(&*rule.reason).filter(|reason| !reason.is_empty());
        let written =
            json!({ "directive": rule.directive, "pattern": rule.pattern, "line": rule.line });
        line(json!({
            "kind": "rule",
            "site": site,
            "rule": reason.is_none().then_some(written),
            "violations": rule.violations,
            "reason": reason,
        }));
    }
    for (site, path, violations) in tally.paths() {
        let path = escape::text(path);
        line(json!({ "kind": "path", "site": site, "path": path, "violations": violations }));
    }
    for (day, counts) in &tally.days {
        line(json!({
            "kind": "day",
            "day": date(*day),
            "requests": counts.requests,
            "violations": counts.violations,
            "people": counts.people,
        }));
    }
    for (site, client, before, after, change) in changes.iter().flat_map(|all| all.rows()) {
        let row = json!({
            "kind": "change",
            "site": site,
            "product_token": client.name,
            "before": before.as_str(),
            "after": after.as_str(),
            "requests": change.requests,
            "paths": change.paths,
        });
        line(with_standing(row, client));
    }
    let (requests, search) = (tally.requests(), tally.search());
    let malformed =
        tally.malformed.iter().map(|(code, one)| ((*code).to_owned(), one.count.into()));
    line(json!({
        "kind": "total",
        "lines": tally.lines,
        "parsed": tally.parsed,
        "malformed": malformed.collect::<Map<String, Value>>(),
        "from": tally.span.map(|(from, _)| instant(from)),
        "until": tally.span.map(|(_, until)| instant(until)),
        "people": tally.people,
        "requests": requests,
        "violations": tally.violations(),
        "search": search,
        "search_share": number::quotient(search, requests),
        "late": tally.late,
    }));
    out
}

/// The line of a crawler. `forms` counts requests for other forms of closed paths, `limited` those beyond
/// rate limits.
fn crawler(site: &str, client: Client<'_>, one: &Crawler) -> Value {
    let row = json!({
        "kind": "crawler",
        "site": site,
        "product_token": client.name,
        "requests": one.requests,
        "allowed": one.of(Verdict::Allow),
        "grace": one.of(Verdict::Grace),
        "log": one.of(Verdict::Log),
        "throttle": one.of(Verdict::Throttle),
        "block": one.of(Verdict::Block),
        "robots_fetches": one.fetches,
        "first": one.span.map(|(first, _)| instant(first)),
        "last": one.span.map(|(_, last)| instant(last)),
        "class": one.class,
        "purpose": Some(one.purpose).filter(|purpose| !purpose.is_empty()),
        "confirmed": one.confirmed,
        "contradicted": one.contradicted,
        "first_robots_fetch": one.read.map(|(first, _)| instant(first)),
        "last_robots_fetch": one.read.map(|(_, last)| instant(last)),
        "forms": one.of(Verdict::Form),
        "limited": one.of(Verdict::Limit),
    });
    with_standing(row, client)
}

fn with_standing(mut row: Value, client: Client<'_>) -> Value {
    if let Some(standing) = client.claimant.standing() {
        row["standing"] = standing.into();
    }
    row
}
