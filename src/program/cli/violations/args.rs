//! The options.

use clap_complete::ArgValueCompleter;

use crate::{
    base::text::words,
    program::console::{ConfigFile, completions},
    records::{record::REASONS, tally::Claimant},
};

/// List or count recorded violations
///
/// Reads the policy's database, or its JSON lines if it has no database. Works beside a running
/// server. Exits with 1 if there are violations, and with 2 if no site, crawler or purpose has the
/// name of a filter.
///
///   beadle violations --since 24h --product-token GPTBot
///   beadle violations --since 7d --by crawler
///   beadle violations --since 2026-11-01 --until 2026-12-01 --format csv > november.csv
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(in crate::program::cli) struct Args {
    #[command(flatten)]
    pub(super) config: ConfigFile,
    /// Filter by site, named by one of its hosts.
    #[arg(long, value_name = "HOST", add = ArgValueCompleter::new(completions::sites))]
    pub(super) site: Option<String>,
    /// Filter by crawler; '-' is a client without a name.
    #[arg(long, short = 't', value_name = "TOKEN", add = ArgValueCompleter::new(completions::tokens))]
    pub(super) product_token: Option<String>,
    /// Filter by the crawler's purpose.
    #[arg(long, value_name = "PURPOSE", add = ArgValueCompleter::new(completions::purposes))]
    pub(super) purpose: Option<String>,
    /// Filter by impostors, whose claim evidence contradicts: only their requests, or without them.
    #[arg(long, value_parser = Claimant::WORDS, value_name = "WHICH")]
    pub(super) impostors: Option<String>,
    /// Filter by path, with a pattern as in robots.txt.
    #[arg(long, value_name = "PATTERN")]
    pub(super) path: Option<String>,
    /// Filter by rule as robots.txt has it ('Disallow: /private/'); of records without a rule, by the
    /// code of the reason.
    #[arg(long, value_name = "RULE")]
    pub(super) rule: Option<String>,
    /// Earliest time: a time (2026-11-20T10:00:00Z), a day in UTC (2026-11-20) or an age (24h).
    #[arg(long, value_name = "TIME")]
    pub(super) since: Option<String>,
    /// End of the span, as in --since. A day ends the span where the day begins.
    #[arg(long, value_name = "TIME")]
    pub(super) until: Option<String>,
    /// Filter by action.
    #[arg(long, value_parser = ["log", "throttle", "block"])]
    pub(super) action: Option<String>,
    /// Filter by reason. Requests for other forms of closed paths are no violations, and listed only
    /// with 'robots.form'.
    #[arg(long, value_name = "CODE", value_parser = REASONS)]
    pub(super) reason: Option<String>,
    /// Filter by decision id, as shown to a refused client.
    #[arg(long, value_name = "ID")]
    pub(super) id: Option<String>,
    /// Count violations instead of listing them.
    #[arg(long, value_enum, value_name = "KEY", conflicts_with_all = ["follow", "id"])]
    pub(super) by: Option<By>,
    /// Most violations to list, or most counts; the latest violations and the highest counts (default:
    /// 100 in text and with --follow, else all).
    #[arg(long, short = 'n', value_name = "N")]
    pub(super) limit: Option<usize>,
    /// Keep running and print new violations.
    #[arg(long, short)]
    pub(super) follow: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
}

impl Args {
    /// The most violations; an export has all of them.
    pub(super) fn limit(&self) -> Option<usize> {
        let is_list = self.format == Format::Text || self.follow;
        self.limit.or_else(|| is_list.then_some(100))
    }
}

/// The output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// A table. On a terminal, as wide as the terminal.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
    /// CSV with a header, safe for spreadsheets.
    Csv,
}

words! {
    /// The value by which violations are counted, with the heading of its column.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
    pub(super) enum By {
        /// The crawler, by its product token; its impostors apart.
        Crawler = "CRAWLER",
        /// The rule, as robots.txt has it; else the reason.
        Rule = "RULE",
        /// The path, without its query.
        Path = "PATH",
        /// The network of the client.
        Network = "NETWORK",
        /// The day, in UTC.
        Day = "DAY",
        /// The standing of the claim; 'contradicted' is impostors.
        Standing = "STANDING",
        /// The site.
        Site = "SITE",
    }
}
