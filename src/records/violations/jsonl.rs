//! JSON lines: one record a line, in the field order of [`Violation`], written and read.
//!
//! Records that found no room are counted in lines with `"kind":"overflow"`. These are no records,
//! so [`read`] skips them.

use std::{
    collections::{BTreeSet, VecDeque},
    fs::{self, File},
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom},
    ops::ControlFlow,
    path::Path,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::records::{
    lines::{LogTarget, Output},
    record::{
        Error, Filter, Listing, MOST_NAMES, NameFound, NameKind, Obstacle, Overflow, SCHEMA,
        Violation,
    },
    violations::{queue::Batch, writer::Target},
};

/// The longest line, in bytes; Beadle writes no longer one. [`read`] skips longer lines.
const LINE_LIMIT: u64 = 512 << 10;
/// How long to wait between calls of [`Target::tend`]; a log has no work there.
const REST: Duration = Duration::from_secs(60);

/// A line that counts records which are not in the log.
#[derive(Serialize)]
struct OverflowLine<'a> {
    schema: u32,
    kind: &'static str,
    #[serde(flatten)]
    overflow: &'a Overflow,
}

/// A record of another form of a closed path.
#[derive(Serialize)]
struct FormLine<'a> {
    #[serde(flatten)]
    record: &'a Violation,
    form: Option<&'a str>,
}

/// The field that distinguishes another kind of line from a broken record.
#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "kind")]
    _kind: String,
}

/// A line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A record.
    Record(Box<Violation>),
    /// The number of records that are not in the log.
    Overflow(Overflow),
}

/// How far a log was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The number of lines that are no valid records.
    pub unreadable: u64,
    /// The position after the last line that was read, in bytes.
    pub end: u64,
}

#[derive(Debug)]
pub(super) struct Log {
    output: Output,
    lines: Vec<u8>,
}

impl Log {
    pub(super) fn open(target: &LogTarget) -> Result<Self, Error> {
        Output::open(target).map(Self::to)
    }

    pub(super) const fn to(output: Output) -> Self {
        Self { output, lines: Vec::new() }
    }
}

impl Target for Log {
    fn append(&mut self, batch: &Batch) -> Result<(), Error> {
        if self.lines.is_empty() {
            for record in batch.records.iter() {
                push(&mut self.lines, &record.violation);
            }
            for overflow in &batch.overflow {
                let line = OverflowLine { schema: SCHEMA, kind: "overflow", overflow };
                push_line(&mut self.lines, &line);
            }
        }
        self.output.write(&self.lines)?;
        self.lines.clear();
        Ok(())
    }

    fn tend(&mut self) -> Result<Duration, Error> {
        Ok(REST)
    }
}

/// Appends the record's line.
pub fn push(lines: &mut Vec<u8>, violation: &Violation) {
    push_line(lines, violation);
}

/// Appends the line of a record of another form, with the form.
pub fn push_with_form(lines: &mut Vec<u8>, record: &Violation, form: Option<&str>) {
    push_line(lines, &FormLine { record, form });
}

fn push_line(lines: &mut Vec<u8>, line: &impl Serialize) {
    serde_json::to_writer(&mut *lines, line).expect("a line has no map, and memory takes all");
    lines.push(b'\n');
}

/// The records of a log that the filter lists. The sequence number of a record is the position
/// after its line, in bytes. A log that is shorter than `after_sequence` was rotated and is read
/// from its start. A last line without its end is incomplete and is left for the next call.
pub fn read(path: &Path, filter: &Filter) -> Result<Listing, Error> {
    let limit = filter.limit.unwrap_or(usize::MAX);
    let is_forward = filter.after_sequence.is_some();
    if let (0, Some(end)) = (limit, filter.after_sequence) {
        return Ok(Listing { end, ..Listing::default() });
    }
    let (mut records, mut more) = (VecDeque::new(), 0);
    let reading = scan(path, filter.after_sequence, |end, line| {
        if let Line::Record(violation) = line
            && filter.matches(&violation)
        {
            records.push_back((end, *violation));
        }
        if records.len() > limit {
            records.pop_front(); // a limit keeps the latest records
            more += 1;
        }
        match is_forward && records.len() == limit {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    let Reading { unreadable, end } = reading;
    Ok(Listing { records: records.into(), unreadable, more, end })
}

/// Whether a name is in the log, in any case; else the names that are.
pub fn find_name(path: &Path, kind: NameKind, name: &str) -> Result<NameFound, Error> {
    let (mut others, mut is_there) = (BTreeSet::new(), false);
    scan(path, None, |_, line| {
        let Line::Record(violation) = line else { return ControlFlow::Continue(()) };
        let Some(found) = kind.of(&violation) else { return ControlFlow::Continue(()) };
        is_there = found.eq_ignore_ascii_case(name);
        if others.len() < MOST_NAMES && !others.contains(found.as_str()) {
            others.insert(found.to_string());
        }
        if is_there { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(if is_there { NameFound::Itself } else { NameFound::Others(others.into_iter().collect()) })
}

/// Visits each line of a log with the position after it, until the visitor breaks off. Begins after
/// the position `after`, or at the start of a log that is shorter.
pub fn scan(
    path: &Path,
    after: Option<u64>,
    visit: impl FnMut(u64, Line) -> ControlFlow<()>,
) -> Result<Reading, Error> {
    let failed = |error: io::Error| Error::from_io(path, &error);
    let found = fs::metadata(path).map_err(failed)?;
    if !found.is_file() {
        return Err(Error::new(path, Obstacle::NoRegularFile));
    }
    let start = after.filter(|&at| at <= found.len()).unwrap_or(0);
    let mut file = File::open(path).map_err(failed)?;
    file.seek(SeekFrom::Start(start)).map_err(failed)?;
    scan_from(&mut BufReader::with_capacity(1 << 16, file), start, visit).map_err(failed)
}

fn scan_from(
    reader: &mut impl BufRead,
    start: u64,
    mut visit: impl FnMut(u64, Line) -> ControlFlow<()>,
) -> io::Result<Reading> {
    let mut reading = Reading { unreadable: 0, end: start };
    let mut line = Vec::new();
    while let Some(length) = next_line(reader, &mut line)? {
        reading.end += length;
        let Some(parsed) = parse(&line) else { continue };
        let Ok(line) = parsed else {
            reading.unreadable += 1;
            continue;
        };
        if visit(reading.end, line).is_break() {
            break;
        }
    }
    Ok(reading)
}

/// The line; `None` for one that is neither a record nor a broken one.
fn parse(line: &[u8]) -> Option<Result<Line, ()>> {
    match serde_json::from_slice::<Violation>(line) {
        Ok(violation) if violation.schema > SCHEMA => return Some(Err(())),
        Ok(violation) => return Some(Ok(Line::Record(Box::new(violation)))),
        // An empty line follows a line that a crash tore.
        Err(_) if line == b"\n" => return None,
        Err(_) => {}
    }
    if let Ok(overflow) = serde_json::from_slice::<Overflow>(line) {
        return Some(Ok(Line::Overflow(overflow)));
    }
    let is_kind = serde_json::from_slice::<Kind>(line).is_ok();
    (!is_kind).then_some(Err(()))
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
