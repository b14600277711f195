//! A policy of the history, written into the policy file and reloaded.

use std::io::Write;

use crate::{
    advice::comparison,
    base::escape::shown,
    program::{
        cli::reload,
        console::{ConfigFile, Error, Exit, Format, after_trial, input::agrees, read_now, remark},
    },
    state::publication::{difference, read_policy_bytes, rewrite},
};

/// The steps of an exact search, as `beadle diff` takes.
pub(super) const STEPS: usize = 100_000_000;

/// Restores the policy with this number. Asks first, unless the operator said yes.
pub(super) fn restore(
    bytes: &[u8],
    config: &ConfigFile,
    (id, is_agreed): (i64, bool),
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let (name, place) = (format!("policy {id}"), shown(config.name()));
    let (policy, _) = after_trial(read_policy_bytes(config.file(), &name, bytes.into()), &name)?;
    let now = read_now(config)?;
    if now.bytes == bytes {
        writeln!(out, "{place} has this policy already")?;
        return Ok(Exit::Fine);
    }
    match &now.policy {
        Some(now) => {
            let lines = comparison::text(&difference(now, &policy, STEPS));
            lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
        }
        None => writeln!(out, "{place} has errors now, so nothing is compared")?,
    }
    out.flush()?;
    if !is_agreed && !agrees(&format!("Write {name} into {place}?"))? {
        writeln!(out, "nothing is written")?;
        return Ok(Exit::Findings);
    }
    let written = match config.remote()? {
        Some(_) => Err("it is on a server".to_owned()),
        None => rewrite(config.file(), &now.bytes, bytes),
    };
    if let Err(error) = written {
        remark(&format!("{place} is not written: {error}; write this text there"));
        out.write_all(bytes)?;
        return Ok(Exit::Failed);
    }
    writeln!(out, "{place}: {name} is written")?;
    match reload::run(config, Format::Text, out) {
        // The file is what was asked for; a server that does not run takes it at its start.
        Err(Error::Refused(why)) => remark(&format!("not reloaded: {why}")),
        reloaded => return reloaded,
    }
    Ok(Exit::Fine)
}
