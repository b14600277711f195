//! The span of time that the options name.

use jiff::Timestamp;

use crate::{
    program::console::exit::Error,
    review::report::terms::{disorder, time},
};

/// The times from `since` on and before `until`; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) since: Option<Timestamp>,
    pub(crate) until: Option<Timestamp>,
}

impl Span {
    /// The span of these options.
    pub(crate) fn of(
        since: Option<&str>,
        until: Option<&str>,
        now: Timestamp,
    ) -> Result<Self, Error> {
        let time = |text| time(text, now);
        let span =
            Self { since: since.map(time).transpose()?, until: until.map(time).transpose()? };
        let (Some(from), Some(to)) = (span.since, span.until) else { return Ok(span) };
        match disorder(from, to, until.unwrap_or_default()) {
            None => Ok(span),
            Some(repair) => Err(Error::Refused(format!(
                "--until {to:.0} is not after --since {from:.0} ({repair})"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-11-20T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn an_end_that_is_not_after_the_start_is_refused() {
        for (since, until, says) in [
            ("24h", "1h", None),
            ("2026-11-19", "2026-11-20", None),
            ("1h", "24h", Some("swap the two")),
            ("2026-11-19", "2026-11-19", Some("name the day after the last one")),
            ("2026-11-19T00:00:00Z", "2026-11-19T00:00:00Z", Some("a later end")),
            ("1h", "tomorrow", Some("'tomorrow' is not a time")),
        ] {
            let sentence = match Span::of(Some(since), Some(until), now()) {
                Err(Error::Refused(sentence)) => Some(sentence),
                _ => None,
            };
            let is_as_expected = match (&sentence, says) {
                (None, None) => true,
                (Some(sentence), Some(says)) => sentence.contains(says),
                _ => false,
            };
            assert!(is_as_expected, "{since} {until}: {sentence:?}");
        }
    }
}
