//! The file of an origin that waits for a decision, and the decision.
//!
//! The form carries the id of the file that the page shows. If the origin's file changed meanwhile,
//! nothing is decided.

use askama::Template;
use axum::{
    Form,
    extract::{Path, State, rejection::FormRejection},
    http::StatusCode,
    response::{IntoResponse, Redirect},
};
use serde::Deserialize;

use super::{file::FileView, here::SiteInForce};
use crate::{
    desk::{
        admin::{View, html},
        pages::{
            changes::Changes,
            frame::{Answer, Frame, ask, notice, work},
            words,
        },
    },
    formats::robots::{self, RobotsTxt},
    records::{
        record::{Error, QuarantineAct, Quarantined},
        violations::Store,
    },
    review::report::number,
    rules::policy::Source,
    state::publication::Hold,
};

#[derive(Template)]
#[template(path = "robots_quarantine.html", config = "src/desk/pages/askama.toml")]
struct Page {
    frame: Frame,
    here: SiteInForce,
    held: Quarantined,
    hold: Hold,
    changes: Changes,
    file: FileView,
}

#[derive(Deserialize)]
pub(in crate::desk::pages) struct Decided {
    /// The file that the page showed.
    id: String,
    #[serde(default)]
    act: QuarantineAct,
}

pub(in crate::desk::pages) async fn page(
    State(view): State<View>,
    Path(name): Path<String>,
) -> Answer {
    let here = SiteInForce::find(&view, &name)?;
    let asked = here.clone();
    let Some((file, changes)) = ask(&view, move |store| answers(store, &asked)).await? else {
        let text = format!(
            "No robots.txt of {} is in quarantine. It was published, or the origin's file changed.",
            here.name
        );
        return Ok(notice(&view, StatusCode::NOT_FOUND, "Nothing in quarantine", &text));
    };
    Ok(html(&Page {
        frame: Frame::new(&view, "/robots"),
        hold: Hold::of_file(&file.bytes),
        changes,
        file: FileView::plain(&file.bytes),
        held: file,
        here,
    }))
}

pub(in crate::desk::pages) async fn decide(
    State(view): State<View>,
    Path(name): Path<String>,
    form: Result<Form<Decided>, FormRejection>,
) -> Answer {
    let here = SiteInForce::find(&view, &name)?;
    let Ok(Form(Decided { id, act })) = form else {
        let text = "The form names no file. Open the page of the quarantine, and send its form.";
        return Ok(notice(&view, StatusCode::BAD_REQUEST, "Nothing decided", text));
    };
    let Some(database) = view.database.clone() else {
        let text = "The policy names no database, so nothing can be decided here. Set \
                    violations.database.";
        return Ok(notice(&view, StatusCode::CONFLICT, "Nothing decided", text));
    };
    let (site, now) = (here.name.clone(), (view.now)());
    let decide =
        move || Store::open_existing(&database.local)?.decide((&site, Some(&id)), act, now);
    Ok(match work(decide).await? {
        Ok(Some(file)) => {
            tracing::info!(site = here.name, edition = %file.id, ?act, "quarantine decided");
            Redirect::to(&here.path()).into_response()
        }
        Ok(None) => {
            let text = "The file of the form is no longer in quarantine: it was published, or the \
                        origin's file changed. Open the page of the site, and look again.";
            notice(&view, StatusCode::CONFLICT, "Nothing decided", text)
        }
        Err(error) => {
            let text = error.to_string();
            notice(&view, StatusCode::SERVICE_UNAVAILABLE, "The database can't be written", &text)
        }
    })
}

fn answers(store: &Store, here: &SiteInForce) -> Result<Option<(Quarantined, Changes)>, Error> {
    let Some(file) = store.quarantine_of(&here.name)? else { return Ok(None) };
    let (site, after) = (here.site(), robots::parse(&file.bytes).0);
    // Of a merged file, the origin's part is replaced.
    let changes = match (site.source, site.origin_file.bytes()) {
        (Source::Merge, Some(bytes)) => Changes::of_files(&robots::parse(bytes).0, &after),
        (Source::Merge, None) => Changes::of_files(&RobotsTxt::default(), &after),
        _ => Changes::of_files(site.edition().file(), &after),
    };
    Ok(Some((file, changes)))
}
