//! `beadle help`: the help of the program or of a verb.

use clap::Command;

use crate::program::console::{Error, Exit};

/// Show the help of Beadle or of a command
///
///   beadle help
///   beadle help violations
///   beadle help crawlers score
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// The command, and the command below it.
    #[arg(value_name = "COMMAND")]
    verb: Vec<String>,
}

/// Runs the line again as if it had asked for `--help`.
pub(super) fn run(args: &Args, command: Command) -> Result<Exit, Error> {
    let verb = args.verb.iter().map(String::as_str);
    let line = ["beadle"].into_iter().chain(verb).chain(["--help"]);
    Ok(command.try_get_matches_from(line).map_or_else(|error| print(&error), |_| Exit::Fine))
}

/// Prints what the parser answers instead of arguments: help and version are errors for clap, but no
/// failure.
pub(super) fn print(answer: &clap::Error) -> Exit {
    let _ = answer.print();
    if answer.use_stderr() { Exit::Failed } else { Exit::Fine }
}
