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

#[derive(Clone)]
pub(crate) struct View {
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) sink: Arc<Sink>,
    /// Whether the proxy accepts requests: false until it listens, and while it drains.
    pub(crate) ready: Arc<AtomicBool>,
    pub(crate) access: Arc<Access>,
    /// The database; `None` if records are not kept.
    pub(crate) database: Option<Location>,
    pub(crate) counts: CountsInMemory,
    pub(crate) retention: Duration,
    pub(crate) now: fn() -> Timestamp,
    /// The state in force; empty until the policy has taken effect.
    pub(crate) live: Arc<OnceLock<Live>>,
}

pub(crate) struct Live {
    pub(crate) policy_file: PathBuf,
    /// Whether the desk may write it.
    pub(crate) edits: bool,
    /// What the publisher shares.
    pub(crate) handles: Handles,
    pub(crate) gate: Arc<Gate>,
    pub(crate) reloads: Reloads,
    /// The most connections of clients, if the process may open fewer files than the policy needs.
    pub(crate) few_connections: Option<usize>,
}
