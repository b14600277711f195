//! Lists in JSON, of any shape.
//!
//! An address counts as an item of an array (`["192.0.2.1"]`, `{"webhooks": [...]}`, arrays by
//! place), or as the value of a key. Keys that only lists of prefixes use (`ipv4Prefix`) count in any
//! object but the outermost. Generic keys (`ip`) count only inside an array: an error with the
//! client's own address has them too. An object with two or more numbers as keys is an array. Other
//! keys and other values are ignored.
//!
//! Amazon Web Services lists every prefix by service. Only the prefixes of its health checks count,
//! since all others are machines of its customers.

use serde_json::{Map, Value};

use crate::base::diagnostic::Diagnostic;

use super::{
    entries::{Entries, is_of_addresses, is_of_prefixes},
    prefix,
};

/// The one service of Amazon Web Services that sends requests of its own.
const AWS_SERVICE: &str = "ROUTE53_HEALTHCHECKS";

pub(super) fn read(octets: &[u8], entries: &mut Entries) -> Result<(), Diagnostic> {
    let document: Value = serde_json::from_slice(octets).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let message = format!(
            "not JSON at line {line}, column {column} (check whether the list is complete)"
        );
        Diagnostic::error("ranges.not_json", message)
    })?;
    let mut reader = Reader { entries, numbered: Vec::new() };
    match &document {
        Value::Object(members) => reader.object(members, true, Place::Alone),
        other => reader.value(other, Place::Alone),
    }
}

struct Reader<'a, 'd> {
    entries: &'a mut Entries,
    /// Texts under generic keys in members with a number as name: they count if there are several.
    numbered: Vec<Address<'d>>,
}

/// The text of a member that may be an address.
struct Address<'d> {
    text: &'d str,
    /// Whether the text must be an address.
    is_expected: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Inside an array.
    Listed,
    /// Inside a member with a number as name, which may be an item of a list.
    Numbered,
    /// Anywhere else.
    Alone,
}

impl<'d> Reader<'_, 'd> {
    /// Adds an entry. Notes a text that is `expected` to be an address and is not.
    fn add(&mut self, text: &str, expected: bool) -> Result<(), Diagnostic> {
        if !self.entries.add(text)? && expected && !text.is_empty() {
            self.entries.note_unread(text);
        }
        Ok(())
    }

    fn value(&mut self, value: &'d Value, place: Place) -> Result<(), Diagnostic> {
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| match item {
                Value::String(text) => self.add(text, prefix::looks_meant(text)),
                other => self.value(other, Place::Listed),
            }),
            Value::Object(members) => self.object(members, false, place),
            _ => Ok(()),
        }
    }

    fn object(
        &mut self,
        members: &'d Map<String, Value>,
        is_root: bool,
        place: Place,
    ) -> Result<(), Diagnostic> {
        let is_number =
            |key: &String| !key.is_empty() && key.bytes().all(|octet| octet.is_ascii_digit());
        let start = self.numbered.len();
        for (key, value) in members {
            let is_item = place == Place::Alone && is_number(key);
            self.value(value, if is_item { Place::Numbered } else { place })?;
        }
        if place == Place::Alone {
            let numbered = self.numbered.split_off(start);
            let is_array = members.keys().filter(|key| is_number(key)).count() > 1;
            for Address { text, is_expected } in numbered.into_iter().filter(|_| is_array) {
                self.add(text, is_expected)?;
            }
        }
        let service = members.get("service").and_then(Value::as_str);
        let is_of_customers = service.is_some_and(|service| service != AWS_SERVICE);
        for (key, value) in members {
            let is_of_prefixes = is_of_prefixes(key);
            let is_address = is_of_prefixes || (place != Place::Alone && is_of_addresses(key));
            let text = value.as_str().filter(|_| is_address && !is_root && key != "service");
            let Some(text) = text else { continue };
            if is_of_customers && matches!(key.as_str(), "ip_prefix" | "ipv6_prefix") {
                continue;
            }
            // The value of `network` or `address` may be something else.
            let is_expected = key.starts_with("ip") || prefix::looks_meant(text);
            if place == Place::Numbered && !is_of_prefixes {
                self.numbered.push(Address { text, is_expected });
            } else {
                self.add(text, is_expected)?;
            }
        }
        Ok(())
    }
}
