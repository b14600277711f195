//! A scorecard as a line of JSON.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{model::Score, reading::Following};
use crate::review::report::{Count, number};

fn time(time: Timestamp) -> String {
    format!("{time:.0}")
}

fn following(one: &Following) -> Value {
    let Following { site, edition, from, hours, .. } = one;
    json!({ "site": site, "edition": edition, "from": time(*from), "hours": hours })
}

/// The scorecard as one object, with a line feed.
pub(crate) fn json_line(score: &Score) -> String {
    let Score { now, before, reading, axis, .. } = score;
    let bar = |(at, Count { requests, violations }): (usize, &Count)| json!({ "from": time(axis.start(at)), "requests": requests, "violations": violations });
    let hour = |(hour, requests)| json!({ "hour": time(hour), "requests": requests });
    let bars = score.bars.iter().enumerate().skip(axis.uncounted());
    let line = json!({
        "kind": "score",
        "product_token": score.product_token,
        "operator": score.operator,
        "purpose": score.purpose,
        "site": score.site,
        "from": time(score.span.from),
        "until": time(score.span.until),
        "requests": now.all.requests,
        "violations": now.all.violations,
        "before": before.all,
        "compared": score.is_compared,
        "reasons": now.reasons,
        "read": now.read(),
        "requests_per_hour": number::quotient(now.all.requests, score.span.hours()),
        "busiest_hour": score.busiest.map(hour),
        "robots_txt": {
            "fetches": reading.fetches,
            "hours": reading.hours,
            "last": reading.last.map(time),
            "usual_seconds": reading.interval.map(|interval| interval.as_secs()),
        },
        "following": score.following.iter().map(following).collect::<Vec<_>>(),
        "too_soon": now.too_soon,
        "limited": now.limited,
        "judged": now.judged,
        "broken": now.broken,
        "confirmed": now.confirmed,
        "contradicted": score.impostors.requests,
        "trend": bars.map(bar).collect::<Vec<_>>(),
    });
    format!("{line}\n")
}
