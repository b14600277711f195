//! A scorecard as a line of JSON.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::model::{Following, Score};
use crate::{
    base::text::Text,
    review::report::{
        Count, number,
        parts::{CountPart, ReadPart},
    },
    rules::crawlers::{Crawler, Purpose},
};

#[derive(Serialize)]
struct Line<'a> {
    kind: &'static str,
    product_token: &'a str,
    operator: Option<&'a str>,
    purpose: Option<Purpose>,
    site: Option<&'a str>,
    from: String,
    until: String,
    requests: u64,
    violations: u64,
    before: CountPart,
    compared: bool,
    reasons: &'a BTreeMap<Text, u64>,
    read: ReadPart,
    requests_per_hour: Option<f64>,
    busiest_hour: Option<HourPart>,
    robots_txt: RobotsTxtPart,
    following: Vec<FollowingPart<'a>>,
    too_soon: u64,
    limited: u64,
    judged: u64,
    broken: u64,
    confirmed: u64,
    contradicted: u64,
    trend: Vec<BarPart>,
}

#[derive(Serialize)]
struct HourPart {
    hour: String,
    requests: u64,
}

#[derive(Serialize)]
struct RobotsTxtPart {
    fetches: u64,
    hours: u64,
    last: Option<String>,
    usual_seconds: Option<u64>,
}

#[derive(Serialize)]
struct FollowingPart<'a> {
    site: &'a Text,
    edition: &'a Text,
    from: String,
    hours: Option<u64>,
}

#[derive(Serialize)]
struct BarPart {
    from: String,
    requests: u64,
    violations: u64,
}

fn time(time: Timestamp) -> String {
    format!("{time:.0}")
}

fn following(one: &Following) -> FollowingPart<'_> {
    let Following { site, edition, from, hours, .. } = one;
    FollowingPart { site, edition, from: time(*from), hours: *hours }
}

/// The scorecard as one object, with a line feed.
pub fn json_line(score: &Score<'_>) -> String {
    let Score { now, before, reading, axis, .. } = score;
    let bar = |(at, count): (usize, &Count)| BarPart {
        from: time(axis.start(at)),
        requests: count.requests,
        violations: count.violations,
    };
    let line = Line {
        kind: "score",
        product_token: &score.product_token,
        operator: score.entry.and_then(Crawler::operator),
        purpose: score.entry.map(Crawler::purpose),
        site: score.site.as_deref(),
        from: time(score.span.from),
        until: time(score.span.until),
        requests: now.all.requests,
        violations: now.all.violations,
        before: before.all.into(),
        compared: score.is_compared,
        reasons: &now.reasons,
        read: now.into(),
        requests_per_hour: number::quotient(now.all.requests, score.span.hours()),
        busiest_hour: score.busiest.map(|(hour, requests)| HourPart { hour: time(hour), requests }),
        robots_txt: RobotsTxtPart {
            fetches: reading.fetches,
            hours: reading.hours,
            last: reading.last.map(time),
            usual_seconds: reading.interval.map(|interval| interval.as_secs()),
        },
        following: score.following.iter().map(following).collect(),
        too_soon: now.too_soon,
        limited: now.limited,
        judged: now.judged,
        broken: now.broken,
        confirmed: now.confirmed,
        contradicted: score.impostors.requests,
        trend: score.bars.iter().enumerate().skip(axis.uncounted()).map(bar).collect(),
    };
    // Texts and numbers are always representable.
    serde_json::to_string(&line).map(|line| line + "\n").unwrap_or_default()
}
