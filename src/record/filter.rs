//! The selection of records, the same for the database and for JSON lines.

use jiff::Timestamp;

use crate::{
    escape,
    record::{Overflow, Violation},
};

/// The conditions on a record; `None` is no condition. The default lists all records.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// The record's id, which is the decision id on the page of a refused request.
    pub id: Option<String>,
    /// The site's name, in any case.
    pub site: Option<String>,
    /// The judged product token, in any case.
    pub product_token: Option<String>,
    /// The crawler's purpose.
    pub purpose: Option<String>,
    /// A path pattern, matched like a rule of robots.txt: from the start, with `*` for any
    /// characters and `$` for the end (RFC 9309 §2.2.3). Compared with the recorded text, without
    /// decoding.
    pub path: Option<String>,
    /// The earliest time.
    pub since: Option<Timestamp>,
    /// The end of the span: only earlier times.
    pub until: Option<Timestamp>,
    /// The action.
    pub action: Option<String>,
    /// The most records: the latest ones, or the next ones with `after_sequence`.
    pub limit: Option<usize>,
    /// Only records after the one with this sequence number. A reader follows new records by
    /// passing the `end` of the last listing.
    pub after_sequence: Option<u64>,
    /// Only records before the one with this sequence number.
    pub before_sequence: Option<u64>,
}

/// The listed records in the order of writing, each with its sequence number.
#[derive(Debug, Default)]
pub struct Listing {
    /// The records.
    pub records: Vec<(u64, Violation)>,
    /// The number of lines or rows that are no valid records; they are skipped.
    pub unreadable: u64,
    /// The number of earlier records that meet the conditions, but are beyond the limit. A database
    /// counts them apart (`Store::count_records`).
    pub more: u64,
    /// The `after_sequence` of the next query. At or after the last record's number.
    pub end: u64,
}

impl Filter {
    /// Whether the record meets the conditions; the reader applies `limit` and `after_sequence`.
    pub fn matches(&self, violation: &Violation) -> bool {
        let same = |wanted: &Option<String>, found: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(found))
        };
        self.id.as_ref().is_none_or(|id| *id == violation.id.as_str())
            && same(&self.site, &violation.site)
            && same(&self.product_token, &violation.product_token)
            && same(&self.action, &violation.action)
            && self.purpose.as_ref().is_none_or(|wanted| {
                let found = violation.purpose.as_deref();
                found.is_some_and(|found| wanted.eq_ignore_ascii_case(found))
            })
            && self.since.is_none_or(|since| since <= violation.time)
            && self.until.is_none_or(|until| violation.time < until)
            && self.matches_path(&violation.path)
    }

    /// Whether violations that are counted without a record may meet the conditions. Only their site,
    /// product token and time are known.
    pub fn covers(&self, overflow: &Overflow) -> bool {
        let same = |wanted: &Option<String>, found: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(found))
        };
        same(&self.site, &overflow.site)
            && same(&self.product_token, &overflow.product_token)
            && self.since.is_none_or(|since| since <= overflow.last)
            && self.until.is_none_or(|until| overflow.first < until)
    }

    /// Whether the recorded path matches.
    pub(crate) fn matches_path(&self, path: &str) -> bool {
        self.path.as_ref().is_none_or(|pattern| {
            // Recorded paths are escaped, so the pattern must be too.
            path_matches(&escape::text(pattern.as_bytes()), path)
        })
    }

    /// The path pattern as a pattern of SQLite's GLOB, which matches exactly the same paths.
    pub(crate) fn path_glob(&self) -> Option<String> {
        let pattern = escape::text(self.path.as_deref()?.as_bytes());
        let (pattern, end) = match pattern.strip_suffix('$') {
            Some(pattern) => (pattern, ""),
            None => (pattern.as_str(), "*"),
        };
        // In GLOB a question mark and a bracket are special, too; in brackets they are not.
        let pieces = pattern.split('*').map(|piece| piece.replace('[', "[[]").replace('?', "[?]"));
        Some(pieces.collect::<Vec<_>>().join("*") + end)
    }
}

/// A leftmost-greedy search of the pieces between the stars: exact for `*`, and linear.
fn path_matches(pattern: &str, path: &str) -> bool {
    let (pattern, is_anchored) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut pieces = pattern.split('*').peekable();
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = path.strip_prefix(first) else { return false };
    if pieces.peek().is_none() {
        return !is_anchored || rest.is_empty();
    }
    while let Some(piece) = pieces.next() {
        if is_anchored && pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        let Some((_, after)) = rest.split_once(piece) else { return false };
        rest = after;
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paths_match_as_robots_txt_matches_them() {
        for (pattern, path, matches) in [
            ("/", "/a", true),
            ("", "/a", true),
            ("/a", "/ab", true),
            ("/a$", "/ab", false),
            ("/a$", "/a", true),
            ("*.pdf$", "/x.pdf.pdf", true),
            ("*.pdf$", "/x.pdf?y", false),
            ("/*/b*c$", "/a/b/bc", true),
            ("/a*", "/a", true),
            ("/a*$", "/abc", true),
            ("/a%2f", "/a%2F", false),
            ("/[a-c]?", "/b1", false),
            ("/tab\there", "/tab\\there", true),
        ] {
            let filter = Filter { path: Some(pattern.to_owned()), ..Filter::default() };
            assert_eq!(filter.matches_path(path), matches, "{pattern} {path}");
        }
    }

    /// The definition, read literally.
    fn naive(pattern: &[u8], path: &[u8]) -> bool {
        match pattern {
            [] => true,
            [b'$'] => path.is_empty(),
            [b'*', rest @ ..] => (0..=path.len()).any(|at| naive(rest, &path[at..])),
            [first, rest @ ..] => path.first() == Some(first) && naive(rest, &path[1..]),
        }
    }

    proptest! {
        #[test]
        fn paths_match_as_in_a_naive_matcher(pattern in "[ab*]{0,8}[$]?", path in "[ab]{0,12}") {
            let expected = naive(pattern.as_bytes(), path.as_bytes());
            prop_assert_eq!(path_matches(&pattern, &path), expected);
        }
    }
}
