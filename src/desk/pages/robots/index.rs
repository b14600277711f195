//! The sites with their robots.txt.

use std::collections::HashMap;

use askama::Template;
use axum::extract::State;
use jiff::Timestamp;

use super::{
    here::{SiteInForce, or_trouble},
    hits::FETCH,
    site,
};
use crate::{
    desk::{
        admin::{View, html},
        pages::{
            conditions::Asked,
            frame::{Answer, Frame, live, try_ask},
            link::{self, Link},
            span::{Days, OfDays},
            time::{exact, second},
        },
    },
    records::{
        counts::{Counted, Dimension, Question},
        record::{Error, Quarantined},
        violations::Store,
    },
    review::report::{Span, number::grouped},
};

#[derive(Template)]
#[template(path = "robots_sites.html", config = "src/desk/pages/askama.toml")]
struct Page {
    frame: Frame,
    faults: Vec<String>,
    spans: Vec<Link>,
    trouble: Option<String>,
    rows: Vec<Row>,
}

struct Row {
    here: SiteInForce,
    violations: String,
    link: String,
    fetches: String,
    is_quarantined: bool,
}

/// What the database knows about the sites, by their names in lower case.
#[derive(Default)]
struct Answers {
    violations: HashMap<String, u64>,
    fetches: HashMap<String, u64>,
    quarantined: Vec<String>,
}

pub(super) async fn page(
    State(view): State<View>,
    Asked(wanted, mut faults): Asked<OfDays>,
) -> Answer {
    let published = live(&view)?.handles.published.load_full();
    let sites = published.rulebook.sites();
    let days = Days::wanted(&wanted.days, &mut faults);
    if sites.len() == 1 {
        return Ok(site::of(&view, SiteInForce::new(&published, 0), days, faults).await);
    }
    let span = days.until((view.now)());
    let (answers, trouble) = or_trouble(try_ask(&view, move |store| answers(store, span)).await);
    let begin = exact(span.from);
    let rows = sites.iter().enumerate().map(|(number, site)| {
        let name = site.name.to_ascii_lowercase();
        let count = |counts: fn(&Answers) -> &HashMap<String, u64>| {
            let count = answers.as_ref().map(|answers| counts(answers).get(&name));
            count
                .map_or_else(|| "–".to_owned(), |count| grouped(count.copied().unwrap_or_default()))
        };
        Row {
            here: SiteInForce::new(&published, number),
            violations: count(|answers| &answers.violations),
            link: link::violations(&[("site", &site.name), ("since", &begin)]),
            fetches: count(|answers| &answers.fetches),
            is_quarantined: answers.as_ref().is_some_and(|one| one.quarantined.contains(&name)),
        }
    });
    let rows = rows.collect();
    let page = Page {
        frame: Frame::new(&view, "/robots"),
        faults,
        spans: days.links(|days| link::with_query("/robots", &[("days", days)])),
        trouble,
        rows,
    };
    Ok(html(&page))
}

impl Row {
    /// The start of the period in force; editions of the policy may have none.
    fn since(&self) -> String {
        let at = self.here.site().timeline.since;
        if at == Timestamp::MIN { "–".to_owned() } else { second(at) }
    }

    fn rules(&self) -> String {
        grouped(self.here.site().edition().file().rule_count() as u64)
    }
}

fn answers(store: &Store, span: Span) -> Result<Answers, Error> {
    let by = vec![Dimension::Site, Dimension::Reason];
    let mut answers = Answers::default();
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
