//! The desk: pages on which an operator reviews violations.
//!
//! ```text
//! frame      what the pages share
//! overview   who kept to the rules: counts, a chart, crawlers, rules, paths
//! listing    violations, with a filter in the address
//! violation  one violation with all that is known about it
//! ```
//! Pages are complete without scripts. What they show is read from the database at each request.

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};

use super::view::View;

mod chart; // charts as SVG
pub(super) mod frame; // what the pages share
mod listing; // violations with a filter
mod number; // numbers as people read them
mod overview; // the first page
mod violation; // one violation

const STYLE: &str = include_str!("assets/desk.css");

pub(super) fn router() -> Router<View> {
    Router::new()
        .route("/", get(overview::page))
        .route("/violations", get(listing::page))
        .route("/violations/{id}", get(violation::page))
        .route("/assets/desk.css", get(style))
        .fallback(missing)
}

/// A browser shows a page of its own for an answer without one.
async fn missing(State(view): State<View>) -> Response {
    let text = "The desk has no page at this address. The links above lead to those that it has.";
    frame::notice(&view, StatusCode::NOT_FOUND, "No such page", text)
}

async fn style() -> impl IntoResponse {
    let fields =
        [(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "max-age=300")];
    (fields, STYLE)
}
