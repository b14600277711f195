//! The thread that sends segments in order, and tries again for as long as it takes.

use std::{
    fs::OpenOptions,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use derive_more::From;

use crate::records::{
    clickhouse::{Client, Error, Failure, Insert, migrate},
    record,
    spool::{PORTION, Spool},
};

use super::{
    Settings,
    old_days::Retention,
    shipment::{DEADLINE, Progress, Shipment},
    state::Shared,
};

/// How long rows wait for others to share an insert: the server takes few large ones best.
const LINGER: Duration = Duration::from_secs(2);
/// How often the spool is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// The pause after a first failure; it doubles up to [`LONGEST_PAUSE`].
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// The most bytes that are sent together.
const LARGEST: u64 = 4 * PORTION;
/// The most rows in a row that are set aside. Where the server refuses more, the fault is not in the
/// rows, and they wait.
const REFUSALS: u32 = 1000;
/// The most bytes of a file of rows that were set aside. Further ones are only counted.
const LARGEST_FILE: u64 = 16 << 20;

#[derive(Debug)]
pub(super) struct Sender {
    shared: Arc<Shared>,
    settings: Settings,
    client: Option<Client>,
    is_migrated: bool,
    /// Whether the tables took records since they were made or found.
    had_tables: bool,
    shipment: Option<Shipment>,
    /// The most bytes of the next shipment.
    most: u64,
    refusals: u32,
    retention: Option<Retention>,
}

/// Marks the sender as stopped, also after a panic.
struct Finish(Arc<Shared>);

impl Drop for Finish {
    fn drop(&mut self) {
        self.0.finish();
    }
}

enum Step {
    /// There may be more to do.
    Sent,
    /// Nothing waits.
    Idle,
}

#[derive(From)]
enum Stop {
    Server(Error),
    Disk(record::Error),
}

impl Sender {
    pub(super) fn new(shared: Arc<Shared>, settings: Settings) -> Self {
        let retention = settings.retention.map(|keep| Retention::new(keep, Instant::now()));
        Self {
            shared,
            settings,
            client: None,
            is_migrated: false,
            had_tables: false,
            shipment: None,
            most: PORTION,
            refusals: 0,
            retention,
        }
    }

    pub(super) fn run(mut self) {
        let _finish = Finish(Arc::clone(&self.shared));
        let (mut rest, mut pause) = (Duration::ZERO, SHORTEST_PAUSE);
        while self.shared.rest(rest) {
            rest = match self.step() {
                Ok(Step::Idle) if self.shared.is_closing() => return,
                Ok(step) => {
                    self.shared.recovered();
                    pause = SHORTEST_PAUSE;
                    if matches!(step, Step::Sent) { Duration::ZERO } else { LOOK }
                }
                Err(stop) => {
                    match stop {
                        Stop::Server(error) => self.failed(&error),
                        Stop::Disk(error) => self.shared.troubled(error.code(), error.to_string()),
                    }
                    if self.shared.is_closing() {
                        return; // the next start sends the rest
                    }
                    let now = pause;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                    now
                }
            };
        }
    }

    fn step(&mut self) -> Result<Step, Stop> {
        let client = self.client()?;
        if self.shipment.is_none() {
            self.shipment = self.load()?;
        }
        let Some(shipment) = &mut self.shipment else {
            self.drop_old(&client)?;
            return Ok(Step::Idle);
        };
        match shipment.send(&client)? {
            Progress::Took(records) => {
                self.refusals = 0;
                self.had_tables = true;
                self.shared.count(|status| {
                    status.inserts += 1;
                    status.sent += records;
                });
            }
            Progress::Halved => {}
            Progress::Refused(row, error) => {
                if self.refusals >= REFUSALS {
                    return Err(error.into());
                }
                self.refusals += 1;
                shipment.skip();
                self.refuse(&row, &error);
            }
            Progress::Done => {
                self.unload()?;
                self.most = (self.most * 2).min(LARGEST);
                self.drop_old(&client)?;
            }
        }
        Ok(Step::Sent)
    }

    fn client(&mut self) -> Result<Client, Error> {
        let client = match &self.client {
            Some(client) => client.clone(),
            None => {
                let client = Client::new(self.settings.server.clone()).map_err(|how| Error {
                    address: self.settings.server.to_string(),
                    failure: Failure::Unreachable(how),
                })?;
                self.client.insert(client).clone()
            }
        };
        if !self.is_migrated {
            migrate(&client, DEADLINE)?;
            self.is_migrated = true;
            if std::mem::take(&mut self.had_tables) {
                let code = "clickhouse.tables_lost";
                tracing::error!(
                    code,
                    "tables were gone and are made again: what they held is lost"
                );
            }
        }
        Ok(client)
    }

    /// Reads the next rows, once they waited for long enough or are many.
    fn load(&self) -> Result<Option<Shipment>, record::Error> {
        let mut spool = self.shared.spool.lock();
        // A clock that went back makes them old enough.
        let age = spool.since().map(|since| since.elapsed().unwrap_or(LINGER));
        let is_due =
            age.is_some_and(|age| age >= LINGER || spool.has_portion() || self.shared.is_closing());
        let frames = if is_due { spool.oldest(self.most)? } else { Vec::new() };
        self.note(&mut spool);
        Ok((!frames.is_empty()).then(|| Shipment::new(frames)))
    }

    /// Removes what the server took, and sets damaged frames aside.
    fn unload(&mut self) -> Result<(), record::Error> {
        let Some(shipment) = &mut self.shipment else { return Ok(()) };
        let mut spool = self.shared.spool.lock();
        while let Some(frame) = shipment.frames.iter_mut().find(|frame| frame.is_damaged) {
            let aside = spool.set_aside(frame)?;
            frame.is_damaged = false;
            self.shared.count(|status| status.lost += u64::from(frame.records));
            tracing::error!(
                code = "spool.damaged", records = frame.records, file = %aside.display(),
                "a damaged batch in the spool is lost: it is set aside"
            );
        }
        spool.remove(&shipment.frames)?;
        self.note(&mut spool);
        drop(spool);
        self.shipment = None;
        Ok(())
    }

    fn note(&self, spool: &mut Spool) {
        let lost = spool.take_lost();
        self.shared.count(|status| status.lost += lost);
        self.shared.note(spool);
    }

    fn refuse(&self, row: &Insert, error: &Error) {
        self.shared.count(|status| status.refused += 1);
        let table = row.table.as_str();
        match set_aside(&self.settings.folder, row) {
            Ok(file) => tracing::error!(
                code = "clickhouse.row_refused", table, file = %file.display(), %error,
                "ClickHouse refuses a row: it is set aside"
            ),
            Err(failure) => tracing::error!(
                code = "clickhouse.row_refused", table, %failure, %error,
                "ClickHouse refuses a row: it is lost"
            ),
        }
    }

    fn drop_old(&mut self, client: &Client) -> Result<(), Error> {
        let retention = self.retention.as_mut().filter(|_| !self.shared.is_closing());
        let Some(retention) = retention else { return Ok(()) };
        let removed = retention.pass(client, Instant::now())?;
        self.shared.count(|status| status.removed += removed);
        Ok(())
    }

    fn failed(&mut self, error: &Error) {
        if matches!(error.failure, Failure::Missing) {
            self.is_migrated = false;
        }
        self.most = PORTION;
        self.shared.failed(error);
    }
}

/// Appends the row to the file of its table, and returns the file.
fn set_aside(folder: &Path, insert: &Insert) -> io::Result<PathBuf> {
    let path = folder.join(format!("refused-{}.jsonl", insert.table.as_str()));
    let mut options = OpenOptions::new();
    let mut file = options.append(true).create(true).mode(0o600).open(&path)?;
    if file.metadata()?.len() + insert.rows.len() as u64 > LARGEST_FILE {
        return Err(io::Error::other("the file of refused rows is full (move it away)"));
    }
    file.write_all(&insert.rows)?;
    file.sync_data()?;
    Ok(path)
}
