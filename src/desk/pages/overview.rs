//! The first page: who kept to the rules, and who did not, and the state of the program.

use askama::Template;
use axum::{extract::State, response::IntoResponse};
use serde::Deserialize;

use super::{
    attempt::attempt,
    conditions::Asked,
    crawlers::{self, Choice, choices},
    frame::{Answer, Frame, condition, live, try_ask},
    health::{Health, health},
    link,
    over_time::{OverTime, is_limited},
    span::{Days, SpanLink},
    time::exact,
    treatment::treated,
    words::{class, known},
};
use crate::{
    desk::admin::{View, html},
    records::{
        counts::{Counted, Dimension, Question},
        record::{Error, PolicyEntry},
        tally::FORM,
        violations::Store,
    },
    review::report::{
        Span,
        number::{change, grouped, ratio, share},
        review::{Answers, CrawlerRow, Review},
        terms::Names,
    },
    rules::crawlers::Class,
    state::publication::Snapshot,
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
    site: String,
}

/// The conditions that the links of the page have.
struct Here {
    days: String,
    site: String,
    since: String,
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
    days: String,
    /// The sites to choose from, after all of them.
    sites: Vec<Choice>,
    /// A command that makes a violation, where there is nothing to show.
    attempt: Option<String>,
}

struct Counts {
    lead: Vec<String>,
    spans: Vec<SpanLink>,
    tiles: Vec<Tile>,
    over_time: OverTime,
    highlights: Vec<Group>,
    /// Each with its treatment.
    crawlers: Vec<(crawlers::Row, String)>,
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
    let site = condition(&wanted.site);
    let published = live.handles.published.load_full();
    let rulebook = std::sync::Arc::clone(&published.rulebook);
    let asked = try_ask(&view, move |store| {
        let mut faults = Vec::new();
        let named = site.as_deref().map(|site| Names::from(&*rulebook).site(store, site));
        let site = known(named, &mut faults)?.or(site);
        let times = actions_over_time(store, span, site.clone())?;
        let policies = store.policies(None, None, MARKS)?;
        Ok((Answers::of(store, span, site)?, (times, policies), faults))
    });
    let here = Here { days: days.condition(), site: wanted.site, since: exact(span.from) };
    let counts = asked.await.map(|(answers, times, unknown)| {
        faults.extend(unknown);
        let review = Review::of(&answers, published.rulebook.catalogue());
        counts(&review, &times, days, &here, &published)
    });
    let sites = published.rulebook.sites().iter().map(|site| site.name.as_str());
    let page = Overview {
        frame: Frame::new(&view, "/"),
        faults,
        health: health(live, (view.now)()),
        counts: counts.map_err(|none| none.sentence()),
        sites: choices(sites, &here.site, "all sites"),
        days: here.days,
        attempt: attempt(&view),
    };
    Ok(html(&page).into_response())
}

/// Violations by time and action, and requests beyond a limit, which are none.
fn actions_over_time(
    store: &Store,
    span: Span,
    site: Option<String>,
) -> Result<Vec<Counted>, Error> {
    let by = vec![span.period(), Dimension::Action, Dimension::Reason];
    let mut all = store.counted(&Question { by, site, ..span.question() })?;
    all.iter_mut().filter(|one| !is_limited(one)).for_each(|one| one.requests = one.violations);
    Ok(all)
}

impl Here {
    /// The violations with a condition and those of the page.
    fn violations(&self, name: &str, value: &str) -> String {
        link::violations(&[(name, value), ("site", &self.site), ("since", &self.since)])
    }
}

fn counts(
    review: &Review<'_>,
    (times, policies): &(Vec<Counted>, Vec<PolicyEntry>),
    days: Days,
    place: &Here,
    published: &Snapshot,
) -> Counts {
    let here: Vec<_> = review.crawlers.iter().filter(|row| row.now.all.requests > 0).collect();
    let site = place.site.as_str();
    let of_bar = |since: &str, until: &str| {
        link::violations(&[("site", site), ("since", since), ("until", until)])
    };
    let rows = here.iter().take(ROWS);
    let now = review.span.until;
    let rows = rows.map(|row| {
        let treatment = treated(published, row, site, now);
        (crawlers::row(review, row, &place.days, site), treatment)
    });
    Counts {
        lead: review.lead(),
        spans: days.links(|days| link::with_query("/", &[("days", days), ("site", site)])),
        tiles: tiles(review, place),
        over_time: OverTime::of(&review.axis, times, policies, of_bar),
        highlights: highlights(review, place),
        more_crawlers: grouped(here.len().saturating_sub(ROWS) as u64),
        crawlers: rows.collect(),
        all_crawlers: link::with_query("/crawlers", &[("days", &place.days), ("site", site)]),
        places: vec![rules(review, &place.since), paths(review, place)],
        classes: classes(review),
        operators: operators(review),
    }
}

fn tiles(review: &Review<'_>, here: &Here) -> Vec<Tile> {
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
        tile("Requests of crawlers and programs", now.all.requests, before.all.requests),
        Tile {
            link: here.violations("", ""),
            ..tile("Violations", now.all.violations, before.all.violations)
        },
        share,
        Tile {
            link: here.violations("reason", FORM),
            ..tile("Other forms of closed paths", now.forms, before.forms)
        },
        tile("Refused", now.refused, before.refused),
        tile("Requests of people", review.people.0, review.people.1),
    ]
}

fn highlights(review: &Review<'_>, here: &Here) -> Vec<Group> {
    const NOT_COMPARED: &str = "Nothing was counted in the time before to compare with.";
    let row = |row: &CrawlerRow<'_>, value: String| Row {
        link: crawlers::row(review, row, &here.days, &here.site).link,
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

fn paths(review: &Review<'_>, here: &Here) -> Group {
    let rows = review.paths.iter().take(ROWS).map(|row| Row {
        link: row.path().map_or_else(String::new, |path| here.violations("exact_path", path)),
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
