//! One edition of a site's robots.txt: its bytes, its periods, and what it changed.

use askama::Template;
use axum::{
    extract::{Path, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};

use super::{file::FileView, here::SiteInForce};
use crate::{
    base::{escape, text::Text},
    desk::{
        admin::{View, html},
        pages::{
            changes::Changes,
            frame::{Answer, Frame, ask, notice},
            link, words,
        },
    },
    formats::robots,
    records::{
        record::{Edition, EditionPeriod, Error},
        violations::Store,
    },
    review::report::number,
};

/// The most periods among which those of the edition are looked for.
const MOST_PERIODS: usize = 1_000;
const MOST_SHOWN: usize = 20;

#[derive(Template)]
#[template(path = "robots_edition.html", config = "src/desk/pages/askama.toml")]
struct Page {
    frame: Frame,
    here: SiteInForce,
    rules: u64,
    answers: Answers,
    file: FileView,
}

/// An edition with its periods, and the one before.
struct Answers {
    edition: Edition,
    periods: Vec<EditionPeriod>,
    before: Option<Text>,
    changes: Option<Changes>,
}

pub(in crate::desk::pages) async fn page(
    State(view): State<View>,
    Path((name, id)): Path<(String, String)>,
) -> Answer {
    let here = SiteInForce::find(&view, &name)?;
    let (site, wanted) = (here.name.clone(), id.clone());
    let answers = ask(&view, move |store| answers(store, &site, &wanted)).await?;
    let Some(answers) = answers else { return Ok(unknown(&view, &here, &id)) };
    let edition = &answers.edition;
    Ok(html(&Page {
        frame: Frame::new(&view, "/robots"),
        rules: robots::parse(&edition.bytes).0.rule_count() as u64,
        file: FileView::plain(&edition.bytes),
        answers,
        here,
    }))
}

pub(in crate::desk::pages) async fn file(
    State(view): State<View>,
    Path((name, id)): Path<(String, String)>,
) -> Answer {
    let here = SiteInForce::find(&view, &name)?;
    // The edition in force needs no database.
    let in_force = here.site().edition();
    if in_force.id_text() == id {
        return Ok(download(in_force.bytes().clone()));
    }
    let (site, wanted) = (here.name.clone(), id.clone());
    let found = ask(&view, move |store| edition(store, &site, &wanted)).await?;
    Ok(found.map_or_else(|| unknown(&view, &here, &id), |edition| download(edition.bytes)))
}

fn download(bytes: impl IntoResponse) -> Response {
    let fields = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"robots.txt\""),
    ];
    (fields, bytes).into_response()
}

fn unknown(view: &View, here: &SiteInForce, id: &str) -> Response {
    let text = format!(
        "The database has no edition '{}' of {}. It may be older than the retention.",
        escape::shown(id),
        here.name
    );
    notice(view, StatusCode::NOT_FOUND, "No such edition", &text)
}

fn edition(store: &Store, site: &str, id: &str) -> Result<Option<Edition>, Error> {
    let found = store.editions_by_id(id, Some(site))?;
    Ok(found.into_iter().find(|edition| edition.id == *id))
}

fn answers(store: &Store, site: &str, id: &str) -> Result<Option<Answers>, Error> {
    let Some(found) = edition(store, site, id)? else { return Ok(None) };
    // The latest come first.
    let all = store.edition_periods(site, None, MOST_PERIODS)?;
    let latest = all.iter().position(|period| period.id == *id);
    let earlier = all.get(latest.map_or(all.len(), |at| at + 1)..).unwrap_or_default();
    let before = earlier.iter().find(|period| period.id != *id).map(|period| period.id.clone());
    let changes = match &before {
        Some(before) => edition(store, site, before)?.map(|before| {
            Changes::of_files(&robots::parse(&before.bytes).0, &robots::parse(&found.bytes).0)
        }),
        None => None,
    };
    let periods = all.into_iter().filter(|period| period.id == *id).take(MOST_SHOWN);
    Ok(Some(Answers { periods: periods.collect(), edition: found, before, changes }))
}
