//! The door of the room: takes records from requests without ever making one wait.
//!
//! A record goes onto a bounded queue for each target that is configured, and threads write it
//! from there. Where both a database and a log are kept, the database is the one that counts.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use jiff::Timestamp;

use crate::violations::{
    Counts, Edition, Error, Fetch, Health, Overflow, Quarantined, Text, Violation,
    error::Obstacle,
    log::Log,
    notes::Notes,
    queue::Queue,
    retention::Retention,
    store::Appender,
    writer::{self, Target},
};

/// Where records are kept, and how long.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The SQLite database, created where there is none.
    pub database: Option<PathBuf>,
    /// Where JSON lines go.
    pub log: Option<LogTarget>,
    /// How many records may wait for each of them; besides, their bytes are bounded (32 MiB).
    pub queue: usize,
    /// How long records stay in the database; `None` keeps them all. Logs are for the operator
    /// to rotate: a log that was moved away is begun anew.
    pub retention: Option<Duration>,
    /// The longest time that a crawler may go by an edition after it was replaced (RFC 9309 §2.4):
    /// the database keeps those of this time, however short the retention is.
    pub editions: Duration,
}

/// Where JSON lines go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogTarget {
    /// A file, appended to.
    File(PathBuf),
    /// Standard output.
    Stdout,
}

/// Takes records; shared by all requests.
#[derive(Debug)]
pub struct Sink {
    /// The one that counts, first. There is always one: where nothing is kept, it has no room.
    main: Lane,
    /// The log beside a database.
    log: Option<Lane>,
    has_database: bool,
}

/// A queue and its writer.
#[derive(Debug)]
struct Lane {
    queue: Arc<Queue>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            database: None,
            log: None,
            queue: Self::QUEUE,
            retention: None,
            editions: Self::EDITIONS,
        }
    }
}

impl Settings {
    /// How many records may wait, where the policy does not say.
    pub const QUEUE: usize = 8192;
    /// How long a replaced edition is kept at least, where the policy does not say: a day.
    pub const EDITIONS: Duration = Duration::from_secs(86_400);
}

impl Sink {
    /// Opens everything, or says what stands in the way; nothing that is found is overwritten.
    /// Where neither a database nor a log is given, records are only counted.
    ///
    /// # Errors
    /// Where a file cannot be opened and written, or is not ours; the error names the repair.
    pub fn start(settings: Settings) -> Result<Self, Error> {
        let Settings { database, log, queue, retention, editions } = settings;
        let log = match log {
            Some(LogTarget::File(path)) => Some(Log::open(&path)?),
            Some(LogTarget::Stdout) => Some(Log::stdout()?),
            None => None,
        };
        let (now, wall) = (Instant::now(), Timestamp::now());
        let retention = retention.map(|keep| Retention::new(keep, editions, now, wall));
        let database = database.map(|path| Appender::open(&path, retention)).transpose()?;
        let has_database = database.is_some();
        let log = log.map(|log| Lane::start("log", queue, log)).transpose()?;
        let (main, log) = match (database, log) {
            (Some(database), log) => (Lane::start("database", queue, database)?, log),
            (None, Some(log)) => (log, None),
            (None, None) => (Lane::closed(), None),
        };
        Ok(Self { main, log, has_database })
    }

    /// Takes the record, or counts it where there is no room. Never waits for a disk.
    pub fn record(&self, violation: Violation) {
        let violation = Arc::new(violation);
        if let Some(log) = &self.log {
            log.queue.push(Arc::clone(&violation));
        }
        self.main.queue.push(violation);
    }

    /// Notes what is known of a crawler's fetches of a robots.txt; kept where there is a database.
    /// Never waits.
    pub fn fetched(&self, fetch: Fetch) {
        self.note(|notes| {
            notes.fetched(fetch);
            0
        });
    }

    /// Notes that a site publishes the edition from [`Edition::from`] on, which ends the one before
    /// it; [`Edition::until`] is not looked at. Publishing what is in force already changes
    /// nothing, also where another instance did it. Kept where there is a database. Never waits.
    pub fn published(&self, edition: Edition) {
        self.note(|notes| notes.published(edition));
    }

    /// Notes that a file is in quarantine, in place of the site's former one. An acceptance of the
    /// same file stays; an acceptance of another file ends. [`Quarantined::accepted`] is ignored.
    /// Kept where there is a database. Never waits.
    pub fn quarantined(&self, file: Quarantined) {
        self.note(|notes| {
            notes.quarantined(file);
            0
        });
    }

    /// Notes that the site's quarantine is empty. Never waits.
    pub fn released(&self, site: Text) {
        self.note(|notes| {
            notes.released(site);
            0
        });
    }

    fn note(&self, note: impl FnOnce(&mut Notes) -> usize) {
        if self.has_database {
            self.main.queue.push_note(note);
        }
    }

    /// Where the records are: those of the database, or of the log where there is none.
    pub fn counts(&self) -> Counts {
        self.main.queue.counts()
    }

