//! A review as JSON lines.

use jiff::Timestamp;
use serde::Serialize;

use super::model::{CrawlerRow, DayRow, Exchange, OperatorRow, PathRow, Review, RuleRow};
use crate::{
    base::text::Text,
    review::report::{
        Count, number,
        parts::{CountPart, ReadPart},
    },
    rules::crawlers::{Crawler, Purpose},
};

#[derive(Serialize)]
struct SpanLine<'a> {
    kind: &'static str,
    from: String,
    until: String,
    before: String,
    compared: bool,
    first_counts: Option<String>,
    site: Option<&'a str>,
}

#[derive(Serialize)]
struct CrawlerLine<'a> {
    kind: &'static str,
    product_token: &'a str,
    requests: u64,
    violations: u64,
    before: CountPart,
    operator: Option<&'a str>,
    purpose: Option<Purpose>,
    class: &'a str,
    fetches: u64,
    read: ReadPart,
    confirmed: u64,
    contradicted: u64,
    too_soon: u64,
    limited: u64,
    judged: u64,
    broken: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    standing: Option<&'static str>,
}

#[derive(Serialize)]
struct RulePart<'a> {
    directive: &'a Text,
    pattern: &'a Text,
    line: Option<u32>,
}

#[derive(Serialize)]
struct RuleLine<'a> {
    kind: &'static str,
    site: &'a Text,
    rule: Option<RulePart<'a>>,
    reason: Option<&'a Text>,
    requests: u64,
    violations: u64,
    before: CountPart,
}

#[derive(Serialize)]
struct ViolationsPart {
    violations: Option<u64>,
}

#[derive(Serialize)]
struct PathLine<'a> {
    kind: &'static str,
    path: &'a Text,
    violations: u64,
    before: ViolationsPart,
}

#[derive(Serialize)]
struct DayLine {
    kind: &'static str,
    day: String,
    requests: u64,
    violations: u64,
}

#[derive(Serialize)]
struct ExchangePart {
    requests: u64,
    visits: u64,
}

#[derive(Serialize)]
struct OperatorLine<'a> {
    kind: &'static str,
    operator: &'a str,
    requests: u64,
    visits: u64,
    requests_per_visit: Option<f64>,
    before: ExchangePart,
}

#[derive(Serialize)]
struct TotalLine<'a> {
    kind: &'static str,
    requests: u64,
    violations: u64,
    before: CountPart,
    read: ReadPart,
    fetches: u64,
    other_forms: u64,
    limited: u64,
    people: u64,
    people_before: u64,
    new_offenders: Vec<&'a str>,
    biggest_change: Option<&'a str>,
    best_behaved: Vec<&'a str>,
}

/// The span, then crawlers, rules, paths, days, operators, and the total: one object a line.
pub fn json_lines(review: &Review<'_>) -> String {
    let mut lines = String::new();
    let Review { span, site, is_compared, first_counts, .. } = review;
    push(
        &mut lines,
        &SpanLine {
            kind: "span",
            from: time(span.from),
            until: time(span.until),
            before: time(span.before),
            compared: *is_compared,
            first_counts: first_counts.map(time),
            site: site.as_deref(),
        },
    );
    review.crawlers.iter().for_each(|row| push(&mut lines, &crawler(row)));
    review.rules.iter().for_each(|row| push(&mut lines, &rule(row)));
    for PathRow { path, now, before } in &review.paths {
        let before = ViolationsPart { violations: *before };
        push(&mut lines, &PathLine { kind: "path", path, violations: *now, before });
    }
    for DayRow { day, count: Count { requests, violations } } in &review.days {
        let (day, requests, violations) = (day.strftime("%F").to_string(), *requests, *violations);
        push(&mut lines, &DayLine { kind: "day", day, requests, violations });
    }
    review.operators.iter().for_each(|row| push(&mut lines, &operator(row)));
    push(&mut lines, &total(review));
    lines
}

fn time(time: Timestamp) -> String {
    format!("{time:.0}")
}

fn push(lines: &mut String, line: &impl Serialize) {
    // Rows of texts and numbers are always representable.
    if let Ok(line) = serde_json::to_string(line) {
        lines.push_str(&line);
        lines.push('\n');
    }
}

fn crawler<'a>(row: &'a CrawlerRow<'_>) -> CrawlerLine<'a> {
    let CrawlerRow { product_token, claimant, entry, now, before, .. } = row;
    let class = now.class().or_else(|| before.class());
    CrawlerLine {
        kind: "crawler",
        product_token,
        requests: now.all.requests,
        violations: now.all.violations,
        before: before.all.into(),
        operator: entry.and_then(Crawler::operator),
        purpose: entry.map(Crawler::purpose),
        class: class.map_or("", Text::as_str),
        fetches: now.fetches,
        read: now.into(),
        confirmed: now.confirmed,
        contradicted: now.contradicted,
        too_soon: now.too_soon,
        limited: now.limited,
        judged: now.judged,
        broken: now.broken,
        standing: claimant.standing(),
    }
}

fn rule(row: &RuleRow) -> RuleLine<'_> {
    let RuleRow { site, directive, pattern, line, reason, now, before } = row;
    RuleLine {
        kind: "rule",
        site,
        rule: reason.is_none().then_some(RulePart { directive, pattern, line: *line }),
        reason: reason.as_ref(),
        requests: now.requests,
        violations: now.violations,
        before: (*before).into(),
    }
}

fn operator(row: &OperatorRow) -> OperatorLine<'_> {
    let OperatorRow { operator, now: Exchange { requests, visits }, before } = row;
    OperatorLine {
        kind: "operator",
        operator,
        requests: *requests,
        visits: *visits,
        requests_per_visit: number::quotient(*requests, *visits),
        before: ExchangePart { requests: before.requests, visits: before.visits },
    }
}

fn total<'a>(review: &'a Review<'_>) -> TotalLine<'a> {
    let tokens = |rows: Vec<&'a CrawlerRow<'_>>| {
        rows.into_iter().map(|row| row.product_token.as_str()).collect()
    };
    let Review { total, total_before, people, .. } = review;
    TotalLine {
        kind: "total",
        requests: total.all.requests,
        violations: total.all.violations,
        before: total_before.all.into(),
        read: total.into(),
        fetches: total.fetches,
        other_forms: total.forms,
        limited: total.limited,
        people: people.0,
        people_before: people.1,
        new_offenders: tokens(review.new_offenders()),
        biggest_change: review.biggest_change().map(|row| row.product_token.as_str()),
        best_behaved: tokens(review.best_behaved()),
    }
}
