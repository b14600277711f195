//! Facts with their names, in groups.

pub(super) struct Group {
    pub(super) name: String,
    /// What is to be said about all of them; empty for nothing.
    pub(super) note: &'static str,
    pub(super) facts: Vec<Fact>,
}

/// A fact: one value, or several lines of them.
pub(super) struct Fact {
    pub(super) name: String,
    pub(super) values: Vec<String>,
    /// How it looks; empty for plain text.
    pub(super) class: &'static str,
    /// Where it leads; empty for nowhere.
    pub(super) link: String,
}

pub(super) fn group(name: impl Into<String>, facts: Vec<Fact>) -> Group {
    Group { name: name.into(), note: "", facts }
}

pub(super) fn fact(name: impl Into<String>, value: impl Into<String>) -> Fact {
    Fact { name: name.into(), values: vec![value.into()], class: "", link: String::new() }
}

/// A fact with a list; `none` stands for an empty one.
pub(super) fn list(name: &str, values: impl IntoIterator<Item = String>, none: &str) -> Fact {
    let mut values: Vec<String> = values.into_iter().collect();
    if values.is_empty() {
        values.push(none.to_owned());
    }
    Fact { values, ..fact(name, "") }
}

pub(super) const fn yes(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}

impl Fact {
    pub(super) fn bad_if(self, is_bad: bool) -> Self {
        Self { class: if is_bad { "bad" } else { "" }, ..self }
    }
}
