//! The robots.txt of a site: the file in force, the hits of its lines, its fetches, its history.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap, HashSet},
};

use askama::Template;
use axum::{
    extract::{Path, State},
    response::Response,
};

use super::{
    file::FileView,
    here::{SiteInForce, or_trouble},
    hits::{self, FETCH, Hits},
};
use crate::{
    base::{diagnostic::Diagnostic, text::Text},
    desk::{
        admin::{View, html},
        pages::{
            conditions::Asked,
            frame::{Answer, Frame, live, try_ask},
            link::{self, Link},
            span::{Days, OfDays},
            time::{self, exact},
        },
    },
    formats::robots::{self, RobotsTxt},
    records::{
        counts::{Counted, Dimension, Question},
        record::{EditionPeriod, Error, Quarantined},
        tally::Claimant,
        violations::Store,
    },
    review::report::{
        Span,
        number::{self, count, grouped, share},
    },
    rules::{enforce::Site, policy::Source},
    state::publication::Hold,
};

const MOST_PERIODS: usize = 50;
const MOST_FINDINGS: usize = 50;
const MOST_CRAWLERS: usize = 12;

#[derive(Template)]
#[template(path = "robots.html", config = "src/desk/pages/askama.toml")]
struct Page {
    frame: Frame,
    faults: Vec<String>,
    here: SiteInForce,
    lead: String,
    provisional: Option<&'static str>,
    findings: Vec<String>,
    spans: Vec<Link>,
    trouble: Option<String>,
    replaced: Vec<String>,
    waiting: Option<Quarantined>,
    file: FileView,
    answers: Option<Answers>,
}

struct Answers {
    hits: Hits,
    fetches: Fetches,
    /// Each with the number of its rules, unless its file is large.
    periods: Vec<(EditionPeriod, Option<String>)>,
    has_more_periods: bool,
    quarantined: Option<Quarantined>,
}

struct Fetches {
    total: String,
    rows: Vec<FetchRow>,
    more: u64,
}

struct FetchRow {
    name: String,
    link: String,
    fetches: String,
    share: String,
}

pub(super) async fn page(
    State(view): State<View>,
    Path(name): Path<String>,
    Asked(wanted, mut faults): Asked<OfDays>,
) -> Answer {
    let site = SiteInForce::find(&view, &name)?;
    let days = Days::wanted(&wanted.days, &mut faults);
    Ok(of(&view, site, days, faults).await)
}

pub(super) async fn of(
    view: &View,
    here: SiteInForce,
    days: Days,
    faults: Vec<String>,
) -> Response {
    let (asked, span) = (here.clone(), days.until((view.now)()));
    let answers = try_ask(view, move |store| answers(store, &asked, days, span)).await;
    let (mut answers, trouble) = or_trouble(answers);
    let site = here.site();
    let waiting = answers.as_mut().and_then(|answers| answers.quarantined.take());
    let edition = site.edition();
    let hits = answers.as_ref().map(|answers| &answers.hits);
    let is_written = site.source != Source::Origin;
    let source = |line| edition.source(line).filter(|_| is_written).map(|one| one.to_string());
    let rules = hits::told_apart(edition.file());
    let since = exact(span.from);
    let link_of = |line| {
        let rule = rules.get(&line)?;
        Some(link::violations(&[("site", &site.name), ("rule", rule), ("since", &since)]))
    };
    let handles = live(view).ok().map(|live| &live.handles);
    let report = handles.map(|handles| handles.origin_reports.of(&site.name)).unwrap_or_default();
    let replaced =
        handles.and_then(|handles| Some(handles.replaced.load().get(&site.name)?.lines()));
    let page = Page {
        frame: Frame::new(view, "/robots"),
        faults,
        lead: lead(site),
        provisional: edition.is_provisional().then_some(match site.is_withheld {
            true => "Crawlers get 503 for it, and no request is judged.",
            false => "Beadle publishes this substitute and enforces none of the origin's rules.",
        }),
        findings: findings(report.findings.into_iter().chain(site.finding.clone()).collect()),
        spans: days.links(|days| link::with_query(&here.path(), &[("days", days)])),
        trouble,
        replaced: replaced.unwrap_or_default(),
        waiting,
        file: FileView::new(edition.bytes(), hits, source, link_of),
        answers,
        here,
    };
    html(&page)
}

