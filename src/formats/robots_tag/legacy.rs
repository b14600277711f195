//! `X-Robots-Tag`: the older field, in all forms that search engines document, as the doc of the room says.
//!
//! ```text
//! noindex, googlebot: nofollow, otherbot: noarchive     for all, for one, and for another
//! max-snippet:20, max-image-preview:large               a rule with a value looks like a name
//! unavailable_after: Friday, 25-Jun-10 15:00:00 GMT     a date has commas and colons of its own
//! ```

use super::{
    findings::Findings,
    known_rules::{self, ValueKind, takes_value},
    rule::Rule,
    tag::{RobotsTag, Scope},
};
use crate::base::{diagnostic::Diagnostic, escape::shown, product_token::ProductToken};

/// The tag of a response's `X-Robots-Tag` lines, and the findings about them. Each line stands for
/// itself. A part that can't be read is left out, the rest counts.
pub fn read_legacy(lines: &[&[u8]]) -> (RobotsTag, Vec<Diagnostic>) {
    let mut findings = Findings::default();
    let tag = read_lines(lines, &mut findings);
    (tag, findings.into_vec())
}

/// The tag of these lines; each line stands for itself.
pub(super) fn read_lines(lines: &[&[u8]], findings: &mut Findings) -> RobotsTag {
    let mut read = Line::new(findings);
    for line in lines {
        read.start();
        for part in String::from_utf8_lossy(line).split(',') {
            read.part(part);
        }
    }
    read.finish()
}

pub(super) fn can_express(rule: &Rule) -> bool {
    match rule.kind() {
        // An unknown name before a colon is read as a crawler's.
        None | Some(ValueKind::None) => rule.value().is_none() && rule.name() != "*",
        Some(ValueKind::Number | ValueKind::Choice(_)) => {
            rule.value().is_none() || rule.fits_its_kind()
        }
        Some(ValueKind::Date) => {
            let text = rule.legacy();
            let (tag, _) = read_legacy(&[text.as_bytes()]);
            tag.rules_of(&Scope::Any) == std::slice::from_ref(rule)
        }
    }
}

/// Whether this syntax can name a crawler. It can't if the name reads as a rule with a value.
pub(super) fn can_name(token: &ProductToken) -> bool {
    !takes_value(token.key()) && !token.key().contains(';')
}

/// The tag of rules for one scope, in which no part may name a crawler.
pub(super) fn read_rules(content: &str, scope: Scope, findings: &mut Findings) -> RobotsTag {
    let mut line = Line::for_scope(scope, findings);
    for part in content.split(',') {
        line.part(part);
    }
    line.finish()
}

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
                let help = "write <meta name=\"googlebot\"> for one crawler";
                return self.findings.warn("robots_tag.name_in_content", help, || {
                    format!("'{}' names a crawler where only rules are read", shown(part))
                });
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
