//! The database as a writer's target: one transaction for each batch, and removals between them.
//!
//! Each batch is copied into the database file before it is acknowledged. So a moved database takes
//! along what was acknowledged, and a truncated write-ahead log loses none of it.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rusqlite::Transaction;
use uuid::Uuid;

use super::{
    blocks::Pace,
    connection::Store,
    damage::{WHOLE, is_none_of_ours, move_aside},
    editions,
    files::{Checkpoint, Files},
    history,
    inspection::{Inspection, inspect},
    policies, quarantine, record_rows, rollups,
};
use crate::records::{
    record::{Error, Obstacle, Overflow, Violation},
    violations::{
        History, OnDamage, Removed,
        fill::Limits,
        notes::{Notes, Recollection},
        queue::Batch,
        writer::Target,
    },
};

/// The time between calls of [`Target::tend`], which watches the files.
const WATCH: Duration = Duration::from_secs(1);
/// The shortest time between two databases that are moved aside. A disk that damages each new one
/// must not fill itself with them.
const ROTATION: Duration = Duration::from_secs(3600);

#[derive(Debug)]
pub(in crate::records::violations) struct Appender {
    pub(super) path: PathBuf,
    on_damage: OnDamage,
    /// The name of this run, for the numbers of its batches.
    run: String,
    /// `None` after a failure that the connection may not recover from.
    pub(super) store: Option<Store>,
    pub(super) files: Files,
    /// The records that the database had after the last write.
    held: u64,
    /// The damage that stops the writing, and the files in which it was found.
    damage: Option<(Error, Files)>,
    rotated: Option<Instant>,
    inspection: Inspection,
    recollection: Recollection,
    /// Whether the next database that is opened may lack the history: it was replaced or repaired.
    lacks_history: bool,
    pub(super) limits: Limits,
    /// Whether a reader kept the write-ahead log from being copied.
    pub(super) is_log_held: bool,
    pub(super) pace: Pace,
}

impl Appender {
    /// Opens the database; without limits it keeps everything. A database of ours that cannot
    /// be opened now comes with the failure, and is tried again at each write.
    pub(in crate::records::violations) fn open(
        path: &Path,
        on_damage: OnDamage,
        recollection: Recollection,
        limits: Limits,
    ) -> Result<(Self, Option<Error>), Error> {
        let mut appender = Self {
            path: path.to_owned(),
            on_damage,
            run: Uuid::now_v7().to_string(),
            store: None,
            files: Files::default(),
            held: 0,
            damage: None,
            rotated: None,
            inspection: Inspection::after(Instant::now(), Instant::now()),
            recollection,
            lacks_history: false,
            limits,
            is_log_held: false,
            pace: Pace::new(Instant::now()),
        };
        match appender.store() {
            Ok(_) => Ok((appender, None)),
            Err(error) if is_none_of_ours(&error) => Err(error),
            Err(error) => Ok((appender, Some(error))),
        }
    }

    fn store(&mut self) -> Result<&mut Store, Error> {
        if self.store.is_none() {
            let store = self.reopen()?;
            self.files = Files::of(&self.path);
            self.damage = None;
            self.lacks_history = false;
            self.pace = Pace::new(Instant::now());
            self.store = Some(store);
            self.note_held();
        }
        Ok(self.store.as_mut().expect("it was opened above"))
    }

    fn reopen(&mut self) -> Result<Store, Error> {
        // Another check of the same files would find the same.
        let damage = self.damage.take().filter(|(_, files)| *files == Files::of(&self.path));
        let opened = damage.map_or_else(|| self.open_with_history(), |(error, _)| Err(error));
        let opened = match opened {
            Err(error) if error.is_damage() && self.may_rotate() => {
                self.rotate(&error)?;
                self.open_with_history()
            }
            opened => opened,
        };
        opened.inspect_err(|error| self.note_damage(error))
    }

    /// Opens the database and adds the history, where it may lack it.
    fn open_with_history(&mut self) -> Result<Store, Error> {
        let start = Instant::now();
        let mut store = Store::open(&self.path)?;
        self.inspection = Inspection::after(start, Instant::now());
        let is_other = self.files.is_other_database(&Files::of(&self.path));
        self.lacks_history |= is_other || store.is_new;
        let by_loss = std::mem::take(&mut self.held);
        if by_loss > 0 && (is_other || store.is_new) {
            self.limits.fill.count(Removed { by_loss, ..Removed::default() });
            tracing::error!(
                code = "store.records_gone",
                violations = by_loss,
                "the new database lacks the violations of the old one (they are lost, unless it was \
                 moved or can be repaired)"
            );
        }
        let history = self.lacks_history.then(|| self.recollection.history()).flatten();
        if let Some(history) = history {
            store.restore(&history)?;
            tracing::info!(
                code = "store.history_restored",
                editions = history.editions.len(),
                hosts = history.hosts.len(),
                fetches = history.fetches.len(),
                "the history of robots.txt was written into the new database"
            );
        }
        Ok(store)
    }

    fn may_rotate(&self) -> bool {
        self.on_damage == OnDamage::Rotate && self.rotated.is_none_or(|at| at.elapsed() >= ROTATION)
    }

    fn rotate(&mut self, error: &Error) -> Result<(), Error> {
        let aside = move_aside(&self.path, "damaged", &WHOLE)?;
        self.rotated = Some(Instant::now());
        self.lacks_history = true;
        // The advice in the error is what has just been done.
        let (damage, aside) = (error.damage(), aside.display());
        tracing::error!(
            code = error.code(), damage, database = %self.path.display(), %aside,
            "damaged database moved aside: a new one is started \
             ('sqlite3 FILE .recover' may save records of the old one)"
        );
        Ok(())
    }

