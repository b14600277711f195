//! The description has every path with every parameter, and no other.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::endpoints::{ENDPOINTS, document};

/// The part of the description that a reference names.
fn followed<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let Some(reference) = value["$ref"].as_str() else { return value };
    let path = reference.strip_prefix('#').expect("it is within the document");
    document.pointer(path).unwrap_or_else(|| panic!("{reference} leads nowhere"))
}

#[test]
fn paths_methods_and_parameters_are_those_of_the_router() {
    let document = document(&ENDPOINTS);
    let described: BTreeMap<String, BTreeSet<String>> = document["paths"]
        .as_object()
        .expect("paths")
        .iter()
        .map(|(path, item)| {
            let methods: Vec<_> = item.as_object().expect("methods").keys().collect();
            assert_eq!(methods, ["get"], "{path}");
            let parameters = item["get"]["parameters"].as_array().into_iter().flatten();
            let named = parameters.map(|one| followed(&document, one)).map(|one| {
                let text = |name: &str| one[name].as_str().expect("a text").to_owned();
                format!("{} {}", text("in"), text("name"))
            });
            (path.clone(), named.collect())
        })
        .collect();
    let routed: BTreeMap<String, BTreeSet<String>> = ENDPOINTS
        .iter()
        .map(|endpoint| {
            let query = endpoint.parameters.iter().map(|name| format!("query {name}"));
            let parts = endpoint.path.split('/').filter_map(|part| {
                Some(format!("path {}", part.strip_prefix('{')?.strip_suffix('}')?))
            });
            (endpoint.path.to_owned(), query.chain(parts).collect())
        })
        .collect();
    assert_eq!(described, routed);
}

#[test]
fn every_reference_leads_somewhere_and_every_part_is_used() {
    let document = document(&ENDPOINTS);
    let mut used = BTreeSet::new();
    let mut waiting = vec![&document];
    while let Some(value) = waiting.pop() {
        if let Some(reference) = value["$ref"].as_str() {
            followed(&document, value);
            used.insert(reference.to_owned());
        }
        match value {
            Value::Object(members) => waiting.extend(members.values()),
            Value::Array(elements) => waiting.extend(elements),
            _ => {}
        }
    }
    let parts = ["parameters", "responses", "schemas"].into_iter().flat_map(|kind| {
        let named = document["components"][kind].as_object().expect("parts").keys();
        named.map(move |name| format!("#/components/{kind}/{name}"))
    });
    assert_eq!(used, parts.collect());
}

#[test]
fn every_object_refuses_other_properties() {
    let document = document(&ENDPOINTS);
    let mut waiting = vec![&document["components"]["schemas"]];
    while let Some(value) = waiting.pop() {
        if value.get("properties").is_some_and(Value::is_object) && value["type"] != Value::Null {
            assert_eq!(value["additionalProperties"], false, "{value}");
        }
        match value {
            Value::Object(members) => waiting.extend(members.values()),
            Value::Array(elements) => waiting.extend(elements),
            _ => {}
        }
    }
}
