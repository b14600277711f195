//! What an answer to a request for robots.txt says of rules (RFC 9309 §2.3.1).
//!
//! A crawler has to guess what an odd answer means, and guesses on the safe side of its own. Here
//! the file is the operator's, and somebody can be told: an answer that is surely a mistake is
//! refused, and the last good file stays.

use std::fmt;

use crate::{escape, robots};

/// The result of one access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The octets of a file, as they came; none at all is a file without rules (§2.3.1.1).
    Rules(Vec<u8>),
    /// There is no file, so there are no rules (§2.3.1.3); with the status.
    NoRules(u16),
    /// What was fetched last is what there is still.
    Unchanged,
    /// Nothing can be told (§2.3.1.4).
    Unreachable(Unreachable),
    /// There was an answer, and it can't be what is meant.
    Refused(Refusal),
}

/// Why nothing can be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unreachable {
    /// Occurs when the origin fails (500 to 599), or is asked too often (429).
    Status(u16),
    /// Occurs when the answer was not there in time.
    Timeout,
    /// Occurs when there is no connection, or it ends too early; says how.
    Transport(String),
}

/// Why an answer is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Occurs when it is a page, by its type or by what it begins with.
    Html,
    /// Occurs when it has more octets than every crawler reads.
    TooLarge,
    /// Occurs when it holds what no text holds, or came in a coding that was not asked for.
    Binary,
    /// Occurs when the status is none that §2.3.1 knows.
    Status(u16),
    /// Occurs when a redirect leads to a host that is no host of the policy; with what it said.
    RedirectAway(Vec<u8>),
    /// Occurs when one redirect follows another too often (§2.3.1.2).
    TooManyRedirects,
    /// Occurs when a redirect leads to where it was come from.
    RedirectLoop,
    /// Occurs when a redirect doesn't say where to.
    NoLocation,
}

/// What is told of an answer before its body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head<'a> {
    pub(super) status: u16,
    pub(super) content_type: Option<&'a [u8]>,
    /// Whether the body is in a coding that could not be undone.
    pub(super) is_encoded: bool,
    /// Whether the request was conditional.
    pub(super) is_conditional: bool,
}

impl Head<'_> {
    /// What the answer says where no look at its body is needed; redirects are followed elsewhere.
    pub(super) fn answer(&self) -> Option<Answer> {
        match self.status {
            200 if self.is_html() => Some(Answer::Refused(Refusal::Html)),
            200 if self.is_encoded => Some(Answer::Refused(Refusal::Binary)),
            200 => None,
            304 if self.is_conditional => Some(Answer::Unchanged),
            status @ (429 | 500..=599) => Some(Answer::Unreachable(Unreachable::Status(status))),
            status @ 400..=499 => Some(Answer::NoRules(status)),
            status => Some(Answer::Refused(Refusal::Status(status))),
        }
    }

    fn is_html(&self) -> bool {
        let essence = self.content_type.and_then(|value| value.split(|&b| b == b';').next());
        essence.is_some_and(|essence| {
            let essence = essence.trim_ascii();
            [&b"text/html"[..], b"application/xhtml+xml"]
                .into_iter()
                .any(|html| essence.eq_ignore_ascii_case(html))
        })
    }
}

/// What the body of a 200 says.
pub(super) fn of_body(body: Vec<u8>) -> Answer {
    let start = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&body).trim_ascii_start();
    if body.len() > robots::LEAST_BYTES {
        Answer::Refused(Refusal::TooLarge)
    } else if start.starts_with(b"<") {
        Answer::Refused(Refusal::Html)
    } else if body.contains(&0) {
        Answer::Refused(Refusal::Binary)
    } else {
        Answer::Rules(body)
    }
}

impl Answer {
    /// The stable name, fit for a metric label.
    pub(super) const fn code(&self) -> &'static str {
        match self {
            Self::Rules(_) => "rules",
            Self::NoRules(_) => "no_rules",
            Self::Unchanged => "unchanged",
            Self::Unreachable(Unreachable::Status(_)) => "origin_robots.unreachable",
            Self::Unreachable(Unreachable::Timeout) => "origin_robots.timeout",
            Self::Unreachable(Unreachable::Transport(_)) => "origin_robots.transport",
            Self::Refused(Refusal::Html) => "origin_robots.html",
            Self::Refused(Refusal::TooLarge) => "origin_robots.too_large",
            Self::Refused(Refusal::Binary) => "origin_robots.binary",
            Self::Refused(Refusal::Status(_)) => "origin_robots.status",
            Self::Refused(Refusal::RedirectAway(_)) => "origin_robots.redirect_away",
            Self::Refused(Refusal::TooManyRedirects) => "origin_robots.redirects",
            Self::Refused(Refusal::RedirectLoop) => "origin_robots.redirect_loop",
            Self::Refused(Refusal::NoLocation) => "origin_robots.no_location",
        }
    }
}

