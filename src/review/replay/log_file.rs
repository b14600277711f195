//! A log file or standard input, decompressed, in blocks of whole lines.

use std::{
    io::{self, Cursor, Read},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use flate2::read::MultiGzDecoder;
use memchr::{memchr_iter, memrchr};

use crate::{
    base::escape,
    formats::access_log::{Columns, Format, detect},
    state::publication,
};

use super::batch::Block;

/// The octets that are read at once. A block has whole lines, so it may have more.
const BLOCK: usize = 1 << 20;
/// The octets in which the format is looked for.
const HEAD: usize = 64 << 10;
/// The octets with which compressed files begin.
const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A file, perhaps compressed by gzip or zstd.
    File(PathBuf),
    StandardInput,
}

pub(super) struct Log {
    pub(super) name: String,
    pub(super) format: Arc<Format>,
    /// The time of the first entry; the least time for standard input, which can't be read twice.
    pub(super) first: Option<i64>,
    source: Source,
    /// Standard input with what was read of it.
    opened: Option<Box<dyn Read + Send>>,
}

pub(super) struct Blocks {
    input: Box<dyn Read + Send>,
    format: Arc<Format>,
    header: Columns,
    /// The beginning of a line whose end isn't read yet.
    rest: Vec<u8>,
    line: u64,
    /// Whether the rest of a line that is too long is left out.
    is_skipping: bool,
    is_done: bool,
}

impl Source {
    pub(crate) fn name(&self) -> String {
        match self {
            Self::File(path) => escape::path(path),
            Self::StandardInput => "standard input".to_owned(),
        }
    }

    /// The octets of the file; 0 if they aren't known.
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::File(path) => std::fs::metadata(path).map_or(0, |metadata| metadata.len()),
            Self::StandardInput => 0,
        }
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::File(path) => Box::new(publication::open_file(path)?),
            Self::StandardInput => Box::new(io::stdin()),
        })
    }
}

impl Log {
    /// Reads the first lines of a log. `None` for one without an entry.
    pub(super) fn examine(
        source: Source,
        format: Option<&Arc<Format>>,
    ) -> Result<Option<Self>, String> {
        let name = source.name();
        let failed = |error: io::Error| format!("{name}: {error}");
        let mut input = decompressed(source.open().map_err(failed)?).map_err(failed)?;
        let mut head = Vec::new();
        input.by_ref().take(HEAD as u64).read_to_end(&mut head).map_err(failed)?;
        let lines = || head.split(|&b| b == b'\n').map(<[u8]>::trim_ascii_end);
        let Some(shown) = lines().find(|line| !line.is_empty()) else { return Ok(None) };
        let format = match format {
            Some(format) => Arc::clone(format),
            None => Arc::new(detect(lines()).ok_or_else(|| {
                let line = escape::bounded(shown, 100);
                format!(
                    "{name}: no known log format fits its first lines, such as '{line}' (name the \
                     format with --log-format)"
                )
            })?),
        };
        let mut header = Columns::default();
        let mut times = lines().filter_map(|line| {
            format.parse(line, &mut header).ok().flatten().map(|entry| entry.time)
        });
        let (first, opened): (_, Option<Box<dyn Read + Send>>) = match source {
            Source::File(_) => (times.next(), None),
            Source::StandardInput => {
                drop(times);
                (Some(i64::MIN), Some(Box::new(Cursor::new(head.clone()).chain(input))))
            }
        };
        Ok(Some(Self { name, format, first, source, opened }))
    }

    /// The blocks of the log. `read` counts the octets of the file as they are read.
    pub(super) fn blocks(&mut self, read: &Arc<AtomicU64>) -> io::Result<Blocks> {
        let input = match self.opened.take() {
            Some(input) => input,
            None => {
                let counted = Counted { input: self.source.open()?, read: Arc::clone(read) };
                decompressed(Box::new(counted))?
            }
        };
        Ok(Blocks {
            input,
            format: Arc::clone(&self.format),
            header: Columns::default(),
            rest: Vec::new(),
            line: 1,
            is_skipping: false,
            is_done: false,
        })
    }
}

