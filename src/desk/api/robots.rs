//! The state in force: each site's robots.txt, the edition in force, those before, and their bytes; the
//! program.

use std::sync::atomic::Ordering;

use axum::response::Response;
use serde_json::{Value, json};

use super::inquiry::{Inquiry, json, of_type, quoted, text_of};
use crate::{
    base::version,
    desk::admin::problem::{Kind, Problem},
    records::{
        record::Unread,
        violations::{Health, Store},
    },
    review::report::{EditionRow, terms::Names},
    rules::enforce::Site,
};

/// The fewest digits by which an edition is found: a part of its hash that is not there by chance.
const LEAST_DIGITS: usize = 8;
/// The bytes of files that are in memory at a time.
const PART: usize = 4 << 20;

pub(super) fn sites(inquiry: &Inquiry) -> Result<Response, Problem> {
    let (rulebook, held) = (inquiry.rulebook()?, inquiry.view.metrics.robots_in_quarantine());
    let rows = rulebook.sites().iter().map(|site| site_row(site, &held));
    json(&json!({ "sites": rows.collect::<Vec<_>>() }))
}

fn site_row(site: &Site, held: &[String]) -> Value {
    let edition = site.timeline.current();
    json!({
        "site": site.name,
        "edition": edition.id_text(),
        "sha256": edition.sha256(),
        "source": site.source.as_str(),
        "since": text_of(site.timeline.since),
        "provisional": edition.is_provisional(),
        "quarantined": held.contains(&site.name),
    })
}

/// The editions of a site that the database has, in the order of their start.
pub(super) fn editions(inquiry: &Inquiry) -> Result<Response, Problem> {
    let store = inquiry.store()?;
    let site = site(inquiry, &store)?;
    let (mut rows, mut rest): (Vec<_>, Option<Unread>) = (Vec::new(), None);
    loop {
        let (part, unread) = store.latest_editions(jiff::Timestamp::MIN, rest, PART)?;
        let own = part.iter().filter(|edition| edition.site.eq_ignore_ascii_case(&site));
        rows.extend(own.map(|edition| (edition.from, EditionRow::of(edition))));
        rest = unread;
        if rest.is_none() {
            break;
        }
    }
    rows.sort_by_key(|(from, _)| *from);
    let rows: Vec<EditionRow> = rows.into_iter().map(|(_, row)| row).collect();
    json(&json!({ "site": site, "editions": rows }))
}

pub(super) fn edition(inquiry: &Inquiry) -> Result<Response, Problem> {
    let store = inquiry.store()?;
    let (site, id) = (site(inquiry, &store)?, inquiry.part(1));
    let absent = |why: &str| {
        let list = format!("/api/v1/robots/{site}/editions");
        let detail = format!("'{}' {why}; {list} lists the editions", quoted(id));
        Err(Problem::new(Kind::NOT_FOUND, detail))
    };
    if id.len() < LEAST_DIGITS {
        return absent("is too short; write 8 or more hexadecimal digits of the hash");
    }
    let mut found = store.editions_by_id(id, Some(&site))?;
    match (found.pop(), found.is_empty()) {
        (Some(only), true) => Ok(of_type("text/plain; charset=utf-8", only.bytes)),
        (Some(_), false) => absent("begins several editions; write more digits"),
        (None, _) => absent("begins no edition of this site"),
    }
}

fn site(inquiry: &Inquiry, store: &Store) -> Result<String, Problem> {
    let rulebook = inquiry.rulebook()?;
    Names::from(&*rulebook).site(store, inquiry.part(0)).map_err(Problem::of_path)
}

pub(super) fn status(inquiry: &Inquiry) -> Result<Response, Problem> {
    let view = &inquiry.view;
    let counts = view.sink.counts();
    let policy = view.live.get().map(|live| {
        let refused = live.handles.refused.load();
        let refused = refused
            .as_deref()
            .map(|refusal| json!({ "at": text_of(refusal.at), "findings": refusal.findings }));
        let published = live.handles.published.load();
        json!({ "fingerprint": published.rulebook.fingerprint(), "refused": refused })
    });
    let destinations = view.sink.destinations().into_iter().map(|(destination, health)| {
        let trouble = match health {
            Health::Ok => None,
            Health::Degraded(why) => Some(why),
        };
        json!({ "destination": destination, "trouble": trouble })
    });
    json(&json!({
        "version": version::NUMBER,
        "time": text_of(inquiry.now),
        "ready": view.ready.load(Ordering::Acquire),
        "policy": policy,
        "records": {
            "seen": counts.seen,
            "stored": counts.stored,
            "folded": counts.folded,
            "dropped": counts.dropped,
            "queued": counts.queued,
        },
        "destinations": destinations.collect::<Vec<_>>(),
    }))
}
