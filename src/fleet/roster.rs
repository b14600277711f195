//! The other nodes of the fleet: who is there, up to when each was heard, and what each has read.

use std::collections::BTreeMap;

use super::{
    heard::Heard,
    presence::{Beat, Position},
};

/// A node whose last beat is younger, in milliseconds, is live.
pub const LIVE: i64 = 10_000;
/// A silent node that did not say goodbye may still serve; after this time it counts as gone, in
/// milliseconds.
const LOST: i64 = 24 * 3_600_000;
/// What is taken off the horizon, in milliseconds: estimates of time differ a little.
const MARGIN: i64 = 1_000;

/// The other nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roster {
    nodes: BTreeMap<String, Node>,
}

/// One other node.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    beat: Beat,
    /// Everything that it told up to this time was taken in.
    heard_at: i64,
}

impl Roster {
    /// Takes the beats of all nodes but `own`. Returns the nodes that said goodbye since, with the
    /// times. A node that begins anew states what it serves.
    pub fn take(&mut self, own: &str, beats: Vec<Beat>, heard: &Heard) -> Vec<(String, i64)> {
        let mut ended = Vec::new();
        for beat in beats.into_iter().filter(|beat| beat.node != own) {
            let before = self.nodes.get(&beat.node);
            if let Some(before) = before
                && beat.gone
                && !before.beat.gone
            {
                ended.push((beat.node.clone(), before.beat.at.max(beat.at)));
            }
            let same = before.filter(|before| before.beat.run == beat.run);
            let known = same.map_or(i64::MIN, |before| before.heard_at);
            let has_all = heard.has_all(&beat.run, beat.seq);
            let heard_at = if has_all { beat.at.max(known) } else { known };
            self.nodes.insert(beat.node.clone(), Node { beat, heard_at });
        }
        ended
    }

    /// Forgets nodes that are gone, or were silent for a day. Returns the latter, with the times of
    /// their last beats.
    pub fn forget_lost(&mut self, now: i64) -> Vec<(String, i64)> {
        let is_lost = |node: &Node| now.saturating_sub(node.beat.at) >= LOST;
        let lost = self.nodes.values().filter(|node| is_lost(node) && !node.beat.gone);
        let lost = lost.map(|node| (node.beat.node.clone(), node.beat.at)).collect();
        self.nodes.retain(|_, node| !is_lost(node));
        lost
    }

    /// The time of the fleet up to which every other node was heard. A silent node that did not say
    /// goodbye holds it back: it may still serve.
    pub fn horizon(&self, now: i64) -> i64 {
        let others = self.present().map(|node| node.heard_at);
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

    /// The nodes that were silent for more than [`LIVE`] without a goodbye.
    pub fn silent(&self, now: i64) -> Vec<String> {
        let is_live = |node: &&Node| now.saturating_sub(node.beat.at) < LIVE;
        let silent = self.present().filter(|node| !is_live(node));
        silent.map(|node| node.beat.node.clone()).collect()
    }

    /// The longest time in milliseconds since which a live node was not heard.
    pub fn lag(&self, now: i64) -> i64 {
        let lags = self.live(now).map(|node| now.saturating_sub(node.heard_at.max(0)));
        lags.max().unwrap_or(0).max(0)
    }

    fn present(&self) -> impl Iterator<Item = &Node> {
        self.nodes.values().filter(|node| !node.beat.gone)
    }

    fn live(&self, now: i64) -> impl Iterator<Item = &Node> {
        self.present().filter(move |node| now.saturating_sub(node.beat.at) < LIVE)
    }
}
