//! The first page: who kept to the rules, and who did not.

use std::{collections::HashMap, time::Duration};

use askama::Template;
use axum::{
    extract::{Query, State},
    response::{IntoResponse, Response},
};
use jiff::Timestamp;
use serde::Deserialize;

use super::{
    chart::{self, Bar},
    frame::{Frame, ask, html},
    number::{change, grouped, share},
};
use crate::{
    admin::view::View,
    violations::{
        Counted, Dimension, Error, Health, Place, PlaceKind, Question, Referral, Store, rule_line,
    },
};

/// The spans to choose from, in days.
const SPANS: [(i64, &str); 4] = [(1, "24 hours"), (7, "7 days"), (30, "30 days"), (90, "90 days")];
/// The most rows of a table.
const ROWS: usize = 12;

#[derive(Deserialize)]
pub(super) struct Wanted {
    days: Option<i64>,
}

#[derive(Template)]
#[template(path = "overview.html", config = "src/admin/askama.toml")]
struct Overview {
    frame: Frame,
    span: String,
    spans: Vec<SpanLink>,
    troubles: Vec<String>,
    tiles: Vec<Tile>,
    chart: String,
    period: &'static str,
    times: Vec<TimeRow>,
    crawlers: Vec<CrawlerRow>,
    more_crawlers: usize,
    rules: Vec<Row>,
    paths: Vec<Row>,
    classes: Vec<Row>,
    referrals: Vec<Row>,
}

struct SpanLink {
    days: i64,
    name: &'static str,
    is_here: bool,
}

struct Tile {
    name: &'static str,
    value: String,
    note: String,
}

struct TimeRow {
    name: String,
    parts: [String; 3],
}

struct CrawlerRow {
    /// `None` for clients without a name.
    link: Option<String>,
    name: String,
    requests: String,
    violations: String,
    share: String,
    never: String,
    current: String,
    fetches: String,
}

struct Row {
    link: String,
    name: String,
    value: String,
}

/// The answers of the database.
struct Answers {
    actions: Vec<Counted>,
    before: Vec<Counted>,
    classes: Vec<Counted>,
    people: [u64; 2],
    times: Vec<Counted>,
    crawlers: Vec<Counted>,
    reads: Vec<Counted>,
    fetches: Vec<Counted>,
    rules: Vec<Counted>,
    paths: Vec<Place>,
    referrals: Vec<Referral>,
}

pub(super) async fn page(State(view): State<View>, Query(wanted): Query<Wanted>) -> Response {
    let days = wanted.days.filter(|days| SPANS.iter().any(|(span, _)| span == days)).unwrap_or(7);
    let until = (view.now)();
    let span = Span::back_from(until, days);
    match ask(&view, move |store| answers(store, span)).await {
        Ok(answers) => html(&overview(&view, days, span, &answers)).into_response(),
        Err(notice) => notice,
    }
}

/// A span of time, and the one of the same length before it.
#[derive(Clone, Copy)]
struct Span {
    before: Timestamp,
    since: Timestamp,
    until: Timestamp,
    /// The length of a bar in the chart.
    bar: Dimension,
}

impl Span {
    fn back_from(until: Timestamp, days: i64) -> Self {
        let length = Duration::from_secs(days.unsigned_abs() * 86_400);
        let back = |from: Timestamp| from.checked_sub(length).unwrap_or(Timestamp::MIN);
        let since = back(until);
        let bar = if days <= 2 { Dimension::Hour } else { Dimension::Day };
        Self { before: back(since), since, until, bar }
    }

    fn question(self, by: &[Dimension]) -> Question {
        let Self { since, until, .. } = self;
        Question { since, until, by: by.to_vec(), ..Question::default() }
    }

    /// The begins of all bars.
    fn bars(self) -> Vec<Timestamp> {
        let length = if self.bar == Dimension::Hour { 3_600_000 } else { 86_400_000 };
        let first = self.since.as_millisecond().div_euclid(length);
        let last = (self.until.as_millisecond() - 1).div_euclid(length);
        (first..=last).filter_map(|at| Timestamp::from_millisecond(at * length).ok()).collect()
    }

    fn name_of(self, bar: Timestamp) -> String {
        let format = if self.bar == Dimension::Hour { "%H:00" } else { "%b %-d" };
        bar.strftime(format).to_string()
    }
}

fn answers(store: &Store, span: Span) -> Result<Answers, Error> {
    use Dimension::{Action, Class, Directive, Pattern, ProductToken, ReadState, Reason};
    let now = |by: &[Dimension]| store.counted(&span.question(by));
    let violations =
        |by: &[Dimension]| store.counted(&Question { only_violations: true, ..span.question(by) });
    let earlier = Span { since: span.before, until: span.since, ..span };
    let people = |span: Span| -> Result<u64, Error> {
        Ok(store.people(&span.question(&[]))?.iter().map(|one| one.requests).sum())
    };
    Ok(Answers {
        actions: now(&[Action])?,
        before: store.counted(&earlier.question(&[Action]))?,
        classes: now(&[Class])?,
        people: [people(span)?, people(earlier)?],
        times: violations(&[span.bar, Action])?,
        crawlers: now(&[ProductToken])?,
        reads: violations(&[ProductToken, ReadState])?,
        fetches: now(&[ProductToken, Reason])?,
        rules: violations(&[Directive, Pattern])?,
        paths: store.places(PlaceKind::Path, &span.question(&[]), ROWS)?,
        referrals: store.referrals(&span.question(&[]))?,
    })
}

