//! What the pages share: the frame, questions to the database, and the fields that guard a page.

use std::path::Path;

use askama::Template;
use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Response},
};

use crate::{
    admin::view::View,
    violations::{Error, Store},
};

/// What every page has around its content.
pub(super) struct Frame {
    pub(super) pages: Vec<PageLink>,
    pub(super) has_login: bool,
}

/// A link of the navigation.
pub(super) struct PageLink {
    pub(super) path: &'static str,
    pub(super) name: &'static str,
    pub(super) is_here: bool,
}

#[derive(Template)]
#[template(path = "notice.html", config = "src/admin/askama.toml")]
struct Notice<'a> {
    frame: Frame,
    title: &'a str,
    text: &'a str,
}

/// The answer with a page.
pub(in crate::admin) fn html(page: &impl Template) -> Response {
    match page.render() {
        Ok(text) => Html(text).into_response(),
        Err(error) => {
            tracing::error!(%error, "page not written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// A page that says one thing.
pub(super) fn notice(view: &View, status: StatusCode, title: &str, text: &str) -> Response {
    (status, html(&Notice { frame: Frame::new(view, ""), title, text })).into_response()
}

/// The answer of a question to the database, or a page that says why there is none.
pub(super) async fn ask<T: Send + 'static>(
    view: &View,
    question: impl FnOnce(&Store) -> Result<T, Error> + Send + 'static,
) -> Result<T, Response> {
    let Some(database) = view.database.clone() else {
        let text = "The policy names no database, so nothing is kept to look at. \
                    Set violations.database.";
        return Err(notice(view, StatusCode::OK, "No database", text));
    };
    let asked = move |database: &Path| question(&Store::open_read_only(database)?);
    match tokio::task::spawn_blocking(move || asked(&database)).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => {
            let text = error.to_string();
            Err(notice(view, StatusCode::SERVICE_UNAVAILABLE, "The database can't be read", &text))
        }
        Err(error) => {
            tracing::error!(%error, "question to the database not answered");
            Err(StatusCode::INTERNAL_SERVER_ERROR.into_response())
        }
    }
}

impl Frame {
    /// The frame of the page with this path.
    pub(super) fn new(view: &View, here: &str) -> Self {
        let page = |path, name| PageLink { path, name, is_here: path == here };
        let pages = vec![
            page("/", "Overview"),
            page("/violations", "Violations"),
            page("/try", "Try"),
            page("/live", "Live"),
        ];
        Self { pages, has_login: view.access.is_by_token() }
    }
}

/// The fields that keep a page from others: nothing is cached or framed, and nothing comes from
/// elsewhere or from within the page.
pub(in crate::admin) fn guard(response: &mut Response) {
    const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; \
        connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; \
        frame-ancestors 'none'";
    let fields = response.headers_mut();
    fields.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    fields.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    fields.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    let no_store = HeaderValue::from_static("no-store");
    fields.entry(header::CACHE_CONTROL).or_insert(no_store);
}
