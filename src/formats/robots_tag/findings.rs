//! The findings about a robots tag, bounded in number. A finding never changes the tag.

use super::{
    known_rules::{self, ValueKind, is_first_draft},
    rule::Rule,
    tag::{RobotsTag, Scope},
};
use crate::base::{diagnostic::Diagnostic, escape::shown};

/// The most findings about one field. A hostile field has thousands of members.
const MAX_FINDINGS: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Findings(Vec<Diagnostic>);

impl Findings {
    pub(super) fn into_vec(self) -> Vec<Diagnostic> {
        self.0
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// Adds a finding, unless there are too many. The text is built only if it is kept.
    pub(super) fn add(&mut self, finding: impl FnOnce() -> Diagnostic) {
        if self.0.len() < MAX_FINDINGS {
            self.0.push(finding());
        }
    }

    /// Adds a warning; an empty `help` is none.
    pub(super) fn warn(
        &mut self,
        code: &'static str,
        help: &str,
        message: impl FnOnce() -> String,
    ) {
        self.add(|| match help {
            "" => Diagnostic::warning(code, message()),
            _ => Diagnostic::warning(code, message()).help(help),
        });
    }

    /// The whole field is void for this reason.
    pub(super) fn void(&mut self, value: &[u8], error: &sfv::Error) {
        let lower = value.to_ascii_lowercase();
        let (code, help) = if value.trim_ascii_end().ends_with(b",") {
            ("robots_tag.trailing_comma", "remove the comma at the end")
        } else if sfv::Parser::new(&lower).parse_list::<sfv::List>().is_ok() {
            ("robots_tag.upper_case_key", "write the rules in lower case")
        } else if is_first_draft(&String::from_utf8_lossy(value)) {
            ("robots_tag.old_draft_syntax", "write '*;noindex, ExampleBot;nosnippet'")
        } else if value.windows(2).any(|pair| pair == b": ") {
            ("robots_tag.legacy_syntax", "write 'googlebot;noindex', or use X-Robots-Tag")
        } else {
            ("robots_tag.invalid_field", "write '*;noindex, ExampleBot;nosnippet'")
        };
        self.add(|| {
            let shown = shown(value);
            let message =
                format!("'{shown}' is not a structured field, so crawlers ignore it: {error}");
            Diagnostic::error(code, message).help(help)
        });
    }

    /// A member that is an Inner List or neither Token nor String (§3.1.1: "each member of the
    /// List is an Item representing a product token").
    pub(super) fn no_item(&mut self) {
        self.warn("robots_tag.not_a_product_token", "", || {
            "a member that is neither a token nor a string names no crawler".to_owned()
        });
    }

    /// A member whose name can't be a product token.
    pub(super) fn no_product_token(&mut self, name: &str) {
        let (code, help, fault) = match name.contains(':') {
            true => (
                "robots_tag.legacy_syntax",
                "write 'googlebot;noindex', or use X-Robots-Tag",
                "read as one name, which no crawler has",
            ),
            false => (
                "robots_tag.not_a_product_token",
                "",
                "not a product token, so its rules apply to no crawler",
            ),
        };
        self.warn(code, help, || format!("'{}' is {fault}", shown(name)));
    }

    /// A member that is named like a rule, or has no rules.
    pub(super) fn member(&mut self, name: &str, has_rules: bool) {
        if known_rules::lookup_any_case(name).is_some() {
            let help = format!("write '*;{}'", name.to_ascii_lowercase());
            self.warn("robots_tag.rule_as_product_token", &help, || {
                format!("'{name}' is read as a product token here, so it restricts no crawler")
            });
        } else if !has_rules {
            self.add(|| {
                let message = format!("'{}' has no rules, and lifts none", shown(name));
                Diagnostic::note("robots_tag.no_rules", message)
            });
        }
    }

    /// Sets the place of all but the first `len`.
    pub(super) fn place(&mut self, len: usize, line: u32, column: u32) {
        for finding in self.0.iter_mut().skip(len) {
            finding.place.line = Some(line);
            finding.place.column = Some(column);
        }
    }

    /// An element whose spelling no crawler need read.
    pub(super) fn not_a_robots_meta(&mut self, attribute: &str, value: &str) {
        let help = "write <meta name=\"robots\">, or one element for each crawler";
        self.warn("robots_tag.meta_misspelt", help, || {
            format!("<meta {attribute}=\"{}\"> is not a robots tag", shown(value))
        });
    }

    /// An undocumented rule, or a value of the wrong kind.
    pub(super) fn rule(&mut self, rule: &Rule) {
        let Some(kind) = rule.kind() else {
            return self.add(|| {
                let message = format!("unknown rule '{}', kept as it is", rule.name());
                Diagnostic::note("robots_tag.unknown_rule", message)
            });
        };
        if rule.fits_its_kind() {
            return;
        }
        let shown = || shown(rule.to_string());
        if kind == ValueKind::None {
            let help = format!("write '{}' without a value", rule.name());
            self.warn("robots_tag.value_not_boolean", &help, || {
                format!("'{}': the value is not a Boolean, so crawlers ignore the rule", shown())
            });
        } else {
            self.warn("robots_tag.wrong_value", "", || {
                format!("'{}': the value is not {kind}", shown())
            });
        }
    }

    pub(super) fn not_understood(&mut self, part: &str) {
        self.warn("robots_tag.not_understood", "", || {
            format!("'{}' is not understood", shown(part))
        });
    }

    /// `all` next to a restriction.
    pub(super) fn contradiction(&mut self) {
        self.warn("robots_tag.contradiction", "", || {
            "'all' next to a restriction has no effect: the restriction counts".to_owned()
        });
    }

    /// A [`Self::contradiction`] for each scope of `tag` with `all` and a restriction.
    pub(super) fn contradictions(&mut self, tag: &RobotsTag) {
        let says_all = |rules: &[Rule]| rules.iter().any(|rule| rule.name() == "all");
        for (scope, rules) in tag.scopes() {
            let others =
                rules.len() > 1 || (*scope != Scope::Any && !tag.rules_of(&Scope::Any).is_empty());
            if says_all(rules) && others {
                self.contradiction();
            }
        }
    }
}