fn overview(view: &View, days: i64, span: Span, answers: &Answers) -> Overview {
    let (bars, times) = bars(span, &answers.times);
    let names = span.bars();
    let mut crawlers = answers.crawlers.clone();
    crawlers
        .sort_by_key(|one| (std::cmp::Reverse((one.violations, one.requests)), one.key.clone()));
    let more_crawlers = crawlers.len().saturating_sub(ROWS);
    crawlers.truncate(ROWS);
    let mut rules = answers.rules.clone();
    rules.sort_by_key(|one| std::cmp::Reverse(one.violations));
    rules.truncate(ROWS);
    Overview {
        frame: Frame::new(view, "/"),
        span: format!(
            "{} to {}, the current hour included",
            span.since.strftime("%A, %B %-d, %H:00"),
            span.until.strftime("%A, %B %-d, %H:%M")
        ),
        spans: SPANS.map(|(one, name)| SpanLink { days: one, name, is_here: one == days }).into(),
        troubles: troubles(view),
        tiles: tiles(answers),
        chart: chart::stacked(&bars, |at| {
            names.get(at).map(|bar| span.name_of(*bar)).unwrap_or_default()
        }),
        period: if span.bar == Dimension::Hour { "hour" } else { "day" },
        times,
        crawlers: crawlers.iter().map(|one| crawler(one, answers)).collect(),
        more_crawlers,
        rules: rules.iter().map(rule).collect(),
        paths: answers.paths.iter().map(path).collect(),
        classes: classes(answers),
        referrals: answers
            .referrals
            .iter()
            .take(ROWS)
            .map(|one| Row {
                link: String::new(),
                name: one.operator.to_string(),
                value: grouped(one.visits),
            })
            .collect(),
    }
}

fn troubles(view: &View) -> Vec<String> {
    match view.sink.health() {
        Health::Ok => Vec::new(),
        Health::Degraded(why) => vec![format!("Violations are not written: {why}")],
    }
}

fn tiles(answers: &Answers) -> Vec<Tile> {
    let sum = |of: &[Counted], count: fn(&Counted) -> u64| of.iter().map(count).sum::<u64>();
    let requests = [&answers.actions, &answers.before].map(|of| sum(of, |one| one.requests));
    let violations = [&answers.actions, &answers.before].map(|of| sum(of, |one| one.violations));
    let refused = [&answers.actions, &answers.before].map(|of| {
        let is_refused = |one: &&Counted| matches!(one.key[0].as_str(), "block" | "throttle");
        of.iter().filter(is_refused).map(|one| one.requests).sum::<u64>()
    });
    let tile = |name, [now, before]: [u64; 2]| Tile {
        name,
        value: grouped(now),
        note: change(now, before),
    };
    vec![
        tile("Requests of crawlers", requests),
        tile("Violations", violations),
        Tile {
            name: "Share that are violations",
            value: share(violations[0], requests[0]),
            note: format!("before: {}", share(violations[1], requests[1])),
        },
        tile("Refused", refused),
        tile("Requests of people", answers.people),
    ]
}

fn bars(span: Span, times: &[Counted]) -> (Vec<Bar>, Vec<TimeRow>) {
    let place: HashMap<String, usize> =
        span.bars().iter().enumerate().map(|(at, bar)| (bar.to_string(), at)).collect();
    let mut bars = vec![Bar::default(); place.len()];
    for one in times {
        let part = match one.key[1].as_str() {
            "log" => 0,
            "throttle" => 1,
            _ => 2,
        };
        if let Some(at) = place.get(one.key[0].as_str()) {
            bars[*at].0[part] += one.violations;
        }
    }
    let rows = span
        .bars()
        .iter()
        .zip(&bars)
        .map(|(bar, counts)| TimeRow {
            name: bar.strftime("%Y-%m-%d %H:00").to_string(),
            parts: counts.0.map(grouped),
        })
        .collect();
    (bars, rows)
}

fn crawler(one: &Counted, answers: &Answers) -> CrawlerRow {
    let token = &one.key[0];
    let having = |of: &[Counted], word: &str, count: fn(&Counted) -> u64| {
        of.iter().filter(|o| o.key[0] == *token && o.key[1] == word).map(count).sum::<u64>()
    };
    let read = |word| share(having(&answers.reads, word, |o| o.violations), one.violations);
    CrawlerRow {
        link: (!token.is_empty()).then(|| link("crawler", token)),
        name: if token.is_empty() { "(no name)".to_owned() } else { token.to_string() },
        requests: grouped(one.requests),
        violations: grouped(one.violations),
        share: share(one.violations, one.requests),
        never: read("never"),
        current: read("current"),
        fetches: grouped(having(&answers.fetches, "robots.robots_txt", |o| o.requests)),
    }
}

fn rule(one: &Counted) -> Row {
    let name = rule_line(&one.key[0], &one.key[1])
        .unwrap_or_else(|| "no rule: the claim or the pace".to_owned());
    Row { link: String::new(), name, value: grouped(one.violations) }
}

fn path(place: &Place) -> Row {
    Row {
        link: link("path", &format!("{}$", place.key.as_str())),
        name: place.key.to_string(),
        value: grouped(place.violations),
    }
}

/// The list with this one filter.
fn link(name: &str, value: &str) -> String {
    let value: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
    format!("/violations?{name}={value}")
}

fn classes(answers: &Answers) -> Vec<Row> {
    let name = |class: &str| match class {
        "crawler" => "crawlers",
        "user-triggered" => "fetchers on behalf of people",
        "automation" => "programs",
        "browser" => "people",
        _ => "clients without a name",
    };
    let mut rows: Vec<_> =
        answers.classes.iter().map(|one| (name(&one.key[0]), one.requests)).collect();
    rows.push((name("browser"), answers.people[0]));
    rows.sort_by_key(|(_, requests)| std::cmp::Reverse(*requests));
    rows.into_iter()
        .map(|(name, requests)| Row {
            link: String::new(),
            name: name.to_owned(),
            value: grouped(requests),
        })
        .collect()
}
