//! `beadle violations`: the recorded violations.

use std::{io::Write, path::PathBuf, time::Duration};

use jiff::Timestamp;

use crate::{
    cli::{
        config::{ConfigFile, load_with_database},
        exit::{Error, Exit},
        output::{Format, json, remark},
    },
    escape,
    policy::{Log, Policy},
    violations::{Filter, Listing, Robots, Store, Violation, jsonl},
};

/// The time between two queries with --follow.
const POLL: Duration = Duration::from_millis(250);

/// List recorded violations.
///
/// Reads the policy's database, or its JSON lines if it has no database. Works beside a running
/// server. Exits with 1 if there are violations.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigFile,
    /// Filter by site.
    #[arg(long, value_name = "HOST")]
    site: Option<String>,
    /// Filter by crawler.
    #[arg(long, short = 't', value_name = "TOKEN")]
    product_token: Option<String>,
    /// Filter by the crawler's purpose.
    #[arg(long, value_name = "PURPOSE")]
    purpose: Option<String>,
    /// Filter by path, with a pattern as in robots.txt.
    #[arg(long, value_name = "PATTERN")]
    path: Option<String>,
    /// Earliest time: a time (2026-11-20T10:00:00Z), a day in UTC (2026-11-20) or an age (24h).
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Filter by action.
    #[arg(long, value_parser = ["log", "throttle", "block"])]
    action: Option<String>,
    /// Filter by decision id, as shown to a refused client.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Most violations to list; the latest ones count.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 100)]
    limit: usize,
    /// Keep running and print new violations.
    #[arg(long, short)]
    follow: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The place to read records from.
enum Source {
    Database(Store),
    Lines(PathBuf),
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let policy = load_with_database(&args.config.config)?;
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
        remark(&format!("skipped {} invalid lines", listing.unreadable));
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
            (Some(database), _) => Ok(Self::Database(Store::open_read_only(database)?)),
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
            Self::Database(store) => Ok(store.query(filter)?),
            Self::Lines(file) => Ok(jsonl::read(file, filter)?),
        }
    }
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
        until: None,
        action: args.action.clone(),
        limit: Some(args.limit),
        after_sequence: None,
    })
}

/// A time, a day in UTC, or an age before `now`.
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

/// The broken rule or pace with its line, or the reason if neither was broken.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violations::Text;

    #[test]
    fn a_violation_names_its_rule_its_pace_or_its_reason() {
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
    fn since_is_a_time_a_day_or_an_age() {
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
