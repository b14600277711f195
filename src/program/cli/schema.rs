//! `beadle schema`: the JSON Schema of the policy.

use std::io::{self, Write};

use crate::{
    program::console::{Error, Exit},
    rules::keys,
};

/// Print the JSON Schema of the policy
///
/// Editors complete and explain the keys of a policy with it. For editors with yaml-language-server,
/// write this comment into the first line of the policy:
///
///   # yaml-language-server: $schema=./beadle.schema.json
///
/// Example:
///
///   beadle schema > beadle.schema.json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {}

pub(super) fn run(_: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let text = serde_json::to_string_pretty(&keys::schema()).map_err(io::Error::other)?;
    writeln!(out, "{text}")?;
    Ok(Exit::Fine)
}
