//! The description of the API: `openapi.json`, and what follows from the table of the paths.
//!
//! The schemas stand in a text, because what they describe is written in rooms that know no API; tests
//! hold the answers against them.

use std::iter;

use serde_json::{Value, json};

use super::endpoint::{Endpoint, Source};
use crate::records::{counts::Dimension, record::REASONS};

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
