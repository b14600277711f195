//! The rows of many logs in the order of time.

use std::{
    collections::BTreeMap,
    io,
    num::NonZero,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    },
    thread,
};

use crate::formats::access_log::Format;

use super::{
    batch::{Batch, Block, Row},
    log_file::{Log, Source},
};

/// How far lines may stand from the place that their time gives them: a server logs a request when it
/// ends, and several processes write one file.
pub(crate) const WINDOW: i64 = 60 * 1_000_000;
/// The octets of rows that wait for their time. Beyond, the window is shorter.
pub(crate) const MOST_PENDING: usize = 128 << 20;
/// The blocks of one log that wait.
const AHEAD: usize = 4;

pub(crate) struct Logs {
    waiting: Vec<(usize, Log)>,
    open: Vec<Stream>,
    /// Batches by the place of their next row, which has this number.
    pending: BTreeMap<Place, (Batch, usize)>,
    pending_octets: usize,
    pool: Pool,
    read: Arc<AtomicU64>,
    size: u64,
    names: Arc<[String]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) read: u64,
    /// All; 0 if that isn't known.
    pub(crate) size: u64,
}

struct Stream {
    number: usize,
    batches: Receiver<io::Result<Receiver<Batch>>>,
    /// The time that the log has reached: of the last line, so that one wrong time moves nothing.
    reached: i64,
}

/// Time, log, line: rows of the same time come in the order of logs and lines.
type Place = (i64, usize, u64);

pub(super) enum Item<'b> {
    /// A row, with the number of its log.
    Row(&'b Batch, &'b Row, usize),
    /// A batch, before its rows.
    Batch(&'b Batch, usize),
}

impl Logs {
    /// Opens logs. `format` is that of all; else each one's is told by its first lines.
    pub(crate) fn open(
        sources: Vec<Source>,
        format: Option<Format>,
        threads: NonZero<usize>,
    ) -> Result<Self, String> {
        let format = format.map(Arc::new);
        let size = match sources.contains(&Source::StandardInput) {
            true => 0,
            false => sources.iter().map(Source::size).sum(),
        };
        let names = sources.iter().map(Source::name).collect();
        let mut waiting = Vec::new();
        for (number, source) in sources.into_iter().enumerate() {
            if let Some(log) = Log::examine(source, format.as_ref())? {
                waiting.push((number, log));
            }
        }
        // The first one last. A log without an entry in its first lines is read at once.
        waiting.sort_by_key(|(number, log)| (log.first.unwrap_or(i64::MIN), *number));
        waiting.reverse();
        Ok(Self {
            waiting,
            open: Vec::new(),
            pending: BTreeMap::new(),
            pending_octets: 0,
            pool: Pool::new(threads),
            read: Arc::default(),
            size,
            names,
        })
    }

    /// The names of formats, each with the number of logs that have it.
    pub(crate) fn formats(&self) -> Vec<(String, usize)> {
        let mut formats: Vec<(String, usize)> = Vec::new();
        for (_, log) in &self.waiting {
            match formats.iter_mut().find(|(name, _)| name == log.format.name()) {
                Some((_, count)) => *count += 1,
                None => formats.push((log.format.name().to_owned(), 1)),
            }
        }
        formats
    }

    pub(super) fn names(&self) -> Arc<[String]> {
        Arc::clone(&self.names)
    }

    pub(crate) fn progress(&self) -> Progress {
        Progress { read: self.read.load(Ordering::Relaxed), size: self.size }
    }

