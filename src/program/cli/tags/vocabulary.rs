//! The known rules: meaning, registration, and the operators that document them.

use std::io::Write;

use serde_json::json;

use crate::{
    formats::robots_tag,
    program::console::{Error, Exit, Format, json},
};

/// Lists the known rules.
pub(super) fn list(format: Format, out: &mut dyn Write) -> Result<Exit, Error> {
    for known in robots_tag::known_rules() {
        match format {
            Format::Json => {
                let row = json!({
                    "rule": known.name,
                    "meaning": known.meaning,
                    "honoured_by": known.honoured_by,
                    "registered": known.registered,
                });
                json(out, &row)?;
            }
            Format::Text => {
                let who = match known.honoured_by {
                    [] => "undocumented".to_owned(),
                    operators => operators.join(", "),
                };
                writeln!(out, "{:<21} {:<18} {}", known.name, who, known.meaning)?;
            }
        }
    }
    Ok(Exit::Fine)
}
