//! Lists in JSON, of whatever shape.
//!
//! An address counts as an item of an array (`["192.0.2.1"]`, `{"webhooks": [...]}`, arrays by
//! place), or as the value of a key that is known to hold one ([`is_address_key`]) in any object
//! but the outermost: `{"ip": "…"}` alone is how a service tells the asker's own address. Objects
//! may be keyed by number or place. Other keys and other values are passed over.
//!
//! Amazon Web Services lists every prefix by the service that uses it; only those of its health
//! checks count, since all others are machines of its customers.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{prefix, read::Found, refusal::Refusal};

/// The service of Amazon Web Services that asks by itself.
const AWS_SERVICE: &str = "ROUTE53_HEALTHCHECKS";

/// Reads a JSON text without building it in memory.
pub(super) fn read(octets: &[u8], found: &mut Found) -> Result<(), Refusal> {
    let mut reading = Reading { found, refusal: None };
    let mut text = serde_json::Deserializer::from_slice(octets);
    let value = Value { reading: &mut reading, place: Place::Root };
    let outcome = value.deserialize(&mut text).and_then(|_| text.end());
    match (reading.refusal, outcome) {
        (Some(refusal), _) => Err(refusal),
        (None, Ok(())) => Ok(()),
        (None, Err(fault)) => Err(Refusal::NotJson { line: fault.line(), column: fault.column() }),
    }
}

/// Whether the values of a key are addresses: `ipv4Prefix` and its like, in any case, with or
/// without underscores.
fn is_address_key(key: &str) -> bool {
    const KEYS: [&str; 17] = [
        "address",
        "addresses",
        "cidr",
        "ip",
        "ipaddress",
        "ipprefix",
        "iprange",
        "ips",
        "ipv4",
        "ipv4address",
        "ipv4prefix",
        "ipv6",
        "ipv6address",
        "ipv6prefix",
        "network",
        "prefix",
        "subnet",
    ];
    let letters = || key.bytes().filter(|b| !b"_-".contains(b)).map(|b| b.to_ascii_lowercase());
    KEYS.iter().any(|known| letters().eq(known.bytes()))
}

struct Reading<'a> {
    found: &'a mut Found,
    refusal: Option<Refusal>,
}

impl Reading<'_> {
    /// Takes a text; one that is no address is noted where one was `expected`.
    fn take<E: de::Error>(&mut self, text: &str, expected: bool) -> Result<(), E> {
        match self.found.take(text) {
            Ok(true) => Ok(()),
            Ok(false) => {
                if expected && !text.is_empty() {
                    self.found.note_unread(text);
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

/// Where a value stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It is the whole document.
    Root,
    /// In an array.
    Item,
    /// Under a key whose texts are wanted: that of an address, or `service`.
    Wanted,
    /// Under any other key.
    Other,
}

/// Any value, at its place. A wanted text is given back, all else taken on the way.
struct Value<'a, 'f> {
    reading: &'a mut Reading<'f>,
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
        if self.place == Place::Item {
            self.reading.take(text, prefix::looks_meant(text))?;
        }
        Ok((self.place == Place::Wanted).then(|| text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let reading = self.reading;
        while items.next_element_seed(Value { reading, place: Place::Item })?.is_some() {}
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let reading = self.reading;
        let (mut addresses, mut service) = (Vec::new(), None);
        while let Some(key) = members.next_key::<String>()? {
            let is_service = key == "service";
            let is_wanted = self.place != Place::Root && (is_service || is_address_key(&key));
            let place = if is_wanted { Place::Wanted } else { Place::Other };
            let text = members.next_value_seed(Value { reading, place })?;
            if is_service {
                service = text;
            } else {
                addresses.extend(text.map(|text| (key, text)));
            }
        }
        for (key, text) in addresses {
            let is_of_aws = matches!(key.as_str(), "ip_prefix" | "ipv6_prefix");
            let is_of_customers = service.as_ref().is_some_and(|service| service != AWS_SERVICE);
            if !(is_of_aws && is_of_customers) {
                // `network` and `address` may name other things than addresses.
                reading.take(&text, key.starts_with("ip") || prefix::looks_meant(&text))?;
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
