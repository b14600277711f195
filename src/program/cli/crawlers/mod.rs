//! `beadle crawlers`: the catalogue, the claims of User-Agents, scorecards, and catalogue updates.

use std::io::Write;

use self::catalogue_source::Source;
use clap_complete::ArgValueCompleter;

use crate::program::console::{Error, Exit, Format, completions};

mod catalogue_source; // the catalogue to use
mod catalogue_target; // the catalogue file that an update replaces
mod claims; // identify
mod entries; // list, show
mod evaluation; // evaluate
mod impostors; // impostors
mod new_names; // accept
mod score; // score
mod update; // update

pub(in crate::program::cli) use self::entries::purpose_of;

/// List known crawlers, identify User-Agents, score a crawler, and update the catalogue.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Identify the User-Agents on standard input, one per line.
    Identify {
        #[command(flatten)]
        source: Source,
        /// Output format.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// List the crawlers in the catalogue.
    List {
        /// Filter by purpose, such as search, ai-training or archiver.
        #[arg(long, value_name = "PURPOSE", add = ArgValueCompleter::new(completions::purposes))]
        purpose: Option<String>,
        #[command(flatten)]
        source: Source,
        /// Output format.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Show one crawler in the catalogue.
    Show {
        /// The product token or another name of the crawler.
        #[arg(value_name = "NAME", add = ArgValueCompleter::new(completions::tokens))]
        name: String,
        #[command(flatten)]
        source: Source,
        /// Output format.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    Score(score::Args),
    Impostors(impostors::Args),
    Evaluate(evaluation::Args),
    Update(update::Args),
    Accept(new_names::Args),
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    match &args.verb {
        Verb::Identify { source, format } => claims::identify(&source.read()?, *format, out),
        Verb::List { purpose, source, format } => {
            entries::list(&source.read()?, purpose.as_deref(), *format, out)
        }
        Verb::Show { name, source, format } => entries::show(&source.read()?, name, *format, out),
        Verb::Score(args) => score::run(args, out),
        Verb::Impostors(args) => impostors::run(args, out),
        Verb::Evaluate(args) => evaluation::run(args, out),
        Verb::Update(args) => update::run(args, out),
        Verb::Accept(args) => new_names::run(args, out),
    }
}
