//! A recorded violation, explained by the edition that was in force.
//!
//! A record names the rule and the edition. The stored edition tells the rest: the lines around the
//! rule, the rule that it outranks, and the form of the path. Only what agrees with the record is
//! told: a record may lack a part of the path, and the origin may read paths otherwise today.

use std::collections::HashMap;

use crate::{
    base::text::Text,
    formats::robots::{self, Matcher, Reading, Target},
    records::{
        record::{REDACTED, Violation},
        tally::FORM,
    },
};

use super::decision::{Excerpt, other_form, rule_text};

const MOST_EDITIONS: usize = 16;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Past {
    pub(crate) excerpt: Option<Excerpt>,
    /// The rule that outranks others, with its octets.
    pub(crate) rule: Option<String>,
    pub(crate) over: Option<String>,
    /// The form of the path that is disallowed, if it is not the one that was sent.
    pub(crate) form: Option<String>,
}

impl Past {
    /// What the file of the recorded edition tells. `reading` is how the origin reads a path.
    pub(crate) fn of(record: &Violation, file: &[u8], reading: Reading) -> Self {
        let excerpt = record.robots.line.and_then(|line| Excerpt::around(file, line));
        Self { excerpt, ..Self::judged(record, &compiled(file), reading).unwrap_or_default() }
    }

    /// The rules that match, if the one that decides is the recorded one.
    fn judged(record: &Violation, matcher: &Matcher, reading: Reading) -> Option<Self> {
        let octets = record.path.path_octets().filter(|_| !record.path.contains(REDACTED))?;
        let target = Target::read_by(&octets, reading);
        let mut scopes = matcher.scopes();
        // A record has the first names of a long group.
        let group = scopes.find(|it| Text::list(matcher.tokens(*it)) == record.robots.group)?;
        let explanation = matcher.explain(group, &target);
        let verdict = explanation.verdict;
        // Earlier versions recorded another form as a violation.
        let accesses = [verdict.access, verdict.by_letter()].map(robots::Access::as_str);
        let is_the_same = accesses.contains(&record.verdict.as_str())
            && verdict.rule.map(|rule| rule.line) == record.robots.line;
        let mut matches = explanation.matches.iter().filter(|_| !explanation.is_cut).map(rule_text);
        is_the_same.then(|| Self {
            excerpt: None,
            rule: matches.next(),
            over: matches.next(),
            form: other_form(&explanation),
        })
    }
}

/// The other forms of closed paths in a list of records, by the editions of the records.
#[derive(Debug, Default)]
pub(crate) struct PastForms {
    /// `None` is an edition that is not stored.
    editions: HashMap<Text, Option<Matcher>>,
}

impl PastForms {
    /// The form that the recorded rule closes. `None` for a violation, and where the record and the
    /// stored edition don't tell. `file` reads the recorded edition.
    pub(crate) fn of<E>(
        &mut self,
        record: &Violation,
        reading: Reading,
        file: impl FnOnce() -> Result<Option<Vec<u8>>, E>,
    ) -> Result<Option<String>, E> {
        if record.reason.as_str() != FORM {
            return Ok(None);
        }
        let edition = &record.robots.edition;
        if !self.editions.contains_key(edition) {
            if self.editions.len() == MOST_EDITIONS {
                self.editions.clear();
            }
            let matcher = file()?.map(|file| compiled(&file));
            self.editions.insert(edition.clone(), matcher);
        }
        let matcher = self.editions.get(edition).and_then(Option::as_ref);
        Ok(matcher.and_then(|matcher| Past::judged(record, matcher, reading)?.form))
    }
}

fn compiled(file: &[u8]) -> Matcher {
    Matcher::new(&robots::parse(file).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(group: &[&str], path: &str, line: u32) -> Violation {
        let group: Vec<_> = Text::list(group).into_iter().map(|name| name.to_string()).collect();
        let text = serde_json::json!({
            "schema": 1, "id": "1", "time": "2026-11-20T10:00:00Z", "site": "a.example",
            "client_ip": "192.0.2.7", "method": "GET", "host": "a.example", "path": path,
            "user_agent": "ABot/1.0", "product_token": "ABot", "product_tokens": ["ABot"],
            "operator": null, "purpose": null, "standing": "unverifiable", "evidence": null,
            "verdict": "disallow", "reason": "robots.disallow", "action": "log", "status": 200,
            "robots": {
                "edition": "0", "line": line, "directive": "disallow", "pattern": "/a/",
                "group": group,
            },
            "robots_read": { "state": "never", "edition": null, "at": null },
        });
        serde_json::from_value(text).expect("a record")
    }

    #[test]
    fn a_stored_edition_tells_what_agrees_with_the_record() {
        let names: Vec<String> = ('a'..='z')
            .flat_map(|first| ["Bot", "Spider"].map(|end| format!("{first}{end}")))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let lines: String = names.iter().map(|name| format!("User-agent: {name}\n")).collect();
        let line = u32::try_from(names.len()).expect("few") + 1;
        let file = format!("{lines}Disallow: /a/\nAllow: /\n");
        let past = |path: &str, line, group: &[&str]| {
            Past::of(&record(group, path, line), file.as_bytes(), Reading::default())
        };
        let plain = past("/a/x", line, &names);
        assert!(plain.rule.is_some_and(|rule| rule.ends_with("(robots.txt line 53, 3 octets)")));
        assert!(plain.over.is_some_and(|rule| rule.starts_with("Allow: /   ")));
        assert_eq!(plain.form, None);
        assert_eq!(past("//a/x", line, &names).form.as_deref(), Some("/a/x"));
        // What differs from the record is not told; the line is there all the same.
        for (path, line, group) in [
            ("/b", line, &*names),
            ("/a/x", line + 1, &*names),
            ("/a/x", line, &["aBot"]),
            ("/a/x?token=[redacted]", line, &*names),
        ] {
            let past = past(path, line, group);
            assert!(past.excerpt.is_some(), "{path} {line}");
            assert_eq!((past.rule, past.over, past.form), (None, None, None), "{path} {line}");
        }
        assert_eq!(past("/a/x", 99, &names).excerpt, None);
    }

    #[test]
    fn the_forms_of_a_list_of_records_come_from_their_editions() {
        let file = b"User-agent: *\nDisallow: /a/\nAllow: /a/open";
        let mut forms = PastForms::default();
        let mut reads = 0;
        for (path, reason, edition, expected) in [
            ("//a/x", FORM, "0", Some("/a/x")),
            // The rule that is recorded closes the letter, too, where no other rule allows it.
            ("/a/open/..%2Fx", FORM, "0", Some("/a/x")),
            ("//a/x", "robots.disallow", "0", None),
            ("//a/x?token=[redacted]", FORM, "0", None),
            ("//a/x", FORM, "lost", None),
        ] {
            let mut one = record(&["*"], path, 2);
            (one.verdict, one.reason, one.robots.edition) =
                ("allow".into(), reason.into(), edition.into());
            let form = forms.of(&one, Reading::default(), || {
                reads += 1;
                Ok::<_, ()>((edition == "0").then(|| file.to_vec()))
            });
            assert_eq!(form, Ok(expected.map(str::to_owned)), "{path} {reason} {edition}");
        }
        assert_eq!(reads, 2, "each edition once");
    }
}
