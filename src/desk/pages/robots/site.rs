//! The sites with their robots.txt, and that of a site: the file in force, the hits of its lines, its fetches,
//! its history.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap, HashSet},
};

use askama::Template;
use axum::{
    extract::{Path, State},
    response::Response,
};
use jiff::Timestamp;

use super::{
    file::{self, FETCH, FileView, Hits},
    here::{SiteInForce, or_trouble},
};
use crate::{
    base::{diagnostic::Diagnostic, text::Text},
    desk::{
        admin::{View, html},
        pages::{
            conditions::{Asked, Days, OfDays},
            frame::{Answer, Frame, live, try_ask},
            link::{self, Link},
            words::{self, exact},
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
        number::{self, grouped},
    },
    rules::policy::Source,
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

/// The fetches of each client, by its name with its link, most first.
struct Fetches {
    total: u64,
    rows: Vec<(String, String, u64)>,
    more: u64,
}

pub(in crate::desk::pages) async fn page(
    State(view): State<View>,
    Path(name): Path<String>,
    Asked(wanted, mut faults): Asked<OfDays>,
) -> Answer {
    let site = SiteInForce::find(&view, &name)?;
    let days = Days::wanted(&wanted.days, &mut faults);
    Ok(of(&view, site, days, faults).await)
}

async fn of(view: &View, here: SiteInForce, days: Days, faults: Vec<String>) -> Response {
    let (asked, span) = (here.clone(), days.until((view.now)()));
    let answers = try_ask(view, move |store| answers(store, &asked, days, span)).await;
    let (mut answers, trouble) = or_trouble(answers);
    let site = here.site();
    let waiting = answers.as_mut().and_then(|answers| answers.quarantined.take());
    let edition = site.edition();
    let hits = answers.as_ref().map(|answers| &answers.hits);
    let is_written = site.source != Source::Origin;
    let source = |line| edition.source(line).filter(|_| is_written).map(|one| one.to_string());
    let rules = file::told_apart(edition.file());
    let since = exact(span.from);
    let link_of = |line| {
        let rule = rules.get(&line)?;
        Some(link::violations(&[("site", &site.name), ("rule", rule), ("since", &since)]))
    };
    let handles = live(view).ok().map(|live| &live.handles);
    let report = handles.map(|handles| handles.origin_reports.of(&site.name)).unwrap_or_default();
    let replaced =
        handles.and_then(|handles| Some(handles.replaced.load().get(&site.name)?.lines()));
    html(&Page {
        frame: Frame::new(view, "/robots"),
        faults,
        findings: findings(report.findings.into_iter().chain(site.finding.clone()).collect()),
        spans: days.links(|days| link::with_query(&here.path(), &[("days", days)])),
        trouble,
        replaced: replaced.unwrap_or_default(),
        waiting,
        file: FileView::new(edition.bytes(), hits, source, link_of),
        answers,
        here,
    })
}

fn findings(mut all: Vec<Diagnostic>) -> Vec<String> {
    all.sort_by_key(|finding| Reverse(finding.severity));
    all.iter().take(MOST_FINDINGS).map(|finding| format!("{finding:#}")).collect()
}

fn answers(store: &Store, here: &SiteInForce, days: Days, span: Span) -> Result<Answers, Error> {
    let site = here.site();
    let name = Some(site.name.clone());
    let question = Question { by: file::BY.to_vec(), site: name, ..span.question() };
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
    let row = |&(token, claimant, sum): &(&Text, Claimant, u64)| {
        let name = match token.as_str() {
            "" => "without a name".to_owned(),
            token => claimant.name(token),
        };
        let link = match claimant {
            Claimant::Crawler => link::crawler(token, &[("days", days)]),
            // No violation: no page has more to say about it.
            Claimant::Impostor => String::new(),
        };
        (name, link, sum)
    };
    Fetches {
        total,
        rows: fetches.iter().take(MOST_CRAWLERS).map(row).collect(),
        more: fetches.len().saturating_sub(MOST_CRAWLERS) as u64,
    }
}

/// All sites with their robots.txt.
#[derive(Template)]
#[template(path = "robots_sites.html", config = "src/desk/pages/askama.toml")]
struct Sites {
    frame: Frame,
    faults: Vec<String>,
    spans: Vec<Link>,
    trouble: Option<String>,
    rows: Vec<SiteRow>,
}

struct SiteRow {
    here: SiteInForce,
    violations: String,
    link: String,
    fetches: String,
    is_quarantined: bool,
}

/// What the database knows about the sites, by their names in lower case.
#[derive(Default)]
struct OfSites {
    violations: HashMap<String, u64>,
    fetches: HashMap<String, u64>,
    quarantined: Vec<String>,
}

pub(in crate::desk::pages) async fn sites(
    State(view): State<View>,
    Asked(wanted, mut faults): Asked<OfDays>,
) -> Answer {
    let published = live(&view)?.handles.published.load_full();
    let sites = published.rulebook.sites();
    let days = Days::wanted(&wanted.days, &mut faults);
    if sites.len() == 1 {
        return Ok(of(&view, SiteInForce::new(&published, 0), days, faults).await);
    }
    let span = days.until((view.now)());
    let (answers, trouble) = or_trouble(try_ask(&view, move |store| of_sites(store, span)).await);
    let begin = exact(span.from);
    let rows = sites.iter().enumerate().map(|(number, site)| {
        let name = site.name.to_ascii_lowercase();
        let count = |counts: fn(&OfSites) -> &HashMap<String, u64>| {
            let count = answers.as_ref().map(|answers| counts(answers).get(&name));
            count
                .map_or_else(|| "–".to_owned(), |count| grouped(count.copied().unwrap_or_default()))
        };
        SiteRow {
            here: SiteInForce::new(&published, number),
            violations: count(|answers| &answers.violations),
            link: link::violations(&[("site", &site.name), ("since", &begin)]),
            fetches: count(|answers| &answers.fetches),
            is_quarantined: answers.as_ref().is_some_and(|one| one.quarantined.contains(&name)),
        }
    });
    let rows = rows.collect();
    Ok(html(&Sites {
        frame: Frame::new(&view, "/robots"),
        faults,
        spans: days.links(|days| link::with_query("/robots", &[("days", days)])),
        trouble,
        rows,
    }))
}

impl SiteRow {
    /// The start of the period in force; editions of the policy may have none.
    fn since(&self) -> String {
        let at = self.here.site().timeline.since;
        if at == Timestamp::MIN { "–".to_owned() } else { words::second(at) }
    }

    fn rules(&self) -> String {
        grouped(self.here.site().edition().file().rule_count() as u64)
    }
}

fn of_sites(store: &Store, span: Span) -> Result<OfSites, Error> {
    let by = vec![Dimension::Site, Dimension::Reason];
    let mut answers = OfSites::default();
    for Counted { key, requests, violations, .. } in
        store.counted(&Question { by, ..span.question() })?
    {
        let [site, reason] = key.as_slice() else { continue };
        let site = site.to_ascii_lowercase();
        if *reason == FETCH {
            *answers.fetches.entry(site.clone()).or_default() += requests;
        }
        *answers.violations.entry(site).or_default() += violations;
    }
    let is_open = |file: &Quarantined| file.accepted.or(file.discarded).is_none();
    let waiting = store.quarantine()?.into_iter().filter(is_open);
    answers.quarantined = waiting.map(|file| file.site.to_ascii_lowercase()).collect();
    Ok(answers)
}
