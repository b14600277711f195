//! The `server.access_log` key.

use crate::rules::keys;

use super::super::{
    fields::Fields,
    findings::Findings,
    violations::{Log, destination},
    yaml::Value,
};

/// The log of all requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessLog {
    /// Where its lines go.
    pub log: Log,
    /// The form of its lines.
    pub format: AccessFormat,
}

/// The form of a line in the access log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccessFormat {
    /// A JSON object (the default).
    #[default]
    Json,
    /// NCSA's combined form.
    Combined,
}

/// Reads a file, `stdout`, or a mapping with `file` and `format`.
pub(super) fn read(fields: &Fields<'_>, findings: &mut Findings) -> Option<AccessLog> {
    let at = fields.take("access_log")?;
    let format = AccessFormat::default();
    let Value::Map(_) = at.node.value else {
        return Some(AccessLog { log: destination(&at, findings)?, format });
    };
    let fields = at.fields(&keys::ACCESS_LOG, findings)?;
    let formats = [AccessFormat::Json, AccessFormat::Combined];
    let format = fields.choice("format", formats, findings);
    let named = fields.require("file", "name a file, or write 'file: stdout'", findings)?;
    Some(AccessLog { log: destination(&named, findings)?, format: format.unwrap_or_default() })
}

#[cfg(test)]
mod tests;
