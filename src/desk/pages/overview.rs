//! The first page: who kept to the rules, and who did not, and the state of the program.

use askama::Template;
use axum::{extract::State, response::IntoResponse};
use serde::Deserialize;

use super::{
    chart::trend,
    conditions::Asked,
    frame::{Answer, Frame, live, try_ask},
    health::{Health, health},
    link,
    over_time::{OverTime, is_limited},
    span::{Days, SpanLink},
    time::exact,
    words::class,
};
use crate::{
    desk::admin::{View, html},
    records::{
        counts::{Counted, Dimension, Question},
        record::Error,
        tally::{Claimant, FORM},
        violations::Store,
    },
    review::report::{
        Span,
        number::{change, grouped, ratio, share},
        review::{Answers, CrawlerRow, Review},
    },
    rules::crawlers::{Catalogue, Class},
};

/// The most rows of a table.
const ROWS: usize = 12;
/// The most rows of a table of highlights.
const HIGHLIGHTS: usize = 5;
/// The most policies among which the chart marks changes.
const MARKS: usize = 200;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    days: String,
}

#[derive(Template)]
#[template(path = "overview.html", config = "src/desk/pages/askama.toml")]
struct Overview {
    frame: Frame,
    /// What is wrong with the address.
    faults: Vec<String>,
    health: Health,
    /// The counts, or the reason why there are none.
    counts: Result<Counts, String>,
}

struct Counts {
    lead: Vec<String>,
    spans: Vec<SpanLink>,
    tiles: Vec<Tile>,
    over_time: OverTime,
    highlights: Vec<Group>,
    crawlers: Vec<Crawler>,
    all_crawlers: String,
    more_crawlers: String,
    places: Vec<Group>,
    classes: Vec<Row>,
    operators: Vec<Operator>,
}

struct Tile {
    name: &'static str,
    /// The list of what is counted; empty for none.
    link: String,
    value: String,
    note: String,
}

struct Crawler {
    link: String,
    name: String,
    requests: String,
    violations: String,
    share: String,
    change: String,
    trend: String,
    never: String,
    current: String,
    fetches: String,
}

/// A small table.
struct Group {
    name: &'static str,
    heading: &'static str,
    rows: Vec<Row>,
    /// The number of rows that are not shown.
    more: String,
    /// What is said without rows.
    none: &'static str,
}

#[derive(Default)]
struct Row {
    /// Empty for none.
    link: String,
    name: String,
    value: String,
    change: String,
}

struct Operator {
    name: String,
    requests: String,
    visits: String,
    ratio: String,
}

pub(super) async fn page(
    State(view): State<View>,
    Asked(wanted, mut faults): Asked<Wanted>,
) -> Answer {
    let live = live(&view)?;
    let days = Days::wanted(&wanted.days, &mut faults);
    let span = days.until((view.now)());
    let asked = try_ask(&view, move |store| {
        let policies = store.policies(None, None, MARKS)?;
        Ok((Answers::of(store, span, None)?, actions_over_time(store, span)?, policies))
    });
    let published = live.handles.published.load_full();
    let counts = asked.await.map(|(answers, times, policies)| {
        let catalogue: &Catalogue = published.rulebook.catalogue();
        let review = Review::of(&answers, catalogue);
        let mut counts = counts(&review, &times, days);
        counts.over_time.mark(&review.axis, &policies);
        counts
    });
    let page = Overview {
        frame: Frame::new(&view, "/"),
        faults,
        health: health(live, (view.now)()),
        counts: counts.map_err(|none| none.sentence()),
    };
    Ok(html(&page).into_response())
}

/// Violations by time and action, and requests beyond a limit, which are none.
fn actions_over_time(store: &Store, span: Span) -> Result<Vec<Counted>, Error> {
    let by = vec![span.period(), Dimension::Action, Dimension::Reason];
    let mut all = store.counted(&Question { by, ..span.question() })?;
    all.iter_mut().filter(|one| !is_limited(one)).for_each(|one| one.requests = one.violations);
    Ok(all)
}

fn counts(review: &Review<'_>, times: &[Counted], days: Days) -> Counts {
    let (condition, since) = (days.condition(), exact(review.span.from));
    let here: Vec<_> = review.crawlers.iter().filter(|row| row.now.all.requests > 0).collect();
    Counts {
        lead: review.lead(),
        spans: days.links(|days| link::with_query("/", &[("days", days)])),
        tiles: tiles(review, &since),
        over_time: OverTime::of(&review.axis, times),
        highlights: highlights(review, &condition),
        more_crawlers: grouped(here.len().saturating_sub(ROWS) as u64),
        crawlers: here.iter().take(ROWS).map(|row| crawler(review, row, &condition)).collect(),
        all_crawlers: link::with_query("/crawlers", &[("days", &condition)]),
        places: vec![rules(review, &since), paths(review, &since)],
        classes: classes(review),
        operators: operators(review),
    }
}

fn tiles(review: &Review<'_>, since: &str) -> Vec<Tile> {
    let (now, before) = (&review.total, &review.total_before);
    let tile = |name, now, before| Tile {
        name,
        link: String::new(),
        value: grouped(now),
        note: match review.is_compared {
            true => format!("{} before ({})", grouped(before), change(now, before)),
            false => String::new(),
        },
    };
    let of = |tally: &crate::review::report::Tally| share(tally.all.violations, tally.all.requests);
    let share = Tile {
        name: "Share of violations",
        link: String::new(),
        value: of(now),
        note: if review.is_compared { format!("{} before", of(before)) } else { String::new() },
    };
    vec![
        tile("Requests of crawlers", now.all.requests, before.all.requests),
        Tile {
            link: link::violations(&[("since", since)]),
            ..tile("Violations", now.all.violations, before.all.violations)
        },
        share,
        Tile {
            link: link::violations(&[("since", since), ("reason", FORM)]),
            ..tile("Other forms of closed paths", now.forms, before.forms)
        },
        tile("Refused", now.refused, before.refused),
        tile("Requests of people", review.people.0, review.people.1),
    ]
}

