//! `beadle report`: what crawlers did in a span of time; the evidence of violations as a file, and its
//! verification.

use std::{io::Write, path::PathBuf};

use clap_complete::ArgValueCompleter;

pub(super) use self::{evidence::save, format::Format, review::screen};
use crate::{
    program::console::{ConfigFile, Error, Exit, completions},
    records::tally::Claimant,
};

mod evidence; // the bundle of one crawler
mod format; // the formats of a report
pub(super) mod lookup; // the names and times that the options mean
mod review; // a span of time against the one before
mod verify; // a bundle that is verified

/// Review what crawlers did, make evidence of violations, or verify such evidence
///
/// Without --evidence and --verify, compares the span with the one before: crawlers, rules, paths and
/// days, what was read, new offenders, the best behaved, and visits that operators sent.
/// Counts are kept by hour, so the span has whole hours, the current one included.
///
/// --evidence writes a zip file with the records, every robots.txt that counts, the crawler's
/// fetches, a summary, and the draft of a message to the operator of the crawler. --verify judges
/// every request again from that file alone, without policy and network.
///
///   beadle report --since 30d
///   beadle report --format html --output week.html
///   beadle report --evidence GPTBot --since 7d --output gptbot.zip
///   beadle report --evidence Googlebot --impostors only
///   beadle report --verify gptbot.zip
///
/// Exits with 1 if --verify finds a change or a difference, and with 2 if there is no database, the
/// file is unreadable, or there is no violation to prove.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigFile,
    /// Write the evidence bundle of this crawler.
    #[arg(long, value_name = "TOKEN", conflicts_with = "verify", add = ArgValueCompleter::new(completions::tokens))]
    evidence: Option<String>,
    /// Verify an evidence bundle.
    #[arg(long, value_name = "FILE")]
    verify: Option<PathBuf>,
    /// Start of the span: a time (2026-11-20T10:00:00Z), a day in UTC (2026-11-20) or an age (24h).
    #[arg(long, value_name = "TIME", default_value = "7d")]
    since: String,
    /// End of the span, as in --since (default: now).
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Only this site, named by one of its hosts.
    #[arg(long, value_name = "HOST", add = ArgValueCompleter::new(completions::sites))]
    site: Option<String>,
    /// Make the evidence of the crawler's requests, or only of those by its impostors (default: without).
    #[arg(long, value_parser = Claimant::WORDS, value_name = "WHICH", requires = "evidence")]
    impostors: Option<String>,
    /// The file to write; '-' is standard output (default: evidence-TOKEN.zip, and standard output for a
    /// review).
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite an existing file.
    #[arg(long)]
    force: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    match (&args.evidence, &args.verify) {
        (Some(product_token), _) => {
            let options = evidence::Options {
                config: &args.config,
                product_token,
                since: &args.since,
                until: args.until.as_deref(),
                site: args.site.as_deref(),
                claimant: args.impostors.as_deref().and_then(Claimant::of_word).unwrap_or_default(),
                output: args.output.as_deref(),
                force: args.force,
                format: args.format.of_lines()?,
            };
            evidence::write(&options, out)
        }
        (None, Some(file)) => verify::verify(file, args.format.of_lines()?, out),
        (None, None) => {
            let options = review::Options {
                config: &args.config,
                since: &args.since,
                until: args.until.as_deref(),
                site: args.site.as_deref(),
                output: args.output.as_deref(),
                force: args.force,
                format: args.format,
            };
            review::write(&options, out)
        }
    }
}