/// The input without its compression, told by its first octets.
fn decompressed(mut input: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let mut magic = Vec::new();
    input.by_ref().take(ZSTD.len() as u64).read_to_end(&mut magic)?;
    let (is_gzip, is_zstd) = (magic.starts_with(&GZIP), magic == ZSTD);
    let whole = Cursor::new(magic).chain(input);
    Ok(match (is_gzip, is_zstd) {
        (true, _) => Box::new(MultiGzDecoder::new(io::BufReader::with_capacity(BLOCK / 4, whole))),
        (_, true) => Box::new(zstd::stream::read::Decoder::new(whole)?),
        _ => Box::new(whole),
    })
}

impl Iterator for Blocks {
    type Item = io::Result<Block>;

    fn next(&mut self) -> Option<io::Result<Block>> {
        if self.is_done {
            return None;
        }
        let mut text = std::mem::take(&mut self.rest);
        text.reserve(BLOCK);
        let mut too_long = 0;
        loop {
            let before = text.len();
            let read = match self.input.by_ref().take(BLOCK as u64).read_to_end(&mut text) {
                Ok(read) => read,
                Err(error) => {
                    self.is_done = true;
                    return Some(Err(error));
                }
            };
            self.is_done = read < BLOCK;
            let end = match memrchr(b'\n', text.get(before..).unwrap_or_default()) {
                Some(at) => before + at + 1,
                None if self.is_done => text.len(),
                None => {
                    // No line ends here: the line is too long, and its beginning is of no use.
                    too_long += u64::from(!self.is_skipping);
                    self.is_skipping = true;
                    text.clear();
                    continue;
                }
            };
            self.rest = text.split_off(end);
            break;
        }
        let from = match std::mem::take(&mut self.is_skipping) {
            true => memchr::memchr(b'\n', &text).map_or(text.len(), |at| at + 1),
            false => 0,
        };
        if self.is_done && !self.rest.is_empty() {
            text.append(&mut self.rest);
        }
        let line = self.line + u64::from(from > 0);
        self.line += memchr_iter(b'\n', &text).count() as u64;
        let header = self.header.clone();
        if self.format.has_header() {
            self.note_header(&text);
        }
        let format = Arc::clone(&self.format);
        Some(Ok(Block { text, from, line, too_long, format, header }))
    }
}

impl Blocks {
    /// Keeps the last columns of the block for the next one.
    fn note_header(&mut self, text: &[u8]) {
        for line in text.split(|&b| b == b'\n').filter(|line| line.starts_with(b"#")) {
            // A comment is no entry and has no fault.
            let _ = self.format.parse(line.trim_ascii_end(), &mut self.header);
        }
    }
}

struct Counted {
    input: Box<dyn Read + Send>,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::replay::batch::Batch;

    fn blocks(text: Vec<u8>) -> Vec<Batch> {
        let blocks = Blocks {
            input: Box::new(Cursor::new(text)),
            format: Arc::new(Format::of("combined").expect("a format")),
            header: Columns::default(),
            rest: Vec::new(),
            line: 1,
            is_skipping: false,
            is_done: false,
        };
        blocks.map(|block| Batch::of(block.expect("it is memory"))).collect()
    }

    fn line(number: usize) -> String {
        format!(
            "192.0.2.7 - - [22/Nov/2026:20:30:05 +0100] \"GET /{number} HTTP/1.1\" 200 5 \"-\" \"x\"\n"
        )
    }

    #[test]
    fn every_line_is_in_one_block_whatever_its_length() {
        let mut text = String::new();
        (0..20_000).for_each(|number| text.push_str(&line(number)));
        text.push_str(&"x".repeat(5 * BLOCK / 2));
        text.push('\n');
        (20_000..30_000).for_each(|number| text.push_str(&line(number)));
        text.push_str(line(30_000).trim_end());
        let batches = blocks(text.into_bytes());
        let rows: usize = batches.iter().map(|batch| batch.rows.len()).sum();
        let faults: Vec<_> = batches.iter().flat_map(|batch| &batch.faults).collect();
        assert_eq!(rows, 30_001);
        let [fault] = faults.as_slice() else { panic!("{faults:?}") };
        assert_eq!((fault.code, fault.count), ("too_long", 1));
        let targets = batches.iter().flat_map(|batch| {
            batch.rows.iter().map(|row| String::from_utf8_lossy(batch.get(row.target)).into_owned())
        });
        assert!(targets.enumerate().all(|(number, target)| target == format!("/{number}")));
        let last = batches.last().expect("a batch");
        let line = last.rows.last().expect("a row").line;
        assert_eq!(line, 30_002);
    }
}
