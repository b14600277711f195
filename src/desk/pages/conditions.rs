//! The conditions in the address of a page. The page names mistakes in them.

use std::convert::Infallible;

use axum::{extract::FromRequestParts, http::request::Parts};
use serde::{Serialize, de::DeserializeOwned};
use url::form_urlencoded;

use crate::base::escape::shown;

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

#[cfg(test)]
mod tests {
    use serde::Deserialize;

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
}
