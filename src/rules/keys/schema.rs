//! The keys of a policy as a JSON Schema (draft 7, which every editor knows).
//!
//! The order of members is that of the table.

use serde_json::{Map, Value, json};

use crate::rules::crawlers::Purpose;

use super::{
    section::{Absent, Key, Section, Shape},
    top::POLICY,
};

/// The schema of a policy.
pub fn schema() -> Value {
    let head = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "The policy of Beadle",
    });
    with(head, of_section(&POLICY))
}

fn with(mut object: Value, more: Value) -> Value {
    if let (Value::Object(members), Value::Object(more)) = (&mut object, more) {
        members.extend(more);
    }
    object
}

fn of_section(section: &'static Section) -> Value {
    let properties = section.keys.iter().map(|key| (key.name.to_owned(), of_key(key)));
    let properties: Map<String, Value> = properties.collect();
    let required = section.keys.iter().filter(|key| key.absent == Absent::Required);
    let required: Vec<&str> = required.map(|key| key.name).collect();
    let mut schema =
        json!({ "type": "object", "additionalProperties": false, "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    if !section.one_of.is_empty() {
        schema["oneOf"] = section.one_of.iter().map(|name| json!({ "required": [name] })).collect();
    }
    schema
}

fn of_key(key: &Key) -> Value {
    let absent = match key.absent {
        Absent::Required => "required".to_owned(),
        Absent::Value(value) => format!("default `{value}`"),
        Absent::Words(words) => format!("default: {words}"),
    };
    let description = json!({ "description": format!("{} ({absent})", key.meaning) });
    let mut schema = with(description, of_shape(key.shape));
    if let Absent::Value(value) = key.absent
        && let Some(value) = default(value, key.shape)
    {
        schema["default"] = value;
    }
    schema
}

/// The default as a value of the shape. A mapping has its defaults inside.
fn default(value: &str, shape: Shape) -> Option<Value> {
    Some(match shape {
        Shape::Section(_) => return None,
        Shape::Boolean => json!(value == "true"),
        Shape::Integer(..) | Shape::Number(..) | Shape::OneNumber(_) => {
            json!(value.parse::<i64>().ok()?)
        }
        Shape::List(_) | Shape::Some(_) => match value.strip_prefix('[') {
            Some(items) => items.trim_end_matches(']').split(',').map(str::trim).collect(),
            None => json!([value]),
        },
        _ => json!(value.trim_matches('"')),
    })
}

fn of_shape(shape: Shape) -> Value {
    match shape {
        Shape::Text => json!({ "type": "string" }),
        Shape::Form(form) => {
            json!({ "type": "string", "pattern": form.pattern, "examples": [form.example] })
        }
        Shape::Boolean => json!({ "type": "boolean" }),
        Shape::Integer(least, most) => {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        }
        Shape::Number(least, most) => {
            json!({ "type": "number", "minimum": least, "maximum": most })
        }
        Shape::OneNumber(numbers) => json!({ "enum": numbers }),
        Shape::Choice(choices) => json!({ "enum": choices }),
        Shape::Purpose => json!({ "enum": Purpose::ALL }),
        Shape::Crawlers => names(&["*"], "\\S"),
        Shape::SomeCrawlers => names(&[], "^[^*]*[^*\\s]"),
        Shape::Either(shapes) => {
            json!({ "anyOf": shapes.iter().copied().map(of_shape).collect::<Value>() })
        }
        Shape::List(item) => list(*item, false),
        Shape::Some(item) => list(*item, true),
        Shape::Sections(section) => {
            let one = of_section(section);
            json!({ "anyOf": [{ "type": "array", "items": one }, one] })
        }
        Shape::Mapping(value) => {
            json!({ "type": "object", "additionalProperties": of_shape(*value) })
        }
        Shape::Section(section) => of_section(section),
    }
}

/// Names of crawlers: editors offer some, and every other of this pattern is valid too.
fn names(offered: &[&str], pattern: &str) -> Value {
    let purposes = Purpose::ALL.map(|purpose| format!("purpose:{purpose}"));
    let offered = offered.iter().map(|name| (*name).to_owned()).chain(purposes);
    let offered = offered.collect::<Value>();
    json!({ "anyOf": [{ "enum": offered }, { "type": "string", "pattern": pattern }] })
}

/// A list. A single text or number stands for a list of one; a mapping does not.
fn list(item: Shape, is_some: bool) -> Value {
    let mut list = json!({ "type": "array", "items": of_shape(item) });
    if is_some {
        list["minItems"] = json!(1);
    }
    match single(item) {
        None => list,
        Some(single) => json!({ "anyOf": [list, single] }),
    }
}

/// A single item in place of a list, if it can be a text or a number.
fn single(item: Shape) -> Option<Value> {
    match item {
        Shape::Section(_) | Shape::Sections(_) | Shape::Mapping(_) => None,
        Shape::Either(shapes) => {
            let each: Vec<Value> = shapes.iter().filter_map(|shape| single(*shape)).collect();
            (!each.is_empty()).then(|| json!({ "anyOf": each }))
        }
        other => Some(of_shape(other)),
    }
}
