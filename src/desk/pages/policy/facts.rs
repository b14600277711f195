//! Facts about a policy in words.

pub(super) use crate::desk::pages::duration::time;

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

/// `yes` or `no`.
pub(super) const fn yes(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}
