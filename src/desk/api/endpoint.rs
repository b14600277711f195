//! Every path of the API, with what its description says.

use axum::response::Response;

use super::{
    counts, description, export,
    inquiry::Inquiry,
    people, places,
    query::{FILTER, PAGED},
    records, report, robots, status,
};
use crate::{desk::admin::problem::Problem, records::counts::Dimension};

/// A path of the API.
pub(super) struct Endpoint {
    /// The path, with its variable parts in braces.
    pub(super) path: &'static str,
    /// Its name in programs that are made from the description.
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    /// What its variable parts are.
    pub(super) parts: &'static [&'static str],
    /// The parameters that its query may have.
    pub(super) parameters: &'static [&'static str],
    /// The words of its parameter `by`.
    pub(super) by: &'static [(&'static str, Dimension)],
    pub(super) media_type: &'static str,
    /// The schema of the answer.
    pub(super) schema: &'static str,
    pub(super) source: Source,
    /// Its answer. It may wait for the disk.
    pub(super) answer: fn(&Inquiry) -> Result<Response, Problem>,
}

/// Where an answer comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// The state in force.
    State,
    /// The database.
    Database,
    /// The database, as a file to download.
    Export,
}

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

/// All paths.
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
        answer: export::json_lines,
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
        answer: export::csv,
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
        parameters: &places::PARAMETERS,
        schema: "Paths",
        answer: places::paths,
        ..STORED
    },
    Endpoint {
        path: "/api/v1/networks",
        name: "networks",
        summary: "The networks with the most violations, most first.",
        parameters: &places::PARAMETERS,
        schema: "Networks",
        answer: places::networks,
        ..STORED
    },
    Endpoint {
        path: "/api/v1/people",
        name: "people",
        summary: "Requests of people.",
        parameters: &["by", "site", "since", "until"],
        by: &people::DIMENSIONS,
        schema: "People",
        answer: people::people,
        ..STORED
    },
    Endpoint {
        path: "/api/v1/referrals",
        name: "referrals",
        summary: "Visits of people that operators of crawlers sent, most first.",
        parameters: SPAN,
        schema: "Referrals",
        answer: people::referrals,
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
        answer: description::description,
        ..STORED
    },
];
