//! A database that many nodes share, as a writer's target: notes stay in the local database, records and
//! counts go into the spool on their way to ClickHouse.

use std::{sync::Arc, time::Duration};

use crate::records::{
    clickhouse::Portion,
    forward::Forwarder,
    record::Error,
    violations::{fill::Fill, notes::Notes, queue::Batch, store::Appender, writer::Target},
};

#[derive(Debug)]
pub(super) struct Relay {
    local: Appender,
    forwarder: Forwarder,
    fill: Arc<Fill>,
    /// The number of the batch whose notes the local database has.
    noted: Option<u64>,
    /// The failure of the local database. It stops no record.
    trouble: Option<Error>,
}

impl Relay {
    pub(super) const fn new(local: Appender, forwarder: Forwarder, fill: Arc<Fill>) -> Self {
        Self { local, forwarder, fill, noted: None, trouble: None }
    }

    fn note(&mut self, number: u64, notes: &Arc<Notes>) -> Result<(), Error> {
        if notes.is_empty() || self.noted == Some(number) {
            return Ok(());
        }
        let notes = Arc::clone(notes);
        let batch = Batch { number, notes, ..Batch::default() };
        self.local.append(&batch)?;
        (self.noted, self.trouble) = (Some(number), None);
        Ok(())
    }
}

impl Target for Relay {
    fn append(&mut self, batch: &Batch) -> Result<(), Error> {
        self.note(batch.number, &batch.notes)?;
        let records: Vec<_> = batch.records.iter().map(|record| &record.violation).collect();
        let editions: Vec<_> = batch.notes.editions.iter().collect();
        let Batch { number, rollups, overflow, .. } = batch;
        let portion = Portion { records: &records, counts: rollups, overflow, editions: &editions };
        let written = self.forwarder.append(*number, portion);
        self.fill.shut(!self.forwarder.has_room());
        written
    }

    fn tend(&mut self) -> Result<Duration, Error> {
        self.fill.shut(!self.forwarder.has_room());
        let tended = self.local.tend();
        self.trouble = tended.as_ref().err().cloned();
        tended
    }

    fn trouble(&self) -> Option<Error> {
        self.trouble.clone().or_else(|| self.forwarder.trouble())
    }
}
