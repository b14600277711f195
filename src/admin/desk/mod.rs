//! The desk: pages on which an operator reviews violations.
//!
//! ```text
//! frame      what the pages share
//! overview   who kept to the rules: counts, a chart, crawlers, rules, paths
//! health     the state of the program, on the overview
//! listing    violations, with a filter in the address
//! violation  one violation with all that is known about it
//! crawlers   all crawlers of a span, sorted and filtered by the address
//! crawler    the scorecard of one crawler
//! bundle     the evidence bundle of one crawler, to download
//! ```
//! Pages are complete without scripts. What they show is read from the database at each request.

use axum::{Router, http::header, response::IntoResponse, routing::get};

use super::view::View;

mod bundle; // the evidence bundle of one crawler
mod chart; // charts as SVG
mod crawler; // the scorecard of one crawler
mod crawlers; // all crawlers of a span
pub(super) mod frame; // what the pages share
mod health; // the state of the program
mod link; // addresses of the pages
mod listing; // violations with a filter
mod over_time; // requests over time by action
mod overview; // the first page
mod sheet; // a section of a report
mod span; // the spans of time to choose from
mod violation; // one violation

const STYLE: &str = include_str!("assets/desk.css");

pub(super) fn router() -> Router<View> {
    Router::new()
        .route("/", get(overview::page))
        .route("/violations", get(listing::page))
        .route("/violations/{id}", get(violation::page))
        .route("/crawlers", get(crawlers::page))
        .route("/crawlers/{token}", get(crawler::page))
        .route("/crawlers/{token}/evidence.zip", get(bundle::download))
        .route("/assets/desk.css", get(style))
}

async fn style() -> impl IntoResponse {
    let fields =
        [(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "max-age=300")];
    (fields, STYLE)
}
