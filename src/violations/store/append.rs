//! The database as a writer's target: it is opened again after a failure, and pruned on the side.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use jiff::Timestamp;

use super::Store;
use crate::violations::{
    Error, error::Obstacle, log::identity, queue::Batch, retention::Retention, writer::Target,
};

/// Without a retention there is nothing to do on the side.
const REST: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(in crate::violations) struct Appender {
    path: PathBuf,
    /// `None` after a failure that an old connection may not recover from.
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
        let store = self.store.as_mut().expect("it was opened above where it was not open");
        let records = batch.records.iter().map(AsRef::as_ref);
        // What is written to a deleted file is lost, and SQLite does not look.
        if identity(&self.path) != self.identity {
            return Err(Error::new(&self.path, Obstacle::Displaced));
        }
        store.add(records, &batch.notes, &batch.overflow)
    }

    /// Removes a piece of what is too old.
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
                "old violations could not be removed: trying again in some minutes"
            );
            self.retention.iter_mut().for_each(|retention| retention.put_off(Instant::now()));
        }
        self.retention.as_ref().map_or(REST, |retention| retention.rest(Instant::now()))
    }
}
