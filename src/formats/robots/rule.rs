//! An allow or disallow line, and the answer that such lines give to a request (§2.2.2).

use super::{normal, pattern::Pattern};
use crate::base::{diagnostic::Diagnostic, text::words};

/// An allow or disallow line (§2.2.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Allow or disallow.
    pub directive: Directive,
    /// The path pattern as written. Octets that are not UTF-8 are percent-encoded, which changes
    /// no match. The empty pattern has no effect (`empty-pattern`).
    pub pattern: String,
    /// Line in the file, from 1; 0 if the rule comes from no file.
    pub line: u32,
}

words! {
    /// What a rule does with the paths that it matches. Of two equally specific rules the lesser
    /// decides: allow before disallow (§2.2.2).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Directive {
        /// Crawlers may fetch them.
        Allow = "allow",
        /// Crawlers must not fetch them.
        Disallow = "disallow",
    }
}

impl Rule {
    /// The rule for `pattern` in printable ASCII: other octets, and the space, are
    /// percent-encoded (§2.2.2). The empty pattern is accepted and has no effect.
    ///
    /// # Errors
    /// The refusals of [`Pattern::new`], except the empty pattern: a pattern that starts with
    /// neither `/` nor `*`, and one with control characters or `#`.
    pub fn new(directive: Directive, pattern: &str) -> Result<Self, Diagnostic> {
        if !pattern.is_empty() {
            Pattern::new(pattern)?;
        }
        Ok(Self { directive, pattern: normal::ascii(pattern.as_bytes()), line: 0 })
    }

    /// Whether it spells what origins drop from a path: `;`, `//` or an empty query. Where such a rule
    /// allows a path, these stay as they are, so the path has fewer evasion forms.
    pub(crate) fn spells_what_is_dropped(&self) -> bool {
        [";", "%3B", "%3b", "//", "?"].iter().any(|part| self.pattern.contains(part))
    }
}

impl Directive {
    /// The name of the line as files are written: `Allow`.
    pub(crate) const fn field_name(self) -> &'static str {
        match self {
            Self::Allow => "Allow",
            Self::Disallow => "Disallow",
        }
    }
}

/// Whether a crawler may fetch a path: what the rule that decides says.
pub type Access = Directive;

/// The form of a path that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// The path in normal form, with dot segments resolved: what the RFC compares.
    Letter,
    /// Another form that an origin may see. The letter is allowed.
    Other,
}

/// The answer, and the rule that gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict<'a> {
    /// The answer.
    pub access: Access,
    /// The rule that decided; `None` if no rule matches.
    pub rule: Option<&'a Rule>,
    /// The form that is disallowed, or the letter.
    pub form: Form,
}

/// A rule that matches a path, and how specific it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// The octets of its pattern ([`Pattern::specificity`](super::Pattern::specificity)).
    pub specificity: u32,
}

/// A verdict with all rules that match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation<'a> {
    /// The verdict.
    pub verdict: Verdict<'a>,
    /// The form of the path that decided, in normal form.
    pub path: Vec<u8>,
    /// All rules that match that form, in order of precedence. The first one decides.
    pub matches: Vec<Match<'a>>,
    /// Whether the path has more forms than are judged, so that every rule applies to it.
    pub is_cut: bool,
}

impl Verdict<'_> {
    /// The answer of the letter alone, which RFC 9309 gives.
    pub(crate) const fn by_letter(&self) -> Access {
        match self.form {
            Form::Letter => self.access,
            Form::Other => Access::Allow,
        }
    }
}
