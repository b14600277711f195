//! This node as a member of the fleet: its connection, what it tells and what it knows.

use std::{
    collections::{BTreeMap, HashSet},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use crate::{
    clients::conduct::Observations,
    formats::valkey::Endpoint,
    rules::{
        enforce::{Edition, Moment},
        policy::Alone,
    },
    state::{
        fleet::{Position, Roster, Shift, Statement},
        publication::{Announcement, FleetPort, Handles, Learned, Spread},
    },
};

use super::{
    load::Kept,
    others::{Absence, State},
    round::Gossip,
    server::{Failure, Link},
    settings::Settings,
};

/// A node that has exchanged nothing for this time is alone. The others hold it for live a little
/// longer, so that none of them serves other rules before.
const ALONE_AFTER: Duration = Duration::from_secs(9);
/// The pauses between attempts to connect.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Member {
    pub(super) settings: Settings,
    pub(super) handles: Handles,
    pub(super) announcements: mpsc::UnboundedReceiver<Announcement>,
    pub(super) learned: mpsc::Sender<Learned>,
    pub(super) link: Option<Link>,
    /// The server that another one named.
    pub(super) hint: Option<Endpoint>,
    pub(super) gossip: Gossip,
    pub(super) state: State,
    pub(super) progress: Progress,
    pub(super) announced: Vec<Announced>,
    pub(super) statement: Statement,
    pub(super) removed: Vec<String>,
    pub(super) absence: Absence,
    /// Whether the times and bytes of all editions are to be written again.
    pub(super) rewrites: bool,
    /// The editions whose bytes the server has from this node.
    pub(super) written: HashSet<String>,
    pub(super) dues: Dues,
    pub(super) kept: Kept,
    /// The code of the present trouble with the server, and since when, by the steady clock.
    pub(super) trouble: Option<(&'static str, Duration)>,
}

#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) mark: Option<String>,
    /// The time of the fleet at which this run met the server.
    pub(super) started: Option<i64>,
    /// Answered when the first registers are in force; dropped when the server does not answer.
    pub(super) loaded: Option<oneshot::Sender<()>>,
    /// Whether the first registers are in force.
    pub(super) has_joined: bool,
    /// The last exchange, by the time of the fleet and the steady clock.
    pub(super) answered: Option<(i64, Duration)>,
    /// The last message whose effects are in force.
    pub(super) applied: Position,
    /// What the publisher has not answered yet, and the position that it stands for.
    pub(super) pending: Option<(Position, oneshot::Receiver<()>)>,
    /// Whether this run has looked for the run before it.
    pub(super) has_met: bool,
    pub(super) needs_registers: bool,
    pub(super) stated_at: i64,
    /// The number of the message with the last statement.
    pub(super) stated: u64,
    /// The positions of the last messages with statements, by number.
    pub(super) positions: BTreeMap<u64, Position>,
    /// Whether another run had the name of this node.
    pub(super) has_namesake: bool,
    /// Whether this node sends the alerts.
    pub(super) has_lease: bool,
}

#[derive(Debug)]
pub(super) struct Announced {
    pub(super) editions: Vec<(String, Arc<Edition>)>,
    pub(super) known: Option<oneshot::Sender<Spread>>,
    /// The number of the message that states them.
    pub(super) number: Option<u64>,
    /// The time of the steady clock until which it counts.
    pub(super) until: Duration,
}

/// The times of the steady clock at which something is due.
#[derive(Debug, Default)]
pub(super) struct Dues {
    pub(super) attempt: Duration,
    pub(super) report: Duration,
    pub(super) trim: Duration,
    pub(super) rewrite: Duration,
    pub(super) lease: Duration,
    pub(super) statement: Duration,
    pub(super) notices: Duration,
    pause: Duration,
}

