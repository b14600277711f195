//! Records in, their summary out.

use hashbrown::DefaultHashBuilder;
use indexmap::IndexSet;

use crate::records::record::packing::{Packer, Unpacker};

/// The names of a record that a filter can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Names<'a> {
    pub(crate) site: &'a str,
    pub(crate) product_token: &'a str,
    pub(crate) purpose: Option<&'a str>,
    pub(crate) action: &'a str,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) records: u64,
    /// The times of its records, in milliseconds.
    pub(crate) earliest: i64,
    pub(crate) latest: i64,
    /// The combinations of names, in the order in which they came.
    pub(crate) names: Vec<u8>,
    /// For each sequence number its combination in 16 bits, from 1 on; 0 for no record.
    pub(crate) names_of: Vec<u8>,
    /// The paths, sorted.
    pub(crate) paths: Vec<u8>,
    /// For each sequence number its path, likewise.
    pub(crate) paths_of: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Builder {
    first: i64,
    records: u64,
    earliest: i64,
    latest: i64,
    texts: Numbered<Box<str>>,
    names: Numbered<Combination>,
    paths: Numbered<Box<str>>,
    /// The names and the path of each sequence number.
    of: Vec<(u32, u32)>,
}

/// The site, product token, purpose and action as numbers of texts; 0 for no purpose.
type Combination = [u32; 4];

/// Things in the order in which they came. They have numbers from 1 on.
type Numbered<T> = IndexSet<T, DefaultHashBuilder>;

fn number(texts: &mut Numbered<Box<str>>, text: &str) -> u32 {
    let known = texts.get_index_of(text);
    known.unwrap_or_else(|| texts.insert_full(text.into()).0) as u32 + 1 // a block is far smaller
}

impl Builder {
    /// The most sequence numbers of a block: their combinations and paths have numbers of 16 bits.
    pub(crate) const MOST: usize = u16::MAX as usize;

    /// A block of `length` sequence numbers from `first` on, [`Self::MOST`] at most.
    pub(crate) fn new(first: i64, length: usize) -> Self {
        Self {
            first,
            records: 0,
            earliest: i64::MAX,
            latest: i64::MIN,
            texts: Numbered::default(),
            names: Numbered::default(),
            paths: Numbered::default(),
            of: vec![(0, 0); length.min(Self::MOST)],
        }
    }

    /// Adds a record; one outside the block changes nothing.
    pub(crate) fn add(&mut self, sequence: i64, time: i64, names: Names<'_>, path: &str) {
        let at = usize::try_from(sequence - self.first).ok();
        if at.is_none_or(|at| at >= self.of.len()) {
            return;
        }
        let numbers = (self.combination(names), number(&mut self.paths, path));
        self.put(sequence, numbers);
        self.cover(time, time);
    }

    /// Adds the records of another summary, from `first` on. `None` if it cannot be read; the block is
    /// then of no use.
    pub(crate) fn append(&mut self, first: i64, part: &Summary) -> Option<()> {
        let mut names = vec![0];
        for one in unpack_names(&part.names)? {
            names.push(self.combination(one));
        }
        let mut paths = vec![0];
        let (mut unpacker, mut path) = (Unpacker::new(&part.paths), Vec::new());
        while !unpacker.is_at_end() {
            let (shared, rest) =
                unpacker.next_text().filter(|(shared, _)| *shared <= path.len())?;
            path.truncate(shared);
            path.extend_from_slice(rest);
            paths.push(number(&mut self.paths, str::from_utf8(&path).ok()?));
        }
        for (sequence, (one, path)) in
            (first..).zip(numbers(&part.names_of).zip(numbers(&part.paths_of)))
        {
            if one > 0 {
                self.put(sequence, (*names.get(one)?, *paths.get(path)?));
            }
        }
        if part.records > 0 {
            self.cover(part.earliest, part.latest);
        }
        Some(())
    }

    pub(crate) fn finish(self) -> Summary {
        let mut names = Packer::default();
        names.number(self.texts.len());
        self.texts.iter().for_each(|text| names.text(text.as_bytes()));
        for combination in &self.names {
            combination.iter().for_each(|&number| names.number(number as usize));
        }
        let mut sorted: Vec<_> = self.paths.iter().zip(1_u32..).collect();
        sorted.sort_unstable();
        let (mut paths, mut before) = (Packer::default(), "");
        let mut places = vec![0; sorted.len() + 1];
        for ((path, number), place) in sorted.iter().zip(1..) {
            paths.next_text(before.as_bytes(), path.as_bytes());
            before = path;
            places[*number as usize] = place;
        }
        let packed = |number: u32| (number as u16).to_le_bytes();
        Summary {
            records: self.records,
            earliest: self.earliest,
            latest: self.latest,
            names: names.into_bytes(),
            names_of: self.of.iter().flat_map(|(names, _)| packed(*names)).collect(),
            paths: paths.into_bytes(),
            paths_of: self.of.iter().flat_map(|(_, path)| packed(places[*path as usize])).collect(),
        }
    }

    fn combination(&mut self, names: Names<'_>) -> u32 {
        let mut text = |text| number(&mut self.texts, text);
        let combination = [
            text(names.site),
            text(names.product_token),
            names.purpose.map_or(0, &mut text),
            text(names.action),
        ];
        self.names.insert_full(combination).0 as u32 + 1
    }

    fn put(&mut self, sequence: i64, numbers: (u32, u32)) {
        let at = usize::try_from(sequence - self.first).ok();
        if let Some(place) = at.and_then(|at| self.of.get_mut(at)) {
            *place = numbers;
            self.records += 1;
        }
    }

    fn cover(&mut self, earliest: i64, latest: i64) {
        self.earliest = self.earliest.min(earliest);
        self.latest = self.latest.max(latest);
    }
}

/// The combinations of names of a summary, in order.
pub(super) fn unpack_names(packed: &[u8]) -> Option<Vec<Names<'_>>> {
    let mut unpacker = Unpacker::new(packed);
    let count = unpacker.number()?;
    let mut texts = Vec::new();
    for _ in 0..count {
        texts.push(str::from_utf8(unpacker.text()?).ok()?);
    }
    let mut names = Vec::new();
    while !unpacker.is_at_end() {
        let mut text = || {
            let number = unpacker.number()?;
            if number == 0 { Some(None) } else { texts.get(number - 1).copied().map(Some) }
        };
        names.push(Names {
            site: text()??,
            product_token: text()??,
            purpose: text()?,
            action: text()??,
        });
    }
    Some(names)
}

pub(super) fn numbers(packed: &[u8]) -> impl Iterator<Item = usize> {
    packed.as_chunks::<2>().0.iter().map(|bytes| usize::from(u16::from_le_bytes(*bytes)))
}
