//! JSON Schema (2020-12) as far as the description uses it. A keyword that is not known here is a fault
//! of the description, so that nothing in it goes unchecked.

use regex_automata::meta::Regex;
use serde_json::Value;

/// Whatever says something about a value but nothing against it.
const REMARKS: [&str; 3] = ["description", "default", "$schema"];

/// What is wrong with a value, with the place; empty if it is as the schema says.
pub(crate) fn faults(document: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    check(document, schema, value, "", &mut faults);
    faults
}

fn check(document: &Value, schema: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
    let keywords = schema.as_object().unwrap_or_else(|| panic!("{schema} is no schema"));
    for (keyword, wanted) in keywords {
        let is_fine = match keyword.as_str() {
            "$ref" => {
                let path = wanted.as_str().and_then(|text| text.strip_prefix('#'));
                let named = path.and_then(|path| document.pointer(path));
                check(document, named.expect("it leads somewhere"), value, at, faults);
                true
            }
            "type" => match wanted {
                Value::Array(types) => types.iter().any(|one| is_of(one, value)),
                one => is_of(one, value),
            },
            "const" => wanted == value,
            "enum" => wanted.as_array().expect("values").contains(value),
            "pattern" => value.as_str().is_none_or(|text| {
                Regex::new(wanted.as_str().expect("a text")).expect("a pattern").is_match(text)
            }),
            "minimum" => value.as_f64().is_none_or(|number| number >= number_of(wanted)),
            "maximum" => value.as_f64().is_none_or(|number| number <= number_of(wanted)),
            "minItems" => value.as_array().is_none_or(|all| all.len() as f64 >= number_of(wanted)),
            "oneOf" => {
                let schemas = wanted.as_array().expect("schemas").iter();
                schemas.filter(|one| self::faults(document, one, value).is_empty()).count() == 1
            }
            "items" => {
                for (number, element) in value.as_array().into_iter().flatten().enumerate() {
                    check(document, wanted, element, &format!("{at}/{number}"), faults);
                }
                true
            }
            "required" => {
                let names = wanted.as_array().expect("names").iter();
                let missing = |name: &&Value| value.get(name.as_str().expect("a name")).is_none();
                !value.is_object() || names.filter(missing).count() == 0
            }
            "properties" => {
                for (name, member) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = wanted.get(name) {
                        check(document, schema, member, &format!("{at}/{name}"), faults);
                    }
                }
                true
            }
            "additionalProperties" => {
                let known = schema.get("properties");
                let others = value.as_object().into_iter().flatten();
                let others: Vec<_> = others
                    .filter(|(name, _)| known.is_none_or(|known| known.get(name).is_none()))
                    .collect();
                if wanted.is_object() {
                    for (name, member) in &others {
                        check(document, wanted, member, &format!("{at}/{name}"), faults);
                    }
                }
                wanted.is_object() || others.is_empty()
            }
            remark if REMARKS.contains(&remark) => true,
            unknown => panic!("the keyword '{unknown}' is not known here"),
        };
        if !is_fine {
            faults.push(format!("{at}: {value} is not of {keyword} {wanted}"));
        }
    }
}

fn number_of(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn is_of(wanted: &Value, value: &Value) -> bool {
    match wanted.as_str().expect("a type") {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("'{other}' is no type"),
    }
}

#[test]
fn a_value_is_of_its_schema_or_not() {
    let document: Value = serde_json::json!({ "a": {
        "type": "object",
        "properties": {
            "n": { "type": ["integer", "null"], "minimum": 1 },
            "t": { "type": "string", "pattern": "^[ab]+$" },
            "l": { "type": "array", "items": { "oneOf": [{ "const": 1 }, { "enum": [2, 3] }] } }
        },
        "required": ["n"],
        "additionalProperties": false
    } });
    let schema = serde_json::json!({ "$ref": "#/a" });
    for (text, is_valid) in [
        (r#"{"n":1}"#, true),
        (r#"{"n":null,"t":"ab","l":[1,2,3]}"#, true),
        (r#"{"n":0}"#, false),
        (r#"{"n":1.5}"#, false),
        (r#"{"n":"1"}"#, false),
        (r#"{}"#, false),
        (r#"{"n":1,"x":1}"#, false),
        (r#"{"n":1,"t":"abc"}"#, false),
        (r#"{"n":1,"l":[4]}"#, false),
        ("[]", false),
    ] {
        let value = serde_json::from_str(text).expect("JSON");
        assert_eq!(faults(&document, &schema, &value).is_empty(), is_valid, "{text}");
    }
}
