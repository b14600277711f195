//! The known rules: meaning, registration, and the operators that document them.

use std::io::Write;

use serde::Serialize;

use crate::{
    formats::robots_tag,
    program::console::{
        exit::{Error, Exit},
        output::{Format, json},
    },
};

#[derive(Serialize)]
struct KnownRow {
    rule: &'static str,
    meaning: &'static str,
    honoured_by: &'static [&'static str],
    registered: bool,
}

/// Lists the known rules.
pub(super) fn list(format: Format, out: &mut dyn Write) -> Result<Exit, Error> {
    for known in robots_tag::known_rules() {
        let row = KnownRow {
            rule: known.name,
            meaning: known.meaning,
            honoured_by: known.honoured_by,
            registered: known.registered,
        };
        match format {
            Format::Json => json(out, &row)?,
            Format::Text => {
                let who = if row.honoured_by.is_empty() {
                    "undocumented".to_owned()
                } else {
                    row.honoured_by.join(", ")
                };
                writeln!(out, "{:<21} {:<18} {}", row.rule, who, row.meaning)?;
            }
        }
    }
    Ok(Exit::Fine)
}
