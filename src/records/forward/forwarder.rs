//! The writer's side: a batch becomes rows, and the rows go into the spool. With it, the sending thread,
//! from the start to a bounded end.

use std::{
    collections::VecDeque,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Instant,
};

use parking_lot::Mutex;
use uuid::Uuid;

use crate::records::{
    clickhouse::{Insert, Origin, Portion, Table, inserts},
    record::{Edition, Error, Obstacle},
    spool::{Frame, Spool},
    tally::Rollups,
};

use super::{
    Settings,
    sender::Sender,
    state::{Shared, Status},
    totals::Totals,
};

const EDITIONS: usize = 2 << 20;

/// Puts batches into the spool.
#[derive(Debug)]
pub struct Forwarder {
    shared: Arc<Shared>,
    node: String,
    /// The name of the totals; it changes when they start anew.
    run: String,
    totals: Totals,
    /// The rows of the last batch that are not written yet.
    prepared: VecDeque<Vec<Insert>>,
    number: Option<u64>,
}

impl Forwarder {
    /// Opens the spool and starts the thread that sends. It waits for no server.
    pub fn start(settings: Settings) -> Result<(Self, Forwarding), Error> {
        let spool = Spool::open(&settings.folder, settings.limit)?;
        let shared = Arc::new(Shared::new(spool));
        let forwarder = Self {
            shared: Arc::clone(&shared),
            node: settings.node.clone(),
            run: Uuid::now_v7().to_string(),
            totals: Totals::default(),
            prepared: VecDeque::new(),
            number: None,
        };
        Ok((forwarder, Forwarding::start(shared, settings)?))
    }

    /// Writes a batch durably, or fails; after a failure the same batch comes again, with its number. The
    /// numbers grow. Its counts are those since the batch before.
    pub fn append(&mut self, number: u64, batch: Portion<'_>) -> Result<(), Error> {
        if self.number != Some(number) {
            self.prepare(number, batch);
            self.number = Some(number);
        }
        let mut spool = self.shared.spool.lock();
        while let Some(part) = self.prepared.front() {
            let written = spool.append(&part.iter().map(frame).collect::<Vec<_>>());
            self.shared.note(&spool);
            written?;
            self.prepared.pop_front();
        }
        Ok(())
    }

    /// Whether the spool takes records. Below its limit, there is room for counts and editions alone.
    pub fn has_room(&self) -> bool {
        self.shared.has_room()
    }

    /// Why the spool takes no records, if it does not.
    pub fn trouble(&self) -> Option<Error> {
        let Shared { folder, limit, .. } = &*self.shared;
        (!self.has_room()).then(|| Error::new(folder, Obstacle::SpoolFull(*limit)))
    }

    fn prepare(&mut self, number: u64, batch: Portion<'_>) {
        if self.totals.have_forgotten(batch.counts) {
            self.run = Uuid::now_v7().to_string();
            self.totals = Totals::default();
        }
        let counts = self.totals.add(batch.counts);
        let origin = Origin { node: &self.node, run: &self.run, batch: number };
        let (counts, nothing) = (&counts, &Rollups::default());
        let of_editions = |editions| {
            inserts(origin, Portion { records: &[], counts: nothing, overflow: &[], editions })
        };
        let rest = inserts(origin, Portion { counts, editions: &[], ..batch });
        // Behind an unfinished batch, which its caller gave up.
        self.prepared = portions(batch.editions).map(of_editions).collect();
        self.prepared.push_back(rest);
        self.prepared.retain(|part| !part.is_empty());
    }
}

/// The sending thread, and how it goes.
#[derive(Debug)]
pub struct Forwarding {
    shared: Arc<Shared>,
    sender: Mutex<Option<JoinHandle<()>>>,
}

impl Forwarding {
    fn start(shared: Arc<Shared>, settings: Settings) -> Result<Self, Error> {
        let sender = Sender::new(Arc::clone(&shared), settings);
        let thread = thread::Builder::new().name("beadle-sender".to_owned());
        let thread = thread.spawn(move || sender.run());
        let sender = thread.map_err(|error| Error {
            path: "beadle-sender".into(),
            obstacle: Obstacle::Failed(error.to_string()),
        })?;
        Ok(Self { shared, sender: Mutex::new(Some(sender)) })
    }

    /// How it goes.
    pub fn status(&self) -> Status {
        self.shared.status()
    }

    /// Sends what waits until the deadline, as long as the server takes it. The rest stays in the spool
    /// for the next start. A second call does nothing.
    pub fn close(&self, until: Instant) {
        let Some(sender) = self.sender.lock().take() else { return };
        if self.shared.close(until) && sender.join().is_err() {
            tracing::error!(code = "spool.panicked", "the sender to ClickHouse panicked");
        }
        let Status { waiting, bytes, .. } = self.status();
        if waiting > 0 {
            tracing::warn!(
                code = "spool.left",
                records = waiting,
                bytes,
                "records stay in the spool: the next start sends them"
            );
        }
    }
}

fn portions<'a, 'b>(editions: &'b [&'a Edition]) -> impl Iterator<Item = &'b [&'a Edition]> {
    let mut rest = editions;
    std::iter::from_fn(move || {
        let mut sum = 0;
        let count = rest.iter().take_while(|edition| {
            sum += edition.bytes.len();
            sum <= EDITIONS
        });
        let count = count.count().max(1).min(rest.len());
        let (first, others) = rest.split_at_checked(count)?;
        rest = others;
        (!first.is_empty()).then_some(first)
    })
}

fn frame(insert: &Insert) -> Frame<'_> {
    let records = match insert.table {
        Table::Violations => u32::try_from(insert.len()).unwrap_or(u32::MAX),
        _ => 0,
    };
    Frame { kind: insert.table.number(), records, bytes: &insert.rows }
}
