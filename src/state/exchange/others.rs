//! What this node knows of the others.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;

use crate::{
    rules::enforce::{Edition, EditionId, Elsewhere},
    state::{
        fleet::{
            Beat, Clocks, Ends, Heard, LIVE, News, Position, RECENT, Roster, Shift, Silent,
            Statements, registers::edition_member,
        },
        publication::{Handles, Snapshot},
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
                        code = "fleet.edition_lost", edition = %id,
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

/// How long a start waits for the nodes that it found.
const JOIN: Duration = Duration::from_millis(1_500);

/// Who is not where this node is: a namesake hides, and nodes at another server are not heard.
#[derive(Debug)]
pub(super) struct Absence {
    has_past: bool,
    /// The time of the steady clock at which the server answered first.
    first: Option<Duration>,
    /// The time of the fleet until which others may not have come to a new server.
    moving_until: i64,
    /// The time of the steady clock until which another run counts that has the name of this node.
    rival_until: Duration,
}

impl Absence {
    pub(super) fn of(handles: &Handles) -> Self {
        let moment = handles.clock.moment();
        let start = moment.now.checked_sub(moment.steady).unwrap_or(moment.now);
        let published = handles.published.load();
        let mut sites = published.rulebook.sites().iter().map(|site| &site.timeline);
        let has_past = sites.any(|timeline| !timeline.is_single() || timeline.since < start);
        Self { has_past, first: None, moving_until: i64::MIN, rival_until: Duration::ZERO }
    }

    /// Notes the mark of the server at the first answer, and whether this node was there with all others
    /// before. If not, a young server may be a new one, to which the others have not come yet.
    pub(super) fn note_first(&mut self, mark: Option<&str>, was_here: bool, steady: Duration) {
        let is_first = self.first.replace(self.first.unwrap_or(steady)).is_none();
        if is_first && self.has_past && !was_here {
            let made = mark.and_then(|mark| mark.rsplit_once('-')?.1.parse::<i64>().ok());
            self.moving_until = made.map_or(i64::MIN, |made| made.saturating_add(RECENT));
        }
    }

    /// Notes the beats that were read before this run wrote its own. Returns whether there is a
    /// namesake that was not there before.
    pub(super) fn note_beats(&mut self, own: &Beat, beats: &[Beat], steady: Duration) -> bool {
        let is_live = |beat: &&Beat| own.at.saturating_sub(beat.at) < LIVE && !beat.gone;
        let mut namesakes = beats.iter().filter(|beat| beat.node == own.node);
        let is_found = namesakes.any(|beat| beat.run != own.run && is_live(&beat));
        let had_rival = self.has_rival(steady);
        if is_found {
            // At the first look, it may be the run before this one. Then it does not write again.
            let is_first = self.first.is_none();
            let silence = Duration::from_millis(LIVE.unsigned_abs());
            let until = if is_first { Duration::from_nanos(1) } else { silence };
            self.rival_until = steady.saturating_add(until);
        }
        is_found && !had_rival
    }

    pub(super) fn has_rival(&self, steady: Duration) -> bool {
        steady < self.rival_until
    }

    pub(super) fn waits(&self, steady: Duration) -> bool {
        self.first.is_none_or(|first| steady < first.saturating_add(JOIN))
    }

    /// Why this node can't judge by what it hears; nothing if it hears all.
    pub(super) fn reasons(
        &self,
        own: &str,
        (now, steady): (i64, Duration),
        roster: &Roster,
    ) -> Vec<String> {
        let rival = self.has_rival(steady).then(|| format!("another node has the name '{own}'"));
        let moving = (now < self.moving_until)
            .then(|| "the fleet's server is new: other nodes may not have come yet".to_owned());
        let missed = roster.missed(now);
        let missed = missed.map(|node| format!("'{node}' was not seen since the last connection"));
        rival.into_iter().chain(moving).chain(missed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::fleet::{Position, VERSION};

    fn beat(run: &str, at: i64) -> Beat {
        let (node, run) = ("me".to_owned(), run.to_owned());
        let read = Position::default();
        Beat { v: VERSION, node, run, at, seq: 0, read, gone: false, apart: false }
    }

    fn absence(has_past: bool) -> Absence {
        Absence { has_past, first: None, moving_until: i64::MIN, rival_until: Duration::ZERO }
    }

    #[test]
    fn a_namesake_that_writes_again_counts_until_it_was_silent_for_long() {
        let (mut one, second) = (absence(true), Duration::from_secs);
        let mut look = |at: u64, run: &str, beat_at: i64| {
            let now = i64::try_from(1_000 * at).unwrap();
            let found = one.note_beats(&beat("own", now), &[beat(run, beat_at)], second(at));
            one.note_first(None, false, second(at));
            (found, one.has_rival(second(at)), one.has_rival(second(at + 1)))
        };
        // The run before this one was killed.
        assert_eq!(look(20, "before", 19_000), (true, true, false));
        assert_eq!(look(21, "own", 20_000), (false, false, false));
        assert_eq!(look(22, "rival", 21_900), (true, true, true));
        assert_eq!(look(23, "own", 22_000), (false, true, true));
        assert_eq!(look(33, "own", 32_000), (false, false, false));
    }

    #[test]
    fn a_server_that_is_younger_than_the_node_may_miss_others_for_ten_minutes() {
        for (has_past, was_here, mark, until) in [
            (true, false, "run-1000", 1_000 + RECENT),
            (false, false, "run-1000", i64::MIN),
            (true, true, "run-1000", i64::MIN),
            (true, false, "of somebody else", i64::MIN),
        ] {
            let mut one = absence(has_past);
            one.note_first(Some(mark), was_here, Duration::ZERO);
            one.note_first(Some("another-5000"), false, Duration::ZERO);
            assert_eq!(one.moving_until, until, "{has_past} {was_here} {mark}");
        }
    }
}
