//! The first page: who kept to the rules, and who did not, and the state of the program.

use std::{collections::BTreeMap, net::Ipv4Addr};

use askama::Template;
use axum::extract::State;
use jiff::Timestamp;

use super::{
    chart::{OverTime, is_limited},
    conditions::{Asked, Days, OfSite, condition},
    crawlers::{self, Choice, choices},
    frame::{Answer, Frame, live, try_ask},
    health::Health,
    link::{self, Link},
    sheet::Part,
    try_it::attempt,
    words::{self, class, exact, known_site},
};
use crate::{
    clients::conduct::Network,
    desk::admin::{View, html},
    records::{
        counts::{Counted, Dimension, Question},
        record::{Error, PolicyEntry, Violation},
        tally::{Claimant, FORM},
        violations::Store,
    },
    review::report::{
        Cell, Section, Span, Table, Tally,
        number::{self, change, grouped, ratio, share},
        review::{Answers, CrawlerRow, Review},
    },
    rules::{
        crawlers::{Class, Crawler, Name, Outcome, Standing},
        enforce::Treatment,
    },
    state::publication::Snapshot,
};

const ROWS: usize = 12;
/// The most rows of a table of highlights.
const HIGHLIGHTS: usize = 5;
/// The most policies among which the chart marks changes.
const MARKS: usize = 200;

struct Here {
    days: String,
    site: String,
    since: String,
}

#[derive(Template)]
#[template(path = "overview.html", config = "src/desk/pages/askama.toml")]
struct Overview<'l> {
    frame: Frame,
    faults: Vec<String>,
    health: Health<'l>,
    /// The counts, or the reason why there are none.
    counts: Result<Counts, String>,
    days: String,
    sites: Vec<Choice>,
    attempt: Option<String>,
}

struct Counts {
    lead: Vec<String>,
    spans: Vec<Link>,
    tiles: Vec<Tile>,
    over_time: OverTime,
    highlights: Vec<Part>,
    crawlers: Vec<(crawlers::Row, String)>,
    all_crawlers: String,
    more_crawlers: String,
    places: Vec<Part>,
    classes: Part,
    operators: Part,
}

struct Tile {
    name: &'static str,
    /// The list of what is counted; empty for none.
    link: String,
    value: String,
    note: String,
}

