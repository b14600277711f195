//! A recorded violation, explained by the edition that was in force.
//!
//! A record names the rule and the edition. The stored edition tells the rest: the lines around the
//! rule, the rule that it outranks, and the form of the path. Only what agrees with the record is
//! told: a record may lack a part of the path, and the origin may read paths otherwise today.

use crate::{
    robots::{self, Matcher, Reading, Target},
    violations::{REDACTED, Violation},
};

use super::{
    excerpt::Excerpt,
    verdict::{evasion_form, rule_text},
};

/// What a stored edition tells about a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Past {
    /// The lines around the rule.
    pub excerpt: Option<Excerpt>,
    /// The rule that outranks others, with its octets.
    pub rule: Option<String>,
    /// The rule that it outranks.
    pub over: Option<String>,
    /// The form of the path that is disallowed, if it is not the one that was sent.
    pub form: Option<String>,
}

impl Past {
    /// What the file of the recorded edition tells. `reading` is how the origin reads a path.
    pub fn of(record: &Violation, file: &[u8], reading: Reading) -> Self {
        let excerpt = record.robots.line.and_then(|line| Excerpt::around(file, line));
        Self { excerpt, ..Self::judged(record, file, reading).unwrap_or_default() }
    }

    /// The rules that match, if the one that decides is the recorded one.
    fn judged(record: &Violation, file: &[u8], reading: Reading) -> Option<Self> {
        let octets = record.path.path_octets().filter(|_| !record.path.contains(REDACTED))?;
        let target = Target::read_by(&octets, reading);
        let matcher = Matcher::new(&robots::parse(file).0);
        let recorded: Vec<&str> = record.robots.group.iter().map(|name| name.as_str()).collect();
        let group = matcher.scopes().find(|scope| matcher.tokens(*scope) == recorded)?;
        let explanation = matcher.explain(group, &target);
        let verdict = explanation.verdict;
        let is_the_same = verdict.access.as_str() == record.verdict.as_str()
            && verdict.rule.map(|rule| rule.line) == record.robots.line;
        let mut matches = explanation.matches.iter().filter(|_| !explanation.is_cut).map(rule_text);
        is_the_same.then(|| Self {
            excerpt: None,
            rule: matches.next(),
            over: matches.next(),
            form: evasion_form(&explanation),
        })
    }
}
