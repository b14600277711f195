//! The door of the room: takes records from requests and never makes one wait.
//!
//! A record goes onto a bounded queue for each configured target, and a thread writes it from
//! there. If there are both a database and a log, the counts are those of the database.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::Timestamp;

use crate::{
    base::text::Text,
    records::{
        forward::{self, Forwarder, Forwarding},
        lines::LogTarget,
        record::{Error, Overflow},
        tally::Tally,
        violations::{
            Counts, Drops, Health, History, NoteCounts, OnDamage, Record, Removed,
            fill::{Fill, Limits},
            jsonl::Log,
            notes::{Note, Recollection},
            relay::Relay,
            retention::Retention,
            size_limit::SizeLimit,
            store::Appender,
            writer::Lane,
        },
    },
};

/// The targets of records, and how long records are kept.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The SQLite database, created where there is none.
    pub database: Option<PathBuf>,
    /// The ClickHouse server that several nodes share, and the spool on the way to it. The database then
    /// keeps what this node needs after a restart.
    pub shared: Option<forward::Settings>,
    /// What happens to a damaged database.
    pub on_damage: OnDamage,
    /// The target of JSON lines.
    pub log: Option<LogTarget>,
    /// The most records that may wait for each target. Their bytes are bounded too (32 MiB).
    pub queue: usize,
    /// The most records of one site, product token and rule in an hour. Further violations are only
    /// counted.
    pub detail: u64,
    /// How long the database keeps records; `None` keeps them all. The operator rotates the log,
    /// which is reopened after that.
    pub retention: Option<Duration>,
    /// How large the database may become, in bytes; `None` is no limit.
    pub max_size: Option<u64>,
    /// The longest time that a crawler may use an edition after it was replaced (RFC 9309 §2.4).
    /// The database keeps editions of this time, however short the retention is.
    pub editions: Duration,
}

/// Takes records; shared by all requests.
#[derive(Debug)]
pub struct Sink {
    /// The lane whose counts are reported. Without any target it is a lane without room.
    main: Lane,
    /// The log beside a database.
    log: Option<Lane>,
    forwarding: Option<Forwarding>,
    has_database: bool,
    max_bytes: Option<u64>,
    recollection: Recollection,
    /// The counts by hour. What is a violation and becomes no record is counted there alone.
    pub tally: Arc<Tally>,
    fill: Arc<Fill>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            database: None,
            shared: None,
            on_damage: OnDamage::default(),
            log: None,
            queue: 8192,
            detail: 1000,
            retention: None,
            max_size: None,
            editions: Duration::from_secs(86_400),
        }
    }
}

impl Sink {
    /// Opens the targets and starts their writers. Never overwrites a file. Without a database and
    /// a log, records are only counted. A database of Beadle that is damaged or cannot be written
    /// stops nothing: its records wait, and [`Self::health`] names the reason.
    ///
    /// # Errors
    /// Where the database is none of Beadle's and none can be created, or the log cannot be opened;
    /// the error names the repair.
    pub fn start(settings: Settings) -> Result<Self, Error> {
        let Settings { database, shared, on_damage, log, queue, detail, .. } = settings;
        let Settings { retention, max_size, editions, .. } = settings;
        // Of a shared database, only a small part is here.
        let max_size = max_size.filter(|_| shared.is_none());
        let log = log.as_ref().map(Log::open).transpose()?;
        let (now, wall) = (Instant::now(), Timestamp::now());
        let fill = Arc::<Fill>::default();
        let limits = Limits {
            age: retention.map(|keep| Retention::new(keep, editions, now, wall)),
            size: max_size.map(|most| SizeLimit::new(most, now)),
            fill: Arc::clone(&fill),
        };
        let recollection = Recollection::default();
        let appender =
            |path: PathBuf| Appender::open(&path, on_damage, recollection.clone(), limits);
        let database = database.map(appender).transpose()?;
        let has_database = database.is_some();
        let max_bytes = max_size.filter(|_| has_database);
        let tally = Arc::new(Tally::new(detail, has_database));
        // A log beside a database takes no counts along.
        let of_log = match has_database {
            true => Arc::new(Tally::new(detail, false)),
            false => Arc::clone(&tally),
        };
        let log = log.map(|log| Lane::start("log", queue, log, of_log, Arc::default()));
        let log = log.transpose()?;
        let forwarded = shared.map(Forwarder::start).transpose()?;
        let (forwarder, forwarding) = forwarded.unzip();
        let (main, log) = match (database, log) {
            (Some((database, trouble)), log) => {
                let (tally, fill) = (Arc::clone(&tally), Arc::clone(&fill));
                let lane = match forwarder {
                    Some(forwarder) => {
                        let relay = Relay::new(database, forwarder, Arc::clone(&fill));
                        Lane::start("database", queue, relay, tally, fill)?
                    }
                    None => Lane::start("database", queue, database, tally, fill)?,
                };
                trouble.into_iter().for_each(|trouble| lane.queue.report(Some(trouble)));
                (lane, log)
            }
            (None, Some(log)) => (log, None),
            (None, None) => (Lane::closed(Arc::clone(&tally)), None),
        };
        Ok(Self { main, log, forwarding, has_database, max_bytes, recollection, tally, fill })
    }