/// What was answered; where it is not taken, with what helps.
impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rules(body) => write!(f, "a file of {} octets", body.len()),
            Self::NoRules(status) => write!(f, "status {status}, so there are no rules"),
            Self::Unchanged => f.write_str("unchanged"),
            Self::Unreachable(why) => why.fmt(f),
            Self::Refused(why) => why.fmt(f),
        }
    }
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(429) => f.write_str(
                "status 429 (let the origin answer requests for /robots.txt from here, however many)",
            ),
            Self::Status(status) => write!(f, "status {status} (see what is wrong at the origin)"),
            Self::Timeout => f.write_str(
                "no whole answer in time (see whether the origin is up, and its answer is quick)",
            ),
            Self::Transport(how) => write!(
                f,
                "{} (see whether the origin is up, and 'origin' is its address)",
                escape::bounded(how.as_bytes(), 300)
            ),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Html => f.write_str(
                "a page in HTML (answer 404 where there is no file, and send one as text/plain)",
            ),
            Self::TooLarge => f.write_str(
                "more than 500 KiB, which no crawler has to read (RFC 9309 §2.5; write fewer or \
                 shorter rules)",
            ),
            Self::Binary => f.write_str("no text (save the file as UTF-8, send it plain or gzip)"),
            Self::Status(status) => write!(
                f,
                "status {status}, which says nothing of rules (answer 200, or 404 where there is \
                 no file)"
            ),
            Self::RedirectAway(location) => write!(
                f,
                "a redirect to '{}', which is no host of the policy (serve the file at the origin, \
                 or name that host in a site)",
                escape::bounded(location, 200)
            ),
            Self::TooManyRedirects => {
                f.write_str("more than five redirects (serve the file at /robots.txt itself)")
            }
            Self::RedirectLoop => f.write_str(
                "a redirect to where it came from (serve the file at /robots.txt itself; an origin \
                 that insists on https needs 'origin: https://…')",
            ),
            Self::NoLocation => f.write_str(
                "a redirect without a Location that can be read (serve the file at /robots.txt \
                 itself)",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, content_type: &str, body: &[u8]) -> Answer {
        let content_type = (!content_type.is_empty()).then_some(content_type.as_bytes());
        let head = Head { status, content_type, is_encoded: false, is_conditional: false };
        head.answer().unwrap_or_else(|| of_body(body.to_vec()))
    }

    const FILE: &[u8] = b"User-agent: *\nDisallow: /x\n";

    #[test]
    fn rfc9309_2_3_1_1_a_file_is_taken_as_it_came() {
        for content_type in ["", "text/plain", "text/plain; charset=utf-8", "text/htmlx", "a"] {
            assert_eq!(answer(200, content_type, FILE), Answer::Rules(FILE.to_vec()));
        }
        for body in
            [&b""[..], b"\n", b"\xef\xbb\xbfUser-agent: *\n", b"Disallow: /<x>\n", b"\xff\xfe"]
        {
            assert_eq!(answer(200, "text/plain", body), Answer::Rules(body.to_vec()));
        }
        let most = vec![b'#'; robots::LEAST_BYTES];
        assert_eq!(answer(200, "", &most).code(), "rules");
    }

    #[test]
    fn rfc9309_2_3_1_3_what_is_unavailable_has_no_rules_and_4_what_is_unreachable_says_nothing() {
        for (status, code) in [
            (400, "no_rules"),
            (401, "no_rules"),
            (403, "no_rules"),
            (404, "no_rules"),
            (410, "no_rules"),
            (451, "no_rules"),
            (499, "no_rules"),
            (429, "origin_robots.unreachable"),
            (500, "origin_robots.unreachable"),
            (503, "origin_robots.unreachable"),
            (599, "origin_robots.unreachable"),
            (201, "origin_robots.status"),
            (204, "origin_robots.status"),
            (206, "origin_robots.status"),
            (300, "origin_robots.status"),
            (304, "origin_robots.status"),
            (305, "origin_robots.status"),
            (600, "origin_robots.status"),
            (999, "origin_robots.status"),
        ] {
            // A page that says what is wrong is none in place of the file.
            assert_eq!(answer(status, "text/html", b"<html>").code(), code, "{status}");
        }
        let head =
            Head { status: 304, content_type: None, is_encoded: false, is_conditional: true };
        assert_eq!(head.answer(), Some(Answer::Unchanged));
    }

    #[test]
    fn ours_what_can_not_be_meant_is_refused() {
        let nul = [FILE, b"\0"].concat();
        let long = vec![b'#'; robots::LEAST_BYTES + 1];
        for (content_type, body, code) in [
            ("text/html", FILE, "origin_robots.html"),
            ("Text/HTML ; charset=utf-8", FILE, "origin_robots.html"),
            ("application/xhtml+xml", FILE, "origin_robots.html"),
            ("text/plain", b"<!doctype html>", "origin_robots.html"),
            ("", b"\xef\xbb\xbf \t\r\n<html>", "origin_robots.html"),
            ("", &nul, "origin_robots.binary"),
            ("", b"U\0s\0e\0r\0", "origin_robots.binary"),
            ("", &long, "origin_robots.too_large"),
        ] {
            assert_eq!(answer(200, content_type, body).code(), code, "{content_type}");
        }
        let head = Head { status: 200, content_type: None, is_encoded: true, is_conditional: true };
        assert_eq!(head.answer(), Some(Answer::Refused(Refusal::Binary)));
    }

    #[test]
    fn every_answer_that_is_not_taken_says_what_helps() {
        let refused = [
            Refusal::Html,
            Refusal::TooLarge,
            Refusal::Binary,
            Refusal::Status(204),
            Refusal::RedirectAway(b"http://x\x1b[2J".to_vec()),
            Refusal::TooManyRedirects,
            Refusal::RedirectLoop,
            Refusal::NoLocation,
        ];
        let unreachable = [
            Unreachable::Status(429),
            Unreachable::Status(503),
            Unreachable::Timeout,
            Unreachable::Transport("refused\n".to_owned()),
        ];
        let refused = refused.map(Answer::Refused);
        for one in refused.into_iter().chain(unreachable.map(Answer::Unreachable)) {
            let text = one.to_string();
            assert!(text.ends_with(')') && text.contains(" ("), "{text}");
            assert!(!text.contains(char::is_control), "{text}");
            assert!(one.code().starts_with("origin_robots."), "{text}");
        }
    }
}
