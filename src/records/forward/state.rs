//! What the writer and the sender share, and how it goes.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    time::{Duration, Instant, SystemTime},
};

use parking_lot::{Condvar, Mutex};

use crate::records::{clickhouse, lines::is_due, spool::Spool};

/// The part of the limit that stays free of records, for counts and editions.
const RESERVE: u64 = 8;
/// How the forwarding goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The bytes of the spool.
    pub bytes: u64,
    /// Their limit.
    pub limit: u64,
    /// The records that wait in the spool.
    pub waiting: u64,
    /// The age of the oldest rows that wait; zero where none do.
    pub age: Duration,
    /// The records that the server took since the start.
    pub sent: u64,
    /// The inserts that succeeded since the start.
    pub inserts: u64,
    /// The requests to the server that failed, by code.
    pub failures: BTreeMap<&'static str, u64>,
    /// The rows that the server refuses; they were set aside.
    pub refused: u64,
    /// The records that damage to the spool lost.
    pub lost: u64,
    /// The records that the retention removed from the server.
    pub removed: u64,
    /// Why the server takes nothing at present.
    pub trouble: Option<String>,
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) folder: PathBuf,
    pub(super) limit: u64,
    /// Held during a write to the disk, by these two threads alone.
    pub(super) spool: Mutex<Spool>,
    news: Mutex<News>,
    control: Mutex<Control>,
    changed: Condvar,
}

/// What is told about the spool and the sender. No lock of it is held during a write.
#[derive(Debug, Default)]
struct News {
    since: Option<SystemTime>,
    /// Without what is computed when it is asked for: the age, and a stop.
    status: Status,
    code: Option<&'static str>,
    complained: Option<Instant>,
}

#[derive(Debug, Default)]
struct Control {
    /// The end of the sending, once it closes.
    until: Option<Instant>,
    is_finished: bool,
}

impl Shared {
    pub(super) fn new(spool: Spool) -> Self {
        let shared = Self {
            folder: spool.folder().to_owned(),
            limit: spool.limit(),
            news: Mutex::default(),
            control: Mutex::default(),
            changed: Condvar::new(),
            spool: Mutex::new(spool),
        };
        shared.note(&shared.spool.lock());
        shared
    }

    pub(super) fn note(&self, spool: &Spool) {
        let (waiting, since, bytes) = (spool.records(), spool.since(), spool.bytes());
        let mut news = self.news.lock();
        (news.status.waiting, news.since, news.status.bytes) = (waiting, since, bytes);
    }

    pub(super) fn has_room(&self) -> bool {
        self.news.lock().status.bytes < self.limit - self.limit / RESERVE
    }

    pub(super) fn status(&self) -> Status {
        let control = self.control.lock();
        let has_stopped = control.is_finished && control.until.is_none();
        drop(control);
        let news = self.news.lock();
        let age = news.since.map_or(Duration::ZERO, |since| since.elapsed().unwrap_or_default());
        let stopped = || "the sender to ClickHouse has stopped (restart)".to_owned();
        let trouble = news.status.trouble.clone().or_else(|| has_stopped.then(stopped));
        Status { limit: self.limit, age, trouble, ..news.status.clone() }
    }

    /// Waits, and returns whether to go on.
    pub(super) fn rest(&self, rest: Duration) -> bool {
        let mut control = self.control.lock();
        self.changed.wait_while_for(&mut control, |control| control.until.is_none(), rest);
        control.until.is_none_or(|until| Instant::now() < until)
    }

    /// Asks the sender to end, and returns whether it did by then.
    pub(super) fn close(&self, until: Instant) -> bool {
        let mut control = self.control.lock();
        control.until = Some(until);
        self.changed.notify_all();
        let is_running = |control: &mut Control| !control.is_finished;
        let patience = until.saturating_duration_since(Instant::now());
        self.changed.wait_while_for(&mut control, is_running, patience);
        control.is_finished
    }

    pub(super) fn is_closing(&self) -> bool {
        self.control.lock().until.is_some()
    }

    pub(super) fn finish(&self) {
        self.control.lock().is_finished = true;
        self.changed.notify_all();
    }

    pub(super) fn count(&self, count: impl FnOnce(&mut Status)) {
        count(&mut self.news.lock().status);
    }

    /// Notes a failure of the server, and logs it: at once where it is another one, else once a minute.
    pub(super) fn failed(&self, error: &clickhouse::Error) {
        let code = error.code();
        self.count(|status| *status.failures.entry(code).or_default() += 1);
        self.troubled(code, error.to_string());
    }

    pub(super) fn troubled(&self, code: &'static str, error: String) {
        let mut news = self.news.lock();
        if news.code != Some(code) {
            (news.code, news.complained) = (Some(code), None);
        }
        let is_news = is_due(&mut news.complained, Instant::now());
        let (records, bytes, limit) = (news.status.waiting, news.status.bytes, self.limit);
        news.status.trouble = Some(error.clone());
        drop(news);
        if is_news {
            tracing::error!(
                code,
                records,
                bytes,
                limit,
                error,
                "cannot send to ClickHouse: records wait in the spool"
            );
        }
    }

    pub(super) fn recovered(&self) {
        let mut news = self.news.lock();
        let was_troubled = news.status.trouble.take().is_some();
        (news.code, news.complained) = (None, None);
        let records = news.status.waiting;
        drop(news);
        if was_troubled {
            tracing::info!(code = "clickhouse.recovered", records, "sending to ClickHouse again");
        }
    }
}
