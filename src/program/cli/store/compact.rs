//! `beadle store compact`: free pages, given back.

use std::{io::Write, path::Path};

use serde_json::json;

use super::{disk, size};
use crate::{
    base::escape,
    program::console::{Error, Exit, Format, json},
    records::{record::Obstacle, violations::Store},
};

pub(super) fn run(path: &Path, format: Format, out: &mut dyn Write) -> Result<Exit, Error> {
    let mut store = Store::open_existing(path)?;
    let (before, plan) = (store.bytes_on_disk(), store.compaction_plan()?);
    disk::need(path, plan.needs)?;
    let shown = escape::path(path);
    let store = match plan.is_in_steps {
        true => {
            store.compact()?;
            store
        }
        false => {
            drop(store);
            Store::rebuild(path).map_err(|error| match error.obstacle {
                Obstacle::Locked => Error::Refused(format!(
                    "'{shown}' is in use, and was made by an earlier version (stop 'beadle serve' and \
                     compact it once; after that, it can be compacted while the server runs)"
                )),
                _ => error.into(),
            })?;
            Store::open_existing(path)?
        }
    };
    let after = store.bytes_on_disk();
    let given_back = before.saturating_sub(after);
    match format {
        Format::Text if given_back == 0 => {
            writeln!(out, "'{shown}': nothing to give back, {}", size::shown(after))?;
        }
        Format::Text => writeln!(
            out,
            "'{shown}': {} given back, from {} to {}",
            size::shown(given_back),
            size::shown(before),
            size::shown(after)
        )?,
        Format::Json => json(
            out,
            &json!({
                "kind": "compaction", "database": shown, "before": before, "after": after,
                "given_back": given_back,
            }),
        )?,
    }
    Ok(Exit::Fine)
}
