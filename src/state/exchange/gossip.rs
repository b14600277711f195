//! What this node tells: messages in their order, each kept until the server has it.

use std::collections::VecDeque;

use crate::state::fleet::{
    Beat, News, Position, Statement, Told, VERSION, json, registers::Entries,
};

/// The most messages that wait. Beyond it nothing more is collected; it stays where it is.
const MOST: usize = 64;
const AT_ONCE: usize = 16;

#[derive(Debug)]
pub(super) struct Gossip {
    pub(super) node: String,
    pub(super) run: String,
    number: u64,
    waiting: VecDeque<Message>,
    /// The time of the fleet up to which everything is told or waits.
    collected_at: i64,
    /// The time of the fleet up to which everything is told, and the number of the last message.
    told: (i64, u64),
}

#[derive(Debug)]
pub(super) struct Message {
    number: u64,
    pub(super) text: String,
    pub(super) entries: Entries,
}

impl Gossip {
    pub(super) fn new(node: String, run: String) -> Self {
        let told = (i64::MIN, 0);
        Self { node, run, number: 0, waiting: VecDeque::new(), collected_at: i64::MIN, told }
    }

    pub(super) fn has_room(&self) -> bool {
        self.waiting.len() < MOST
    }

    pub(super) fn is_told(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn collect(&mut self, told: Told, at: i64) {
        for part in told.split() {
            self.add(part, None, at);
        }
        self.collected_at = self.collected_at.max(at);
    }

    /// Adds a statement of the editions that this node serves. Returns the number of its message.
    pub(super) fn state(&mut self, statement: Statement, at: i64) -> u64 {
        self.add(Told::default(), Some(statement), at);
        self.number
    }

    fn add(&mut self, told: Told, serves: Option<Statement>, at: i64) {
        self.number += 1;
        let (node, run, seq) = (self.node.clone(), self.run.clone(), self.number);
        let entries = Entries::of(&run, &told);
        let text = json(&News { v: VERSION, node, run, seq, at, told, serves });
        self.waiting.push_back(Message { number: seq, text, entries });
    }

    pub(super) fn next(&self) -> impl Iterator<Item = &Message> {
        self.waiting.iter().take(AT_ONCE)
    }

    /// The beat of an exchange with [`Self::next`], after everything up to `read` was taken in.
    pub(super) fn beat(&self, read: Position, gone: bool) -> Beat {
        let (at, seq) = self.told_after();
        let (node, run) = (self.node.clone(), self.run.clone());
        Beat { v: VERSION, node, run, at, seq, read, gone, apart: false }
    }

    /// Whether this run told more than its beat on the server says.
    pub(super) fn is_beyond(&self, beat: &Beat) -> bool {
        let (at, number) = self.told;
        number > 0 && (beat.run != self.run || beat.seq < number || beat.at < at)
    }

    /// Notes that the server has the messages of [`Self::next`]. Returns their number.
    pub(super) fn sent(&mut self) -> usize {
        self.told = self.told_after();
        let sent = self.waiting.len().min(AT_ONCE);
        self.waiting.drain(..sent);
        sent
    }

    fn told_after(&self) -> (i64, u64) {
        let last = self.next().last().map_or(self.told.1, |message| message.number);
        let at = if self.waiting.len() > AT_ONCE { self.told.0 } else { self.collected_at };
        (at, last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beat_says_no_more_than_what_was_told() {
        let mut gossip = Gossip::new("a".to_owned(), "r".to_owned());
        gossip.collect(Told::default(), 100);
        let said = |gossip: &Gossip| {
            let beat = gossip.beat(Position::default(), false);
            (beat.at, beat.seq)
        };
        assert_eq!(said(&gossip), (100, 0));
        gossip.sent();
        for number in 1..=AT_ONCE as u64 + 3 {
            assert_eq!(gossip.state(Statement::default(), 150), number);
        }
        gossip.collect(Told::default(), 200);
        assert_eq!(said(&gossip), (100, AT_ONCE as u64), "the rest waits");
        assert_eq!(said(&gossip), (100, AT_ONCE as u64), "a failed exchange changes nothing");
        assert_eq!(gossip.sent(), AT_ONCE);
        assert_eq!(said(&gossip), (200, AT_ONCE as u64 + 3));
        assert_eq!((gossip.sent(), gossip.is_told(), gossip.has_room()), (3, true, true));
        for _ in 0..MOST {
            gossip.state(Statement::default(), 0);
        }
        assert!(!gossip.has_room());
    }
}
