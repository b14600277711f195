//! The `server.access_log` key.

use crate::base::text::words;

use super::super::{
    fields::{Fields, Setting},
    violations::Log,
};

/// The log of all requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessLog {
    pub(crate) log: Log,
    pub(crate) format: AccessFormat,
}

words! {
    /// The form of a line in the access log.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum AccessFormat {
        /// A JSON object (the default).
        #[default]
        Json = "json",
        /// NCSA's combined form.
        Combined = "combined",
    }
}

pub(super) fn read(fields: &Fields<'_>) -> Option<AccessLog> {
    let fields = fields.take("access_log")?.fields()?;
    let format = fields.get("format");
    let log = fields.required("file", "name a file, or write 'file: stdout'", Log::read)?;
    Some(AccessLog { log, format })
}

#[cfg(test)]
mod tests;
