//! The desk: pages on which an operator reviews violations.
//!
//! ```text
//! frame      what the pages share
//! conditions the conditions in the address of a page
//! overview   who kept to the rules: counts, a chart, crawlers, rules, paths
//! health     the state of the program, on the overview
//! listing    violations, with a filter and an order in the address, and the latest ones
//! violation  one violation with the whole reasoning behind it
//! crawlers   all crawlers of a span, sorted and filtered by the address
//! crawler    the scorecard of one crawler, and its evidence bundle to download
//! tables     impostors, and who stands on which rung until when
//! robots     robots.txt in force, its hits, history and quarantine
//! policy     the policy in force and its file
//! amendment  a change of the policy file: a look, then the change
//! receivers  a test event to the receivers of alerts
//! try_it     the decision about an imagined request
//! events     violations as they come
//! ```
//! Pages are complete without scripts. What they show is read from the database at each request.
//!
//! May use: robots, crawlers, policy, enforce, comparison, edit, counts, record, tally, text, violations,
//! evidence, conduct, report, audit, alerts, publication, explanation, trial, proposal, admin, diagnostic, escape, product_token. Must not know:
//! api, proxy, cli.

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};

use crate::desk::admin::View;

mod amendment; // changes of the policy file
mod attempt; // a first request
mod changes; // what changes in meaning
mod chart; // charts as SVG
mod conditions; // the conditions in the address of a page
mod crawler; // the scorecard of one crawler
mod crawlers; // all crawlers of a span
mod events; // violations as server-sent events
mod facts; // facts with their names
mod frame; // what the pages share
mod health; // the state of the program
mod link; // addresses of the pages
mod listing; // violations with a filter
mod occurring; // the values that occur
mod over_time; // requests over time by action
mod overview; // the first page
mod policy; // the policy
mod receivers; // a test event to the receivers of alerts
mod robots; // robots.txt
mod selection; // the filter and the order of violations
mod sheet; // a section of a report
mod span; // the spans of time to choose from
mod tables; // impostors, and who stands on which rung
mod time; // times as people read them
mod try_it; // the decision about a request
mod violation; // one violation
mod words; // the words of records as sentences

const STYLE: &str = include_str!("assets/desk.css");
const LIVE: &str = include_str!("assets/live.js");

pub(crate) fn router() -> Router<View> {
    Router::new()
        .route("/", get(overview::page))
        .route("/violations", get(listing::page))
        .route("/violations/{id}", get(violation::page))
        .route("/crawlers", get(crawlers::page))
        .route("/crawlers/{token}", get(crawler::page))
        .route("/crawlers/{token}/evidence.zip", get(crawler::download))
        .route("/impostors", get(tables::impostors))
        .route("/ladder", get(tables::ladder))
        .merge(robots::router())
        .merge(amendment::router())
        .route("/policy", get(policy::page))
        .route("/policy/history", get(policy::past::page))
        .route("/alerts/test", post(receivers::test))
        .route("/try", get(try_it::page))
        .route("/live", get(listing::latest))
        .route("/live/events", get(events::stream))
        .route("/assets/desk.css", get(async || asset("text/css; charset=utf-8", STYLE)))
        .route("/assets/live.js", get(async || asset("text/javascript; charset=utf-8", LIVE)))
        .fallback(missing)
}

/// A browser shows a page of its own for an answer without one.
async fn missing(State(view): State<View>) -> Response {
    let text = "The desk has no page at this address. The links above lead to those that it has.";
    frame::notice(&view, StatusCode::NOT_FOUND, "No such page", text)
}

fn asset(content_type: &'static str, text: &'static str) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, content_type), (header::CACHE_CONTROL, "max-age=300")], text)
}
