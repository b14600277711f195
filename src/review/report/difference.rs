//! The difference in meaning between two files of rules, in words.

use crate::{
    advice::comparison::{Difference, Differences, Judged},
    base::escape,
};

/// The most crawlers that are named; the others are counted.
const SHOWN: usize = 5;

/// Paths that some crawlers may fetch under one file and not under the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The pattern of the paths.
    pub path: String,
    /// The answers: `allow -> disallow`.
    pub verdicts: String,
    /// The rule that decided before: `by 'Disallow: /a' (line 2)`, or `by no rule`.
    pub before: String,
    /// The rule that decides after.
    pub after: String,
}

impl Change {
    /// The words for a difference.
    pub fn of(row: &Difference) -> Self {
        Self {
            path: escape::shown(&row.pattern),
            verdicts: format!("{} -> {}", row.before.access.as_str(), row.after.access.as_str()),
            before: rule(&row.before),
            after: rule(&row.after),
        }
    }
}

/// The crawlers of a difference.
pub fn crawlers(tokens: &[String]) -> String {
    escape::first_of(tokens.iter().map(|token| escape::bounded(token.as_bytes(), 80)), SHOWN)
}

/// What is to be said after the listed differences, if anything.
pub fn remark(differences: &Differences) -> Option<String> {
    let by_sample = "compared by sample paths, one for each pattern, which is no proof";
    let listed = match (differences.rows.len(), differences.omitted) {
        (0, _) => Some("no path is judged differently (paces are not compared)".to_owned()),
        (_, 0) => None,
        (_, more) => Some(format!("and {more} more")),
    };
    match (listed, differences.is_exact) {
        (listed, true) => listed,
        (Some(listed), false) => Some(format!("{listed}; {by_sample}")),
        (None, false) => Some(by_sample.to_owned()),
    }
}

fn rule(judged: &Judged) -> String {
    match &judged.rule {
        Some(rule) => {
            let (directive, pattern) = (rule.directive.field_name(), escape::shown(&rule.pattern));
            format!("by '{directive}: {pattern}' (line {})", rule.line)
        }
        None => "by no rule".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{advice::comparison::differences, formats::robots::parse};

    #[test]
    fn a_difference_names_crawlers_answers_and_rules() {
        let names: String = (0..7).map(|at| format!("User-agent: bot-{at}\n")).collect();
        let names = names.replace("bot-0", "bot-a").replace("-1", "-b").replace("-2", "-c");
        let names = names.replace("-3", "-d").replace("-4", "-e").replace("-5", "-f");
        let names = names.replace("-6", "-g");
        let (before, _) = parse(format!("{names}Allow: /\n").as_bytes());
        let (after, _) = parse(format!("{names}Disallow: /x\n").as_bytes());
        let found = differences(&before, &after);
        let row = found.rows.first().expect("a difference");
        let change = Change::of(row);
        assert_eq!(crawlers(&row.tokens), "bot-a, bot-b, bot-c, bot-d, bot-e and 2 more");
        assert_eq!((change.path.as_str(), change.verdicts.as_str()), ("/x", "allow -> disallow"));
        assert_eq!(change.before, "by 'Allow: /' (line 8)");
        assert_eq!(change.after, "by 'Disallow: /x' (line 8)");
        assert_eq!(remark(&found), None);
        let same = differences(&before, &before);
        assert!(remark(&same).is_some_and(|text| text.starts_with("no path")));
    }
}
