//! One line of `X-Robots-Tag` on its way to a tag, part by part.

use super::{
    findings::Findings,
    known_rules::{self, ValueKind, takes_value},
    rule::Rule,
    tag::{RobotsTag, Scope},
};

/// The state between two parts: the current scope, and a date that a comma may have split.
pub(super) struct Line<'f> {
    /// The scope of the next rule; `None` after a name that is no product token.
    scope: Option<Scope>,
    /// Whether a name before a colon is a crawler's.
    may_name: bool,
    /// Whether a name in this line set the scope.
    pub(super) is_named: bool,
    members: Vec<(Scope, Vec<Rule>)>,
    /// The date so far, to which the next part may belong.
    date: Option<String>,
    /// Whether a rule so far is `all`.
    has_all: bool,
    pub(super) findings: &'f mut Findings,
}

impl<'f> Line<'f> {
    /// A line whose parts may name crawlers.
    pub(super) fn new(findings: &'f mut Findings) -> Self {
        Self {
            scope: Some(Scope::Any),
            may_name: true,
            is_named: false,
            members: Vec::new(),
            date: None,
            has_all: false,
            findings,
        }
    }

    /// A line of rules for one scope, in which no part may name a crawler.
    pub(super) fn for_scope(scope: Scope, findings: &'f mut Findings) -> Self {
        Self { scope: Some(scope), may_name: false, ..Self::new(findings) }
    }

    /// Begins the next line: rules are for all crawlers.
    pub(super) fn start(&mut self) {
        self.end_date();
        self.scope = Some(Scope::Any);
        self.is_named = false;
    }

    /// Reads the part between two commas.
    pub(super) fn part(&mut self, part: &str) {
        let part = part.trim();
        if continues_date(part)
            && let Some(date) = &mut self.date
        {
            date.push_str(", ");
            date.push_str(part);
            return;
        }
        self.end_date();
        let mut rest = part;
        while let Some((name, value)) = rest.split_once(':') {
            let name = name.trim();
            if takes_value(name) {
                if known_rules::lookup_any_case(name)
                    .is_some_and(|known| known.value == ValueKind::Date)
                {
                    self.date = Some(value.trim().to_owned());
                } else {
                    self.rule(name, Some(value));
                }
                return;
            }
            if !self.may_name {
                return self.findings.name_in_meta(part);
            }
            self.name(name);
            rest = value.trim();
        }
        if !rest.is_empty() {
            self.rule(rest, None);
        }
    }

    /// Whether a part belongs to the date that the part before began.
    pub(super) fn continues(&self, part: &str) -> bool {
        self.date.is_some() && continues_date(part)
    }

    /// Sets the scope of the parts after it to the crawler of this name.
    pub(super) fn name(&mut self, name: &str) {
        self.is_named = true;
        self.scope = Scope::of_name(name);
        if self.scope.is_none() {
            self.findings.not_understood(name);
        }
    }

    /// Adds a rule for the current scope.
    pub(super) fn rule(&mut self, name: &str, value: Option<&str>) {
        match self.scope.clone() {
            Some(scope) => self.rule_for(scope, name, value),
            None => self.findings.not_understood(name),
        }
    }

    /// Adds a rule for this scope.
    pub(super) fn rule_for(&mut self, scope: Scope, name: &str, value: Option<&str>) {
        let Some(rule) = Rule::of_text(name, value) else {
            return self.findings.not_understood(name);
        };
        self.has_all |= rule.name() == "all";
        self.findings.rule(&rule);
        let restrictions = rule.restrictions();
        match self.members.last_mut() {
            Some((last, rules)) if *last == scope => rules.extend(restrictions),
            _ => self.members.push((scope, restrictions.collect())),
        }
    }

    pub(super) fn finish(mut self) -> RobotsTag {
        self.end_date();
        let tag = RobotsTag::of_members(self.members);
        if self.has_all && !tag.is_empty() {
            self.findings.contradiction();
        }
        tag
    }

    fn end_date(&mut self) {
        if let Some(date) = self.date.take() {
            self.rule("unavailable_after", Some(&date));
        }
    }
}

/// Whether a part belongs to the date before its comma. It begins with a digit, as no rule does. Its
/// first colon, if any, stands in a time (`15:00`), unlike that after a crawler's name.
fn continues_date(part: &str) -> bool {
    let is_digit = |octet: Option<&u8>| octet.is_some_and(u8::is_ascii_digit);
    let octets = part.as_bytes();
    let is_time = part.find(':').is_none_or(|at| {
        let before = at.checked_sub(1).and_then(|before| octets.get(before));
        is_digit(before) && is_digit(octets.get(at + 1))
    });
    is_digit(octets.first()) && is_time
}
