//! Requests in a time, as in `10/1m`.

use crate::{base::escape::shown, formats::robots::Pace};

use super::{fields::Setting, shape::At, yaml::Value};

impl Setting for Pace {
    fn read(at: &At<'_>) -> Option<Self> {
        let message = match &at.node.value {
            Value::Integer(n) => format!("{n} is not a pace"),
            Value::Float(n) => format!("{n} is not a pace"),
            _ => {
                let text = at.text()?;
                match Self::parse(text) {
                    Some(pace) => return Some(pace),
                    None if is_too_fast(text) => {
                        format!("'{}' is faster than a thousand requests a second", shown(text))
                    }
                    None => format!("'{}' is not a pace", shown(text)),
                }
            }
        };
        at.refused(message, "write requests and a time, for example 1/10s or 10/1m")
    }
}

/// Whether it would be a pace with fewer requests.
fn is_too_fast(text: &str) -> bool {
    text.split_once('/').is_some_and(|(requests, time)| {
        let is_number = requests.bytes().all(|b| b.is_ascii_digit());
        let is_some = requests.bytes().any(|b| b != b'0');
        is_number && is_some && Pace::parse(&format!("1/{time}")).is_some()
    })
}
