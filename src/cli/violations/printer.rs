//! Records in the format of the options.

use std::io::Write;

use super::{args::Format, columns::Columns};
use crate::{
    console::{exit::Error, screen::Screen, table::Table},
    policy::Policy,
    violations::{Violation, csv, jsonl},
};

/// Prints records as they come.
pub(super) enum Printer {
    Text(Columns, Table),
    Json,
    Csv,
}

impl Printer {
    /// Prints the heading, if there is one, and keeps the widths that fit the first records. With
    /// `is_open`, other records will follow.
    pub(super) fn start(
        format: Format,
        mut columns: Columns,
        records: &[(u64, Violation)],
        is_open: bool,
        out: &mut dyn Write,
    ) -> Result<Self, Error> {
        match format {
            Format::Json => Ok(Self::Json),
            Format::Csv => {
                let mut line = Vec::new();
                csv::push_row(&mut line, csv::FIELDS);
                out.write_all(&line)?;
                Ok(Self::Csv)
            }
            Format::Text => {
                let Screen { width, has_colours } = Screen::of_standard_output();
                let table = columns.table(records, width, has_colours, is_open);
                if is_open || !records.is_empty() {
                    writeln!(out, "{}", table.heading())?;
                }
                Ok(Self::Text(columns, table))
            }
        }
    }

    pub(super) fn print(
        &self,
        records: &[(u64, Violation)],
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        let mut line = Vec::new();
        for (_, violation) in records {
            line.clear();
            match self {
                Self::Text(columns, table) => {
                    line.extend(table.line(&columns.row(violation)).bytes());
                    line.push(b'\n');
                }
                Self::Json => jsonl::push(&mut line, violation),
                Self::Csv => csv::push(&mut line, violation),
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
