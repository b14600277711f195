//! What the pages share: the frame, and questions to the database.

use askama::Template;
use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};

use super::link::Link;
use crate::{
    desk::admin::{Live, View, html},
    records::{
        record::Error,
        violations::{Location, Store},
    },
};

pub(super) struct Frame {
    pub(super) pages: Vec<Link>,
    pub(super) has_login: bool,
}

#[derive(Template)]
#[template(path = "notice.html", config = "src/desk/pages/askama.toml")]
struct Notice<'a> {
    frame: Frame,
    title: &'a str,
    text: &'a str,
}

pub(super) fn notice(view: &View, status: StatusCode, title: &str, text: &str) -> Response {
    (status, html(&Notice { frame: Frame::new(view, ""), title, text })).into_response()
}

/// What a page answers: itself, or another one in its place.
pub(super) type Answer = Result<Response, Instead>;

pub(super) struct Instead(Box<Response>);

impl From<Response> for Instead {
    fn from(page: Response) -> Self {
        Self(Box::new(page))
    }
}

impl IntoResponse for Instead {
    fn into_response(self) -> Response {
        *self.0
    }
}

#[derive(Debug)]
pub(super) enum NoAnswer {
    NoDatabase,
    /// It can't be read; holds the reason.
    Unreadable(String),
}

/// The answer of a question to the database, or a page that says why there is none.
pub(super) async fn ask<T: Send + 'static>(
    view: &View,
    question: impl FnOnce(&Store) -> Result<T, Error> + Send + 'static,
) -> Result<T, Instead> {
    try_ask(view, question).await.map_err(|none| none.page(view).into())
}

/// The answer of a question to the database, for a page that has more to show.
pub(super) async fn try_ask<T: Send + 'static>(
    view: &View,
    question: impl FnOnce(&Store) -> Result<T, Error> + Send + 'static,
) -> Result<T, NoAnswer> {
    let database = view.database.clone().ok_or(NoAnswer::NoDatabase)?;
    let counts = view.counts.clone();
    let asked = move |database: &Location| question(&database.open()?.sharing(&counts));
    match tokio::task::spawn_blocking(move || asked(&database)).await {
        Ok(answer) => answer.map_err(|error| NoAnswer::Unreadable(error.to_string())),
        Err(error) => {
            tracing::error!(%error, "question to the database not answered");
            Err(NoAnswer::Unreadable("Beadle failed; its log says where.".to_owned()))
        }
    }
}

impl NoAnswer {
    /// The reason and its repair, as a sentence.
    pub(super) fn sentence(&self) -> String {
        match self {
            Self::NoDatabase => "The policy names no database, so nothing is kept to look at. \
                                 Set violations.database, and restart Beadle."
                .to_owned(),
            Self::Unreadable(why) => format!("The database can't be read: {why}"),
        }
    }

    fn page(&self, view: &View) -> Response {
        match self {
            Self::NoDatabase => notice(view, StatusCode::OK, "No database", &self.sentence()),
            Self::Unreadable(why) => {
                let title = "The database can't be read";
                notice(view, StatusCode::SERVICE_UNAVAILABLE, title, why)
            }
        }
    }
}

pub(super) async fn work<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Instead> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        tracing::error!(%error, "page not made");
        StatusCode::INTERNAL_SERVER_ERROR.into_response().into()
    })
}

pub(super) async fn work_on<T: Send + 'static>(
    view: &View,
    question: impl FnOnce(&Live) -> T + Send + 'static,
) -> Result<T, Instead> {
    let view = view.clone();
    work(move || live(&view).map(question)).await?
}

/// The state in force, or a page that says that there is none yet.
pub(super) fn live(view: &View) -> Result<&Live, Instead> {
    view.live.get().ok_or_else(|| {
        let text = "The policy has not taken effect yet. Load this page again in a few seconds.";
        notice(view, StatusCode::SERVICE_UNAVAILABLE, "Starting", text).into()
    })
}

impl Frame {
    pub(super) fn new(view: &View, here: &str) -> Self {
        let page = |path, name| Link { is_here: path == here, ..Link::to(path, name) };
        let pages = vec![
            page("/", "Overview"),
            page("/violations", "Violations"),
            page("/crawlers", "Crawlers"),
            page("/robots", "robots.txt"),
            page("/policy", "Policy"),
            page("/try", "Try"),
            page("/live", "Live"),
        ];
        Self { pages, has_login: view.access.is_by_token() }
    }
}