    /// Gives the source of the history by which the program judges. A database that is replaced or
    /// repaired while the program runs gets it.
    pub fn remember(&self, source: impl Fn() -> History + Send + Sync + 'static) {
        self.recollection.set(source);
    }

    /// Takes the record, or only counts it if the queue is full. Never waits for a disk.
    pub fn record(&self, record: impl Into<Record>) {
        let record = Arc::new(record.into());
        if let Some(log) = &self.log {
            log.queue.push(Arc::clone(&record));
        }
        self.main.queue.push(record);
    }

    /// Notes a fact. Kept where there is a database. Never waits.
    pub fn note(&self, note: impl Into<Note>) {
        if self.has_database {
            self.main.queue.push_note(note.into());
        }
    }

    /// Notes that the site's quarantine is empty. Never waits.
    pub fn released(&self, site: Text) {
        self.note(Note::Released(site));
    }

    /// The counts of the database, or of the log if there is no database.
    pub fn counts(&self) -> Counts {
        self.counts_of(&self.main)
    }

    /// The counts of the log beside a database.
    pub fn log_counts(&self) -> Option<Counts> {
        self.log.as_ref().map(|log| self.counts_of(log))
    }

    /// A violation beyond the detail is in no queue.
    fn counts_of(&self, lane: &Lane) -> Counts {
        let (folded, counts) = (self.tally.folded(), lane.queue.lock().counts());
        Counts { seen: counts.seen + folded, folded: counts.folded + folded, ..counts }
    }

    /// The records that the database removed since the start.
    pub fn removed(&self) -> Removed {
        self.fill.removed()
    }

    /// The size of the database, as its limit counts it: without free pages; `None` without one.
    pub fn database_bytes(&self) -> Option<u64> {
        self.has_database.then(|| self.fill.bytes())
    }

    /// The limit of [`Self::database_bytes`]; `None` without one.
    pub const fn database_max_bytes(&self) -> Option<u64> {
        self.max_bytes
    }

    /// The records that were dropped since the start, the highest count first. The counts add up
    /// to [`Counts::dropped`].
    pub fn overflow(&self) -> Vec<Overflow> {
        self.main.queue.lock().overflow.ranked()
    }

    /// The dropped records of every destination, by cause.
    pub fn drops(&self) -> Vec<Drops> {
        self.lanes().flat_map(|lane| lane.queue.drops()).collect()
    }

    /// The notes for the database that were lost.
    pub fn lost(&self) -> NoteCounts {
        self.main.queue.lock().lost
    }

    /// The requests whose counts by hour were lost.
    pub fn lost_requests(&self) -> u64 {
        self.main.queue.lock().lost_requests
    }

    /// Whether records are written; names the first failure.
    pub fn health(&self) -> Health {
        let mut health = self.destinations().into_iter().map(|(_, health)| health);
        health.find(|health| *health != Health::Ok).unwrap_or(Health::Ok)
    }

    /// The health of each destination.
    pub fn destinations(&self) -> Vec<(&'static str, Health)> {
        let shared = self.forwarded().map(|status| {
            let health = status.trouble.map_or(Health::Ok, |trouble| {
                let (records, mebibytes) = (status.waiting, status.bytes >> 20);
                Health::Degraded(format!("{trouble}; {records} records wait ({mebibytes} MiB)"))
            });
            ("clickhouse", health)
        });
        self.lanes().map(|lane| (lane.queue.target, lane.health())).chain(shared).collect()
    }

    /// How records get to a shared database; `None` without one.
    pub fn forwarded(&self) -> Option<forward::Status> {
        self.forwarding.as_ref().map(Forwarding::status)
    }

    fn lanes(&self) -> impl Iterator<Item = &Lane> {
        [Some(&self.main), self.log.as_ref()].into_iter().flatten()
    }

    /// Takes nothing more and writes the waiting records and notes, for `deadline` at most. Drops
    /// and counts the rest ([`Self::lost`]), and returns the counts of records.
    pub fn close(&self, deadline: Duration) -> Counts {
        let deadline = Instant::now() + deadline;
        self.lanes().for_each(|lane| lane.queue.close());
        self.lanes().for_each(|lane| lane.join(deadline));
        self.forwarding.iter().for_each(|forwarding| forwarding.close(deadline));
        self.counts()
    }
}

/// A sink that was not closed still gets a moment to write.
impl Drop for Sink {
    fn drop(&mut self) {
        self.close(Duration::from_secs(1));
    }
}

#[cfg(test)]
mod tests;
