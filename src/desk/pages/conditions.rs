//! The conditions in the address of a page. The page names mistakes in them.

use std::convert::Infallible;

use axum::{extract::FromRequestParts, http::request::Parts};
use serde::{
    Deserializer,
    de::{
        DeserializeOwned, Visitor,
        value::{Error, MapDeserializer},
    },
    forward_to_deserialize_any,
};
use url::form_urlencoded;

use crate::base::escape::shown;

/// The conditions that a page knows, all of them texts, and a sentence for each other one.
pub(super) struct Asked<T>(pub(super) T, pub(super) Vec<String>);

impl<S: Sync, T: Default + DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(parts.uri.query().unwrap_or_default()))
    }
}

impl<T: Default + DeserializeOwned> Asked<T> {
    fn of(query: &str) -> Self {
        let pairs = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let mut conditions = Conditions { pairs, faults: Vec::new() };
        let wanted = T::deserialize(&mut conditions).unwrap_or_default();
        Self(wanted, conditions.faults)
    }
}

/// Reads the pairs of a query into a struct. The names of its fields are the known conditions.
struct Conditions {
    pairs: Vec<(String, String)>,
    faults: Vec<String>,
}

impl<'de> Deserializer<'de> for &mut Conditions {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let mut known: Vec<(&str, String)> = Vec::new();
        for (name, value) in self.pairs.drain(..) {
            let text = shown(&name);
            match names.iter().find(|known| **known == name) {
                None => {
                    let names = names.join(", ");
                    self.faults.push(format!(
                        "This page has no condition '{text}': choose one of {names}."
                    ));
                }
                Some(name) if known.iter().any(|(one, _)| one == name) => {
                    self.faults.push(format!("'{text}' stands there twice: the first one counts."));
                }
                Some(name) => known.push((*name, value)),
            }
        }
        visitor.visit_map(MapDeserializer::new(known.into_iter()))
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_struct("", &[], visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Wanted {
        days: String,
        site: String,
    }

    #[test]
    fn unknown_and_repeated_conditions_are_told() {
        for (query, wanted, faults) in [
            ("", ("", ""), &[][..]),
            ("days=7&site=a%20b", ("7", "a b"), &[]),
            (
                "until=&days=7",
                ("7", ""),
                &["This page has no condition 'until': choose one of days, site."],
            ),
            ("site=a&site=b", ("", "a"), &["'site' stands there twice: the first one counts."]),
            ("%1b=1", ("", ""), &["This page has no condition '\\x1b': choose one of days, site."]),
            ("site=%ff", ("", "\u{fffd}"), &[]),
        ] {
            let Asked(found, said) = Asked::<Wanted>::of(query);
            assert_eq!((found.days.as_str(), found.site.as_str()), wanted, "{query}");
            assert_eq!(said, faults, "{query}");
        }
    }
}
