//! `beadle crawlers score`: the scorecard of one crawler.

use std::io::Write;

use clap_complete::ArgValueCompleter;
use jiff::Timestamp;

use crate::{
    program::{
        cli::report::{lookup, screen},
        console::{ConfigFile, Error, Exit, Format, completions, load_with_database},
    },
    review::report::{
        Span,
        score::{Answers, Score, document, json_line},
        text,
    },
};

/// Show how one crawler behaves on your sites.
///
/// Requests and violations against the span before, how often it reads robots.txt, how long it takes
/// to follow a change, whether it keeps its pace, and how many of its claims are confirmed. Counts
/// are kept by hour, so the span has whole hours. Exits with 2 for an unknown name.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The product token or another name of the crawler.
    #[arg(value_name = "TOKEN", add = ArgValueCompleter::new(completions::tokens))]
    token: String,
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
    let product_token = lookup::crawler(&policy, &store, &args.token)?;
    let site = args.site.as_deref().map(|host| lookup::site(&policy, &store, host)).transpose()?;
    let span = Span::new(since, until, now);
    let answers = Answers::of(&store, &policy.catalogue, span, site, product_token)?;
    let score = Score::of(&answers, &policy.catalogue);
    let written = match args.format {
        Format::Json => json_line(&score),
        Format::Text => text(&document(&score), screen(None)),
    };
    out.write_all(written.as_bytes())?;
    Ok(Exit::Fine)
}
