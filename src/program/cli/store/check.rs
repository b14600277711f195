//! `beadle store check`: what does not hold together, and what takes the room.

use std::io::Write;

use jiff::Timestamp;
use serde_json::json;

use super::{place::Found, size};
use crate::{
    base::escape,
    program::console::{Error, Exit, Format, json},
    records::violations::{Examination, Store, Table},
};

pub(super) fn run(found: &Found, format: Format, out: &mut dyn Write) -> Result<Exit, Error> {
    let examination = Store::open_to_examine(&found.path)?.examine()?;
    match format {
        Format::Text => print(found, &examination, out)?,
        Format::Json => print_json(found, &examination, out)?,
    }
    Ok(if examination.faults.is_empty() { Exit::Fine } else { Exit::Findings })
}

fn print(found: &Found, examination: &Examination, out: &mut dyn Write) -> Result<(), Error> {
    let (records, counts) = (examination.record_table(), examination.count_tables());
    writeln!(out, "database  {}", escape::path(&found.path))?;
    writeln!(out, "version   {}", examination.version)?;
    let limit = found.max_size.map(|most| format!(" of {} (max_size)", size::shown(most)));
    writeln!(
        out,
        "size      {}{}: file {}, -wal {}, less free pages {}",
        size::shown(examination.bytes()),
        limit.unwrap_or_default(),
        size::shown(examination.file_bytes),
        size::shown(examination.log_bytes),
        size::shown(examination.free_bytes)
    )?;
    for (table, span) in [(&records, examination.records), (&counts, examination.hours)] {
        let each = table.bytes_of_row().map(|each| format!(", {each} bytes each"));
        let times = span.map(|(first, last)| format!(", from {first:.0} to {last:.0}"));
        let (each, times) = (each.unwrap_or_default(), times.unwrap_or_default());
        writeln!(out, "{:<9} {}{each}{times}", table.name, table.rows)?;
    }
    writeln!(out)?;
    let tables = examination.tables.iter();
    let width = tables.clone().map(|table| shown_name(table).len()).max().unwrap_or(0).max(5);
    writeln!(out, "{:width$}  {:>10}  {:>12}", "TABLE", "ROWS", "SIZE")?;
    for table in tables {
        let size = size::shown(table.bytes);
        writeln!(out, "{:width$}  {:>10}  {size:>12}", shown_name(table), table.rows)?;
    }
    writeln!(out)?;
    for fault in &examination.faults {
        writeln!(out, "{}: {}", fault.code, escape::text(fault.message.as_bytes()))?;
    }
    if examination.faults.is_empty() {
        writeln!(out, "everything holds together")?;
    }
    Ok(())
}

fn print_json(found: &Found, examination: &Examination, out: &mut dyn Write) -> Result<(), Error> {
    let (records, counts) = (examination.record_table(), examination.count_tables());
    let end = |span: Option<(Timestamp, Timestamp)>,
               of: fn((Timestamp, Timestamp)) -> Timestamp| {
        span.map(|span| of(span).to_string())
    };
    json(
        out,
        &json!({
            "kind": "database",
            "database": escape::path(&found.path),
            "version": examination.version,
            "bytes": examination.bytes(),
            "max_size": found.max_size,
            "file_bytes": examination.file_bytes,
            "log_bytes": examination.log_bytes,
            "free_bytes": examination.free_bytes,
            "records": records.rows,
            "bytes_per_record": records.bytes_of_row(),
            "oldest_record": end(examination.records, |span| span.0),
            "newest_record": end(examination.records, |span| span.1),
            "counts": counts.rows,
            "bytes_per_count": counts.bytes_of_row(),
            "oldest_hour": end(examination.hours, |span| span.0),
            "newest_hour": end(examination.hours, |span| span.1),
        }),
    )?;
    for Table { name, rows, bytes } in &examination.tables {
        json(out, &json!({ "kind": "table", "name": name, "rows": rows, "bytes": bytes }))?;
    }
    for fault in &examination.faults {
        let (code, message) = (fault.code, escape::text(fault.message.as_bytes()));
        json(out, &json!({ "kind": "finding", "code": code, "message": message }))?;
    }
    Ok(())
}

fn shown_name(table: &Table) -> String {
    escape::text(table.name.as_bytes())
}
