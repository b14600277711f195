//! JSON lines: one record a line, in the field order of [`Violation`], written and read.
//!
//! Records that found no room are counted in lines with `"kind":"overflow"`. These are no records,
//! so [`read`] skips them.

use std::{
    collections::VecDeque,
    fs::{self, File},
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom},
    path::Path,
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::violations::{Error, Filter, Listing, Obstacle, Overflow, SCHEMA, Violation, time};

/// The longest line, in bytes; Beadle writes no longer one. [`read`] skips longer lines.
const LINE_LIMIT: u64 = 512 << 10;

/// A line that counts records which are not in the log.
#[derive(Serialize)]
struct OverflowLine<'a> {
    schema: u32,
    kind: &'static str,
    site: &'a str,
    product_token: &'a str,
    rule: &'a str,
    count: u64,
    #[serde(with = "time::required")]
    first: Timestamp,
    #[serde(with = "time::required")]
    last: Timestamp,
}

/// The field that distinguishes another kind of line from a broken record.
#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "kind")]
    _kind: String,
}

/// Appends the record's line.
pub fn push(lines: &mut Vec<u8>, violation: &Violation) {
    serde_json::to_writer(&mut *lines, violation)
        .expect("a record has no map, and memory takes all");
    lines.push(b'\n');
}

/// Appends the line of an overflow.
pub(super) fn push_overflow(lines: &mut Vec<u8>, overflow: &Overflow) {
    let line = OverflowLine {
        schema: SCHEMA,
        kind: "overflow",
        site: &overflow.site,
        product_token: &overflow.product_token,
        rule: &overflow.rule,
        count: overflow.count,
        first: overflow.first,
        last: overflow.last,
    };
    serde_json::to_writer(&mut *lines, &line).expect("the line has no map, and memory takes all");
    lines.push(b'\n');
}

/// The records of a log that the filter lists. The sequence number of a record is the position
/// after its line, in bytes. A log that is shorter than `after_sequence` was rotated and is read
/// from its start. A last line without its end is incomplete and is left for the next call.
///
/// # Errors
/// Where the file is missing, is no regular file or cannot be read.
pub fn read(path: &Path, filter: &Filter) -> Result<Listing, Error> {
    let failed = |error: io::Error| Error::from_io(path, &error);
    let found = fs::metadata(path).map_err(failed)?;
    if !found.is_file() {
        return Err(Error::new(path, Obstacle::NoRegularFile));
    }
    let start = filter.after_sequence.filter(|&at| at <= found.len()).unwrap_or(0);
    let mut file = File::open(path).map_err(failed)?;
    file.seek(SeekFrom::Start(start)).map_err(failed)?;
    read_from(&mut BufReader::with_capacity(1 << 16, file), start, filter).map_err(failed)
}

fn read_from(reader: &mut impl BufRead, start: u64, filter: &Filter) -> io::Result<Listing> {
    let limit = filter.limit.unwrap_or(usize::MAX);
    let mut records = VecDeque::new();
    let mut unreadable = 0;
    let mut end = start;
    let mut line = Vec::new();
    while let Some(length) = next_line(reader, &mut line)? {
        if filter.after_sequence.is_some() && records.len() == limit {
            break;
        }
        end += length;
        match serde_json::from_slice::<Violation>(&line) {
            Ok(violation) if violation.schema > SCHEMA => unreadable += 1,
            Ok(violation) if filter.matches(&violation) => records.push_back((end, violation)),
            Ok(_) => {}
            // An empty line follows a line that a crash tore.
            Err(_) if line == b"\n" || serde_json::from_slice::<Kind>(&line).is_ok() => {}
            Err(_) => unreadable += 1,
        }
        if records.len() > limit {
            records.pop_front(); // a limit keeps the latest records
        }
    }
    Ok(Listing { records: records.into(), unreadable, end })
}

/// Reads a whole line with its end and returns its length; `None` at the end of the file. Skips the
/// part over the limit without keeping it in memory.
fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<u64>> {
    line.clear();
    let mut length = reader.by_ref().take(LINE_LIMIT).read_until(b'\n', line)? as u64;
    if line.ends_with(b"\n") {
        return Ok(Some(length));
    }
    if length < LINE_LIMIT {
        return Ok(None);
    }
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok(None);
        }
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let used = end.map_or(buffer.len(), |at| at + 1);
        reader.consume(used);
        length += used as u64;
        if end.is_some() {
            return Ok(Some(length));
        }
    }
}
