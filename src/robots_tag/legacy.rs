//! `X-Robots-Tag`: the older field, in all the forms that search engines document.
//!
//! ```text
//! noindex, nofollow                                     for all
//! googlebot: noindex, nofollow                          for one, up to the next name or the end
//! noindex, googlebot: nofollow, otherbot: noarchive     both
//! max-snippet:20, max-image-preview:large               a rule with a value looks like a name
//! unavailable_after: Friday, 25-Jun-10 15:00:00 GMT     a date has commas and colons of its own
//! ```
//! There is no grammar; the draft formally deprecates the name and asks parsers to go on reading it
//! (§5.3). `none` is `noindex` and `nofollow`; `all`, `index` and `follow` say nothing.

use super::{LineReading, RobotsTag, Rule, Scope, ValueKind, known, lenient, lint::Findings};
use crate::{diagnostic::Diagnostic, product_token::ProductToken};

/// What the lines of a response's `X-Robots-Tag` field say, and what is wrong with them. Each
/// line stands for itself; what isn't understood is left out alone.
pub fn read_legacy(lines: &[&[u8]]) -> (RobotsTag, Vec<Diagnostic>) {
    let mut findings = Findings::default();
    let tag = read_lines(lines, &mut findings);
    (tag, findings.into_vec())
}

/// The same as a proxy reads it: the syntax of the new field under the old name is understood too.
pub fn read_legacy_leniently(lines: &[&[u8]]) -> LineReading {
    let mut findings = Findings::default();
    let (old, new): (Vec<&[u8]>, Vec<&[u8]>) =
        lines.iter().partition(|line| !line.iter().any(|octet| b";=".contains(octet)));
    let mut tag = read_lines(&old, &mut findings);
    for line in &new {
        let text = String::from_utf8_lossy(line);
        findings.not_understood(&text);
        tag = tag.merge(lenient::understand(&text, &mut findings));
    }
    let findings = findings.into_vec();
    let valid = findings.iter().all(|finding| finding.code != "robots_tag.not_understood");
    LineReading { tag, valid, diagnostics: findings }
}

fn read_lines(lines: &[&[u8]], findings: &mut Findings) -> RobotsTag {
    let mut read = Line::new(findings);
    for line in lines {
        read.start();
        for part in String::from_utf8_lossy(line).split(',') {
            read.part(part);
        }
    }
    read.finish()
}

/// Whether a rule can be said in this syntax.
pub(super) fn can_say(rule: &Rule) -> bool {
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

/// Whether a token can be named in this syntax: not where it reads as a rule with a value.
pub(super) fn can_name(token: &ProductToken) -> bool {
    !takes_value(token.key()) && !token.key().contains(';')
}

/// What rules mean that are all for one scope: here no part may name a crawler.
pub(super) fn read_rules(content: &str, scope: Scope, findings: &mut Findings) -> RobotsTag {
    let mut line = Line { scope: Some(scope), may_name: false, ..Line::new(findings) };
    for part in content.split(',') {
        line.part(part);
    }
    line.finish()
}

/// Lines in the making: whom the rules are for, and a date that a comma may have split.
pub(super) struct Line<'f> {
    scope: Option<Scope>,
    /// Whether a name before a colon is a crawler's.
    may_name: bool,
    /// Whether the scope was given by a name in this line.
    pub(super) is_named: bool,
    members: Vec<(Scope, Vec<Rule>)>,
    date: Option<String>,
    says_all: bool,
    pub(super) findings: &'f mut Findings,
}

impl<'f> Line<'f> {
    pub(super) fn new(findings: &'f mut Findings) -> Self {
        let members = Vec::new();
        let scope = Some(Scope::Any);
        let (may_name, is_named, date, says_all) = (true, false, None, false);
        Self { scope, may_name, is_named, members, date, says_all, findings }
    }

    /// Begins a line: rules are for all.
    pub(super) fn start(&mut self) {
        self.end_date();
        self.scope = Some(Scope::Any);
        self.is_named = false;
    }

    /// Reads what stands between two commas.
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
                if known::lookup_any_case(name).is_some_and(|known| known.value == ValueKind::Date)
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

    /// Whether this part belongs to the date that the last one began.
    pub(super) fn continues(&self, part: &str) -> bool {
        self.date.is_some() && continues_date(part)
    }

    /// What follows is for the crawler of this name.
    pub(super) fn name(&mut self, name: &str) {
        self.is_named = true;
        self.scope = scope(name);
        if self.scope.is_none() {
            self.findings.not_understood(name);
        }
    }

    /// A rule for the current scope.
    pub(super) fn rule(&mut self, name: &str, value: Option<&str>) {
        match self.scope.clone() {
            Some(scope) => self.rule_for(scope, name, value),
            None => self.findings.not_understood(name),
        }
    }

    /// A rule for this scope.
    pub(super) fn rule_for(&mut self, scope: Scope, name: &str, value: Option<&str>) {
        let Some(rule) = Rule::understood(name, value) else {
            return self.findings.not_understood(name);
        };
        self.says_all |= rule.name() == "all";
        self.findings.rule(&rule);
        let restrictions = rule.restrictions();
        match self.members.last_mut() {
            Some((last, rules)) if *last == scope => rules.extend(restrictions),
            _ => self.members.push((scope, restrictions.collect())),
        }
    }

    /// All that was read.
    pub(super) fn finish(mut self) -> RobotsTag {
        self.end_date();
        let tag = RobotsTag::of_members(self.members);
        if self.says_all && !tag.is_empty() {
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

/// The scope that a name before a colon or a semicolon stands for.
pub(super) fn scope(name: &str) -> Option<Scope> {
    if name == "*" { Some(Scope::Any) } else { ProductToken::new(name).map(Scope::Token) }
}

/// Whether a name is that of a rule with a value, and so no crawler's.
pub(super) fn takes_value(name: &str) -> bool {
    known::lookup_any_case(name).is_some_and(|known| known.value != ValueKind::None)
}

/// Whether a part belongs to the date before its comma: it begins with a digit, as no rule does,
/// and its first colon, if any, stands in a time (`15:00`), as no crawler's does.
fn continues_date(part: &str) -> bool {
    let is_digit = |octet: Option<&u8>| octet.is_some_and(u8::is_ascii_digit);
    let octets = part.as_bytes();
    let is_time = part.find(':').is_none_or(|at| {
        let before = at.checked_sub(1).and_then(|before| octets.get(before));
        is_digit(before) && is_digit(octets.get(at + 1))
    });
    is_digit(octets.first()) && is_time
}
