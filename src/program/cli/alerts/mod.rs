//! `beadle alerts`: a test of the webhooks.

use std::{io::Write, time::Instant};

use jiff::Timestamp;
use serde_json::json;

use crate::{
    outside::alerts::{Answer, Event, Webhook},
    program::console::{
        config::{ConfigFile, load},
        exit::{Error, Exit},
        output::{self, Format},
        runtime::control_runtime,
    },
};

/// Test the webhooks that get alerts.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Send a test event to each webhook of the policy.
    ///
    /// Sends the event once, without a retry, and prints the answer. Exits with 1 if a webhook does
    /// not accept it.
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
    let webhooks = Webhook::of(&policy).map_err(|finding| Error::Findings(vec![finding]))?;
    if webhooks.is_empty() {
        let file = config.name();
        return Err(Error::Refused(format!("{file}: no alerts (add the section 'alerts')")));
    }
    let runtime = control_runtime()?;
    let mut exit = Exit::Fine;
    for webhook in &webhooks {
        let started = Instant::now();
        let answer = runtime.block_on(webhook.try_once(&Event::test(Timestamp::now())));
        let milliseconds = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let url = webhook.alert.url.shown();
        let (status, error) = match &answer {
            Answer::Accepted(status) | Answer::Refused(status) => (Some(*status), None),
            Answer::Failed(failure) => (None, Some(failure.to_string())),
        };
        let outcome = answer.outcome();
        if outcome != "accepted" {
            exit = Exit::Findings;
        }
        match format {
            Format::Text => writeln!(out, "{url}: {answer}, after {milliseconds} ms")?,
            Format::Json => output::json(
                out,
                &json!({
                    "url": url, "outcome": outcome, "status": status, "error": error,
                    "milliseconds": milliseconds,
                }),
            )?,
        }
    }
    Ok(exit)
}
