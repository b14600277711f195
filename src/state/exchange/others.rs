//! What this node knows of the others.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use bytes::Bytes;

use crate::{
    rules::enforce::{Edition, EditionId, Elsewhere},
    state::{
        fleet::{
            Beat, Clocks, Ends, Heard, News, Position, RECENT, Roster, Shift, Silent, Statements,
            registers::edition_member,
        },
        publication::Snapshot,
    },
};

use super::load::Registers;

/// The most milliseconds by which the own clock may drift before periods are converted again.
const TOLERANCE: u64 = 500;
/// The most editions of a site that are told apart.
const MOST_OF_SITE: usize = 128;
/// The largest robots.txt of another node, in octets.
const MOST_BYTES: usize = 4 << 20;

type Periods = BTreeMap<(String, EditionId), (i64, Option<i64>)>;

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) clocks: Clocks,
    pub(super) heard: Heard,
    pub(super) roster: Roster,
    statements: Statements,
    pub(super) cursor: Position,
    given: Periods,
    /// The shift by which they were converted.
    given_by: Shift,
    /// Whether the statements changed since.
    pub(super) has_changed: bool,
    editions: HashMap<EditionId, Arc<Edition>>,
    /// Editions whose bytes nobody has.
    lost: HashSet<EditionId>,
}

impl State {
    pub(super) fn new(roster: Roster) -> Self {
        Self { roster, ..Self::default() }
    }

    /// Takes the registers, at this time of the fleet. Whether a node began anew without a goodbye.
    pub(super) fn take_registers(&mut self, own: &str, registers: &Registers, now: i64) -> bool {
        for beat in &registers.beats {
            self.heard.prime(&beat.run, beat.seq);
        }
        for report in registers.reports.iter().filter(|report| report.run != own) {
            self.has_changed |= self.statements.take(&report.run, &report.serves);
        }
        for (site, edition, first, last) in &registers.editions {
            self.has_changed |= self.statements.take_past(site, edition, *first, *last);
        }
        // Somebody may have written them meanwhile.
        let lost = std::mem::take(&mut self.lost);
        self.has_changed |= !lost.is_empty();
        self.editions.retain(|id, _| !lost.contains(id));
        self.take_beats(registers.beats.clone(), now)
    }

    /// Takes the beats of all nodes. Whether a node began anew without a goodbye.
    pub(super) fn take_beats(&mut self, beats: Vec<Beat>, now: i64) -> bool {
        let Ends { goodbyes, is_any_lost } = self.roster.take(beats, &self.heard, now);
        for (run, at) in goodbyes {
            self.has_changed |= self.statements.end(&run, at);
        }
        is_any_lost
    }

    pub(super) fn take_statement(&mut self, news: &News) {
        self.roster.note_message(&news.run, news.at);
        if let Some(statement) = &news.serves {
            self.has_changed |= self.statements.take(&news.run, statement);
        }
    }

    /// Forgets nodes that were silent for too long, and editions that ended before `oldest`. Returns
    /// the nodes.
    pub(super) fn forget(&mut self, now: i64, oldest: i64) -> Silent {
        let silent = self.roster.forget_silent(now);
        // One whose beats were all overwritten by those of its namesake.
        let is_unseen =
            |(run, at): &(&str, i64)| !self.roster.knows(run) && now.saturating_sub(*at) >= RECENT;
        let unseen = self.statements.open().filter(is_unseen);
        let unseen: Vec<String> = unseen.map(|(run, _)| run.to_owned()).collect();
        for run in silent.runs.iter().chain(&unseen) {
            // It may have served until now.
            self.has_changed |= self.statements.end(run, now);
        }
        self.statements.forget_before(oldest);
        silent
    }

    /// The periods of the editions of other nodes that are told apart, and those of the older ones, which
    /// are summed up: they have the name [`EditionId::of`] no bytes.
    fn periods(&self) -> Periods {
        let mut periods = self.statements.periods();
        let mut of_sites: BTreeMap<String, Vec<(i64, EditionId)>> = BTreeMap::new();
        for ((site, id), (_, until)) in &periods {
            let end = until.unwrap_or(i64::MAX);
            of_sites.entry(site.clone()).or_default().push((end, *id));
        }
        for (site, mut ids) in of_sites.into_iter().filter(|(_, ids)| ids.len() > MOST_OF_SITE) {
            ids.sort_unstable_by_key(|(end, _)| std::cmp::Reverse(*end));
            let older = ids.split_off(MOST_OF_SITE).into_iter();
            let older = older.filter_map(|(_, id)| periods.remove(&(site.clone(), id)));
            let sum = older.reduce(|(from, until), (other, end)| {
                (from.min(other), until.zip(end).map(|(one, other)| one.max(other)))
            });
            periods.extend(sum.map(|sum| ((site, EditionId::of(b"")), sum)));
        }
        periods
    }

    pub(super) fn known_periods(&self, now: i64) -> Vec<(String, i64, i64)> {
        let periods = self.statements.periods().into_iter();
        let row = |((site, id), (from, until)): ((String, EditionId), (i64, Option<i64>))| {
            (edition_member(&site, &id.to_string()), from, until.unwrap_or(now))
        };
        periods.map(row).collect()
    }

    pub(super) fn known_bytes(&self) -> Vec<(String, Bytes)> {
        let known = self.editions.iter().filter(|(id, _)| !self.lost.contains(id));
        known.map(|(id, edition)| (id.to_string(), edition.bytes().clone())).collect()
    }

    /// The editions whose bytes this node needs, some of them.
    pub(super) fn wanted(&self, published: &Snapshot) -> Vec<EditionId> {
        if !self.has_changed {
            return Vec::new();
        }
        let is_own =
            |id: EditionId| published.rulebook.sites().iter().any(|site| site.edition().id() == id);
        let periods = self.periods();
        let unknown = periods.into_keys().map(|(_, id)| id).filter(|id| {
            !self.editions.contains_key(id) && *id != EditionId::of(b"") && !is_own(*id)
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
                        "another node serves an edition whose bytes are not on the server: it excuses \
                         all"
                    );
                    self.lost.insert(id);
                    self.editions.insert(id, Arc::new(Edition::of_bytes(Bytes::new())));
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
        let periods = self.periods();
        if periods == self.given && !is_set {
            return None;
        }
        self.given_by = shift;
        let needed: HashSet<EditionId> = periods.keys().map(|(_, id)| *id).collect();
        self.editions.retain(|id, _| needed.contains(id));
        // It allows everything, and so does what stands for older ones.
        let none = Arc::new(Edition::of_bytes(Bytes::new()));
        self.editions.insert(EditionId::of(b""), none);
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
}
