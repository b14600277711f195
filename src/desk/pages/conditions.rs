//! The conditions in the address of a page. The page names mistakes in them.

use std::convert::Infallible;

use axum::{extract::FromRequestParts, http::request::Parts};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use url::form_urlencoded;

use super::link::Link;
use crate::{base::escape::shown, review::report::Span};

/// The conditions that a page knows, all of them texts, and a sentence for each other one.
pub(super) struct Asked<T>(pub(super) T, pub(super) Vec<String>);

impl<S: Sync, T: Default + Serialize + DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(parts.uri.query().unwrap_or_default()))
    }
}

impl<T: Default + Serialize + DeserializeOwned> Asked<T> {
    fn of(query: &str) -> Self {
        // The names of its fields are the known conditions.
        let mut wanted = serde_json::to_value(T::default()).unwrap_or_default();
        let names: Vec<String> =
            wanted.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
        let (mut found, mut faults) = (Vec::new(), Vec::new());
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let text = shown(&*name);
            if found.contains(&name) {
                faults.push(format!("'{text}' stands there twice: the first one counts."));
            } else if names.iter().any(|known| *known == name) {
                wanted[&*name] = value.into();
                found.push(name);
            } else {
                let names = names.join(", ");
                faults.push(format!("This page has no condition '{text}': choose one of {names}."));
            }
        }
        Self(serde_json::from_value(wanted).unwrap_or_default(), faults)
    }
}

/// A condition of a form: the text without spaces around it; `None` for an empty field.
pub(super) fn condition(text: &str) -> Option<String> {
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The spans of time to choose from, back from now.
const SPANS: [(i64, &str); 4] = [(1, "24 hours"), (7, "7 days"), (30, "30 days"), (90, "90 days")];
const USUAL: i64 = 7;

#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct OfDays {
    pub(super) days: String,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct OfSite {
    pub(super) days: String,
    pub(super) site: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Days(i64);

impl Days {
    /// The span that the page was asked for, else the usual one. A text that is no span is a fault.
    pub(super) fn wanted(text: &str, faults: &mut Vec<String>) -> Self {
        let wanted = text.parse().ok();
        let known = wanted.filter(|days| SPANS.iter().any(|(one, _)| one == days));
        if known.is_none() && !text.is_empty() {
            let (text, choices) = (shown(text), SPANS.map(|(days, _)| days.to_string()).join(", "));
            faults.push(format!("'{text}' is no number of days: choose one of {choices}."));
        }
        Self(known.unwrap_or(USUAL))
    }

    /// For an address; empty for the usual span.
    pub(super) fn condition(self) -> String {
        if self.0 == USUAL { String::new() } else { self.0.to_string() }
    }

    /// For an address or a command, whatever the span.
    pub(super) fn number(self) -> String {
        self.0.to_string()
    }

    pub(super) fn until(self, now: Timestamp) -> Span {
        let length = SignedDuration::from_hours(24 * self.0);
        Span::new(now.checked_sub(length).unwrap_or(Timestamp::MIN), now, now)
    }

    pub(super) fn links(self, link: impl Fn(&str) -> String) -> Vec<Link> {
        let one = |(days, name): (i64, &str)| Link {
            path: link(&Self(days).condition()),
            name: name.to_owned(),
            is_here: days == self.0,
        };
        SPANS.map(one).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default, Deserialize, Serialize)]
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

    #[test]
    fn only_the_offered_spans_are_shown() {
        for (text, days, is_fault) in [
            ("", 7, false),
            ("7", 7, false),
            ("1", 1, false),
            ("90", 90, false),
            ("5", 7, true),
            ("-1", 7, true),
            ("a", 7, true),
            ("1e9", 7, true),
        ] {
            let mut faults = Vec::new();
            assert_eq!(Days::wanted(text, &mut faults), Days(days), "{text}");
            assert_eq!(!faults.is_empty(), is_fault, "{text}: {faults:?}");
        }
        let now: Timestamp = "2026-11-22T10:31:00Z".parse().expect("a time");
        assert_eq!(Days(90).until(now).length(), "90 days");
        let links = Days(1).links(|days| format!("/?{days}"));
        let shown: Vec<_> = links.iter().map(|one| (one.path.as_str(), one.is_here)).collect();
        assert_eq!(shown, [("/?1", true), ("/?", false), ("/?30", false), ("/?90", false)]);
    }
}
