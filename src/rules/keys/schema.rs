//! The keys of a policy as a JSON Schema (draft 7, which every editor knows).
//!
//! The order of members is that of the table.

use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::rules::crawlers::Purpose;

use super::{
    section::{Absent, Key, Section, Shape},
    top::POLICY,
};

/// A value of JSON, with its members in order.
#[derive(Clone, Debug)]
pub enum Json {
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number.
    Number(i64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Self>),
    /// An object.
    Object(Vec<(&'static str, Self)>),
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Boolean(is) => serializer.serialize_bool(*is),
            Self::Number(number) => serializer.serialize_i64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items),
            Self::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                members.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
                map.end()
            }
        }
    }
}

/// The schema of a policy.
pub fn schema() -> Json {
    let head = vec![
        ("$schema", text("http://json-schema.org/draft-07/schema#")),
        ("title", text("The policy of Beadle")),
    ];
    Json::Object([head, of_section(&POLICY)].concat())
}

fn of_section(section: &'static Section) -> Vec<(&'static str, Json)> {
    let properties = section.keys.iter().map(|key| (key.name, of_key(key)));
    let required = section.keys.iter().filter(|key| key.absent == Absent::Required);
    let required: Vec<Json> = required.map(|key| text(key.name)).collect();
    let mut members = vec![
        ("type", text("object")),
        ("additionalProperties", Json::Boolean(false)),
        ("properties", Json::Object(properties.collect())),
    ];
    if !required.is_empty() {
        members.push(("required", Json::List(required)));
    }
    if !section.one_of.is_empty() {
        let alone = |name: &&str| Json::Object(vec![("required", Json::List(vec![text(*name)]))]);
        members.push(("oneOf", Json::List(section.one_of.iter().map(alone).collect())));
    }
    members
}

fn of_key(key: &Key) -> Json {
    let absent = match key.absent {
        Absent::Required => "required".to_owned(),
        Absent::Value(value) => format!("default `{value}`"),
        Absent::Words(words) => format!("default: {words}"),
    };
    let mut members = vec![("description", text(format!("{} ({absent})", key.meaning)))];
    members.extend(of_shape(key.shape));
    if let Absent::Value(value) = key.absent
        && let Some(value) = default(value, key.shape)
    {
        members.push(("default", value));
    }
    Json::Object(members)
}

/// The default as a value of the shape. A mapping has its defaults inside.
fn default(value: &str, shape: Shape) -> Option<Json> {
    Some(match shape {
        Shape::Section(_) => return None,
        Shape::Boolean => Json::Boolean(value == "true"),
        Shape::Integer(..) | Shape::Number(..) | Shape::OneNumber(_) => {
            Json::Number(value.parse().ok()?)
        }
        Shape::List(_) | Shape::Some(_) => match value.strip_prefix('[') {
            Some(items) => {
                let items = items.trim_end_matches(']').split(',');
                Json::List(items.map(|item| text(item.trim())).collect())
            }
            None => Json::List(vec![text(value)]),
        },
        _ => text(value.trim_matches('"')),
    })
}

fn of_shape(shape: Shape) -> Vec<(&'static str, Json)> {
    let kind = |kind: &str| vec![("type", text(kind))];
    let words =
        |words: &[&str]| ("enum", Json::List(words.iter().map(|word| text(*word)).collect()));
    let object = |shape: Shape| Json::Object(of_shape(shape));
    match shape {
        Shape::Text => kind("string"),
        Shape::Form(form) => [
            kind("string"),
            vec![
                ("pattern", text(form.pattern)),
                ("examples", Json::List(vec![text(form.example)])),
            ],
        ]
        .concat(),
        Shape::Boolean => kind("boolean"),
        Shape::Integer(least, most) => [kind("integer"), range(least, most)].concat(),
        Shape::Number(least, most) => [kind("number"), range(least, most)].concat(),
        Shape::OneNumber(numbers) => {
            vec![("enum", Json::List(numbers.iter().map(|number| Json::Number(*number)).collect()))]
        }
        Shape::Choice(choices) => vec![words(choices)],
        Shape::Purpose => vec![words(&Purpose::ALL.map(Purpose::as_str))],
        Shape::Crawlers => names(&["*"], "\\S"),
        Shape::SomeCrawlers => names(&[], "^[^*]*[^*\\s]"),
        Shape::Either(shapes) => {
            vec![("anyOf", Json::List(shapes.iter().map(|shape| object(*shape)).collect()))]
        }
        Shape::List(item) => list(*item, false),
        Shape::Some(item) => list(*item, true),
        Shape::Sections(section) => {
            let one = Json::Object(of_section(section));
            let list = vec![("type", text("array")), ("items", one.clone())];
            vec![("anyOf", Json::List(vec![Json::Object(list), one]))]
        }
        Shape::Mapping(value) => {
            vec![("type", text("object")), ("additionalProperties", object(*value))]
        }
        Shape::Section(section) => of_section(section),
    }
}

/// Names of crawlers: editors offer some, and every other of this pattern is valid too.
fn names(offered: &[&str], pattern: &str) -> Vec<(&'static str, Json)> {
    let purposes = Purpose::ALL.map(|purpose| text(format!("purpose:{purpose}")));
    let offered = offered.iter().map(|name| text(*name)).chain(purposes).collect();
    let offered = Json::Object(vec![("enum", Json::List(offered))]);
    let any = Json::Object(vec![("type", text("string")), ("pattern", text(pattern))]);
    vec![("anyOf", Json::List(vec![offered, any]))]
}

fn range(least: i64, most: i64) -> Vec<(&'static str, Json)> {
    vec![("minimum", Json::Number(least)), ("maximum", Json::Number(most))]
}

/// A list. A single text or number stands for a list of one; a mapping does not.
fn list(item: Shape, is_some: bool) -> Vec<(&'static str, Json)> {
    let items = Json::Object(of_shape(item));
    let mut list = vec![("type", text("array")), ("items", items)];
    if is_some {
        list.push(("minItems", Json::Number(1)));
    }
    match single(item) {
        None => list,
        Some(single) => vec![("anyOf", Json::List(vec![Json::Object(list), single]))],
    }
}

/// A single item in place of a list, if it can be a text or a number.
fn single(item: Shape) -> Option<Json> {
    match item {
        Shape::Section(_) | Shape::Sections(_) | Shape::Mapping(_) => None,
        Shape::Either(shapes) => {
            let each: Vec<Json> = shapes.iter().filter_map(|shape| single(*shape)).collect();
            (!each.is_empty()).then(|| Json::Object(vec![("anyOf", Json::List(each))]))
        }
        other => Some(Json::Object(of_shape(other))),
    }
}

fn text(text: impl Into<String>) -> Json {
    Json::Text(text.into())
}
