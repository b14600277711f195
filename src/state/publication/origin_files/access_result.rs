//! The access results of RFC 9309 §2.3.1: the meaning of a response to a request for robots.txt.
//!
//! A crawler must guess the meaning of an odd response. Here the file is the operator's own. So
//! Beadle refuses a response that is clearly a mistake, logs it and keeps the last good file.

use bytes::Bytes;
use derive_more::Display;

use crate::base::escape;

/// What an access found. Its text has the repair of a failure.
#[derive(Clone, Debug, Display, PartialEq, Eq)]
pub(super) enum AccessResult {
    /// A file, as text in UTF-8; an empty file has no rules (§2.3.1.1).
    #[display("a file of {} octets", _0.len())]
    File(Bytes),
    /// A document in the file's place, in which no crawler finds a rule (§2.3.1.1).
    #[display("a document without rules")]
    Document,
    /// No file, so there are no rules (§2.3.1.3); has the status.
    #[display("status {_0}, so there are no rules")]
    NoFile(u16),
    /// The same file as last time.
    #[display("unchanged")]
    Unchanged,
    Failed(Fault),
}

/// The reason why there is no answer: an unreachable file (§2.3.1.4), or a response that is clearly a
/// mistake.
#[derive(Clone, Debug, Display, PartialEq, Eq)]
pub(super) enum Fault {
    /// Occurs when the origin fails (500 to 599) or limits requests (429).
    #[display("status {_0} ({})", repair(*_0))]
    Unreachable(u16),
    /// Occurs when the response takes too long.
    #[display("no complete response in time (check that the origin is up and fast enough)")]
    Timeout,
    /// Occurs when there is no connection or it ends early; has the error as text.
    #[display(
        "{} (check that the origin is up and that 'origin' has its address)",
        escape::bounded(_0.as_bytes(), 300)
    )]
    Transport(String),
    /// Occurs when the response is not text in a known encoding, or has a content coding that Beadle did
    /// not accept.
    #[display("not text (save the file as UTF-8, and send it plain or with gzip)")]
    Binary,
    /// Occurs when §2.3.1 does not cover the status.
    #[display("unexpected status {_0} (answer 200, or 404 if there is no file)")]
    Status(u16),
    /// Occurs when a redirect leads to no public address and to no host of the policy; has its
    /// Location.
    #[display(
        "a redirect to '{}', which is no public address and no host of the policy (serve the file at \
         the origin, or add the host to a site)",
        escape::shown(_0)
    )]
    RedirectAway(Vec<u8>),
    /// Occurs when there are too many redirects in a row (§2.3.1.2).
    #[display("more than five redirects (serve the file at /robots.txt itself)")]
    TooManyRedirects,
    /// Occurs when a redirect leads back to an earlier URL.
    #[display(
        "a redirect loop (serve the file at /robots.txt itself; an origin that requires https needs \
         'origin: https://…')"
    )]
    RedirectLoop,
    /// Occurs when a redirect has no valid Location.
    #[display("a redirect without a valid Location (serve the file at /robots.txt itself)")]
    NoLocation,
}

const fn repair(status: u16) -> &'static str {
    match status {
        429 => "exempt Beadle's requests for /robots.txt from the origin's rate limit",
        _ => "check the origin's error log",
    }
}

impl AccessResult {
    /// The result, if it does not depend on the body. `is_encoded`: it has a coding that the client can't
    /// decode. The caller follows redirects.
    pub(super) fn of_head(status: u16, is_encoded: bool, is_conditional: bool) -> Option<Self> {
        match status {
            200 if is_encoded => Some(Self::Failed(Fault::Binary)),
            200 => None,
            304 if is_conditional => Some(Self::Unchanged),
            429 | 500..=599 => Some(Self::Failed(Fault::Unreachable(status))),
            400..=499 => Some(Self::NoFile(status)),
            _ => Some(Self::Failed(Fault::Status(status))),
        }
    }

    pub(super) const fn code(&self) -> &'static str {
        match self {
            Self::File(_) => "rules",
            Self::Document => "origin_robots.html",
            Self::NoFile(_) => "no_rules",
            Self::Unchanged => "unchanged",
            Self::Failed(Fault::Unreachable(_)) => "origin_robots.unreachable",
            Self::Failed(Fault::Timeout) => "origin_robots.timeout",
            Self::Failed(Fault::Transport(_)) => "origin_robots.transport",
            Self::Failed(Fault::Binary) => "origin_robots.binary",
            Self::Failed(Fault::Status(_)) => "origin_robots.status",
            Self::Failed(Fault::RedirectAway(_)) => "origin_robots.redirect_away",
            Self::Failed(Fault::TooManyRedirects) => "origin_robots.redirects",
            Self::Failed(Fault::RedirectLoop) => "origin_robots.redirect_loop",
            Self::Failed(Fault::NoLocation) => "origin_robots.no_location",
        }
    }
}

impl Fault {
    /// Whether another server of the site may have the file.
    pub(super) const fn is_unreachable(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Timeout | Self::Transport(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, is_encoded: bool, is_conditional: bool) -> Option<&'static str> {
        AccessResult::of_head(status, is_encoded, is_conditional).map(|result| result.code())
    }

    #[test]
    fn rfc9309_2_3_1_3_an_unavailable_file_has_no_rules_and_4_an_unreachable_one_says_nothing() {
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
            assert_eq!(answer(status, false, false), Some(code), "{status}");
        }
        assert_eq!(answer(304, false, true), Some("unchanged"));
        // The body says more.
        assert_eq!(answer(200, false, true), None);
        assert_eq!(answer(200, true, true), Some("origin_robots.binary"));
    }

    #[test]
    fn every_failure_has_a_repair() {
        let refused = [
            Fault::Binary,
            Fault::Status(204),
            Fault::RedirectAway(b"http://x\x1b[2J".to_vec()),
            Fault::TooManyRedirects,
            Fault::RedirectLoop,
            Fault::NoLocation,
        ];
        let unreachable = [
            Fault::Unreachable(429),
            Fault::Unreachable(503),
            Fault::Timeout,
            Fault::Transport("refused\n".to_owned()),
        ];
        for one in refused.into_iter().chain(unreachable).map(AccessResult::Failed) {
            let text = one.to_string();
            assert!(text.ends_with(')') && text.contains(" ("), "{text}");
            assert!(!text.contains(char::is_control), "{text}");
            assert!(one.code().starts_with("origin_robots."), "{text}");
        }
    }
}