/// The findings about the origin's file as text, the gravest first.
fn findings(mut all: Vec<Diagnostic>) -> Vec<String> {
    all.sort_by_key(|finding| Reverse(finding.severity));
    all.iter().take(MOST_FINDINGS).map(|finding| format!("{finding:#}")).collect()
}

fn lead(site: &Site) -> String {
    let (edition, file) = (site.edition(), site.edition().file());
    format!(
        "Edition {}, in force since {}. {}, {}, {}. Its rules come from {}. Crawlers may keep a copy \
         for {} and follow it for {}.",
        edition.id_text(),
        time::second(site.timeline.since),
        count(file.groups.len() as u64, "group"),
        count(file.rule_count() as u64, "rule"),
        count(edition.bytes().len() as u64, "byte"),
        source(site.source),
        time::length(site.max_age),
        time::length(site.cache_window),
    )
}

const fn source(source: Source) -> &'static str {
    match source {
        Source::Policy => "the policy",
        Source::Origin => "the origin's file, as it is",
        Source::Merge => "the origin's file and the policy, merged",
    }
}

fn answers(store: &Store, here: &SiteInForce, days: Days, span: Span) -> Result<Answers, Error> {
    let site = here.site();
    let name = Some(site.name.clone());
    let question = Question { by: hits::BY.to_vec(), site: name, ..span.question() };
    let counted = store.counted(&question)?;
    let periods = store.edition_periods(&site.name, None, MOST_PERIODS + 1)?;
    let files = files(&periods, &counted);
    let hits = Hits::of(site.edition().id_text(), site.edition().file(), &counted, &files);
    let has_more_periods = periods.len() > MOST_PERIODS;
    let counted_rules = |mut period: EditionPeriod| {
        let file = period.bytes.take().map(|bytes| robots::parse(&bytes).0);
        (period, file.map(|file| grouped(file.rule_count() as u64)))
    };
    let by = vec![Dimension::ProductToken, Dimension::Reason, Dimension::Standing];
    let fetches = store.counted(&Question { by, ..question })?;
    Ok(Answers {
        hits,
        fetches: fetches_of(fetches, &days.condition()),
        periods: periods.into_iter().take(MOST_PERIODS).map(counted_rules).collect(),
        has_more_periods,
        quarantined: store.quarantine_of(&site.name)?,
    })
}

/// The files of older editions in the counts, as far as they are small.
fn files(periods: &[EditionPeriod], counted: &[Counted]) -> HashMap<Text, RobotsTxt> {
    let counted: HashSet<&Text> = counted.iter().filter_map(|one| one.key.first()).collect();
    let mut files = HashMap::new();
    for period in periods.iter().filter(|period| counted.contains(&period.id)) {
        if let Some(bytes) = &period.bytes {
            files.entry(period.id.clone()).or_insert_with(|| robots::parse(bytes).0);
        }
    }
    files
}

fn fetches_of(counted: Vec<Counted>, days: &str) -> Fetches {
    // The standings of one crawler count together, those of its impostors apart.
    let mut sums: BTreeMap<(String, Claimant), (&Text, u64)> = BTreeMap::new();
    for one in &counted {
        let [token, reason, standing] = one.key.as_slice() else { continue };
        if *reason == FETCH {
            let key = (token.to_ascii_lowercase(), Claimant::of(standing));
            sums.entry(key).or_insert((token, 0)).1 += one.requests;
        }
    }
    let mut fetches: Vec<_> =
        sums.into_iter().map(|((_, claimant), (token, sum))| (token, claimant, sum)).collect();
    fetches.sort_by_key(|(.., sum)| Reverse(*sum));
    let total = fetches.iter().map(|(.., sum)| sum).sum();
    let row = |&(token, claimant, sum): &(&Text, Claimant, u64)| FetchRow {
        name: match token.as_str() {
            "" => "without a name".to_owned(),
            token => claimant.name(token),
        },
        link: match claimant {
            Claimant::Crawler => link::crawler(token, &[("days", days)]),
            // No violation: no page has more to say about it.
            Claimant::Impostor => String::new(),
        },
        fetches: grouped(sum),
        share: share(sum, total),
    };
    Fetches {
        total: if total == 1 {
            "1 fetch".to_owned()
        } else {
            format!("{} fetches", grouped(total))
        },
        rows: fetches.iter().take(MOST_CRAWLERS).map(row).collect(),
        more: fetches.len().saturating_sub(MOST_CRAWLERS) as u64,
    }
}
