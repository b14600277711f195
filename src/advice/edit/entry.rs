//! An entry of a list, and how it is written.

use std::fmt;

use super::layout::Style;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    /// `enforcement.overrides`.
    Overrides,
    /// `enforcement.rate_limits`.
    RateLimits,
    /// `enforcement.quiet`.
    Quiet,
    /// `robots_txt.groups`.
    Groups,
}

impl List {
    /// The section of the site, and its key of the list.
    pub(super) const fn keys(self) -> [&'static str; 2] {
        match self {
            Self::Overrides => ["enforcement", "overrides"],
            Self::RateLimits => ["enforcement", "rate_limits"],
            Self::Quiet => ["enforcement", "quiet"],
            Self::Groups => ["robots_txt", "groups"],
        }
    }

    /// The comment behind an entry.
    pub(super) const fn mark(self) -> &'static str {
        match self {
            Self::Overrides | Self::Groups => "# beadle block",
            Self::RateLimits => "# beadle limit",
            Self::Quiet => "# beadle quiet",
        }
    }
}

/// An entry of a list: a line that names one crawler.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) list: List,
    /// The crawler, or another word for crawlers, as `user_agents` takes it.
    pub(crate) name: String,
    /// The other keys, as a policy writes them: `mode: block`; may be empty.
    pub(crate) rest: String,
}

impl Entry {
    /// The beginning of the entries for this crawler. Brackets leave no room for a comment, so there the
    /// quotation marks around the key tell an entry from one of the operator.
    pub(super) fn head(name: &str, style: Style) -> String {
        let key = match style {
            Style::Block => "user_agents",
            Style::Flow => "\"user_agents\"",
        };
        format!("{{ {key}: [{}]", quoted(name))
    }

    pub(super) fn text(&self, style: Style) -> String {
        let comma = if self.rest.is_empty() { "" } else { ", " };
        format!("{}{comma}{} }}", Self::head(&self.name, style), self.rest)
    }
}

/// As the policy has it in words: `enforcement.overrides: - { … }`.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [section, list] = self.list.keys();
        write!(f, "{section}:\n  {list}:\n    - {}", self.text(Style::Block))
    }
}

/// A text as a value in brackets: as it is, or in quotation marks where YAML needs them.
pub(crate) fn quoted(text: &str) -> String {
    let is_word = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./".contains(&b))
    };
    let means_else = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    if is_word(text) && !means_else.iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return text.to_owned();
    }
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