    /// Reads the next batch of the log that is furthest behind, then gives the rows whose time has come
    /// to `take`. Returns whether there may be more.
    pub(super) fn step<E: From<String>>(
        &mut self,
        take: &mut impl FnMut(Item<'_>) -> Result<(), E>,
    ) -> Result<bool, E> {
        self.open_due()?;
        let streams = self.open.iter_mut().enumerate();
        let Some((at, stream)) = streams.min_by_key(|(_, one)| (one.reached, one.number)) else {
            self.give(i64::MAX, take)?;
            return Ok(false);
        };
        let number = stream.number;
        match stream.batches.recv() {
            // The end of the log.
            Err(_) => drop(self.open.swap_remove(at)),
            Ok(Err(error)) => {
                let name = self.names.get(number).cloned().unwrap_or_default();
                return Err(format!("{name}: {error}").into());
            }
            Ok(Ok(batch)) => {
                let batch = batch.recv().unwrap_or_default();
                let last = batch.rows.iter().max_by_key(|row| row.line);
                if let Some(last) = last {
                    stream.reached = stream.reached.max(last.time);
                }
                take(Item::Batch(&batch, number))?;
                if !batch.rows.is_empty() {
                    self.pending_octets += batch.octets();
                    self.wait(batch, 0, number);
                }
            }
        }
        let reached = self.open.iter().map(|one| one.reached).min().unwrap_or(i64::MAX);
        let next = self.waiting.last().and_then(|(_, log)| log.first).unwrap_or(i64::MAX);
        let reached = reached.min(next);
        self.give(reached.saturating_sub(WINDOW), take)?;
        if self.pending_octets > MOST_PENDING {
            self.give(reached, take)?;
        }
        Ok(true)
    }

    /// Opens the logs that begin before the open ones have passed their beginning.
    fn open_due(&mut self) -> Result<(), String> {
        while let Some((_, log)) = self.waiting.last() {
            let reached = self.open.iter().map(|one| one.reached).min();
            let first = log.first.unwrap_or(i64::MIN);
            if reached.is_some_and(|reached| first.saturating_sub(2 * WINDOW) > reached) {
                break;
            }
            let Some((number, log)) = self.waiting.pop() else { break };
            self.open.push(self.pool.stream(number, log, &self.read)?);
        }
        Ok(())
    }

    fn give<E>(
        &mut self,
        until: i64,
        take: &mut impl FnMut(Item<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(first) = self.pending.first_entry().filter(|first| first.key().0 <= until) {
            let ((_, number, _), (batch, mut at)) = first.remove_entry();
            // Most often a whole batch comes before the next one.
            let next = self.pending.first_key_value().map(|(place, _)| *place);
            while let Some(row) = batch.rows.get(at) {
                let is_next = next.is_none_or(|next| (row.time, number, row.line) < next);
                if row.time > until || !is_next {
                    break;
                }
                take(Item::Row(&batch, row, number))?;
                at += 1;
            }
            match at == batch.rows.len() {
                true => self.pending_octets -= batch.octets(),
                false => self.wait(batch, at, number),
            }
        }
        Ok(())
    }

    /// Keeps a batch until the time of this row has come.
    fn wait(&mut self, batch: Batch, at: usize, number: usize) {
        if let Some(row) = batch.rows.get(at) {
            self.pending.insert((row.time, number, row.line), (batch, at));
        }
    }
}

struct Pool {
    work: SyncSender<(Block, Sender<Batch>)>,
}

impl Pool {
    fn new(threads: NonZero<usize>) -> Self {
        let (work, blocks) = sync_channel::<(Block, Sender<Batch>)>(threads.get());
        let blocks = Arc::new(Mutex::new(blocks));
        for _ in 0..threads.get() {
            let blocks = Arc::clone(&blocks);
            thread::spawn(move || {
                loop {
                    let next = blocks.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((block, batch)) = next else { return };
                    // Nobody waits for it after a failure.
                    let _ = batch.send(Batch::of(block));
                }
            });
        }
        Self { work }
    }

    /// The batches of a log, in its order. They are read ahead.
    fn stream(&self, number: usize, mut log: Log, read: &Arc<AtomicU64>) -> Result<Stream, String> {
        let blocks = log.blocks(read);
        let blocks = blocks.map_err(|error| format!("{}: {error}", log.name))?;
        let (promises, batches) = sync_channel(AHEAD);
        let work = self.work.clone();
        thread::spawn(move || {
            for block in blocks {
                let (done, promise) = channel();
                let sent = match block {
                    Ok(block) => {
                        promises.send(Ok(promise)).is_ok() && work.send((block, done)).is_ok()
                    }
                    Err(error) => promises.send(Err(error)).is_ok(),
                };
                if !sent {
                    return;
                }
            }
        });
        Ok(Stream { number, batches, reached: i64::MIN })
    }
}
