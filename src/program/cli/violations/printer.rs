//! Records in the format of the options.

use std::io::Write;

use super::{args::Format, columns::Columns, forms::Entry};
use crate::{
    program::console::{Error, Screen, Table},
    records::{record::csv, violations::jsonl},
    rules::policy::Policy,
};

/// Prints records as they come.
pub(super) enum Printer {
    Text(Columns, Table),
    Json,
    /// Whether the records are of other forms of closed paths.
    Csv(bool),
}

impl Printer {
    /// Prints the heading, if there is one, and keeps the widths that fit the first records. With
    /// `is_open`, other records will follow.
    pub(super) fn start(
        (format, is_open): (Format, bool),
        mut columns: Columns,
        entries: &[Entry<'_>],
        out: &mut dyn Write,
    ) -> Result<Self, Error> {
        match format {
            Format::Json => Ok(Self::Json),
            Format::Csv => {
                let mut line = Vec::new();
                let form = columns.has_form.then_some("form");
                csv::push_row(&mut line, csv::fields().chain(form.map(str::to_owned)));
                out.write_all(&line)?;
                Ok(Self::Csv(columns.has_form))
            }
            Format::Text => {
                let Screen { width, has_colours } = Screen::of_standard_output();
                let table = columns.table(entries, width, has_colours, is_open);
                if is_open || !entries.is_empty() {
                    writeln!(out, "{}", table.heading())?;
                }
                Ok(Self::Text(columns, table))
            }
        }
    }

    pub(super) fn print(&self, entries: &[Entry<'_>], out: &mut dyn Write) -> Result<(), Error> {
        let mut line = Vec::new();
        for entry in entries {
            let Entry { violation, form } = entry;
            line.clear();
            match self {
                Self::Text(columns, table) => {
                    line.extend(table.line(&columns.row(entry)).bytes());
                    line.push(b'\n');
                }
                Self::Json if entry.is_of_form() => {
                    jsonl::push_with_form(&mut line, violation, form.as_deref());
                }
                Self::Json => jsonl::push(&mut line, violation),
                Self::Csv(has_form) => {
                    let form = has_form.then(|| form.clone().unwrap_or_default());
                    csv::push_row(&mut line, csv::cells(violation).into_iter().chain(form));
                }
            }
            out.write_all(&line)?;
        }
        Ok(())
    }
}

/// Whether records of several sites may be listed.
pub(super) fn has_sites(policy: &Policy, site: Option<&String>) -> bool {
    policy.sites.len() > 1 && site.is_none()
}
