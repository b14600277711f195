//! The data that the pages show.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock, atomic::AtomicBool},
    time::Duration,
};

use jiff::Timestamp;

use super::access::Access;
use crate::{
    base::metrics::Metrics,
    records::{
        counts::CountsInMemory,
        violations::{Location, Sink},
    },
    serving::gate::Gate,
    state::publication::{Handles, Reloads},
};

/// The data that the pages show.
#[derive(Clone, Debug)]
pub struct View {
    /// All metrics.
    pub metrics: Arc<Metrics>,
    /// The sink of records, for counts and health.
    pub sink: Arc<Sink>,
    /// Whether the proxy accepts requests: false until it listens, and while it drains.
    pub ready: Arc<AtomicBool>,
    /// What opens the listener.
    pub access: Arc<Access>,
    /// The database; `None` if records are not kept.
    pub database: Option<Location>,
    /// The counts of the database that were read.
    pub counts: CountsInMemory,
    /// How long records are kept.
    pub retention: Duration,
    /// The clock.
    pub now: fn() -> Timestamp,
    /// The state in force; empty until the policy has taken effect.
    pub live: Arc<OnceLock<Live>>,
}

/// The state in force, for the pages about it.
#[derive(Debug)]
pub struct Live {
    /// The policy file.
    pub policy_file: PathBuf,
    /// Whether the desk may write it.
    pub edits: bool,
    /// What the publisher shares.
    pub handles: Handles,
    /// The decisions about requests.
    pub gate: Arc<Gate>,
    /// Where reloads are requested.
    pub reloads: Reloads,
    /// The most connections of clients, if the process may open fewer files than the policy needs.
    pub few_connections: Option<usize>,
}
