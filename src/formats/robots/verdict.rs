//! The answer to a request, and the rules that gave it (§2.2.2).

use crate::base::text::words;

use super::rule::Rule;

words! {
    /// Whether a crawler may fetch a path.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Access {
        /// It may.
        Allow = "allow",
        /// It must not.
        Disallow = "disallow",
    }
}

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
