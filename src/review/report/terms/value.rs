//! Times, days and ages; path patterns and rules, by the rules for those of a policy.

use jiff::{SignedDuration, Timestamp, civil::Date, tz::TimeZone};

use super::Refusal;
use crate::{
    base::escape::{self, shown},
    formats::robots::{Directive, Rule, corrected},
    records::record::BrokenRule,
};

/// A time, a day in UTC, or an age before `now`.
pub(crate) fn time(text: &str, now: Timestamp) -> Result<Timestamp, Refusal> {
    parse(text, now).ok_or_else(|| {
        let text = escape::bounded(text.as_bytes(), 100);
        Refusal::Term(format!(
            "'{text}' is not a time (write 2026-11-20T10:00:00Z, 2026-11-20 or 24h)"
        ))
    })
}

/// The repair of a span whose end, written as `text`, is not after its start.
pub(crate) fn disorder(since: Timestamp, until: Timestamp, text: &str) -> Option<&'static str> {
    match text.parse::<Date>().is_ok() {
        _ if since < until => None,
        true => Some("a day begins at 00:00 UTC: name the day after the last one"),
        false => Some("swap the two, or name a later end"),
    }
}

fn parse(text: &str, now: Timestamp) -> Option<Timestamp> {
    let day = || {
        let date: Date = text.parse().ok()?;
        Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp())
    };
    let ago = || {
        let unit_at = text.find(|c: char| !c.is_ascii_digit())?;
        let (number, unit) = text.split_at(unit_at);
        let seconds = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3_600,
            "d" => 86_400,
            _ => return None,
        };
        let ago = number.parse::<i64>().ok()?.checked_mul(seconds)?;
        now.checked_sub(SignedDuration::from_secs(ago)).ok()
    };
    text.parse::<Timestamp>().ok().or_else(day).or_else(ago)
}

/// A path pattern as in robots.txt.
pub(crate) fn pattern(text: &str) -> Result<String, Refusal> {
    let refused =
        |why: &str| Refusal::Term(format!("'{}' is no path pattern ({why})", shown(text)));
    if let Some(correction) = corrected(text) {
        let why = match text.is_empty() {
            true => "it is empty; '/' matches every path".to_owned(),
            false => {
                format!("it begins with neither '/' nor '*'; write '{}'", shown(correction))
            }
        };
        return Err(refused(&why));
    }
    match Rule::new(Directive::Disallow, text) {
        Ok(_) => Ok(text.to_owned()),
        Err(finding) => Err(refused(finding.help.as_deref().unwrap_or(&finding.message))),
    }
}

/// A rule as robots.txt has it, or the reason of records without one.
pub(crate) fn rule(text: &str) -> Result<BrokenRule, Refusal> {
    BrokenRule::of_line(text.trim()).ok_or_else(|| {
        let why =
            "write it as robots.txt has it, as in 'Disallow: /private/', or the code of a reason";
        Refusal::Term(format!("'{}' is no rule ({why})", shown(text)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_is_a_time_a_day_or_an_age() {
        let now = "2026-11-20T12:00:00Z".parse().expect("a time");
        for (text, expected) in [
            ("2026-11-20T10:00:00Z", Some("2026-11-20T10:00:00Z")),
            ("2026-11-20T10:00:00+02:00", Some("2026-11-20T08:00:00Z")),
            ("2026-11-19", Some("2026-11-19T00:00:00Z")),
            ("24h", Some("2026-11-19T12:00:00Z")),
            ("7d", Some("2026-11-13T12:00:00Z")),
            ("yesterday", None),
            ("24", None),
            ("-1h", None),
            ("99999999999999999999d", None),
        ] {
            let expected = expected.map(|text| text.parse::<Timestamp>().expect("a time"));
            assert_eq!(parse(text, now), expected, "{text}");
        }
    }

    #[test]
    fn a_rule_is_a_line_of_robots_txt_or_the_code_of_a_reason() {
        for (text, directive, pattern) in [
            ("Disallow: /a:b", "disallow", "/a:b"),
            (" allow :/", "allow", "/"),
            ("Crawl-delay: 5", "crawl-delay", "5"),
            ("Disallow:", "disallow", ""),
            ("claim.contradicted", "", ""),
        ] {
            let rule = rule(text).expect("a rule");
            assert_eq!((rule.directive, rule.pattern.as_str()), (directive, pattern), "{text}");
        }
        for text in ["", "/private/", "Sitemap: /", "robots.froms"] {
            assert!(rule(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_pattern_is_refused_with_the_one_that_is_meant() {
        for (text, says) in [
            ("private", "write '/private'"),
            ("?page=", "write '/*?page='"),
            ("https://www.example.com/a/*", "write '/a/*'"),
            ("", "it is empty"),
            ("$", "write '/$'"),
        ] {
            let Err(Refusal::Term(sentence)) = pattern(text) else { panic!("{text}: accepted") };
            assert!(sentence.contains(says), "{text}: {sentence}");
        }
        for text in ["/", "*", "*.pdf$", "/a?b=*"] {
            assert!(pattern(text).is_ok(), "{text}");
        }
        for text in ["/a\nb", "/a#b", "/\u{1b}[2J"] {
            let Err(Refusal::Term(sentence)) = pattern(text) else { panic!("{text}: accepted") };
            assert!(!sentence.contains(char::is_control), "{sentence}");
        }
    }
}
