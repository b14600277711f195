//! `beadle robots accept`: a quarantined robots.txt that an operator accepts.

use std::io::Write;

use jiff::Timestamp;

use crate::{
    program::console::{
        exit::{Error, Exit},
        site::{database, find},
    },
    records::violations::Store,
    rules::{enforce::Rulebook, policy::Policy},
};

/// Accepts the quarantined file of the site.
pub(super) fn accept(
    policy: &Policy,
    host: Option<&str>,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let rulebook = Rulebook::compile(policy, Timestamp::UNIX_EPOCH, None);
    let site = find(&rulebook, host)?;
    let mut store = Store::open_existing(database(policy)?)?;
    let Some(file) = store.accept(&site.name, None, Timestamp::now())? else {
        return Err(Error::Refused(format!("{}: no robots.txt is in quarantine", site.name)));
    };
    writeln!(
        out,
        "{}: accepted the origin's file {} ({} bytes, in quarantine since {:.0})",
        site.name,
        file.id,
        file.bytes.len(),
        file.since
    )?;
    Ok(Exit::Fine)
}
