//! `beadle alerts`: a test of the receivers.

use std::io::Write;

use serde_json::json;

use crate::{
    outside::{
        alerts::{Receiver, Tested},
        mail::Answer,
    },
    program::console::{ConfigFile, Error, Exit, Format, control_runtime, json, load, refuse},
};

/// Test the receivers of alerts.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Send a test event to each receiver of the policy.
    ///
    /// Sends the event once, without a retry or a digest, and prints the answer. Exits with 1 if a
    /// receiver does not accept it.
    Test {
        #[command(flatten)]
        config: ConfigFile,
        /// Output format.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let Verb::Test { config, format } = &args.verb;
    let (policy, _) = load(config)?;
    let receivers = Receiver::of(&policy).map_err(|finding| Error::Findings(vec![finding]))?;
    if receivers.is_empty() {
        let file = config.name();
        return refuse(format!("{file}: no alerts (add the section 'alerts')"));
    }
    let runtime = control_runtime()?;
    let mut exit = Exit::Fine;
    for receiver in &receivers {
        let tested = runtime.block_on(receiver.test());
        let Tested { to: url, answer, milliseconds } = &tested;
        let form = receiver.alert.format();
        let (status, error) = match answer {
            Answer::Accepted(status) => (Some(*status), None),
            Answer::Refused(status, said) => (Some(*status), Some(said)),
            Answer::Failed(why) => (None, Some(why)),
        };
        let outcome = answer.outcome();
        if outcome != "accepted" {
            exit = Exit::Findings;
        }
        let row = json!({
            "url": url, "format": form, "outcome": outcome, "status": status, "error": error,
            "milliseconds": milliseconds,
        });
        match format {
            Format::Text => writeln!(out, "{tested}")?,
            Format::Json => json(out, &row)?,
        }
    }
    Ok(exit)
}
