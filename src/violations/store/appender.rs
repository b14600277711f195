//! The database as a writer's target: one transaction for each batch, and removals between them.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use jiff::Timestamp;
use rusqlite::TransactionBehavior;

use super::{connection::Store, editions, fetches, hosts, leaps, overflow, quarantine, records};
use crate::violations::{
    Error, Obstacle, Overflow, Violation, file::identity, notes::Notes, queue::Batch,
    retention::Retention, writer::Target,
};

/// The time between calls of [`Target::tend`] without a retention.
const REST: Duration = Duration::from_secs(60);

/// The database of a writer; reopened after a failure.
#[derive(Debug)]
pub(in crate::violations) struct Appender {
    path: PathBuf,
    /// `None` after a failure that the connection may not recover from.
    pub(super) store: Option<Store>,
    identity: Option<(u64, u64)>,
    retention: Option<Retention>,
}

impl Appender {
    /// Opens the database; without a retention it keeps everything.
    pub(in crate::violations) fn open(
        path: &Path,
        retention: Option<Retention>,
    ) -> Result<Self, Error> {
        let store = Store::open(path)?;
        Ok(Self { path: path.to_owned(), store: Some(store), identity: identity(path), retention })
    }

    fn write(&mut self, batch: &Batch) -> Result<(), Error> {
        if self.store.is_none() {
            self.store = Some(Store::open(&self.path)?);
            self.identity = identity(&self.path);
        }
        let store = self.store.as_mut().expect("the store was opened above");
        let records = batch.records.iter().map(AsRef::as_ref);
        // SQLite does not notice a deleted file, and records written to it are lost.
        if identity(&self.path) != self.identity {
            return Err(Error::new(&self.path, Obstacle::Displaced));
        }
        store.add(records, &batch.notes, &batch.overflow)
    }

    /// Removes a piece of the old rows.
    fn prune(&mut self) -> Result<(), Error> {
        let now = Instant::now();
        let Some(retention) = self.retention.as_mut().filter(|r| r.rest(now).is_zero()) else {
            return Ok(());
        };
        let Some(store) = &mut self.store else {
            retention.put_off(now);
            return Ok(());
        };
        if let Some(piece) = retention.piece(now, Timestamp::now(), store.extent()?) {
            let count = store.prune(piece)?;
            retention.removed(piece, count, now);
        }
        Ok(())
    }
}

impl Store {
    /// Adds everything or nothing. Existing rows stay as they are, so that a batch may come again
    /// after a failure that left its fate open.
    pub(super) fn add<'a>(
        &mut self,
        records: impl IntoIterator<Item = &'a Violation>,
        notes: &Notes,
        overflow: &[Overflow],
    ) -> Result<(), Error> {
        let records: Vec<_> = records.into_iter().collect();
        self.attempt(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            records::add(&transaction, &records)?;
            editions::publish(&transaction, notes.editions())?;
            editions::mention(&transaction, &records)?;
            hosts::follow(&transaction, notes.hosts())?;
            leaps::add(&transaction, notes.leaps())?;
            quarantine::add(&transaction, notes.quarantine())?;
            fetches::add(&transaction, notes.fetches())?;
            overflow::add(&transaction, overflow)?;
            transaction.commit()
        })
    }
}

impl Target for Appender {
    fn append(&mut self, batch: &Batch) -> Result<(), Error> {
        let written = self.write(batch);
        if let Err(error) = &written
            && error.obstacle != Obstacle::Locked
        {
            self.store = None;
        }
        written
    }

    fn tend(&mut self) -> Duration {
        if let Err(error) = self.prune() {
            tracing::warn!(
                code = error.code(), %error,
                "cannot remove old violations: retrying in some minutes"
            );
            self.retention.iter_mut().for_each(|retention| retention.put_off(Instant::now()));
        }
        self.retention.as_ref().map_or(REST, |retention| retention.rest(Instant::now()))
    }
}
