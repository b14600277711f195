//! The desk: pages on which an operator reviews violations.
//!
//! ```text
//! overview   who kept to the rules: counts, a chart, crawlers, rules, paths
//! listing    violations, with a filter in the address
//! violation  one violation with all that is known about it
//! ```
//! Pages are complete without scripts. What they show is read from the database at each request.

use std::path::Path;

use askama::Template;
use axum::{
    Router,
    http::{HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Response},
    routing::{get, post},
};

use super::{access, view::View};
use crate::violations::{Error, Store};

mod chart; // charts as SVG
mod listing; // violations with a filter
mod number; // numbers as people read them
mod overview; // the first page
mod violation; // one violation

const STYLE: &str = include_str!("assets/desk.css");

/// What every page has around its content.
struct Frame {
    pages: Vec<PageLink>,
    has_login: bool,
}

struct PageLink {
    path: &'static str,
    name: &'static str,
    is_here: bool,
}

#[derive(Template)]
#[template(path = "login.html", config = "src/admin/askama.toml")]
struct Login<'a> {
    next: &'a str,
    is_wrong: bool,
}

#[derive(Template)]
#[template(path = "notice.html", config = "src/admin/askama.toml")]
struct Notice<'a> {
    frame: Frame,
    title: &'a str,
    text: &'a str,
}

pub(super) fn router() -> Router<View> {
    Router::new()
        .route("/", get(overview::page))
        .route("/violations", get(listing::page))
        .route("/violations/{id}", get(violation::page))
        .route(access::LOGIN, get(login_page).post(access::enter))
        .route("/logout", post(access::leave))
        .route("/assets/desk.css", get(style))
}

/// The form in which a person enters the token.
pub(super) fn login(next: &str, is_wrong: bool) -> Response {
    let status = if is_wrong { StatusCode::FORBIDDEN } else { StatusCode::OK };
    (status, html(&Login { next, is_wrong })).into_response()
}

async fn login_page(query: axum::extract::RawQuery) -> Response {
    let query = query.0.unwrap_or_default();
    let next = url::form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "next");
    login(access::local(next.as_ref().map_or("/", |(_, next)| next)), false)
}

async fn style() -> impl IntoResponse {
    let fields =
        [(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "max-age=300")];
    (fields, STYLE)
}

fn html(page: &impl Template) -> Response {
    match page.render() {
        Ok(text) => Html(text).into_response(),
        Err(error) => {
            tracing::error!(%error, "page not written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// A page that says one thing.
fn notice(view: &View, status: StatusCode, title: &str, text: &str) -> Response {
    (status, html(&Notice { frame: Frame::new(view, ""), title, text })).into_response()
}

/// The answer of a question to the database, or a page that says why there is none.
async fn ask<T: Send + 'static>(
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
    fn new(view: &View, here: &str) -> Self {
        let page = |path, name| PageLink { path, name, is_here: path == here };
        let pages = vec![page("/", "Overview"), page("/violations", "Violations")];
        Self { pages, has_login: view.access.is_by_token() }
    }
}

/// The fields that keep a page from others: nothing is cached or framed, and nothing comes from
/// elsewhere or from within the page.
pub(super) fn guard(response: &mut Response) {
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
