//! Which records are asked for: one filter for the database and for JSON lines.

use jiff::Timestamp;

use crate::{escape, violations::Violation};

/// What a record must have to be listed; what is `None` is not looked at. The default lists all.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// This very record: the decision id that a refused client was told.
    pub id: Option<String>,
    /// The site's name, in any case.
    pub site: Option<String>,
    /// The product token that was judged, in any case.
    pub product_token: Option<String>,
    /// The crawler's purpose.
    pub purpose: Option<String>,
    /// The path, as a rule of robots.txt would match it: from its start, with `*` for any
    /// characters and `$` for the end (RFC 9309 §2.2.3). Compared with the recorded text, without
    /// decoding.
    pub path: Option<String>,
    /// At this time or later.
    pub since: Option<Timestamp>,
    /// What was done.
    pub action: Option<String>,
    /// Not more records than this: the latest ones, or, with `after_sequence`, the next ones.
    pub limit: Option<usize>,
    /// Only what came after the record of this sequence number: asking again with the last number
    /// seen is how a reader follows.
    pub after_sequence: Option<u64>,
}

/// The records found, in the order in which they were written, each with its sequence number.
#[derive(Debug, Default)]
pub struct Listing {
    /// The records.
    pub records: Vec<(u64, Violation)>,
    /// Lines or rows that could not be read as records, and were passed over.
    pub unreadable: u64,
    /// Where to go on: the `after_sequence` of the next question. Not behind the last record, but
    /// possibly beyond it.
    pub end: u64,
}

impl Filter {
    /// Whether the filter lists this record; `limit` and `after_sequence` are its reader's.
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
            && self.matches_path(&violation.path)
    }

    /// Whether the recorded path matches.
    pub(super) fn matches_path(&self, path: &str) -> bool {
        self.path.as_ref().is_none_or(|pattern| {
            // Recorded paths are escaped, so the pattern has to be.
            path_matches(&escape::text(pattern.as_bytes()), path)
        })
    }

    /// The text that every matching path begins with.
    pub(super) fn path_prefix(&self) -> Option<String> {
        let pattern = self.path.as_deref()?;
        let literal = pattern.strip_suffix('$').unwrap_or(pattern).split('*').next()?;
        (!literal.is_empty()).then(|| escape::text(literal.as_bytes()))
    }
}

/// Leftmost-greedy search of the pieces between the stars: exact for `*`, and linear.
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
        fn ours_paths_match_as_the_naive_reading(pattern in "[ab*]{0,8}[$]?", path in "[ab]{0,12}") {
            let expected = naive(pattern.as_bytes(), path.as_bytes());
            prop_assert_eq!(path_matches(&pattern, &path), expected);
            let filter = Filter { path: Some(pattern), ..Filter::default() };
            if expected && let Some(prefix) = filter.path_prefix() {
                prop_assert!(path.starts_with(&prefix));
            }
        }
    }
}