    /// The same of the log beside a database.
    pub fn log_counts(&self) -> Option<Counts> {
        self.log.as_ref().map(|log| log.queue.counts())
    }

    /// What was not kept since the start, exactly, the most first; its counts add up to
    /// [`Counts::dropped`].
    pub fn overflow(&self) -> Vec<Overflow> {
        self.main.queue.overflow()
    }

    /// Whether records are being kept; names the first thing that hinders it.
    pub fn health(&self) -> Health {
        let lanes = [Some(&self.main), self.log.as_ref()];
        let health = lanes.into_iter().flatten().map(Lane::health);
        health.into_iter().find(|health| *health != Health::Ok).unwrap_or(Health::Ok)
    }

    /// Lets nothing more in, writes what waits, for `deadline` at most, and tells what became of
    /// it: what could not be written by then is dropped and counted.
    pub fn close(&self, deadline: Duration) -> Counts {
        let deadline = Instant::now() + deadline;
        let lanes = || [Some(&self.main), self.log.as_ref()].into_iter().flatten();
        lanes().for_each(|lane| lane.queue.close());
        lanes().for_each(|lane| lane.join(deadline));
        self.counts()
    }
}

/// A sink that nobody closed still gets a moment to write.
impl Drop for Sink {
    fn drop(&mut self) {
        self.close(Duration::from_secs(1));
    }
}

impl Lane {
    fn start(
        name: &'static str,
        capacity: usize,
        mut target: impl Target + 'static,
    ) -> Result<Self, Error> {
        let queue = Arc::new(Queue::new(name, capacity));
        let writer = thread::Builder::new().name(format!("beadle-{name}")).spawn({
            let queue = Arc::clone(&queue);
            move || writer::run(&queue, &mut target)
        });
        let failed = |error: std::io::Error| Obstacle::Failed(error.to_string());
        let writer =
            writer.map_err(|error| Error { path: name.into(), obstacle: failed(error) })?;
        Ok(Self { queue, writer: Mutex::new(Some(writer)) })
    }

    /// One without a writer: it counts.
    fn closed() -> Self {
        Self { queue: Arc::new(Queue::new("nothing", 0)), writer: Mutex::new(None) }
    }

    fn health(&self) -> Health {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        match &*writer {
            None => Health::Ok,
            Some(writer) if writer.is_finished() => Health::Degraded(format!(
                "the {}'s writer has stopped (restart)",
                self.queue.target
            )),
            Some(_) => self.queue.health(),
        }
    }

    /// Waits for the writer; one that does not come back from a write is left behind.
    fn join(&self, deadline: Instant) {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(writer) = writer else { return };
        if self.queue.wait_finished(deadline) && writer.join().is_err() {
            tracing::error!(code = "store.panicked", lane = self.queue.target, "a writer panicked");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs::File, io::Read, os::fd::OwnedFd, path::Path};

    use super::*;
    use crate::violations::tests::{eventually, violation};

    fn piped() -> (std::io::PipeReader, Lane) {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        let log = Log::new(Path::new("stdout"), File::from(OwnedFd::from(writer)));
        (reader, Lane::start("log", 100_000, log).expect("a thread"))
    }

    fn beside(database: PathBuf, log: Lane) -> Sink {
        let settings = Settings { database: Some(database), ..Settings::default() };
        let mut sink = Sink::start(settings).expect("a sink");
        sink.log = Some(log);
        sink
    }

    #[test]
    fn r6_a_reader_that_has_gone_hinders_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let (reader, log) = piped();
        let sink = beside(folder.path().join("beadle.db"), log);
        drop(reader);
        (0..300).for_each(|number| sink.record(violation(number)));
        eventually("stored", || sink.counts().stored == 300);
        eventually("noticed", || sink.health() != Health::Ok);
        let start = Instant::now();
        sink.close(Duration::from_secs(9));
        assert!(start.elapsed() < Duration::from_secs(5), "it is not waited for");
        assert_eq!(sink.log_counts().map(|counts| counts.dropped), Some(300));
    }

    #[test]
    fn r6_a_reader_that_has_stopped_costs_the_database_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut reader, log) = piped();
        let sink = beside(folder.path().join("beadle.db"), log);
        (0..2000).for_each(|number| sink.record(violation(number)));
        eventually("stored", || sink.counts().stored == 2000);
        let closed = sink.close(Duration::from_millis(50));
        assert_eq!((closed.stored, closed.queued), (2000, 0));
        let log = sink.log_counts().expect("a log");
        assert_eq!((log.stored + log.dropped, log.queued), (2000, 0));
        drop(sink);
        // The writer is stuck in the pipe until somebody reads, and then goes.
        let mut lines = Vec::new();
        reader.read_to_end(&mut lines).expect("lines");
        assert!(lines.iter().filter(|&&byte| byte == b'\n').count() as u64 >= log.stored);
    }
}