pub(super) async fn page(
    State(view): State<View>,
    Asked(wanted, mut faults): Asked<OfSite>,
) -> Answer {
    let live = live(&view)?;
    let days = Days::wanted(&wanted.days, &mut faults);
    let span = days.until((view.now)());
    let site = condition(&wanted.site);
    let published = live.handles.published.load_full();
    let rulebook = std::sync::Arc::clone(&published.rulebook);
    let asked = try_ask(&view, move |store| {
        let (site, faults) = known_site(store, &rulebook, site)?;
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
    Ok(html(&Overview {
        frame: Frame::new(&view, "/"),
        faults,
        health: Health::of(live, (view.now)()),
        counts: counts.map_err(|none| none.sentence()),
        sites: choices(sites, &here.site, "all sites"),
        days: here.days,
        attempt: attempt(&view),
    }))
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
    let compared = |note: String| if review.is_compared { note } else { String::new() };
    let tile = |name, link, now, before| {
        let note = format!("{} before ({})", grouped(before), change(now, before));
        Tile { name, link, value: grouped(now), note: compared(note) }
    };
    let none = String::new;
    let share = |tally: &Tally| share(tally.all.violations, tally.all.requests);
    let note = compared(format!("{} before", share(before)));
    let (list, forms) = (here.violations("", ""), here.violations("reason", FORM));
    vec![
        tile("Requests of crawlers and programs", none(), now.all.requests, before.all.requests),
        tile("Violations", list, now.all.violations, before.all.violations),
        Tile { name: "Share of violations", link: none(), value: share(now), note },
        tile("Other forms of closed paths", forms, now.forms, before.forms),
        tile("Refused", none(), now.refused, before.refused),
        tile("Requests of people", none(), review.people.0, review.people.1),
    ]
}

fn highlights(review: &Review<'_>, here: &Here) -> Vec<Part> {
    const NOT_COMPARED: &str = "Nothing was counted in the time before to compare with.";
    let row = |row: &CrawlerRow<'_>, value: String| -> (String, [Cell; 2]) {
        let link = crawlers::row(review, row, &here.days, &here.site).link;
        (link, [row.name().into(), Cell::Number(value)])
    };
    let (none_new, none_changed) = match review.is_compared {
        true => ("Every crawler with violations had some before.", "No number changed."),
        false => (NOT_COMPARED, NOT_COMPARED),
    };
    let new = review.new_offenders();
    let new = new.iter().take(HIGHLIGHTS).map(|one| row(one, grouped(one.now.all.violations)));
    let changed = review.biggest_change().into_iter().map(|one| {
        let (before, now) = (one.before.all.violations, one.now.all.violations);
        row(one, format!("{} → {}", grouped(before), grouped(now)))
    });
    let best = review.best_behaved();
    let best = best
        .iter()
        .map(|one| row(one, share(one.now.judged.saturating_sub(one.now.broken), one.now.judged)));
    let violations = ["crawler", "violations"];
    vec![
        Part::of_rows("New offenders", violations, HIGHLIGHTS, new, none_new),
        Part::of_rows("Biggest change", violations, HIGHLIGHTS, changed, none_changed),
        Part::of_rows(
            "Who behaves best",
            ["crawler", "rules kept"],
            usize::MAX,
            best,
            "No crawler came often enough to tell.",
        ),
    ]
}

fn rules(review: &Review<'_>, since: &str) -> Part {
    let broken: Vec<_> = review.rules.iter().filter(|row| row.now.violations > 0).collect();
    let has_sites = broken.iter().any(|row| row.site != broken[0].site);
    let rows = broken.iter().map(|row| {
        let (text, now) = (row.text(), row.now.violations);
        let conditions = [("site", row.site.as_str()), ("rule", &text), ("since", since)];
        let link = link::violations(&conditions);
        let name = if has_sites { format!("{text} ({})", row.site) } else { text };
        let change = review.change(now, Some(row.before.violations));
        (link, [Cell::Code(name), now.into(), Cell::Number(change)])
    });
    Part::of_rows("Rules", ["rule", "violations", "change"], ROWS, rows, "No rule was broken.")
}

fn paths(review: &Review<'_>, here: &Here) -> Part {
    let rows = review.paths.iter().map(|row| {
        let link = row.path().map_or_else(String::new, |path| here.violations("exact_path", path));
        let change = review.change(row.now, row.before);
        let name = row.path().unwrap_or("other paths");
        (link, [Cell::code(name), row.now.into(), Cell::Number(change)])
    });
    Part::of_rows("Paths", ["path", "violations", "change"], ROWS, rows, "No path was violated.")
}

fn classes(review: &Review<'_>) -> Part {
    let mut rows: Vec<_> = review
        .total
        .classes()
        .map(|(name, requests)| (class(name), requests))
        .chain([(class(Class::Browser.as_str()), review.people.0)])
        .filter(|(_, requests)| *requests > 0)
        .collect();
    rows.sort_by_key(|(_, requests)| std::cmp::Reverse(*requests));
    let all = rows.iter().map(|(_, requests)| requests).sum();
    let rows = rows.into_iter().map(|(name, requests)| -> (String, [Cell; 3]) {
        (String::new(), [name.into(), requests.into(), Cell::Number(share(requests, all))])
    });
    let headings = ["clients", "requests", "share"];
    Part::of_rows("Traffic", headings, usize::MAX, rows, "Nothing was counted.")
}

fn operators(review: &Review<'_>) -> Part {
    let rows = review.operators.iter().take(ROWS).map(|row| -> [Cell; 4] {
        let (requests, visits) = (row.now.requests, row.now.visits);
        let ratio = ratio(requests, visits).unwrap_or_else(|| "-".to_owned());
        let name = row.operator.clone();
        [name.into(), requests.into(), visits.into(), Cell::Number(ratio)]
    });
    let headings = ["operator", "requests", "visits", "requests per visit"];
    let remark = match review.operators.is_empty() {
        true => "No known operator sent crawlers or people.",
        false => {
            "Requests of an operator's crawlers, and visits of people that its pages sent here."
        }
    };
    let table = Table::new(headings, ROWS, rows);
    Part::of(Section::new("Crawl to refer", table).remark(remark))
}

/// The treatment at a site, or at all of them. Where it differs, each word has the sites.
fn treated(published: &Snapshot, row: &CrawlerRow<'_>, site: &str, now: Timestamp) -> String {
    let has_evidence = row.entry.is_some_and(Crawler::publishes_evidence);
    // Each standing has its own treatment; that of most requests is shown.
    let outcome = match row.claimant {
        Claimant::Impostor => Outcome::Contradicted,
        Claimant::Crawler if row.now.confirmed > row.now.open() => Outcome::Confirmed,
        Claimant::Crawler if has_evidence => Outcome::Unknown,
        Claimant::Crawler => Outcome::Unverifiable,
    };
    let declared = Some(&*row.product_token).filter(|token| **token != *Violation::NAMELESS);
    let name = row.entry.map(Name::Known).or_else(|| declared.map(Name::Declared));
    let standing = Standing { outcome, evidence: None };
    let sites = (0..published.rulebook.sites().len()).filter_map(|at| published.site(at));
    let sites = sites.filter(|(one, _)| site.is_empty() || one.name.eq_ignore_ascii_case(site));
    let mut words: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (site, served) in sites {
        let treatment = Treatment::of(&site.enforcement, name, standing, false, now);
        let word = match (treatment, row.entry) {
            (Treatment::Ladder, Some(entry)) => {
                let anywhere = Network::of(Ipv4Addr::UNSPECIFIED.into());
                let rung = served.conduct.rung(Name::Known(entry), outcome, anywhere);
                format!("rung {}", rung.as_str())
            }
            (treatment, _) => treatment.as_str().to_owned(),
        };
        words.entry(word).or_default().push(&site.name);
    }
    let is_one = words.len() == 1;
    let text = |(word, sites): (String, Vec<&str>)| match is_one {
        true => word,
        false => format!("{word} ({})", sites.join(", ")),
    };
    words.into_iter().map(text).collect::<Vec<_>>().join(", ")
}
