//! `beadle robots accept` and `discard`: what an operator decides about a quarantined robots.txt.

use std::io::Write;

use jiff::Timestamp;

use crate::{
    program::console::{
        Error, Exit,
        site::{database, find},
    },
    records::{record::QuarantineAct, violations::Store},
    rules::{enforce::Rulebook, policy::Policy},
};

/// What the operator decides.
#[derive(Clone, Copy, Debug, clap::Subcommand)]
pub(super) enum Verb {
    /// Publish the quarantined robots.txt of the origin.
    ///
    /// Beadle quarantines a robots.txt that suddenly closes the whole site, or lost its rules. A
    /// running server publishes the accepted file within seconds.
    Accept,
    /// Keep the last good robots.txt, and end the alert about the quarantined one.
    ///
    /// Beadle ignores the same file for as long as the origin sends it. Another file is judged
    /// anew. 'beadle robots accept' still publishes a discarded file.
    Discard,
}

/// Decides about the quarantined file of the site.
pub(super) fn decide(
    verb: Verb,
    policy: &Policy,
    host: Option<&str>,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let rulebook = Rulebook::compile(policy, Timestamp::UNIX_EPOCH, None);
    let site = find(&rulebook, host)?;
    let mut store = Store::open_existing(database(policy)?)?;
    let (decision, done) = match verb {
        Verb::Accept => (QuarantineAct::Accept, "accepted"),
        Verb::Discard => (QuarantineAct::Discard, "discarded"),
    };
    let Some(file) = store.decide((&site.name, None), decision, Timestamp::now())? else {
        return Err(Error::Refused(format!("{}: no robots.txt is in quarantine", site.name)));
    };
    writeln!(
        out,
        "{}: {done} the origin's file {} ({} bytes, in quarantine since {:.0})",
        site.name,
        file.id,
        file.bytes.len(),
        file.since
    )?;
    Ok(Exit::Fine)
}
