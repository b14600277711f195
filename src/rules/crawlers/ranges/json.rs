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

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{entries::Entries, member_names, prefix, refusal::Refusal};

/// The one service of Amazon Web Services that sends requests of its own.
const AWS_SERVICE: &str = "ROUTE53_HEALTHCHECKS";

/// Reads a JSON text without building it in memory.
pub(super) fn read(octets: &[u8], entries: &mut Entries) -> Result<(), Refusal> {
    let mut sink = Sink { entries, refusal: None, numbered: Vec::new() };
    let mut text = serde_json::Deserializer::from_slice(octets);
    let value = Value { sink: &mut sink, role: Role::Root, place: Place::Alone };
    let result = value.deserialize(&mut text).and_then(|_| text.end());
    match (sink.refusal, result) {
        (Some(refusal), _) => Err(refusal),
        (None, Ok(())) => Ok(()),
        (None, Err(error)) => Err(Refusal::NotJson { line: error.line(), column: error.column() }),
    }
}

/// The entries so far, and the refusal that ended the reading.
struct Sink<'a> {
    entries: &'a mut Entries,
    refusal: Option<Refusal>,
    /// Texts under generic keys in members with a number as name: they count if there are several.
    numbered: Vec<Address>,
}

/// The text of a member that may be an address.
struct Address {
    text: String,
    /// Whether the text must be an address.
    is_expected: bool,
}

impl Sink<'_> {
    /// Adds an entry. Notes a text that is `expected` to be an address and is not.
    fn add<E: de::Error>(&mut self, text: &str, expected: bool) -> Result<(), E> {
        match self.entries.add(text) {
            Ok(true) => Ok(()),
            Ok(false) => {
                if expected && !text.is_empty() {
                    self.entries.note_unread(text);
                }
                Ok(())
            }
            Err(refusal) => {
                self.refusal = Some(refusal);
                Err(E::custom("refused"))
            }
        }
    }
}

/// The role of a value in the document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The whole document.
    Root,
    Item,
    /// The value of an address key or of `service`.
    Wanted,
    /// The value of any other key.
    Other,
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

/// A value in its role. Returns a wanted text, and adds the other entries to the sink.
struct Value<'a, 'f> {
    sink: &'a mut Sink<'f>,
    role: Role,
    place: Place,
}

impl<'de> DeserializeSeed<'de> for Value<'_, '_> {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<Self::Value, D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_, '_> {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        if self.role == Role::Item {
            self.sink.add(text, prefix::looks_meant(text))?;
        }
        Ok((self.role == Role::Wanted).then(|| text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let sink = self.sink;
        let (role, place) = (Role::Item, Place::Listed);
        while items.next_element_seed(Value { sink: &mut *sink, role, place })?.is_some() {}
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let sink = self.sink;
        let (mut addresses, mut service) = (Vec::new(), None);
        let (mut numbers, start) = (0, sink.numbered.len());
        while let Some(key) = members.next_key::<String>()? {
            let is_number = !key.is_empty() && key.bytes().all(|octet| octet.is_ascii_digit());
            numbers += usize::from(is_number);
            let place = match self.place {
                Place::Alone if is_number => Place::Numbered,
                place => place,
            };
            let is_service = key == "service";
            let is_address = member_names::is_of_prefixes(&key)
                || (self.place != Place::Alone && member_names::is_of_addresses(&key));
            let is_wanted = self.role != Role::Root && (is_service || is_address);
            let role = if is_wanted { Role::Wanted } else { Role::Other };
            let text = members.next_value_seed(Value { sink: &mut *sink, role, place })?;
            if is_service {
                service = text;
            } else {
                addresses.extend(text.map(|text| (key, text)));
            }
        }
        if self.place == Place::Alone {
            let numbered = sink.numbered.split_off(start);
            for Address { text, is_expected } in numbered.into_iter().filter(|_| numbers > 1) {
                sink.add(&text, is_expected)?;
            }
        }
        for (key, text) in addresses {
            let is_of_aws = matches!(key.as_str(), "ip_prefix" | "ipv6_prefix");
            let is_of_customers = service.as_ref().is_some_and(|service| service != AWS_SERVICE);
            if is_of_aws && is_of_customers {
                continue;
            }
            // The value of `network` or `address` may be something else.
            let is_expected = key.starts_with("ip") || prefix::looks_meant(&text);
            if self.place == Place::Numbered && !member_names::is_of_prefixes(&key) {
                sink.numbered.push(Address { text, is_expected });
            } else {
                sink.add(&text, is_expected)?;
            }
        }
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}
