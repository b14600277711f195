//! Every path of the API, and their description: `openapi.json`, and what follows from the table.
//!
//! The schemas stand in a text, because what they describe is written in rooms that know no API; tests
//! hold the answers against them.

use std::{iter, sync::LazyLock};

use axum::response::Response;
use serde_json::{Value, json};

use super::{
    counts,
    inquiry::{Inquiry, of_type},
    query::{FILTER, PAGED},
    records, report, robots,
};
use crate::{
    desk::admin::problem::Problem,
    records::{counts::Dimension, record::REASONS},
};

/// A path of the API, with what its description says.
pub(super) struct Endpoint {
    pub(super) path: &'static str,
    /// Its name in programs that are made from the description.
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    pub(super) parts: &'static [&'static str],
    pub(super) parameters: &'static [&'static str],
    pub(super) by: &'static [(&'static str, Dimension)],
    pub(super) media_type: &'static str,
    pub(super) schema: &'static str,
    pub(super) source: Source,
    pub(super) answer: fn(&Inquiry) -> Result<Response, Problem>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    State,
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
    answer: robots::status,
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
        answer: robots::status,
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
    static DESCRIPTION: LazyLock<String> = LazyLock::new(|| format!("{:#}", document(&ENDPOINTS)));
    Ok(of_type("application/json", DESCRIPTION.as_str()))
}

pub(super) fn document(endpoints: &[Endpoint]) -> Value {
    let text = include_str!("openapi.json");
    let mut document: Value = serde_json::from_str(text).expect("tests read it");
    let components = &mut document["components"];
    close(&mut components["schemas"]);
    components["parameters"]["reason"]["schema"]["enum"] = json!(REASONS);
    for (name, parameter) in components["parameters"].as_object_mut().into_iter().flatten() {
        parameter["name"] = name.as_str().into();
        parameter["in"] = "query".into();
        parameter["required"] = false.into();
    }
    for (_, refusal) in components["responses"].as_object_mut().into_iter().flatten() {
        let schema = reference("schemas", "Problem");
        refusal["content"] = json!({ "application/problem+json": { "schema": schema } });
    }
    let paths = endpoints.iter().map(|one| (one.path, json!({ "get": operation(one) })));
    document["paths"] = paths.collect();
    document
}

/// What has properties is an object. It refuses others, and has all of its own but optional ones, unless it says which.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(properties) = members.get("properties").and_then(Value::as_object) {
                let optional = members.get("optional").and_then(Value::as_array);
                let is_required =
                    |name: &&str| optional.is_none_or(|all| !all.contains(&json!(name)));
                let all = properties.keys().map(String::as_str).filter(is_required);
                let all = all.collect::<Value>();
                members.shift_remove("optional");
                members.entry("required").or_insert(all);
                members.entry("type").or_insert_with(|| "object".into());
                members.insert("additionalProperties".to_owned(), false.into());
            }
            members.values_mut().for_each(close);
        }
        Value::Array(elements) => elements.iter_mut().for_each(close),
        _ => {}
    }
}

fn operation(endpoint: &Endpoint) -> Value {
    let Endpoint { path, source, .. } = endpoint;
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let parts = names.zip(endpoint.parts).map(|(name, description)| {
        json!({
            "name": name,
            "in": "path",
            "required": true,
            "description": description,
            "schema": { "type": "string", "minLength": 1 },
        })
    });
    let queries = endpoint.parameters.iter().map(|name| match *name {
        "by" => by(endpoint.by),
        name => reference("parameters", name),
    });
    let content = json!({ "schema": reference("schemas", endpoint.schema) });
    let mut answer =
        json!({ "description": endpoint.summary, "content": { (endpoint.media_type): content } });
    if *source == Source::Export {
        answer["headers"] = json!({ "Content-Disposition": { "schema": { "type": "string" } } });
    }
    let refusals = [
        ("400", "Refused", true),
        ("401", "Unauthorized", true),
        ("404", "NotFound", !endpoint.parts.is_empty()),
        ("409", "NoDatabase", *source != Source::State),
        ("429", "Busy", *source == Source::Export),
        ("500", "Failed", true),
        ("503", "Unavailable", true),
    ];
    let refusals = refusals.into_iter().filter(|(.., may_come)| *may_come);
    let refusals = refusals.map(|(status, name, _)| (status, reference("responses", name)));
    json!({
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "parameters": parts.chain(queries).collect::<Value>(),
        "responses": iter::once(("200", answer)).chain(refusals).collect::<Value>(),
    })
}

fn reference(kind: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{kind}/{name}") })
}

/// The parameter by which counts are told apart by these words.
fn by(words: &[(&str, Dimension)]) -> Value {
    json!({
        "name": "by",
        "in": "query",
        "required": false,
        "style": "form",
        "explode": false,
        "description": "By what the counts are told apart, with commas between the words. 'hour' and 'day' \
                        exclude each other.",
        "schema": {
            "type": "array",
            "minItems": 1,
            "uniqueItems": true,
            "items": {
                "type": "string",
                "enum": words.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
            },
        },
    })
}
