//! Every path of the API, with the parameters that it knows. `openapi.json` describes the same.

use axum::response::Response;

use super::{
    answer::of_type,
    counts, export,
    inquiry::Inquiry,
    people, places,
    query::{FILTER, PAGED},
    records, report, robots, status,
};
use crate::desk::admin::problem::Problem;

/// The description of the API. It stands beside the code as a text, because what it describes is
/// written in rooms that know no API; tests hold the answers against it.
pub(super) const DESCRIPTION: &str = include_str!("openapi.json");

/// A path of the API.
pub(super) struct Endpoint {
    /// The path, with its variable parts in braces.
    pub(super) path: &'static str,
    /// The parameters that its query may have.
    pub(super) parameters: &'static [&'static str],
    /// Its answer. It may wait for the disk.
    pub(super) answer: fn(&Inquiry) -> Result<Response, Problem>,
}

const fn endpoint(
    path: &'static str,
    parameters: &'static [&'static str],
    answer: fn(&Inquiry) -> Result<Response, Problem>,
) -> Endpoint {
    Endpoint { path, parameters, answer }
}

/// All paths.
pub(super) static ENDPOINTS: [Endpoint; 16] = [
    endpoint("/api/v1/violations", PAGED, records::page),
    endpoint("/api/v1/violations/{id}", &[], records::one),
    endpoint("/api/v1/violations.jsonl", FILTER, export::json_lines),
    endpoint("/api/v1/violations.csv", FILTER, export::csv),
    endpoint(
        "/api/v1/counts",
        &["by", "site", "crawler", "purpose", "only_violations", "since", "until"],
        counts::counts,
    ),
    endpoint("/api/v1/paths", &places::PARAMETERS, places::paths),
    endpoint("/api/v1/networks", &places::PARAMETERS, places::networks),
    endpoint("/api/v1/people", &["by", "site", "since", "until"], people::people),
    endpoint("/api/v1/referrals", &["site", "since", "until"], people::referrals),
    endpoint("/api/v1/report", &["site", "since", "until"], report::review),
    endpoint("/api/v1/crawlers/{token}", &["site", "since", "until"], report::score),
    endpoint("/api/v1/robots", &[], robots::sites),
    endpoint("/api/v1/robots/{site}/editions", &[], robots::editions),
    endpoint("/api/v1/robots/{site}/editions/{id}", &[], robots::edition),
    endpoint("/api/v1/status", &[], status::status),
    endpoint("/api/v1/openapi.json", &[], description),
];

fn description(_: &Inquiry) -> Result<Response, Problem> {
    Ok(of_type("application/json", DESCRIPTION))
}
