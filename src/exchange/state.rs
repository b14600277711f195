//! What this node knows of the others.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use bytes::Bytes;

use crate::{
    enforce::{Edition, EditionId, Elsewhere},
    fleet::{Clocks, Heard, News, Position, Report, Roster, Shift, Statements},
    publication::Snapshot,
};

use super::load::Registers;

/// The most milliseconds by which the own clock may drift before periods are converted again.
const TOLERANCE: u64 = 500;
/// The largest robots.txt of another node, in octets.
const MOST_BYTES: usize = 4 << 20;

/// The periods of editions, by site and edition.
type Periods = BTreeMap<(String, EditionId), (i64, Option<i64>)>;

/// What this node knows of the others.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) clocks: Clocks,
    pub(super) heard: Heard,
    pub(super) roster: Roster,
    statements: Statements,
    /// The last message that was read.
    pub(super) cursor: Position,
    /// The periods as the publisher has them.
    given: Periods,
    /// The shift by which they were converted.
    given_by: Shift,
    /// Whether the statements changed since.
    has_changed: bool,
    editions: HashMap<EditionId, Arc<Edition>>,
    /// Editions whose bytes nobody has.
    lost: HashSet<EditionId>,
}

impl State {
    /// Takes the registers.
    pub(super) fn take_registers(&mut self, own: &str, registers: &Registers) {
        for beat in &registers.beats {
            self.heard.prime(&beat.run, beat.seq);
        }
        for report in registers.reports.iter().filter(|report| report.node != own) {
            self.take_report(report);
        }
        for (site, edition, first, last) in &registers.editions {
            self.has_changed |= self.statements.take_past(site, edition, *first, *last);
        }
        self.take_beats(own, registers.beats.clone());
        self.lost.clear();
    }

    fn take_report(&mut self, report: &Report) {
        self.has_changed |= self.statements.take(&report.node, &report.serves);
    }

    /// Takes the beats of all nodes.
    pub(super) fn take_beats(&mut self, own: &str, beats: Vec<crate::fleet::Beat>) {
        for (node, at) in self.roster.take(own, beats, &self.heard) {
            self.has_changed |= self.statements.end(&node, at);
        }
    }

    /// Takes what a new message says about editions.
    pub(super) fn take_statement(&mut self, news: &News) {
        if let Some(statement) = &news.serves {
            self.has_changed |= self.statements.take(&news.node, statement);
        }
    }

    /// Forgets nodes that were silent for too long, and editions that ended before `oldest`. Returns
    /// the nodes.
    pub(super) fn forget(&mut self, now: i64, oldest: i64) -> Vec<String> {
        let lost = self.roster.forget_lost(now);
        for (node, at) in &lost {
            self.has_changed |= self.statements.end(node, *at);
        }
        self.statements.forget_before(oldest);
        lost.into_iter().map(|(node, _)| node).collect()
    }

    /// The editions whose bytes this node needs, some of them.
    pub(super) fn wanted(&self, published: &Snapshot) -> Vec<EditionId> {
        if !self.has_changed {
            return Vec::new();
        }
        let is_own =
            |id: EditionId| published.rulebook.sites().iter().any(|site| site.edition().id() == id);
        let periods = self.statements.periods();
        let unknown = periods.into_keys().map(|(_, id)| id).filter(|id| {
            !self.editions.contains_key(id) && !self.lost.contains(id) && !is_own(*id)
        });
        let unknown: HashSet<EditionId> = unknown.collect();
        let mut unknown: Vec<EditionId> = unknown.into_iter().collect();
        unknown.sort_unstable();
        unknown.truncate(64);
        unknown
    }

    /// Takes the bytes of editions. Wrong bytes count as none.
    pub(super) fn take_editions(&mut self, editions: Vec<(EditionId, Option<Vec<u8>>)>) {
        for (id, bytes) in editions {
            let bytes =
                bytes.filter(|bytes| bytes.len() <= MOST_BYTES && EditionId::of(bytes) == id);
            match bytes {
                Some(bytes) => {
                    let edition = Edition::of_bytes(Bytes::from(bytes));
                    self.editions.insert(id, Arc::new(edition));
                }
                None => {
                    tracing::warn!(
                        code = "fleet.edition_lost",
                        edition = %id,
                        "another node serves an edition whose bytes are not on the server"
                    );
                    self.lost.insert(id);
                }
            }
        }
    }

    /// The editions of other nodes, if they changed since the last call and all are known.
    pub(super) fn learned(&mut self, published: &Snapshot, shift: Shift) -> Option<Vec<Elsewhere>> {
        // After a clock was set, the periods have other own times.
        let is_set = !self.given.is_empty() && self.given_by.0.abs_diff(shift.0) > TOLERANCE;
        self.has_changed |= is_set;
        if !self.has_changed || !self.wanted(published).is_empty() {
            return None;
        }
        self.has_changed = false;
        let periods = self.statements.periods();
        if periods == self.given && !is_set {
            return None;
        }
        self.given_by = shift;
        let needed: HashSet<EditionId> = periods.keys().map(|(_, id)| *id).collect();
        self.editions.retain(|id, _| needed.contains(id));
        let own = published.rulebook.sites().iter();
        let own: HashMap<EditionId, &Arc<Edition>> =
            own.map(|site| (site.edition().id(), site.timeline.current())).collect();
        let mut learned = Vec::new();
        for ((site, id), (first, until)) in &periods {
            if let Some(edition) = own.get(id) {
                self.editions.entry(*id).or_insert_with(|| Arc::clone(edition));
            }
            let Some(edition) = self.editions.get(id) else { continue };
            let (from, until) = (shift.own(*first), until.map(|until| shift.own(until)));
            let (site, edition) = (site.clone(), Arc::clone(edition));
            learned.push(Elsewhere { site, edition, from, until });
        }
        self.given = periods;
        Some(learned)
    }

    /// Whether something has changed that the publisher does not have.
    pub(super) const fn has_news_for_publisher(&self) -> bool {
        self.has_changed
    }
}