fn highlights(review: &Review<'_>, days: &str) -> Vec<Group> {
    const NOT_COMPARED: &str = "Nothing was counted in the time before to compare with.";
    let row = |row: &CrawlerRow<'_>, value: String| Row {
        link: page_of(review, row, days),
        name: row.name(),
        value,
        ..Row::default()
    };
    let (none_new, none_changed) = match review.is_compared {
        true => ("Every crawler with violations had some before.", "No number changed."),
        false => (NOT_COMPARED, NOT_COMPARED),
    };
    let new = review.new_offenders();
    let newly = new.iter().take(HIGHLIGHTS);
    let best = review.best_behaved();
    let changed = review.biggest_change().into_iter().map(|one| {
        let (before, now) = (one.before.all.violations, one.now.all.violations);
        row(one, format!("{} → {}", grouped(before), grouped(now)))
    });
    let kept = |one: &&CrawlerRow<'_>| {
        row(one, share(one.now.judged.saturating_sub(one.now.broken), one.now.judged))
    };
    let group = |name, heading, rows: Vec<Row>, more, none| Group {
        name,
        heading,
        rows,
        more: grouped(more),
        none,
    };
    vec![
        group(
            "New offenders",
            "violations",
            newly.map(|one| row(one, grouped(one.now.all.violations))).collect(),
            new.len().saturating_sub(HIGHLIGHTS) as u64,
            none_new,
        ),
        group("Biggest change", "violations", changed.collect(), 0, none_changed),
        group(
            "Who behaves best",
            "rules kept",
            best.iter().map(kept).collect(),
            0,
            "No crawler came often enough to tell.",
        ),
    ]
}

fn page_of(review: &Review<'_>, row: &CrawlerRow<'_>, days: &str) -> String {
    match row.claimant {
        Claimant::Crawler => link::crawler(row.product_token.as_str(), &[("days", days)]),
        Claimant::Impostor => link::impostors(&row.product_token, "", &exact(review.span.from)),
    }
}

fn crawler(review: &Review<'_>, row: &CrawlerRow<'_>, days: &str) -> Crawler {
    let (now, before) = (&row.now, &row.before);
    Crawler {
        link: page_of(review, row, days),
        name: row.name(),
        requests: grouped(now.all.requests),
        violations: grouped(now.all.violations),
        share: share(now.all.violations, now.all.requests),
        change: review.change(now.all.violations, Some(before.all.violations)),
        trend: trend(&row.bars),
        never: grouped(now.never),
        current: grouped(now.current),
        fetches: grouped(now.fetches),
    }
}

fn rules(review: &Review<'_>, since: &str) -> Group {
    let broken: Vec<_> = review.rules.iter().filter(|row| row.now.violations > 0).collect();
    let has_sites = broken.iter().any(|row| row.site != broken[0].site);
    let rows = broken.iter().take(ROWS).map(|row| Row {
        link: link::violations(&[("site", &row.site), ("rule", &row.text()), ("since", since)]),
        name: if has_sites { format!("{} ({})", row.text(), row.site) } else { row.text() },
        value: grouped(row.now.violations),
        change: review.change(row.now.violations, Some(row.before.violations)),
    });
    Group {
        name: "Rules",
        heading: "rule",
        rows: rows.collect(),
        more: grouped(broken.len().saturating_sub(ROWS) as u64),
        none: "No rule was broken.",
    }
}

fn paths(review: &Review<'_>, since: &str) -> Group {
    let rows = review.paths.iter().take(ROWS).map(|row| Row {
        link: row.path().map_or_else(String::new, |path| {
            link::violations(&[("exact_path", path), ("since", since)])
        }),
        name: row.path().unwrap_or("other paths").to_owned(),
        value: grouped(row.now),
        change: review.change(row.now, row.before),
    });
    Group {
        name: "Paths",
        heading: "path",
        rows: rows.collect(),
        more: grouped(review.paths.len().saturating_sub(ROWS) as u64),
        none: "No path was violated.",
    }
}

fn classes(review: &Review<'_>) -> Vec<Row> {
    let mut rows: Vec<_> = review
        .total
        .classes()
        .map(|(name, requests)| (class(name), requests))
        .chain([(class(Class::Browser.as_str()), review.people.0)])
        .filter(|(_, requests)| *requests > 0)
        .collect();
    rows.sort_by_key(|(_, requests)| std::cmp::Reverse(*requests));
    let all = rows.iter().map(|(_, requests)| requests).sum();
    let row = |(name, requests): (&str, u64)| Row {
        name: name.to_owned(),
        value: grouped(requests),
        change: share(requests, all),
        ..Row::default()
    };
    rows.into_iter().map(row).collect()
}

fn operators(review: &Review<'_>) -> Vec<Operator> {
    let rows = review.operators.iter().take(ROWS).map(|row| Operator {
        name: row.operator.clone(),
        requests: grouped(row.now.requests),
        visits: grouped(row.now.visits),
        ratio: ratio(row.now.requests, row.now.visits).unwrap_or_else(|| "-".to_owned()),
    });
    rows.collect()
}
