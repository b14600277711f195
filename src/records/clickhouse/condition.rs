//! Conditions in SQL. Every foreign text goes through [`text`], which quotes it.

use std::{
    collections::BTreeSet,
    fmt::{self, Display, Write},
};

use super::insert::day;
use crate::records::{counts::Question, record::Filter, tally::FORM};

/// Conditions that all have to hold; empty is none.
#[derive(Clone, Debug)]
pub(super) struct Conditions {
    clause: &'static str,
    text: String,
}

pub(super) const PAGE: &str = "substring(path, 1, position(concat(path, '?'), '?') - 1)";

impl Conditions {
    pub(super) const fn new() -> Self {
        Self { clause: "WHERE", text: String::new() }
    }

    pub(super) fn require(&mut self, condition: impl Display) {
        let link = if self.is_empty() { self.clause } else { "AND" };
        // Writing into a text cannot fail.
        let _ = write!(self.text, " {link} {condition}");
    }

    /// Requires the value in any case of its letters; nothing without a value.
    pub(super) fn require_name(&mut self, column: &str, wanted: Option<&String>) {
        let Some(wanted) = wanted else { return };
        self.require(format_args!("lower({column}) = {}", text(&wanted.to_ascii_lowercase())));
    }

    pub(super) fn require_names(&mut self, filter: &Filter) {
        let Filter { site, product_token, purpose, action, .. } = filter;
        self.require_name("site", site.as_ref());
        self.require_name("product_token", product_token.as_ref());
        self.require_name("purpose", purpose.as_ref());
        self.require_name("action", action.as_ref());
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

/// The clause with its leading space; nothing without a condition.
impl Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

pub(super) fn text(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'").replace('\0', "\\0"))
}

pub(super) fn of_question(question: &Question) -> Conditions {
    let mut conditions = Conditions::new();
    let [first, until] = question.hours();
    let last = until.saturating_sub(1);
    // By their days, too: whole days are left out unread.
    conditions.require(format_args!("day BETWEEN {} AND {}", day(first), day(last)));
    conditions.require(format_args!("hour BETWEEN {first} AND {last}"));
    conditions.require_name("site", question.site.as_ref());
    conditions
}

/// Some hours, by their days, too: whole days are left out unread.
pub(super) fn of_hours<'a>(hours: impl Iterator<Item = &'a i64>) -> Conditions {
    let hours: Vec<_> = hours.collect();
    let days: BTreeSet<_> = hours.iter().map(|hour| day(**hour)).collect();
    let mut conditions = Conditions::new();
    conditions.require(format_args!("day IN ({})", list(days)));
    conditions.require(format_args!("hour IN ({})", list(hours)));
    conditions
}

fn list(numbers: impl IntoIterator<Item = impl ToString>) -> String {
    numbers.into_iter().map(|one| one.to_string()).collect::<Vec<_>>().join(", ")
}

/// The conditions on the values of records, but for their times; checked first.
pub(super) fn of_filter(filter: &Filter) -> Conditions {
    // Of rows that don't meet them, the server reads no other column.
    let mut conditions = Conditions { clause: "PREWHERE", text: String::new() };
    if let Some(id) = &filter.id {
        conditions.require(format_args!("id = {}", text(id)));
    }
    conditions.require_names(filter);
    conditions.require_name("reason", filter.reason.as_ref());
    if filter.has_violations_alone() {
        conditions.require(format_args!("reason != {}", text(FORM)));
    }
    filter.claimant.into_iter().for_each(|one| conditions.require(one.condition()));
    if let Some(rule) = &filter.rule {
        conditions.require(format_args!("robots_directive = {}", text(rule.directive)));
        conditions.require(format_args!("robots_pattern = {}", text(&rule.pattern)));
        rule.reason
            .iter()
            .for_each(|reason| conditions.require(format_args!("reason = {}", text(reason))));
    }
    if let Some(path) = &filter.exact_path {
        conditions.require(format_args!("{PAGE} = {}", text(path)));
    }
    if let Some(path) = like(filter) {
        conditions.require(format_args!("path LIKE {}", text(&path)));
    }
    conditions
}

fn like(filter: &Filter) -> Option<String> {
    filter.path_as("%", |plain| plain.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::record::BrokenRule;

    #[test]
    fn a_foreign_text_stays_within_its_quotes() {
        for (foreign, literal) in [
            ("a", "'a'"),
            ("a' OR 1=1 --", "'a\\' OR 1=1 --'"),
            ("\\", "'\\\\'"),
            ("\\'", "'\\\\\\''"),
            ("\0", "'\\0'"),
        ] {
            assert_eq!(text(foreign), literal);
        }
    }

    #[test]
    fn a_rule_is_one_with_or_without_a_reason() {
        let of = |rule: &str| {
            let rule = BrokenRule::of_line(rule);
            of_filter(&Filter { rule, reason: Some("x".to_owned()), ..Filter::default() })
                .to_string()
        };
        let before = " PREWHERE lower(reason) = 'x' AND robots_directive = ";
        assert_eq!(of("disallow: /a'"), format!("{before}'disallow' AND robots_pattern = '/a\\''"));
        let reason = "AND reason = 'breaker.open'";
        assert_eq!(of("breaker.open"), format!("{before}'' AND robots_pattern = '' {reason}"));
    }

    #[test]
    fn a_path_pattern_has_the_wildcards_of_robots_txt_only() {
        for (pattern, expected) in [
            ("/a", "/a%"),
            ("/a$", "/a"),
            ("*.pdf$", "%.pdf"),
            ("/a_b%c", "/a\\_b\\%c%"),
            // It is recorded with two backslashes.
            ("/a\\b", "/a\\\\\\\\b%"),
        ] {
            let filter = Filter { path: Some(pattern.to_owned()), ..Filter::default() };
            assert_eq!(like(&filter).as_deref(), Some(expected));
        }
    }
}
