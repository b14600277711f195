//! The desk: pages on which an operator reviews violations.
//!
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

use self::{
    amendment::preview,
    robots::{edition, matrix, quarantine, site},
};
use crate::desk::admin::View;

mod amendment; // changes of the policy file: a look, then the change
mod changes; // what changes in meaning
mod chart; // charts as SVG: requests over time by action
mod conditions; // the conditions in the address of a page, and the spans of time to choose from
mod crawler; // the scorecard of one crawler, and its evidence bundle to download
mod crawlers; // all crawlers of a span, impostors, and who stands on which rung until when
mod events; // violations as server-sent events
mod frame; // what the pages share
mod health; // the state of the program, on the overview, and a test event to the receivers of alerts
mod link; // addresses of the pages
mod listing; // violations, with a filter and an order in the address, and the latest ones
mod occurring; // the values that occur
mod overview; // who kept to the rules: counts, a chart, crawlers, rules, paths
mod policy; // the policy in force, its file and those before
mod robots; // robots.txt in force, its hits, history and quarantine
mod selection; // the filter and the order of violations
mod sheet; // parts of a page: a section of a report, and facts with their names
mod try_it; // the decision about an imagined request
mod violation; // one violation with the whole reasoning behind it
mod words; // the words of records as sentences, and times

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
        .route("/impostors", get(crawlers::impostors))
        .route("/ladder", get(crawlers::ladder))
        .route("/robots", get(site::sites))
        .route("/robots/{site}", get(site::page))
        .route("/robots/{site}/matrix", get(matrix::page))
        .route("/robots/{site}/quarantine", get(quarantine::page).post(quarantine::decide))
        .route("/robots/{site}/{edition}", get(edition::page))
        .route("/robots/{site}/{edition}/file", get(edition::file))
        .route("/change", get(preview::page).post(preview::write))
        .route("/policy", get(policy::page))
        .route("/policy/edit", get(preview::section_text).post(preview::of_section))
        .route("/policy/history", get(policy::history))
        .route("/alerts/test", post(health::test))
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
