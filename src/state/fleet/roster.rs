//! The other nodes of the fleet: who is there, up to when each was heard, and what each has read.
//!
//! A run of a node is one of them. Two runs with one name may be one that was killed and the next one,
//! or two that live: each overwrites the beat of the other. So a run counts until it said goodbye, or
//! until nothing came from it for the time in which a live one writes.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    heard::Heard,
    presence::{Beat, Position},
};

/// A node whose last beat is younger, in milliseconds, is live.
pub const LIVE: i64 = 10_000;
/// The silence of a run, in milliseconds, after which it counts as ended if another one has its name and
/// it was not seen since. A live one writes five times a second, and states its editions every second.
const REPLACED: i64 = 2_000;
/// A silent node that did not say goodbye may still serve. It counts as gone after a day, and after the
/// longest window of a site; in milliseconds.
const LEAST_LOST: i64 = 24 * 3_600_000;
/// The age of a beat, in milliseconds, from which on a start does not wait for its node.
pub const RECENT: i64 = 600_000;
/// What is taken off the horizon, in milliseconds: estimates of time differ a little.
const MARGIN: i64 = 1_000;

/// The other nodes, by run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roster {
    own: (String, String),
    nodes: BTreeMap<String, Node>,
    has_met: bool,
    window: i64,
}

