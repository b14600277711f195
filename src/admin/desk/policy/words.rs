//! Facts about a policy in words.

use std::{path::Path, time::Duration};

pub(super) use crate::admin::desk::number::grouped;
use crate::escape;

/// Facts under one heading.
pub(super) struct Group {
    pub(super) name: String,
    /// What the heading is followed by, where something is to be said about all facts.
    pub(super) note: Option<&'static str>,
    pub(super) facts: Vec<Fact>,
}

/// A fact: one value, or several lines of them.
pub(super) struct Fact {
    pub(super) name: &'static str,
    pub(super) values: Vec<String>,
}

/// A fact with one value.
pub(super) fn fact(name: &'static str, value: impl Into<String>) -> Fact {
    Fact { name, values: vec![value.into()] }
}

/// A fact with a list; `none` stands for an empty one.
pub(super) fn list(
    name: &'static str,
    values: impl IntoIterator<Item = String>,
    none: &str,
) -> Fact {
    let mut values: Vec<String> = values.into_iter().collect();
    if values.is_empty() {
        values.push(none.to_owned());
    }
    Fact { name, values }
}

/// A file or folder.
pub(super) fn file(path: &Path) -> String {
    escape::text(path.as_os_str().as_encoded_bytes())
}

/// `yes` or `no`.
pub(super) const fn yes(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}

/// A duration in the largest unit that is exact: `24 hours`, `1 minute`, `500 ms`.
pub(super) fn time(duration: Duration) -> String {
    let units = [(86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1_000, "second")];
    let milliseconds = duration.as_millis();
    let exact = units
        .into_iter()
        .find(|(unit, _)| milliseconds >= *unit && milliseconds.is_multiple_of(*unit));
    match exact.map(|(unit, name)| (milliseconds / unit, name)) {
        Some((1, "day")) => "24 hours".to_owned(),
        Some((1, name)) => format!("1 {name}"),
        Some((number, name)) => format!("{number} {name}s"),
        None => format!("{milliseconds} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_well() {
        for (milliseconds, text) in [
            (0, "0 ms"),
            (500, "500 ms"),
            (1_000, "1 second"),
            (90_000, "90 seconds"),
            (3_600_000, "1 hour"),
            (86_400_000, "24 hours"),
            (90 * 86_400_000, "90 days"),
        ] {
            assert_eq!(time(Duration::from_millis(milliseconds)), text);
        }
    }
}
