//! Values between nodes, as JSON: times in milliseconds, words, texts.
//!
//! A row that can't be read is left out: a newer node may say something that this one does not know.

use std::time::Duration;

use jiff::Timestamp;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeOwned, Error, IgnoredAny},
};

use crate::{
    formats::robots::Pace,
    rules::{
        crawlers::Outcome,
        enforce::{EditionId, Rung},
    },
};

/// The longest name in a row, in octets.
const LONGEST: usize = 512;

/// A module for a value that goes as another one.
macro_rules! goes_as {
    ($($name:ident: $type:ty as $wire:ty, $write:expr, $read:expr;)+) => { $(
        pub(super) mod $name {
            use super::*;

            pub(crate) fn serialize<S: Serializer>(
                value: &$type,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                let write: fn(&$type) -> $wire = $write;
                write(value).serialize(serializer)
            }

            pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<$type, D::Error> {
                let read: fn($wire) -> Option<$type> = $read;
                read(Deserialize::deserialize(deserializer)?)
                    .ok_or_else(|| D::Error::custom("no such value"))
            }
        }
    )+ };
}

goes_as! {
    milliseconds: Timestamp as i64, |at| at.as_millisecond(), |at| Some(time(at));
    milliseconds_if: Option<Timestamp> as Option<i64>,
        |at| at.map(Timestamp::as_millisecond),
        |at| Some(at.map(time));
    // A time span of a second at least.
    seconds_if: Option<Duration> as Option<u64>,
        |span| span.map(|span| span.as_secs()),
        |span| Some(span.filter(|seconds| *seconds > 0).map(Duration::from_secs));
    // A pace: requests, and their time in milliseconds.
    pace: Pace as (u32, u64),
        |pace| (pace.requests(), u64::try_from(pace.per().as_millis()).unwrap_or(u64::MAX)),
        |(requests, per)| Pace::new(requests, Duration::from_millis(per));
    outcome: Outcome as String, |one| one.as_str().to_owned(), |text| Outcome::from_word(&text);
    rung: Rung as String, |one| one.as_str().to_owned(), |text| Rung::from_word(&text);
    edition: EditionId as String, |id| id.to_string(), |text| EditionId::parse(&text);
}

/// A time in milliseconds. One that can't be is the first or the last.
pub fn time(milliseconds: i64) -> Timestamp {
    let end = if milliseconds < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_millisecond(milliseconds).unwrap_or(end)
}

/// A name: not empty, and not too long.
pub(super) fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    checked(String::deserialize(deserializer)?)
}

pub(super) fn name_if<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    Option::deserialize(deserializer)?.map(checked).transpose()
}

fn checked<E: Error>(name: String) -> Result<String, E> {
    let is_name = !name.is_empty() && name.len() <= LONGEST;
    is_name.then_some(name).ok_or_else(|| E::custom("not a name"))
}

/// The items of a list that can be read; none of what is no list.
///
/// # Errors
/// It is no value at all.
pub fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Known<T> {
        Yes(T),
        No(IgnoredAny),
    }
    let Known::Yes(items) = Known::<Vec<Known<T>>>::deserialize(deserializer)? else {
        return Ok(Vec::new());
    };
    let known = |item| if let Known::Yes(known) = item { Some(known) } else { None };
    Ok(items.into_iter().filter_map(known).collect())
}

/// Whether a value goes without saying.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
