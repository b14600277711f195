//! What this node hears: messages, beats and registers, and what follows from them.

use tokio::sync::oneshot;

use crate::{
    clients::conduct::Observations,
    rules::enforce::Moment,
    state::{
        fleet::{Beat, News, Position, Shift, Silent, Told},
        publication::Learned,
    },
};

use super::{load::Registers, member::Member};

/// The most own statements whose positions are known.
const MOST_POSITIONS: usize = 64;
/// Counts of requests that are older do not matter any more, in milliseconds.
const OLD: i64 = 600_000;
/// The age from which an edition that ended cannot be in use, beside the window, in milliseconds.
const SLACK: i64 = 3_600_000;

impl Member {
    pub(super) fn take_registers(&mut self, registers: Registers, moment: Moment) {
        let own = &self.gossip.run;
        let now = self.fleet_time(moment).map_or(i64::MIN, |(now, _)| now);
        if self.state.take_registers(own, &registers, now) {
            self.forget_fetches();
        }
        let missing = self.state.heard.close_gaps();
        if missing > 0 {
            tracing::warn!(
                code = "fleet.gap",
                missing,
                "messages of other nodes were missed: their registers were read"
            );
        }
        self.note_lost_run(&registers);
        let Registers { cursor, seen, counts, .. } = registers;
        if self.state.cursor < cursor {
            self.state.cursor = cursor;
        }
        self.learn("registers", seen, moment);
        for (run, observations) in counts {
            if run != self.gossip.run {
                self.learn(&run, observations, moment);
            }
        }
        self.progress.needs_registers = false;
    }

    /// Notes at the first look that the run before this one did not say goodbye: nobody knows the
    /// fetches that it did not tell. All nodes hear of it.
    fn note_lost_run(&mut self, registers: &Registers) {
        let is_lost = |beat: &Beat| {
            beat.node == self.gossip.node && beat.run != self.gossip.run && !beat.gone
        };
        let is_first = !std::mem::replace(&mut self.progress.has_met, true);
        if is_first && registers.beats.iter().any(is_lost) {
            self.forget_fetches();
        }
    }

    /// Notes that any client may have made fetches that nobody knows, until now.
    pub(super) fn forget_fetches(&mut self) {
        let moment = self.moment();
        let Some((now, shift)) = self.fleet_time(moment) else { return };
        let unknown = Observations { forgotten: Some(moment.now), ..Observations::default() };
        self.gossip.collect(Told::of(unknown.clone(), shift), now);
        self.learn("lost runs", unknown, moment);
    }

    /// If a clock was set, counts all fetches until now as unknown. Their order with later ones is
    /// lost.
    pub(super) fn note_step(&mut self, shift: Shift, moment: Moment) {
        if self.state.clocks.has_stepped(shift.0) {
            let unknown = Observations { forgotten: Some(moment.now), ..Observations::default() };
            self.learn("own clock", unknown, moment);
        }
    }

    pub(super) fn take_news(
        &mut self,
        entries: Vec<(Position, Vec<u8>)>,
        (now, shift): (i64, Shift),
        moment: Moment,
    ) -> u64 {
        let (mut new, mut odd) = (0, 0);
        for (position, text) in entries {
            self.state.cursor = self.state.cursor.max(position);
            let Some(mut news) = News::read(&text) else {
                odd += 1;
                continue;
            };
            if news.run == self.gossip.run {
                if news.serves.is_some() {
                    self.progress.positions.insert(news.seq, position);
                    if self.progress.positions.len() > MOST_POSITIONS {
                        self.progress.positions.pop_first();
                    }
                }
                continue;
            }
            if news.node == self.gossip.node && !self.progress.has_namesake {
                self.progress.has_namesake = true;
                tracing::warn!(
                    code = "fleet.same_name",
                    node = news.node,
                    "another run has the name of this node: give each node its own name"
                );
            }
            if !self.state.heard.take(&news.run, news.seq, news.at) {
                continue;
            }
            new += 1;
            let seen = std::mem::take(&mut news.told).observations(shift, now.saturating_sub(OLD));
            self.learn(&news.run, seen, moment);
            self.state.take_statement(&news);
        }
        if odd > 0 {
            self.handles.metrics.fleet_news("dropped", odd);
        }
        self.handles.metrics.fleet_news("received", new);
        new
    }

    /// Hands the editions of other nodes to the publisher, and notes what is in force.
    pub(super) fn hand_over(&mut self, shift: Shift) {
        if let Some((position, mut taken)) = self.progress.pending.take() {
            match taken.try_recv() {
                Err(oneshot::error::TryRecvError::Empty) => {
                    self.progress.pending = Some((position, taken));
                    return;
                }
                // The publisher has ended, or judges by them.
                Ok(()) | Err(oneshot::error::TryRecvError::Closed) => {
                    self.progress.applied = self.progress.applied.max(position);
                }
            }
        }
        // What was missed may state an edition.
        if self.progress.needs_registers {
            return;
        }
        let published = self.handles.published.load_full();
        match self.state.learned(&published, shift) {
            Some(editions) => {
                let (taken, is_taken) = oneshot::channel();
                if self.learned.try_send(Learned { editions, taken }).is_ok() {
                    self.progress.pending = Some((self.state.cursor, is_taken));
                }
            }
            None if !self.state.has_changed => {
                self.progress.applied = self.progress.applied.max(self.state.cursor);
            }
            None => {}
        }
    }

    /// Tells the judgement up to when the others were heard, and forgets what is too old.
    pub(super) fn note_horizon(&mut self, (now, shift): (i64, Shift)) {
        let horizon = self.state.roster.horizon(now);
        self.handles.conduct.ledger.heard_until(shift.own(horizon));
        let oldest = now.saturating_sub(self.settings.window).saturating_sub(SLACK);
        let Silent { lost, all, is_any_lost, .. } = self.state.forget(now, oldest);
        self.removed.extend(all);
        if is_any_lost {
            self.forget_fetches();
        }
        for node in lost {
            tracing::warn!(
                code = "fleet.lost",
                node,
                "a node was silent for a day without a goodbye: it counts as gone"
            );
        }
    }

    /// Whether requests are judged by everything that was read.
    pub(super) fn is_level(&self) -> bool {
        !self.progress.needs_registers && self.progress.pending.is_none() && !self.state.has_changed
    }

    pub(super) fn answer_loaded(&mut self) {
        if !std::mem::replace(&mut self.progress.has_joined, true) {
            // The start may not wait any more.
            let _ = self.progress.loaded.take().map(|loaded| loaded.send(()));
            tracing::info!(
                code = "fleet.joined", node = self.gossip.node, server = %self.settings.address,
                "joined the fleet"
            );
        }
    }
}
