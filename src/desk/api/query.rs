//! The parameters of a request. Each is known and stands there once, or the request is refused.
//!
//! Records come in the order of their sequence numbers, so a page that begins below a number stays
//! the same while records are added. A [`Cursor`] also keeps the times that ages like `24h` stood for
//! on the first page, and belongs to the filter of that page.

use std::{fmt::Display, ops::RangeInclusive};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::{
    base::escape::{self, hex},
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
                return Err(Problem::new(Kind::PARAMETER, detail).about(found));
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
    Problem::new(Kind::PARAMETER, format!("'{shown}' is no parameter of this path ({repair})"))
        .about(shown)
}

fn nearest(text: &str, known: &[&str]) -> String {
    match closest(text, known.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("write one of {}", known.join(", ")),
    }
}

/// The version and the longest text of a cursor.
const VERSION: &str = "1";
const LONGEST: usize = 300;

/// Where the next page of a listing begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    /// The page has only records below this number.
    pub(super) before: u64,
    pub(super) since: Option<Timestamp>,
    pub(super) until: Option<Timestamp>,
}

impl Cursor {
    pub(super) fn read(query: &Query) -> Result<Option<Self>, Problem> {
        let Some(text) = query.text("cursor") else { return Ok(None) };
        let refused = |why: &str| {
            let repair = "take 'next' of a page with the same parameters, or leave the cursor out";
            Problem::value("cursor", format!("{why} ({repair})"))
        };
        let (filter, cursor) =
            parse(text).ok_or_else(|| refused("this is no cursor of this API"))?;
        if filter != mark(query) {
            return Err(refused("this cursor belongs to another filter"));
        }
        Ok(Some(cursor))
    }

    pub(super) fn text(&self, query: &Query) -> String {
        let time =
            |time: Option<Timestamp>| time.map_or_else(|| "-".to_owned(), |at| at.to_string());
        let (since, until) = (time(self.since), time(self.until));
        let plain = format!("{VERSION} {} {} {since} {until}", mark(query), self.before);
        URL_SAFE_NO_PAD.encode(plain)
    }
}

/// The mark of the filter, and the cursor.
fn parse(text: &str) -> Option<(String, Cursor)> {
    let text = Some(text).filter(|text| text.len() <= LONGEST)?;
    let plain = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
    let parts: Vec<&str> = plain.split(' ').collect();
    let [VERSION, filter, before, since, until] = parts.as_slice() else { return None };
    let time = |text: &str| match text {
        "-" => Some(None),
        text => text.parse().ok().map(Some),
    };
    let (since, until) = (time(since)?, time(until)?);
    Some(((*filter).to_owned(), Cursor { before: before.parse().ok()?, since, until }))
}

/// A short mark of the filter, as the request writes it.
fn mark(query: &Query) -> String {
    let mut hash = Sha256::new();
    for name in FILTER {
        // A missing value differs from an empty one, and no value runs into the next.
        let text = query.text(name);
        let length = text.map_or(u64::MAX, |text| text.len() as u64);
        hash.update(length.to_be_bytes());
        hash.update(text.unwrap_or_default());
    }
    hex(hash.finalize().iter().take(8))
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

    fn filter(text: &str) -> Query {
        const KNOWN: [&str; 8] =
            ["site", "crawler", "purpose", "path", "action", "since", "until", "cursor"];
        Query::read(Some(text), &KNOWN).expect("known parameters")
    }

    #[test]
    fn a_cursor_comes_back_for_its_own_filter_alone() {
        let cursor =
            Cursor { before: 17, since: "2026-11-20T10:00:00.5Z".parse().ok(), until: None };
        let text = cursor.text(&filter("site=a&since=24h"));
        let read = |parameters: &str| Cursor::read(&filter(&format!("{parameters}&cursor={text}")));
        assert_eq!(read("site=a&since=24h"), Ok(Some(cursor)));
        assert_eq!(read("since=24h&site=a"), Ok(Some(cursor)), "the order does not count");
        for other in ["site=a", "site=a&since=25h", "site=&crawler=a&since=24h", "site=b&since=24h"]
        {
            let problem = read(other).expect_err("another filter");
            assert!(format!("{problem:?}").contains("another filter"), "{problem:?}");
        }
    }

    #[test]
    fn a_text_of_another_form_is_no_cursor() {
        let whole = Cursor { before: 1, since: None, until: None }.text(&filter(""));
        let other = URL_SAFE_NO_PAD.encode("1 x -1 - -");
        let long = "A".repeat(400);
        for text in ["", "x", "%00", &whole[1..], &whole[..10], &other, &long, "%F0%9F%92%A9"] {
            let problem = Cursor::read(&filter(&format!("cursor={text}"))).expect_err("a problem");
            assert!(format!("{problem:?}").contains("no cursor of this API"), "{text}");
        }
    }
}
