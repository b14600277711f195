//! The same rows in both stores: in a database of this machine, and in a server that nodes share.

use std::time::Duration;

use tempfile::TempDir;

use super::super::{Location, Store};
use crate::records::{
    clickhouse::{Attempt, Client, Origin, Portion, inserts, tests::server},
    counts::CountsInMemory,
    record::{Edition, Overflow, Violation},
    tally::Rollups,
    violations::notes::Notes,
};

/// The deadline of an insert.
const DEADLINE: Duration = Duration::from_secs(30);

/// Two stores with the same rows.
pub(in crate::records::violations) struct Both {
    pub(in crate::records::violations) local: Store,
    place: Location,
    memory: CountsInMemory,
    client: Option<Client>,
    folder: TempDir,
    runs: u64,
}

impl Both {
    /// Empty stores; only the local one where no server is installed.
    pub(in crate::records::violations) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let local = Store::open(&folder.path().join("beadle.db")).expect("a database");
        // A node's own database, which has no record.
        let own = folder.path().join("own.db");
        drop(Store::open(&own).expect("a database"));
        let client = server::database();
        let place = Location { local: own, shared: client.clone() };
        Self { local, place, memory: CountsInMemory::default(), client, folder, runs: 0 }
    }

    /// The stores by name, each opened by a reader.
    pub(in crate::records::violations) fn stores(&self) -> Vec<(&'static str, Store)> {
        let file = self.folder.path().join("beadle.db");
        let mut stores = vec![("SQLite", Store::open_read_only(&file).expect("a database"))];
        if self.client.is_some() {
            let store = self.place.open().expect("a database").sharing(&self.memory);
            stores.push(("ClickHouse", store));
        }
        stores
    }

    /// Adds records and notes.
    pub(in crate::records::violations) fn add<'a>(
        &mut self,
        records: impl IntoIterator<Item = &'a Violation>,
        notes: &Notes,
        overflow: &[Overflow],
    ) {
        let records: Vec<_> = records.into_iter().collect();
        self.local.add(records.iter().copied(), notes, overflow).expect("added");
        let editions: Vec<&Edition> = notes.editions.iter().collect();
        let counts = Rollups::default();
        self.send(Portion { records: &records, counts: &counts, overflow, editions: &editions });
        let mut own = Store::open(&self.place.local).expect("a database");
        own.add([], notes, &[]).expect("added");
    }

    /// Adds counts, by a run of their own: they are all that this run ever counts.
    pub(in crate::records::violations) fn add_rollups(&mut self, rollups: &Rollups) {
        self.local.add_rollups(rollups).expect("added");
        self.send(Portion { records: &[], counts: rollups, overflow: &[], editions: &[] });
    }

    fn send(&mut self, portion: Portion<'_>) {
        let Some(client) = &self.client else { return };
        self.runs += 1;
        let run = format!("run-{:04}", self.runs);
        for insert in inserts(Origin { node: "a", run: &run, batch: 1 }, portion) {
            client.insert(&insert, Attempt::First, DEADLINE).expect("added");
            // What comes again changes nothing.
            if self.runs.is_multiple_of(3) {
                client.insert(&insert, Attempt::Again, DEADLINE).expect("added");
            }
        }
    }
}
