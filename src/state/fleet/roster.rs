//! The other nodes of the fleet: who is there, up to when each was heard, and what each has read.

use std::collections::BTreeMap;

use super::{
    heard::Heard,
    presence::{Beat, Position},
};

/// A node whose last beat is younger, in milliseconds, is live.
pub const LIVE: i64 = 10_000;
/// A silent node that did not say goodbye may still serve. It counts as gone after a day, and after the
/// longest window of a site; in milliseconds.
const LEAST_LOST: i64 = 24 * 3_600_000;
/// The age of a beat, in milliseconds, from which on a start does not wait for its node.
pub const RECENT: i64 = 600_000;
/// What is taken off the horizon, in milliseconds: estimates of time differ a little.
const MARGIN: i64 = 1_000;

/// The other nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roster {
    nodes: BTreeMap<String, Node>,
    /// Whether beats were taken before.
    has_met: bool,
    /// The longest window of a site, in milliseconds.
    window: i64,
}

/// What beats say about nodes that ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// The nodes that said goodbye, with the times.
    pub goodbyes: Vec<(String, i64)>,
    /// Whether a node began anew without a goodbye: nobody knows what it saw last.
    pub is_any_lost: bool,
}

/// The nodes that were silent for too long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Silent {
    /// Those that did not say goodbye.
    pub lost: Vec<String>,
    /// All of them: their beats can be removed.
    pub all: Vec<String>,
}

/// One other node.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    beat: Beat,
    /// Everything that it told up to this time was taken in.
    heard_at: i64,
    /// `None` if it was seen at the present server.
    missed: Option<Missed>,
}

/// A node that may be at another server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Missed {
    /// Whether a beat of it was found. It may be a copy of one at another server.
    is_found: bool,
    /// The time of the fleet until which it is missed.
    until: i64,
}

impl Roster {
    /// No nodes; `window` is the longest window of a site, in milliseconds.
    pub fn new(window: i64) -> Self {
        Self { window, ..Self::default() }
    }

    /// Misses the nodes that were live at `last`, the time of the last exchange: a new connection may
    /// lead to another server. Each is missed until it changes its beat there.
    pub fn miss_live(&mut self, last: i64) {
        for node in self.nodes.values_mut() {
            if !node.beat.gone && last.saturating_sub(node.beat.at) < LIVE {
                node.missed = Some(Missed { is_found: false, until: i64::MAX });
            }
        }
    }

    /// The nodes that are missed. They may serve other rules and write so to another server.
    pub fn missed(&self, now: i64) -> impl Iterator<Item = &str> {
        let is_missed = move |node: &&Node| node.missed.is_some_and(|one| now < one.until);
        self.present().filter(is_missed).map(|node| node.beat.node.as_str())
    }

    /// Takes the beats of all nodes but `own`. A node that begins anew states what it serves.
    pub fn take(&mut self, own: &str, beats: Vec<Beat>, heard: &Heard, now: i64) -> Ends {
        let mut ends = Ends::default();
        let is_first = !std::mem::replace(&mut self.has_met, true);
        for beat in beats.into_iter().filter(|beat| beat.node != own) {
            let before = self.nodes.get(&beat.node);
            if before.is_none() && self.is_lost(&beat, now) {
                continue;
            }
            let same = before.filter(|before| before.beat.run == beat.run);
            if let Some(before) = before.filter(|before| !before.beat.gone) {
                if beat.gone && same.is_none() {
                    // The run before ended while the next one was up already.
                    continue;
                }
                if beat.gone {
                    ends.goodbyes.push((beat.node.clone(), before.beat.at.max(beat.at)));
                }
                ends.is_any_lost |= same.is_none();
            }
            let known = same.map_or(i64::MIN, |before| before.heard_at);
            let has_all = heard.has_all(&beat.run, beat.seq);
            let heard_at = if has_all { beat.at.max(known) } else { known };
            // Also at the first look, a beat may be a copy.
            let until = beat.at.saturating_add(RECENT);
            let missed = match before {
                None => is_first.then_some(Missed { is_found: true, until }),
                Some(before) => before.missed.filter(|one| !one.is_found || before.beat == beat),
            };
            let missed = missed.map(|one| Missed { is_found: true, ..one });
            self.nodes.insert(beat.node.clone(), Node { beat, heard_at, missed });
        }
        ends
    }

    /// Forgets the nodes that were silent for too long, gone or not.
    pub fn forget_silent(&mut self, now: i64) -> Silent {
        let all: Vec<&Node> =
            self.nodes.values().filter(|node| self.is_lost(&node.beat, now)).collect();
        let name = |node: &&Node| node.beat.node.clone();
        let lost = all.iter().filter(|node| !node.beat.gone).map(name).collect();
        let all: Vec<String> = all.iter().map(name).collect();
        for name in &all {
            self.nodes.remove(name);
        }
        Silent { lost, all }
    }

    fn is_lost(&self, beat: &Beat, now: i64) -> bool {
        now.saturating_sub(beat.at) >= self.window.max(LEAST_LOST)
    }

    /// The time of the fleet up to which every other node was heard. A silent node that did not say
    /// goodbye holds it back: it may still serve.
    pub fn horizon(&self, now: i64) -> i64 {
        let others = self.unheard().map(|node| node.heard_at);
        others.min().unwrap_or(now).min(now).saturating_sub(MARGIN)
    }

    /// Whether every live node has taken in the message at `position`.
    pub fn have_read(&self, position: Position, now: i64) -> bool {
        self.live(now).all(|node| node.beat.read >= position)
    }

    /// The number of live nodes beside this one.
    pub fn count(&self, now: i64) -> usize {
        self.live(now).count()
    }

    /// The longest time in milliseconds since which a live node was not heard.
    pub fn lag(&self, now: i64) -> i64 {
        let lags = self.live(now).map(|node| now.saturating_sub(node.heard_at.max(0)));
        lags.max().unwrap_or(0).max(0)
    }

    fn present(&self) -> impl Iterator<Item = &Node> {
        self.nodes.values().filter(|node| !node.beat.gone)
    }

    /// The present nodes, and those whose last messages have not come yet.
    fn unheard(&self) -> impl Iterator<Item = &Node> {
        self.nodes.values().filter(|node| !node.beat.gone || node.heard_at < node.beat.at)
    }

    fn live(&self, now: i64) -> impl Iterator<Item = &Node> {
        self.present().filter(move |node| now.saturating_sub(node.beat.at) < LIVE)
    }
}