    fn note_damage(&mut self, error: &Error) {
        if error.is_damage() {
            self.damage = Some((error.clone(), Files::of(&self.path)));
            self.lacks_history = true;
        }
    }

    fn write(&mut self, batch: &Batch) -> Result<(), Error> {
        self.watch()?;
        self.store()?;
        self.check_log()?;
        let store = self.store.as_mut().expect("it was opened above");
        let records: Vec<_> = batch.records.iter().map(|record| &record.violation).collect();
        // A batch may come again after a failure that left its fate open; it counts once.
        store.write(|transaction| {
            if rollups::is_new(transaction, &self.run, batch.number)? {
                add(transaction, &records, &batch.notes, &batch.overflow)?;
                rollups::add(transaction, &batch.rollups)?;
            }
            Ok(())
        })?;
        // Where the file was moved or deleted meanwhile, the batch is written again, into a new one.
        if !self.files.is_same_database(&Files::of(&self.path)) {
            return Err(Error::new(&self.path, Obstacle::Displaced));
        }
        // The commit is durable, so a failure here loses nothing; the next write finds it again.
        // What a reader delays now is copied then, too.
        let _ = self.empty_log();
        self.files.follow(&self.path);
        self.pace.note(batch.records.len(), Instant::now());
        self.note_held();
        Ok(())
    }

    fn note_held(&mut self) {
        if let Some(Ok(held)) = self.store.as_mut().map(Store::extent) {
            self.held = held;
        }
    }

    /// Fails if the files were moved, deleted, truncated or damaged since the last write.
    fn watch(&mut self) -> Result<(), Error> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let now = Files::of(&self.path);
        if !self.files.is_same_database(&now) {
            // The open file still takes what only the log has. Without that, it would be lost: the
            // log stays at the old place, and a new database there deletes it.
            let copied = store.checkpoint(Checkpoint::Truncate);
            let is_locked = match &copied {
                Ok(copied) => !copied.is_complete(),
                Err(error) => error.obstacle == Obstacle::Locked,
            };
            if let Some(error) = copied.err().filter(|_| !is_locked) {
                tracing::error!(
                    code = error.code(), %error,
                    "the moved database may lack the latest records"
                );
            }
            let obstacle = if is_locked { Obstacle::Locked } else { Obstacle::Displaced };
            return Err(Error::new(&self.path, obstacle));
        }
        store.check_lengths(&self.files, &now)?;
        if self.files.is_written(&now) {
            self.inspection.has_reason = true;
        }
        self.files = now;
        let start = Instant::now();
        if self.inspection.is_due(start) {
            inspect(&self.path)?;
            self.inspection = Inspection::after(start, Instant::now());
        }
        Ok(())
    }

    /// Fails where the failure of upkeep is damage.
    fn bear(&mut self, error: Error) -> Result<(), Error> {
        if !error.is_damage() {
            return Ok(());
        }
        self.give_up(&error);
        Err(error)
    }

    /// Closes the database after this failure, if another connection may help.
    fn give_up(&mut self, error: &Error) {
        if !matches!(error.obstacle, Obstacle::Locked | Obstacle::LogHeld(_)) {
            let is_broken = error.is_damage() || error.obstacle == Obstacle::Truncated;
            let store = self.store.take();
            store.into_iter().filter(|_| is_broken).for_each(|store| store.keep_as_it_is());
            self.lacks_history |= is_broken || error.obstacle == Obstacle::Displaced;
            self.note_damage(error);
        }
    }
}

impl Store {
    /// Adds the history, as far as the database lacks it. What it has stays as it is.
    pub(super) fn restore(&mut self, history: &History) -> Result<(), Error> {
        self.write(|transaction| {
            editions::restore(transaction, &history.editions)?;
            history::restore_hosts(transaction, &history.hosts)?;
            history::add_leaps(transaction, &history.leaps)?;
            history::add_fetches(transaction, history.fetches.iter())
        })
    }
}

/// Adds rows. Existing ones stay as they are.
pub(super) fn add(
    transaction: &Transaction<'_>,
    records: &[&Violation],
    notes: &Notes,
    overflow: &[Overflow],
) -> rusqlite::Result<()> {
    record_rows::add(transaction, records)?;
    editions::publish(transaction, notes.editions.iter())?;
    editions::mention(transaction, records)?;
    history::follow_hosts(transaction, notes.hosts.values())?;
    history::add_leaps(transaction, &notes.leaps)?;
    quarantine::add(transaction, notes.quarantine.iter())?;
    history::add_probed(transaction, notes.probed.values())?;
    policies::add(transaction, &notes.policies)?;
    history::add_fetches(transaction, notes.fetches.values())?;
    rollups::add_overflow(transaction, overflow)
}

impl Target for Appender {
    fn append(&mut self, batch: &Batch) -> Result<(), Error> {
        self.write(batch).inspect_err(|error| self.give_up(error))
    }

    fn tend(&mut self) -> Result<Duration, Error> {
        let ready = self.watch().and_then(|()| self.store().map(drop));
        ready.inspect_err(|error| self.give_up(error))?;
        if let Err(error) = self.remove_old() {
            tracing::warn!(
                code = error.code(), %error,
                "cannot remove old violations: retrying in some minutes"
            );
            self.limits.put_off(Instant::now());
            self.bear(error)?;
        }
        if let Err(error) = self.summarise() {
            tracing::warn!(
                code = error.code(), %error,
                "cannot summarise violations, so that searches take longer: retrying in a minute"
            );
            self.pace.put_off(Instant::now());
            self.bear(error)?;
        }
        self.note_held();
        let now = Instant::now();
        Ok(self.limits.rest(now).min(self.pace.rest(now)).min(WATCH))
    }
}
