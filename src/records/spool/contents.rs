//! The frames of a segment, read back: what is whole, and what is lost.

use super::frame::{Frame, HEADER, Header};

/// The bytes before the first frame.
pub(super) const PREFIX: usize = 8;

/// The totals of a segment, or of what it lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// All frames.
    pub frames: u64,
    /// The records in them.
    pub records: u64,
}

/// The frames of a segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    bytes: Vec<u8>,
    found: Vec<Place>,
    /// What the segment had and has no more.
    pub lost: Totals,
}

/// A frame that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    kind: u8,
    records: u32,
    start: usize,
    end: usize,
}

/// A header that was found, and whether its payload is whole.
#[derive(Clone, Copy, Debug)]
struct Seen {
    header: Header,
    place: Place,
    is_whole: bool,
    /// Whether bytes before it are no frame.
    follows_gap: bool,
}

impl Contents {
    /// Reads a sealed segment, whose totals are known.
    pub(super) fn of_sealed(bytes: Vec<u8>, totals: Totals) -> Self {
        let whole = scan(&bytes).into_iter().filter(|seen| seen.is_whole);
        let found: Vec<Place> = whole.map(|seen| seen.place).collect();
        let records = found.iter().map(|place| u64::from(place.records)).sum();
        let lost = Totals {
            frames: totals.frames.saturating_sub(found.len() as u64),
            records: totals.records.saturating_sub(records),
        };
        Self { bytes, found, lost }
    }

    /// The length of the whole calls at the beginning of a segment that was not sealed, with their
    /// totals. What stands behind them was never acknowledged. The third value says that a broken frame
    /// stands before a whole call: no crash does that.
    pub(super) fn of_open(bytes: &[u8]) -> (usize, Totals, bool) {
        let (mut end, mut totals, mut is_damaged) = (0, Totals::default(), false);
        let (mut so_far, mut is_broken) = (Totals::default(), false);
        for Seen { header, place, is_whole, follows_gap } in scan(bytes) {
            is_broken |= follows_gap || !is_whole;
            so_far.frames += 1 + u64::from(follows_gap);
            so_far.records += u64::from(header.records);
            if header.ends && is_whole {
                is_damaged = is_broken;
                (end, totals) = (place.end, so_far);
            }
        }
        (end, totals, is_damaged)
    }

    /// The frames that are whole, in the order of writing.
    pub fn frames(&self) -> impl Iterator<Item = Frame<'_>> {
        self.found.iter().map(|place| Frame {
            kind: place.kind,
            records: place.records,
            bytes: self.bytes.get(place.start..place.end).unwrap_or_default(),
        })
    }
}

/// The headers of a segment. Behind a broken one, the next whole one is looked for.
fn scan(bytes: &[u8]) -> Vec<Seen> {
    let (mut seen, mut at, mut follows_gap) = (Vec::new(), PREFIX, false);
    while let Some(rest) = bytes.get(at..).filter(|rest| rest.len() >= HEADER) {
        let Some(header) = Header::read(rest) else {
            (at, follows_gap) = (at + 1, true);
            continue;
        };
        let start = at + HEADER;
        let end = start.saturating_add(header.length);
        let is_whole = bytes.get(start..end).is_some_and(|payload| header.fits(payload));
        let Header { kind, records, .. } = header;
        let place = Place { kind, records, start, end };
        seen.push(Seen { header, place, is_whole, follows_gap });
        (at, follows_gap) = (end, false);
    }
    seen
}
