//! Every path of the API.

use std::sync::LazyLock;

use axum::response::Response;

use super::{
    answer::of_type,
    counts,
    description::document,
    endpoint::{Endpoint, Source},
    inquiry::Inquiry,
    query::{FILTER, PAGED},
    records, report, robots, status,
};
use crate::desk::admin::problem::Problem;

static DESCRIPTION: LazyLock<String> = LazyLock::new(|| format!("{:#}", document(&ENDPOINTS)));

/// An answer in JSON from the database.
const STORED: Endpoint = Endpoint {
    path: "",
    name: "",
    summary: "",
    parts: &[],
    parameters: &[],
    by: &[],
    media_type: "application/json",
    schema: "",
    source: Source::Database,
    answer: status::status,
};

const SPAN: &[&str] = &["site", "since", "until"];

pub(super) static ENDPOINTS: [Endpoint; 16] = [
    Endpoint {
        path: "/api/v1/violations",
        name: "violations",
        summary: "Violations, newest first, page by page.",
        parameters: PAGED,
        schema: "Violations",
        answer: records::page,
        ..STORED
    },
    Endpoint {
        path: "/api/v1/violations/{id}",
        name: "violation",
        summary: "One violation.",
        parts: &["The decision id."],
        schema: "Violation",
        answer: records::one,
        ..STORED
    },
    Endpoint {
        path: "/api/v1/violations.jsonl",
        name: "exportJsonLines",
        summary: "All violations of a filter as JSON lines, in the order of writing.",
        parameters: FILTER,
        media_type: "application/jsonl",
        schema: "JsonLines",
        source: Source::Export,
        answer: records::json_lines,
        ..STORED
    },
    Endpoint {
        path: "/api/v1/violations.csv",
        name: "exportCsv",
        summary: "All violations of a filter as CSV, in the order of writing.",
        parameters: FILTER,
        media_type: "text/csv",
        schema: "Csv",
        source: Source::Export,
        answer: records::csv,
        ..STORED
    },
    Endpoint {
        path: "/api/v1/counts",
        name: "counts",
        summary: "Requests of crawlers and other programs, counted by hour.",
        parameters: &["by", "site", "crawler", "purpose", "only_violations", "since", "until"],
        by: &counts::DIMENSIONS,
        schema: "Counts",
        answer: counts::counts,
        ..STORED
    },
    Endpoint {
        path: "/api/v1/paths",
        name: "paths",
        summary: "The paths with the most violations, most first.",
        parameters: &counts::OF_PLACES,
        schema: "Paths",
        answer: counts::paths,
        ..STORED
    },
    Endpoint {
        path: "/api/v1/networks",
        name: "networks",
        summary: "The networks with the most violations, most first.",
        parameters: &counts::OF_PLACES,
        schema: "Networks",
        answer: counts::networks,
        ..STORED
    },
    Endpoint {
        path: "/api/v1/people",
        name: "people",
        summary: "Requests of people.",
        parameters: &["by", "site", "since", "until"],
        by: &counts::OF_PEOPLE,
        schema: "People",
        answer: counts::people,
        ..STORED
    },
    Endpoint {
        path: "/api/v1/referrals",
        name: "referrals",
        summary: "Visits of people that operators of crawlers sent, most first.",
        parameters: SPAN,
        schema: "Referrals",
        answer: counts::referrals,
        ..STORED
    },
    Endpoint {
        path: "/api/v1/report",
        name: "report",
        summary: "A span of time against the one before.",
        parameters: SPAN,
        schema: "Report",
        answer: report::review,
        ..STORED
    },
    Endpoint {
        path: "/api/v1/crawlers/{token}",
        name: "score",
        summary: "The scorecard of a crawler.",
        parts: &["The product token or another name of the crawler."],
        parameters: SPAN,
        schema: "Score",
        answer: report::score,
        ..STORED
    },
    Endpoint {
        path: "/api/v1/robots",
        name: "robots",
        summary: "The robots.txt in force of every site.",
        schema: "Sites",
        source: Source::State,
        answer: robots::sites,
        ..STORED
    },
    Endpoint {
        path: "/api/v1/robots/{site}/editions",
        name: "editions",
        summary: "The editions of a site's robots.txt that the database has, in the order of their start.",
        parts: &["The site, by one of its hosts."],
        schema: "Editions",
        answer: robots::editions,
        ..STORED
    },
    Endpoint {
        path: "/api/v1/robots/{site}/editions/{id}",
        name: "edition",
        summary: "The bytes of an edition.",
        parts: &["The site, by one of its hosts.", "8 or more hexadecimal digits of the hash."],
        media_type: "text/plain",
        schema: "Bytes",
        answer: robots::edition,
        ..STORED
    },
    Endpoint {
        path: "/api/v1/status",
        name: "status",
        summary: "The state of the program.",
        schema: "Status",
        source: Source::State,
        answer: status::status,
        ..STORED
    },
    Endpoint {
        path: "/api/v1/openapi.json",
        name: "description",
        summary: "This description.",
        schema: "Description",
        source: Source::State,
        answer: description,
        ..STORED
    },
];

fn description(_: &Inquiry) -> Result<Response, Problem> {
    Ok(of_type("application/json", DESCRIPTION.as_str()))
}
