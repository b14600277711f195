//! `beadle violations`: what was recorded.

use std::{io::Write, path::PathBuf, time::Duration};

use jiff::Timestamp;

use crate::{
    cli::{ConfigFile, Error, Exit, Format, json, load},
    escape,
    policy::{Log, Policy},
    violations::{self, Filter, Listing, Robots, Store, Violation, jsonl},
};

/// How often a follower looks for more.
const POLL: Duration = Duration::from_millis(250);

/// List the violations that were recorded.
///
/// Reads the database of the policy, or its JSON lines where it has none, while the proxy runs or
/// after. Exits with 1 where there is a violation.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigFile,
    /// Only of this site.
    #[arg(long, value_name = "HOST")]
    site: Option<String>,
    /// Only by this crawler.
    #[arg(long, short = 't', value_name = "TOKEN")]
    product_token: Option<String>,
    /// Only by crawlers of this purpose.
    #[arg(long, value_name = "PURPOSE")]
    purpose: Option<String>,
    /// Only of paths that match this, as a rule of robots.txt would.
    #[arg(long, value_name = "PATTERN")]
    path: Option<String>,
    /// Only since then: a time (2026-11-20T10:00:00Z), a day (2026-11-20), or how long ago (24h).
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only those that were answered so.
    #[arg(long, value_parser = ["log", "throttle", "block"])]
    action: Option<String>,
    /// Only this one: the decision id that a refused client was told.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Not more than the latest N.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 100)]
    limit: usize,
    /// Go on printing what is recorded from now on.
    #[arg(long, short)]
    follow: bool,
    /// How to print.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Where records can be read.
enum Source {
    Database(Store),
    Lines(PathBuf),
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let (policy, _) = load(&args.config.config)?;
    let source = Source::of(&policy)?;
    let mut filter = filter(args)?;
    let listing = source.list(&filter)?;
    if args.format == Format::Text && (args.follow || !listing.records.is_empty()) {
        writeln!(
            out,
            "{:<20} {:<8} {:<20} {:<24} {:<6} {:<30} RULE (LINE IN ROBOTS.TXT)",
            "TIME", "ACTION", "PRODUCT TOKEN", "SITE", "STATUS", "PATH"
        )?;
    }
    print(&listing, args.format, out)?;
    if listing.unreadable > 0 {
        remark(&format!("{} lines could not be read as records", listing.unreadable));
    }
    if listing.records.is_empty() && !args.follow && args.format == Format::Text {
        remark("no violations");
    }
    if args.follow {
        filter.limit = None;
        filter.after_sequence = Some(listing.end);
        loop {
            out.flush()?;
            std::thread::sleep(POLL);
            let listing = source.list(&filter)?;
            filter.after_sequence = Some(listing.end);
            print(&listing, args.format, out)?;
        }
    }
    Ok(if listing.records.is_empty() { Exit::Fine } else { Exit::Findings })
}

impl Source {
    fn of(policy: &Policy) -> Result<Self, Error> {
        match (&policy.violations.database, &policy.violations.log) {
            (Some(database), _) => {
                Store::open_read_only(database).map(Self::Database).map_err(refused)
            }
            (None, Some(Log::File(file))) => Ok(Self::Lines(file.clone())),
            (None, Some(Log::Stdout)) => Err(Error::Refused(
                "the records go to standard output and can't be read back (set \
                 violations.database, or a file as violations.log)"
                    .to_owned(),
            )),
            (None, None) => Err(Error::Refused(
                "the policy keeps no records (set violations.database)".to_owned(),
            )),
        }
    }

    fn list(&self, filter: &Filter) -> Result<Listing, Error> {
        match self {
            Self::Database(store) => store.query(filter).map_err(refused),
            Self::Lines(file) => jsonl::read(file, filter).map_err(refused),
        }
    }
}

fn refused(error: violations::Error) -> Error {
    Error::Refused(error.to_string())
}

fn filter(args: &Args) -> Result<Filter, Error> {
    let since = args.since.as_deref().map(|text| {
        parse_since(text, Timestamp::now()).ok_or_else(|| {
            let text = escape::bounded(text.as_bytes(), 100);
            Error::Refused(format!(
                "'{text}' is not a time (write 2026-11-20T10:00:00Z, 2026-11-20 or 24h)"
            ))
        })
    });
    Ok(Filter {
        id: args.id.clone(),
        site: args.site.clone(),
        product_token: args.product_token.clone(),
        purpose: args.purpose.clone(),
        path: args.path.clone(),
        since: since.transpose()?,
        action: args.action.clone(),
        limit: Some(args.limit),
        after_sequence: None,
    })
}

/// A time, a day in UTC, or how long before `now`.
fn parse_since(text: &str, now: Timestamp) -> Option<Timestamp> {
    let day = || {
        let date: jiff::civil::Date = text.parse().ok()?;
        Some(date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
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
        now.checked_sub(jiff::SignedDuration::from_secs(ago)).ok()
    };
    text.parse::<Timestamp>().ok().or_else(day).or_else(ago)
}

fn print(listing: &Listing, format: Format, out: &mut dyn Write) -> Result<(), Error> {
    for (_, violation) in &listing.records {
        match format {
            Format::Json => json(out, violation)?,
            Format::Text => writeln!(out, "{}", text(violation))?,
        }
    }
    Ok(())
}

fn text(violation: &Violation) -> String {
    format!(
        "{:<20} {:<8} {:<20} {:<24} {:<6} {:<30} {}",
        violation.time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        violation.action.as_str(),
        violation.product_token.as_str(),
        violation.site.as_str(),
        violation.status,
        violation.path.as_str(),
        broken(&violation.robots, violation.reason.as_str()),
    )
}

/// The rule or the pace that was broken, with its line; else why it was refused.
fn broken(robots: &Robots, reason: &str) -> String {
    let field = match robots.directive.as_str() {
        "allow" => "Allow",
        "disallow" => "Disallow",
        "crawl-delay" => "Crawl-delay",
        "request-rate" => "Request-rate",
        _ => return reason.to_owned(),
    };
    let line = robots.line.map_or_else(|| "-".to_owned(), |line| line.to_string());
    format!("{field}: {} ({line})", robots.pattern.as_str())
}

/// Said on standard error, so that the lines on standard output stay records.
fn remark(sentence: &str) {
    // Where standard error is closed there is nobody left to tell.
    let _ = writeln!(std::io::stderr(), "beadle: {sentence}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violations::Text;

    #[test]
    fn ours_what_was_broken_is_a_rule_a_pace_or_why_else() {
        let broken = |directive: &str, pattern: &str, line: Option<u32>| {
            let (directive, pattern) = (directive.into(), pattern.into());
            let group = Text::list(["*"]);
            broken(
                &Robots { edition: "".into(), directive, pattern, line, group },
                "ladder.throttle",
            )
        };
        for (directive, pattern, line, expected) in [
            ("disallow", "/private/", Some(7), "Disallow: /private/ (7)"),
            ("crawl-delay", "2.5", Some(4), "Crawl-delay: 2.5 (4)"),
            ("request-rate", "10/1m", None, "Request-rate: 10/1m (-)"),
            ("", "", None, "ladder.throttle"),
        ] {
            assert_eq!(broken(directive, pattern, line), expected);
        }
    }

    #[test]
    fn since_is_a_time_a_day_or_how_long_ago() {
        let now: Timestamp = "2026-11-20T12:00:00Z".parse().unwrap();
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
            let expected = expected.map(|text| text.parse::<Timestamp>().unwrap());
            assert_eq!(parse_since(text, now), expected, "{text}");
        }
    }
}
