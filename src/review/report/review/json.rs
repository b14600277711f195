//! A review as JSON lines.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::model::{CrawlerRow, OperatorRow, PathRow, Review, RuleRow};
use crate::{
    base::text::Text,
    review::report::{Count, number},
    rules::crawlers::Crawler,
};

/// The span, then crawlers, rules, paths, days, operators, and the total: one object a line.
pub(crate) fn json_lines(review: &Review<'_>) -> String {
    let mut lines = String::new();
    let mut push = |line: Value| lines.push_str(&format!("{line}\n"));
    push(json!({
        "kind": "span",
        "from": time(review.span.from),
        "until": time(review.span.until),
        "before": time(review.span.before),
        "compared": review.is_compared,
        "first_counts": review.first_counts.map(time),
        "site": review.site,
    }));
    review.crawlers.iter().for_each(|row| push(crawler(row)));
    review.rules.iter().for_each(|row| push(rule(row)));
    for PathRow { path, now, before } in &review.paths {
        let before = json!({ "violations": before });
        push(json!({ "kind": "path", "path": path, "violations": now, "before": before }));
    }
    for (day, Count { requests, violations }) in &review.days {
        let day = day.strftime("%F").to_string();
        push(json!({ "kind": "day", "day": day, "requests": requests, "violations": violations }));
    }
    review.operators.iter().for_each(|row| push(operator(row)));
    push(total(review));
    lines
}

fn time(time: Timestamp) -> String {
    format!("{time:.0}")
}

fn crawler(row: &CrawlerRow<'_>) -> Value {
    let CrawlerRow { product_token, claimant, entry, now, before, .. } = row;
    let class = now.class().or_else(|| before.class());
    let mut line = json!({
        "kind": "crawler",
        "product_token": product_token,
        "requests": now.all.requests,
        "violations": now.all.violations,
        "before": before.all,
        "operator": entry.and_then(Crawler::operator),
        "purpose": entry.map(Crawler::purpose),
        "class": class.map_or("", Text::as_str),
        "fetches": now.fetches,
        "read": now.read(),
        "confirmed": now.confirmed,
        "contradicted": now.contradicted,
        "too_soon": now.too_soon,
        "limited": now.limited,
        "judged": now.judged,
        "broken": now.broken,
    });
    if let Some(standing) = claimant.standing() {
        line["standing"] = standing.into();
    }
    line
}

fn rule(row: &RuleRow) -> Value {
    let RuleRow { site, directive, pattern, line, reason, now, before } = row;
    let rule = json!({ "directive": directive, "pattern": pattern, "line": line });
    json!({
        "kind": "rule",
        "site": site,
        "rule": reason.is_none().then_some(rule),
        "reason": reason,
        "requests": now.requests,
        "violations": now.violations,
        "before": before,
    })
}

fn operator(row: &OperatorRow) -> Value {
    let OperatorRow { operator, now, before } = row;
    json!({
        "kind": "operator",
        "operator": operator,
        "requests": now.requests,
        "visits": now.visits,
        "requests_per_visit": number::quotient(now.requests, now.visits),
        "before": { "requests": before.requests, "visits": before.visits },
    })
}

fn total(review: &Review<'_>) -> Value {
    let tokens = |rows: Vec<&CrawlerRow<'_>>| {
        rows.into_iter().map(|row| json!(row.product_token)).collect::<Vec<_>>()
    };
    let Review { total, total_before, people, .. } = review;
    json!({
        "kind": "total",
        "requests": total.all.requests,
        "violations": total.all.violations,
        "before": total_before.all,
        "read": total.read(),
        "fetches": total.fetches,
        "other_forms": total.forms,
        "limited": total.limited,
        "people": people.0,
        "people_before": people.1,
        "new_offenders": tokens(review.new_offenders()),
        "biggest_change": review.biggest_change().map(|row| &row.product_token),
        "best_behaved": tokens(review.best_behaved()),
    })
}