impl Member {
    pub(super) fn new(
        settings: Settings,
        handles: Handles,
        port: FleetPort,
        loaded: oneshot::Sender<()>,
    ) -> Self {
        let FleetPort { announcements, learned } = port;
        let progress =
            Progress { loaded: Some(loaded), needs_registers: true, ..Progress::default() };
        let absence = Absence::of(&handles);
        let gossip = Gossip::new(settings.node.clone(), Uuid::now_v7().simple().to_string());
        let roster = Roster::new(&gossip.node, &gossip.run, settings.window);
        Self {
            settings,
            handles,
            announcements,
            learned,
            link: None,
            hint: None,
            gossip,
            state: State::new(roster),
            progress,
            announced: Vec::new(),
            statement: Statement::default(),
            removed: Vec::new(),
            absence,
            rewrites: false,
            written: HashSet::new(),
            dues: Dues::default(),
            kept: Kept::default(),
            trouble: None,
        }
    }

    pub(super) fn moment(&self) -> Moment {
        self.handles.clock.moment()
    }

    /// The time of the fleet, and what to add to an own time; `None` before the first answer.
    pub(super) fn fleet_time(&self, moment: Moment) -> Option<(i64, Shift)> {
        let now = self.state.clocks.now(moment.steady)?;
        let shift = self.state.clocks.shift(moment.steady, moment.now.as_millisecond())?;
        Some((now, Shift(shift)))
    }

    pub(super) fn is_heard(&self) -> bool {
        let answered = self.progress.answered;
        answered.is_some_and(|(_, at)| self.moment().steady < at.saturating_add(ALONE_AFTER))
    }

    pub(super) fn is_alone(&self) -> bool {
        self.handles.conduct.is_alone(self.moment())
    }

    pub(super) fn learn(&mut self, run: &str, observations: Observations, moment: Moment) {
        if observations.is_empty() {
            return;
        }
        self.kept.keep(&observations);
        let published = self.handles.published.load_full();
        let sites = |name: &str| {
            let found = published.site_named(name);
            found.map(|(site, served)| (site, &served.conduct))
        };
        self.handles.conduct.learn(run, &sites, observations, moment, &self.handles.metrics);
    }

    /// Notes an exchange that began at this time of the steady clock, and after which requests are
    /// judged by everything that the others told.
    pub(super) fn succeeded(&self, began: Duration) {
        self.handles.fellowship.is_alone.store(false, Ordering::Relaxed);
        let until = began.saturating_add(ALONE_AFTER);
        self.handles.conduct.keep_contact(until, self.excuses());
    }

    pub(super) fn excuses(&self) -> bool {
        self.settings.alone == Alone::Excuse
    }

    pub(super) fn absent(&self, now: (i64, Duration)) -> Vec<String> {
        self.absence.reasons(&self.settings.node, now, &self.state.roster)
    }

    pub(super) fn answered(&mut self, began: Duration) {
        self.dues.pause = Duration::ZERO;
        self.progress.answered = self.fleet_time(self.moment()).map(|(now, _)| (now, began));
        if let Some((_, since)) = self.trouble.take() {
            let seconds = began.saturating_sub(since).as_secs();
            tracing::info!(code = "fleet.back", seconds, "the fleet's server answers again");
        }
    }

    /// Notes a failed attempt. The next one comes after a pause, each longer than the one before.
    pub(super) fn failed(&mut self, failure: &Failure) {
        let steady = self.moment().steady;
        if let Failure::Elsewhere(Some(place)) = failure {
            self.hint = Some(place.clone());
        }
        if !matches!(failure, Failure::Full(_)) {
            self.link = None;
        }
        // After a failover, the next attempt finds the new primary.
        let is_move = matches!(failure, Failure::Elsewhere(_)) && self.dues.pause.is_zero();
        if !is_move {
            // A start does not wait for a server that is away.
            self.progress.loaded = None;
        }
        let is_told = self.trouble.map_or(is_move, |(code, _)| code == failure.code());
        if !is_told {
            let since = self.trouble.map_or(steady, |(_, since)| since);
            self.trouble = Some((failure.code(), since));
            tracing::warn!(
                code = failure.code(), server = %self.settings.address, error = %failure,
                "the fleet's server does not answer: this node goes on without it"
            );
        }
        self.progress.has_lease = false;
        self.handles.fellowship.alerts.set_reported(None);
        if self.is_alone() {
            self.handles.fellowship.alerts.is_shared.store(false, Ordering::Relaxed);
        }
        self.handles.metrics.fleet_failure(failure.code());
        self.dues.pause = (self.dues.pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
        self.dues.attempt = steady.saturating_add(self.dues.pause);
    }
}
