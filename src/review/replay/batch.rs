//! A block of lines as rows.

use std::{borrow::Cow, net::IpAddr, sync::Arc};

use memchr::memchr;

use crate::{
    base::escape,
    formats::{
        access_log::{Columns, Entry, Fault, Format},
        framing::TargetOctet,
    },
    serving::gate,
};

/// The longest line, in octets. Every request line that a server accepts fits.
pub(crate) const MOST_LINE: usize = 1 << 20;
/// The octets of a line that an example shows.
const EXAMPLE: usize = 160;
/// The mark of a span in the arena, and the start of a span without text.
const ARENA: u32 = 1 << 31;
const ABSENT: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct Block {
    pub(super) text: Vec<u8>,
    pub(super) from: usize,
    pub(super) line: u64,
    /// The lines that were too long and are not in the text.
    pub(super) too_long: u64,
    pub(super) format: Arc<Format>,
    pub(super) header: Columns,
}

/// The rows of a block, in the order of their times.
#[derive(Debug, Default)]
pub(super) struct Batch {
    text: Vec<u8>,
    /// Texts that are not in the log as such: without escapes, in the form that is judged.
    arena: Vec<u8>,
    pub(super) rows: Vec<Row>,
    pub(super) lines: u64,
    pub(super) faults: Vec<Faults>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Faults {
    pub(super) code: &'static str,
    pub(super) count: u64,
    /// The number of the first line, and its beginning.
    pub(super) example: (u64, String),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// In microseconds since the Unix epoch.
    pub(super) time: i64,
    pub(super) line: u64,
    pub(super) client: IpAddr,
    pub(super) method: Span,
    /// In the form that the proxy would forward.
    pub(super) target: Span,
    pub(super) host: Span,
    pub(super) user_agent: Span,
    pub(super) forwarded_for: Span,
    pub(super) status: u16,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    start: u32,
    length: u32,
}

impl Span {
    const NONE: Self = Self { start: ABSENT, length: 0 };

    pub(super) const fn is_some(self) -> bool {
        self.start != ABSENT
    }
}

impl Batch {
    pub(super) fn of(block: Block) -> Self {
        let Block { text, from, line, too_long, format, mut header } = block;
        let mut batch = Self { lines: too_long, ..Self::default() };
        if too_long > 0 {
            let example = (line.saturating_sub(1), "…".to_owned());
            batch.faults.push(Faults { code: Fault::TooLong.as_str(), count: too_long, example });
        }
        batch.rows.reserve(text.len() / 160);
        let mut at = from;
        let mut number = line;
        while at < text.len() {
            let rest = text.get(at..).unwrap_or_default();
            let end = memchr(b'\n', rest).unwrap_or(rest.len());
            let one = rest.get(..end).unwrap_or_default();
            let one = one.strip_suffix(b"\r").unwrap_or(one);
            batch.push(&text, one, number, &format, &mut header);
            at += end + 1;
            number += 1;
        }
        if !batch.rows.is_sorted_by_key(|row| row.time) {
            batch.rows.sort_by_key(|row| row.time);
        }
        batch.text = text;
        batch
    }

    fn push(
        &mut self,
        text: &[u8],
        line: &[u8],
        number: u64,
        format: &Format,
        header: &mut Columns,
    ) {
        if line.is_empty() {
            return;
        }
        if line.len() > MOST_LINE {
            self.lines += 1;
            return self.fault(Fault::TooLong.as_str(), number, line);
        }
        match format.parse(line, header) {
            Ok(None) => {}
            Ok(Some(entry)) => {
                self.lines += 1;
                match self.row(text, entry, number) {
                    Some(row) => self.rows.push(row),
                    None => self.fault("target", number, line),
                }
            }
            Err(fault) => {
                self.lines += 1;
                self.fault(fault.as_str(), number, line);
            }
        }
    }

    fn row(&mut self, text: &[u8], entry: Entry<'_>, line: u64) -> Option<Row> {
        let target = match is_forwarded_unchanged(&entry.target) {
            true => entry.target,
            false => Cow::Owned(gate::received_target(&entry.target).ok()?.into_owned()),
        };
        Some(Row {
            time: entry.time,
            line,
            client: entry.client?,
            method: self.span(text, Some(entry.method)),
            target: self.span(text, Some(target)),
            host: self.span(text, entry.host),
            user_agent: self.span(text, entry.user_agent),
            forwarded_for: self.span(text, entry.forwarded_for),
            status: entry.status,
        })
    }

    /// The place of a text: in the block if it stands there, else in the arena.
    fn span(&mut self, text: &[u8], part: Option<Cow<'_, [u8]>>) -> Span {
        let Some(part) = part else { return Span::NONE };
        let length = u32::try_from(part.len()).unwrap_or(0);
        let start = match &part {
            Cow::Borrowed(part) => {
                let start = (part.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
                let is_inside = start <= text.len() && part.len() <= text.len() - start;
                u32::try_from(start).ok().filter(|start| is_inside && *start < ARENA)
            }
            Cow::Owned(_) => None,
        };
        let start = start.unwrap_or_else(|| {
            let start = u32::try_from(self.arena.len()).unwrap_or(0) | ARENA;
            self.arena.extend_from_slice(&part);
            start
        });
        Span { start, length }
    }

    fn fault(&mut self, code: &'static str, line: u64, text: &[u8]) {
        match self.faults.iter_mut().find(|faults| faults.code == code) {
            Some(faults) => faults.count += 1,
            None => {
                let example = (line, escape::bounded(text, EXAMPLE));
                self.faults.push(Faults { code, count: 1, example });
            }
        }
    }

    /// A text of a row; empty if there is none.
    pub(super) fn get(&self, span: Span) -> &[u8] {
        let (text, start) = match span.start {
            ABSENT => return &[],
            start if start & ARENA > 0 => (&self.arena, start & !ARENA),
            start => (&self.text, start),
        };
        let start = start as usize;
        text.get(start..start + span.length as usize).unwrap_or_default()
    }

    pub(super) fn octets(&self) -> usize {
        self.text.capacity() + self.arena.capacity() + self.rows.capacity() * size_of::<Row>()
    }
}

/// Whether an edge forwards a target as it is; nearly every one.
fn is_forwarded_unchanged(target: &[u8]) -> bool {
    let passes = |octet: &u8| *octet != b'#' && TargetOctet::of(*octet) == TargetOctet::Unchanged;
    target.first() == Some(&b'/') && target.len() < 4096 && target.iter().all(passes)
}