/// What beats say about nodes that ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// The runs that said goodbye, with the times.
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
    /// The runs that ended without a goodbye: of lost nodes, and those that others of their names follow.
    pub runs: Vec<String>,
    /// Whether one of these runs may have seen what nobody knows.
    pub is_any_lost: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    beat: Beat,
    /// Everything that it told up to this time was taken in.
    heard_at: i64,
    seen_at: i64,
    /// `None` if it was seen at the present server.
    missed: Option<Missed>,
    /// Whether a later run has its name, and its own beat is as before.
    is_replaced: bool,
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
    /// The others of this node and its run; `window` is the longest window of a site, in milliseconds.
    pub fn new(node: &str, run: &str, window: i64) -> Self {
        Self { own: (node.to_owned(), run.to_owned()), window, ..Self::default() }
    }

    /// Misses the nodes that were live at `last`, the time of the last exchange: a new connection may
    /// lead to another server. Each is missed until it changes its beat there.
    pub fn miss_live(&mut self, last: i64) {
        for node in self.nodes.values_mut().filter(|node| node.is_present()) {
            if last.saturating_sub(node.beat.at) < LIVE {
                node.missed = Some(Missed { is_found: false, until: i64::MAX });
            }
        }
    }

    /// The nodes that are missed. They may serve other rules and write so to another server.
    pub fn missed(&self, now: i64) -> impl Iterator<Item = &str> {
        let is_missed = move |node: &&Node| node.missed.is_some_and(|one| now < one.until);
        let missed = self.present().filter(is_missed).map(|node| node.beat.node.as_str());
        missed.collect::<BTreeSet<_>>().into_iter()
    }

    /// Takes the beats of all nodes. A node that begins anew states what it serves.
    pub fn take(&mut self, beats: Vec<Beat>, heard: &Heard, now: i64) -> Ends {
        let mut ends = Ends::default();
        let is_first = !std::mem::replace(&mut self.has_met, true);
        for beat in beats.into_iter().filter(|beat| beat.run != self.own.1) {
            let before = self.nodes.get(&beat.run);
            if before.is_none() && self.is_lost(&beat, now) {
                continue;
            }
            let is_new = before.is_none();
            let namesakes = self.nodes.values().filter(|other| other.is_namesake(&beat));
            let is_any_up = is_new && namesakes.clone().any(|other| !other.beat.gone);
            if is_any_up && beat.gone {
                // The run before ended while the next one was up already.
                continue;
            }
            ends.is_any_lost |= is_any_up;
            if let Some(before) = before.filter(|before| beat.gone && !before.beat.gone) {
                ends.goodbyes.push((beat.run.clone(), before.beat.at.max(beat.at)));
            }
            let is_same = before.is_some_and(|before| before.beat == beat);
            let known = before.map_or(i64::MIN, |before| before.heard_at);
            let has_all = heard.has_all(&beat.run, beat.seq);
            let heard_at = if has_all { beat.at.max(known) } else { known };
            let seen_at = before.map_or(beat.at, |before| before.seen_at.max(beat.at));
            // Also at the first look, a beat may be a copy.
            let until = beat.at.saturating_add(RECENT);
            let missed = match before {
                None => is_first.then_some(Missed { is_found: true, until }),
                Some(before) => before.missed.filter(|one| !one.is_found || is_same),
            };
            let missed = missed.map(|one| Missed { is_found: true, ..one });
            // The run of this node is later than those that it finds.
            let is_replaced =
                before.map_or(beat.node == self.own.0, |before| before.is_replaced && is_same);
            if is_new {
                let others = self.nodes.values_mut().filter(|other| other.is_namesake(&beat));
                others.for_each(|other| other.is_replaced = true);
            }
            let node = Node { heard_at, seen_at, missed, is_replaced, beat };
            self.nodes.insert(node.beat.run.clone(), node);
        }
        ends
    }

    pub(crate) fn note_message(&mut self, run: &str, at: i64) {
        if let Some(node) = self.nodes.get_mut(run) {
            node.seen_at = node.seen_at.max(at);
        }
    }

    pub(crate) fn knows(&self, run: &str) -> bool {
        self.nodes.contains_key(run)
    }

    /// Forgets the nodes that were silent for too long, gone or not, and the runs that others of their
    /// names follow.
    pub fn forget_silent(&mut self, now: i64) -> Silent {
        let mut silent = Silent::default();
        let mut over = Vec::new();
        for node in self.nodes.values() {
            let Beat { node: name, run, gone, .. } = &node.beat;
            let silence = if node.is_replaced { REPLACED } else { LIVE };
            let is_silent = now.saturating_sub(node.seen_at) >= silence;
            let is_over = self.is_followed(node) && (is_silent || node.is_gone_and_heard());
            let is_lost = self.is_lost(&node.beat, now) && !is_over;
            if is_lost {
                silent.all.push(name.clone());
            }
            if is_lost && !gone {
                silent.lost.push(name.clone());
            }
            if is_lost || is_over {
                over.push(run.clone());
            }
            if (is_lost || is_over) && !gone {
                silent.runs.push(run.clone());
                silent.is_any_lost |= !node.is_replaced;
            }
        }
        over.iter().for_each(|run| drop(self.nodes.remove(run)));
        silent
    }

    /// Whether another run of its name was seen later, or is there after its goodbye.
    fn is_followed(&self, node: &Node) -> bool {
        let is_later =
            |other: &Node| other.seen_at > node.seen_at || node.beat.gone && !other.beat.gone;
        let mut namesakes = self.nodes.values().filter(|other| other.is_namesake(&node.beat));
        node.beat.node == self.own.0 || namesakes.any(is_later)
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
        self.nodes.values().filter(|node| node.is_present())
    }

    /// The runs that may serve yet, and those whose last messages have not come.
    fn unheard(&self) -> impl Iterator<Item = &Node> {
        self.nodes.values().filter(|node| !node.is_gone_and_heard())
    }

    fn live(&self, now: i64) -> impl Iterator<Item = &Node> {
        self.present().filter(move |node| now.saturating_sub(node.beat.at) < LIVE)
    }
}

impl Node {
    fn is_namesake(&self, beat: &Beat) -> bool {
        self.beat.node == beat.node && self.beat.run != beat.run
    }

    const fn is_present(&self) -> bool {
        !self.beat.gone && !self.is_replaced
    }

    const fn is_gone_and_heard(&self) -> bool {
        self.beat.gone && self.heard_at >= self.beat.at
    }
}
