//! `beadle crawlers impostors`: the crawlers that others claim to be.

use std::io::Write;

use clap_complete::ArgValueCompleter;
use jiff::Timestamp;

use crate::{
    program::{
        cli::report::{lookup, screen},
        console::{ConfigFile, Error, Exit, Format, completions, json, load_with_database},
    },
    review::report::{Document, Impostors, Span, text},
};

/// List the crawlers whose names impostors use.
///
/// An impostor is a client whose claim evidence contradicts. Shows their requests, since when they
/// come, and the networks with the most violations. Counts are kept by hour, so the span has whole
/// hours.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigFile,
    /// Start of the span: a time (2026-11-20T10:00:00Z), a day in UTC (2026-11-20) or an age (24h).
    #[arg(long, value_name = "TIME", default_value = "7d")]
    since: String,
    /// End of the span, as in --since (default: now).
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Only this site, named by one of its hosts.
    #[arg(long, value_name = "HOST", add = ArgValueCompleter::new(completions::sites))]
    site: Option<String>,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let policy = load_with_database(&args.config)?;
    let now = Timestamp::now();
    let (since, until) = lookup::span(&args.since, args.until.as_deref(), now)?;
    let store = lookup::database(&policy)?;
    let site = args.site.as_deref().map(|host| lookup::site(&policy, &store, host)).transpose()?;
    let span = Span::new(since, until, now);
    let all = Impostors::all(&store, span, site.as_deref())?;
    match args.format {
        Format::Json => all.iter().try_for_each(|one| json(out, one))?,
        Format::Text => {
            let (title, sections) = ("Impostors".to_owned(), vec![Impostors::section(&all)]);
            let document = Document { title, lead: vec![span.in_words()], sections };
            out.write_all(text(&document, screen(None)).as_bytes())?;
        }
    }
    Ok(Exit::Fine)
}
