//! The desk: pages on which an operator reviews violations.
//!
//! ```text
//! frame      what the pages share
//! overview   who kept to the rules: counts, a chart, crawlers, rules, paths
//! listing    violations, with a filter in the address
//! violation  one violation with the whole reasoning behind it
//! try_it     the decision about a request that nobody sends
//! live       violations as they come
//! ```
//! Pages are complete without scripts. What they show is read from the database at each request.

use axum::{Extension, Router, http::header, response::IntoResponse, routing::get};

use super::view::View;

mod chart; // charts as SVG
mod events; // violations as server-sent events
pub(super) mod frame; // what the pages share
mod listing; // violations with a filter
mod live; // violations as they come
mod number; // numbers as people read them
mod overview; // the first page
mod place; // the addresses of pages
mod try_it; // the decision about a request
mod violation; // one violation
mod words; // the words of records as sentences

const STYLE: &str = include_str!("assets/desk.css");
const LIVE: &str = include_str!("assets/live.js");

pub(super) fn router() -> Router<View> {
    Router::new()
        .route("/", get(overview::page))
        .route("/violations", get(listing::page))
        .route("/violations/{id}", get(violation::page))
        .route("/try", get(try_it::page))
        .route("/live", get(live::page))
        .route("/live/events", get(events::stream).layer(Extension(events::Slots::default())))
        .route("/assets/desk.css", get(async || asset("text/css; charset=utf-8", STYLE)))
        .route("/assets/live.js", get(async || asset("text/javascript; charset=utf-8", LIVE)))
}

fn asset(content_type: &'static str, text: &'static str) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, content_type), (header::CACHE_CONTROL, "max-age=300")], text)
}
