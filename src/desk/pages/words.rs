//! The words of records as sentences; times as people read them, in UTC, and their lengths.

use std::time::Duration;

use jiff::Timestamp;

use crate::{
    records::{
        record::{Error, RobotsRead},
        tally::ReadState,
        violations::Store,
    },
    review::report::terms::{Names, Refusal},
    rules::{crawlers::Class, enforce::Rulebook},
};

pub(super) fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).chain(['.']).collect()
}

/// The name that a filter means. One that nobody knows is a fault, as a sentence.
pub(super) fn known(
    name: Option<Result<String, Refusal>>,
    faults: &mut Vec<String>,
) -> Result<Option<String>, Error> {
    match name {
        Some(Ok(name)) => return Ok(Some(name)),
        Some(Err(Refusal::Term(why))) => faults.push(sentence(&why)),
        Some(Err(Refusal::Store(error))) => return Err(error),
        None => {}
    }
    Ok(None)
}

/// The site that a filter means, and what is wrong with its name.
pub(super) fn known_site(
    store: &Store,
    rulebook: &Rulebook,
    site: Option<String>,
) -> Result<(Option<String>, Vec<String>), Error> {
    let mut faults = Vec::new();
    let named = site.as_deref().map(|site| Names::from(rulebook).site(store, site));
    Ok((known(named, &mut faults)?.or(site), faults))
}

pub(super) fn class(name: &str) -> &'static str {
    match name {
        one if one == Class::Crawler.as_str() => "crawlers",
        one if one == Class::UserTriggered.as_str() => "fetchers for people",
        one if one == Class::Automation.as_str() => "other programs",
        one if one == Class::App.as_str() => "apps",
        one if one == Class::Browser.as_str() => "people",
        _ => "clients without a name",
    }
}

/// The reason of a decision, by its stable code; empty for a code of a newer version.
pub(super) fn reason(code: &str) -> &'static str {
    match code {
        "robots.allow" => "The rules allow this path.",
        "robots.disallow" => "The rules disallow this path.",
        "robots.form" => {
            "The rules allow this path, but origins may read it as one that the rules disallow. This is \
             no violation."
        }
        // Records of an earlier version.
        "robots.disallow.evasion" => {
            "The path as written is allowed, but origins read it as one that the rules disallow."
        }
        "robots.disallow.hidden" => {
            "The User-Agent is too long or has too many names, so every group counts; one disallows \
             the path."
        }
        "robots.disallow.grace" => {
            "The rules disallow this path, but the crawler may not know this edition yet."
        }
        "robots.disallow.spared" => {
            "The rules disallow this path, but search engines are not refused by the rules for '*'."
        }
        "claim.contradicted" => "The evidence contradicts who the client says it is.",
        "robots.crawl_delay" => "The request came before the crawl delay was over.",
        "ladder.throttle" => "The request came before the pace of the crawler's rung allows it.",
        "limit" => "The request is beyond a limit of the site.",
        "people_first" => "The origin was busy, and people come first.",
        "breaker.open" => "It would have been refused, but the breaker was open.",
        "enforcement.off" => "Enforcement is off for this client.",
        "robots.unbound" => "No group of robots.txt binds this client.",
        "robots.robots_txt" => "Every client may read robots.txt.",
        "robots.unknown" => "The origin's robots.txt is not known yet, so no request is judged.",
        _ => "",
    }
}

pub(super) fn standing(standing: &str, evidence: Option<&str>) -> &'static str {
    match (standing, evidence) {
        ("confirmed", Some("ip-range")) => {
            "Confirmed: the address is in a list that the operator publishes."
        }
        ("confirmed", Some("reverse-dns")) => {
            "Confirmed: the address has a name of the operator, which leads back to the address."
        }
        ("confirmed", Some("signature")) => "Confirmed: a key of the operator signed the request.",
        ("confirmed", _) => "Confirmed.",
        ("contradicted", Some("ip-range")) => {
            "Contradicted: the address is in none of the lists that the operator publishes."
        }
        ("contradicted", Some("reverse-dns")) => {
            "Contradicted: the address has no name of the operator."
        }
        ("contradicted", Some("signature")) => {
            "Contradicted: a key of another operator signed the request."
        }
        ("contradicted", _) => "Contradicted.",
        ("unverifiable", _) => "Not verifiable: the operator publishes no evidence.",
        _ => "Not known: the evidence was not checked, or was not there yet.",
    }
}

pub(super) fn read(read: &RobotsRead) -> &'static str {
    match read.state {
        ReadState::Never => "The crawler had not been seen to read robots.txt.",
        ReadState::Older => "The crawler had read an older edition of robots.txt.",
        ReadState::Current => "The crawler had read this edition of robots.txt.",
    }
}

pub(super) fn done(action: &str) -> &'static str {
    match action {
        "log" => "The request was recorded and passed.",
        "throttle" => "The client was asked to come later.",
        "block" => "The request was refused.",
        _ => "",
    }
}

pub(super) fn would_be(action: &str) -> &'static str {
    match action {
        "pass" => "It would pass",
        "log" => "It would pass, and be recorded",
        "throttle" => "It would be asked to come later",
        "block" => "It would be refused",
        _ => "It would be decided",
    }
}

pub(super) fn sentences<const N: usize>(all: [&str; N]) -> String {
    all.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A time without parts of a second: `2026-11-22 10:31:00`.
pub(super) fn second(at: Timestamp) -> String {
    at.strftime("%F %H:%M:%S").to_string()
}

/// A time as the filter of violations reads it: `2026-11-22T10:00:00Z`.
pub(super) fn exact(at: Timestamp) -> String {
    at.strftime("%FT%H:%M:%SZ").to_string()
}

/// The length of a time in the largest unit that is exact: `24 hours`, `1 minute`, `500 ms`.
pub(super) fn length(duration: Duration) -> String {
    if duration.is_zero() {
        return "no time".to_owned();
    }
    let units = [(86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1_000, "second")];
    let milliseconds = duration.as_millis();
    let exact = units
        .into_iter()
        .find(|(unit, _)| milliseconds >= *unit && milliseconds.is_multiple_of(*unit));
    match exact.map(|(unit, name)| (milliseconds / unit, name)) {
        Some((1, "day")) => "24 hours".to_owned(),
        Some((1, name)) => format!("1 {name}"),
        Some((number, name)) => format!("{number} {name}s"),
        None => format!("{milliseconds} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{
        crawlers::{Evidence, Outcome},
        enforce::{Action, Reason},
    };

    #[test]
    fn every_word_of_a_decision_has_a_sentence() {
        for code in Reason::ALL.map(Reason::as_str).iter().filter(|code| code.contains('.')) {
            assert!(reason(code).ends_with('.'), "{code}");
        }
        for action in Action::ALL.map(Action::as_str) {
            assert_ne!(would_be(action), "It would be decided", "{action}");
        }
        for outcome in [Outcome::Confirmed, Outcome::Contradicted] {
            for evidence in Evidence::ALL {
                let text = standing(outcome.as_str(), Some(evidence.as_str()));
                assert!(text.contains(": "), "{text}");
            }
        }
    }

    #[test]
    fn durations_read_well() {
        for (milliseconds, text) in [
            (0, "no time"),
            (500, "500 ms"),
            (1_000, "1 second"),
            (90_000, "90 seconds"),
            (3_600_000, "1 hour"),
            (86_400_000, "24 hours"),
            (90 * 86_400_000, "90 days"),
        ] {
            assert_eq!(length(Duration::from_millis(milliseconds)), text);
        }
    }
}
