//! The parameters of a request. Each is known and stands there once, or the request is refused.

use std::{fmt::Display, ops::RangeInclusive};

use crate::{
    base::escape,
    desk::admin::problem::{Kind, Problem},
    rules::policy::closest,
};

/// The most bytes of a foreign text that a problem quotes.
const QUOTED: usize = 100;

pub(super) const PAGED: &[&str] = &[
    "site",
    "crawler",
    "purpose",
    "path",
    "exact_path",
    "rule",
    "action",
    "reason",
    "impostors",
    "since",
    "until",
    "limit",
    "cursor",
];

/// Those by which records are selected.
pub(super) const FILTER: &[&str] = PAGED.split_at(11).0;

#[derive(Clone, Debug, Default)]
pub(super) struct Query(Vec<(&'static str, String)>);

impl Query {
    /// The parameters of a query. Others than the known ones are refused.
    pub(super) fn read(
        query: Option<&str>,
        known: &'static [&'static str],
    ) -> Result<Self, Problem> {
        let mut parameters: Vec<(&'static str, String)> = Vec::new();
        for (name, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            let found = known.iter().copied().find(|known| *known == name);
            let found = found.ok_or_else(|| unknown(&name, known))?;
            if parameters.iter().any(|(other, _)| *other == found) {
                let detail = format!("'{found}' stands there twice (write it once)");
                return Err(Problem::new(Kind::Parameter, detail).about(found));
            }
            parameters.push((found, value.into_owned()));
        }
        Ok(Self(parameters))
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(other, _)| *other == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn number(
        &self,
        name: &str,
        default: usize,
        range: RangeInclusive<usize>,
    ) -> Result<usize, Problem> {
        let Some(text) = self.text(name) else { return Ok(default) };
        // `parse` takes a plus, too.
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|number| is_number && range.contains(number));
        number.ok_or_else(|| {
            let (least, most) = (range.start(), range.end());
            bad(name, text, format_args!("write a whole number from {least} to {most}"))
        })
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool, Problem> {
        match self.text(name) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(text) => Err(bad(name, text, "write true or false")),
        }
    }

    pub(super) fn word(&self, name: &str, words: &[&str]) -> Result<Option<String>, Problem> {
        let Some(text) = self.text(name) else { return Ok(None) };
        if words.contains(&text) {
            return Ok(Some(text.to_owned()));
        }
        Err(bad(name, text, nearest(text, words)))
    }

    /// Words with commas between them, each once. None if the parameter is missing.
    pub(super) fn words<T: Copy>(
        &self,
        name: &str,
        known: &[(&'static str, T)],
    ) -> Result<Vec<(&'static str, T)>, Problem> {
        let mut found: Vec<(&'static str, T)> = Vec::new();
        let Some(text) = self.text(name) else { return Ok(found) };
        for word in text.split(',') {
            let Some(one) = known.iter().find(|(other, _)| *other == word) else {
                let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
                return Err(bad(name, word, nearest(word, &words)));
            };
            if found.iter().any(|(other, _)| *other == word) {
                return Err(bad(name, word, "it stands there twice; write it once"));
            }
            found.push(*one);
        }
        Ok(found)
    }
}

fn bad(name: &str, text: &str, repair: impl Display) -> Problem {
    let text = escape::bounded(text.as_bytes(), QUOTED);
    Problem::value(name, format!("'{text}' means nothing as '{name}' ({repair})"))
}

fn unknown(name: &str, known: &[&str]) -> Problem {
    let shown = escape::bounded(name.as_bytes(), QUOTED);
    let repair = match known {
        [] => "leave it out; this path has no parameters".to_owned(),
        known => nearest(name, known),
    };
    Problem::new(Kind::Parameter, format!("'{shown}' is no parameter of this path ({repair})"))
        .about(shown)
}

fn nearest(text: &str, known: &[&str]) -> String {
    match closest(text, known.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("write one of {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 3] = ["site", "limit", "by"];

    fn query(text: &str) -> Query {
        Query::read(Some(text), &KNOWN).expect("known parameters")
    }

    fn text_of(problem: Problem) -> String {
        format!("{problem:?}")
    }

    #[test]
    fn a_parameter_is_known_and_stands_there_once() {
        assert_eq!(query("site=a%20b&limit=").text("site"), Some("a b"));
        assert_eq!(query("").text("site"), None);
        for (text, says) in [
            ("sites=a", "did you mean site?"),
            ("x=1", "write one of site, limit, by"),
            ("site=a&site=b", "twice"),
            ("%1b[2J=1", "\\\\x1b[2J"),
        ] {
            let problem = Query::read(Some(text), &KNOWN).expect_err("a problem");
            assert!(text_of(problem.clone()).contains(says), "{text}: {problem:?}");
        }
        let problem = Query::read(Some("x"), &[]).expect_err("a problem");
        assert!(text_of(problem).contains("no parameters"));
    }

    #[test]
    fn a_number_is_within_its_range() {
        let read = |text: &str| query(&format!("limit={text}")).number("limit", 7, 1..=1_000).ok();
        for (text, number) in [
            ("1", Some(1)),
            ("1000", Some(1_000)),
            ("0", None),
            ("1001", None),
            ("-1", None),
            ("%2B1", None),
            ("1.0", None),
            ("", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(read(text), number, "{text}");
        }
        assert_eq!(query("").number("limit", 7, 1..=1_000).ok(), Some(7));
    }

    #[test]
    fn words_are_known_and_stand_there_once() {
        let known = [("crawler", 1), ("action", 2)];
        let read = |text: &str| query(&format!("by={text}")).words("by", &known);
        assert_eq!(read("action,crawler").ok(), Some(vec![("action", 2), ("crawler", 1)]));
        assert_eq!(query("").words("by", &known).ok(), Some(Vec::new()));
        for (text, says) in [
            ("actoin", "did you mean action?"),
            ("action,action", "twice"),
            ("", "write one of crawler, action"),
        ] {
            let problem = read(text).expect_err("a problem");
            assert!(text_of(problem.clone()).contains(says), "{text}: {problem:?}");
        }
    }
}
