//! The desk: pages on which an operator reviews violations.
//!
//! ```text
//! frame      what the pages share
//! overview   who kept to the rules: counts, a chart, crawlers, rules, paths
//! listing    violations, with a filter in the address
//! violation  one violation with all that is known about it
//! robots     robots.txt in force, its hits, history and quarantine
//! policy     the policy in force and its file
//! ```
//! Pages are complete without scripts. What they show is read from the database at each request.

use axum::{Router, http::header, response::IntoResponse, routing::get};

use super::view::View;

mod chart; // charts as SVG
mod duration; // durations as people read them
pub(super) mod frame; // what the pages share
mod listing; // violations with a filter
mod number; // numbers as people read them
mod overview; // the first page
mod policy; // the policy
mod robots; // robots.txt
mod span; // the spans of time to choose from
mod violation; // one violation

const STYLE: &str = include_str!("assets/desk.css");

pub(super) fn router() -> Router<View> {
    Router::new()
        .route("/", get(overview::page))
        .route("/violations", get(listing::page))
        .route("/violations/{id}", get(violation::page))
        .merge(robots::router())
        .route("/policy", get(policy::page))
        .route("/assets/desk.css", get(style))
}

async fn style() -> impl IntoResponse {
    let fields =
        [(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "max-age=300")];
    (fields, STYLE)
}
