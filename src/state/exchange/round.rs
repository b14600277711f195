//! One exchange: the commands, and what their answers say.
//!
//! The registers are written before the messages, and both before the beat, so that a reader never
//! knows of a message without its entries. The beats are read first: before the messages, so that every
//! message that a beat mentions has come, and before the own beat, which hides that of a namesake.

use std::collections::{BTreeMap, VecDeque};

use redis::{Pipeline, cmd};

use crate::{
    rules::enforce::EditionId,
    state::fleet::{
        Beat, News, Position, Report, Served, Statement, Told, VERSION, json,
        registers::{self, Dated, Entries},
    },
};

use super::{
    server::{Failure, Replies},
    settings::Keys,
};

/// The most messages that wait. Beyond it nothing more is collected; it stays where it is.
const MOST: usize = 64;
const AT_ONCE: usize = 16;

/// What this node tells: messages in their order, each kept until the server has it.
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

/// The most messages that are kept, about.
const MOST_NEWS: i64 = 100_000;
pub(super) const READ_AT_ONCE: usize = 500;
/// The most fetches, rungs and editions that a register keeps.
const MOST_FETCHES: i64 = 100_000;
const MOST_ROWS: i64 = 20_000;
/// The lifetime of what nobody refreshes, in milliseconds.
const WEEK: i64 = 7 * 86_400_000;
const DAY: i64 = 86_400_000;
const HOURS: i64 = 3 * 3_600_000;
/// How long messages are kept: whoever missed more reads the registers.
const KEPT: i64 = 600_000;
/// The lifetime of the lease of alerts.
const LEASE: i64 = 15_000;

#[derive(Debug)]
pub(super) struct Round<'a> {
    pub(super) keys: &'a Keys,
    pub(super) gossip: &'a Gossip,
    pub(super) beat: &'a Beat,
    /// The mark of the server's data that this node puts if there is none.
    pub(super) mark: &'a str,
    pub(super) cursor: Position,
    pub(super) now: i64,
    pub(super) report: Option<&'a Report>,
    pub(super) editions: Vec<(String, bytes::Bytes)>,
    pub(super) wanted: Vec<EditionId>,
    /// The nodes that are gone for long.
    pub(super) removed: &'a [String],
    /// The member, the first and the last time of each edition to write again.
    pub(super) periods: Vec<(String, i64, i64)>,
    pub(super) trims: bool,
    /// Whether to ask for the lease of alerts, and whether this node has it.
    pub(super) lease: Option<bool>,
    pub(super) notices: Vec<(String, String)>,
    pub(super) settled: &'a [String],
    /// When reports were sent last, as far as it is to be told.
    pub(super) reported: BTreeMap<String, i64>,
    /// Whether to read the alerts that are kept, and when reports were sent.
    pub(super) reads_notices: bool,
}

#[derive(Debug)]
pub(super) struct Answer {
    pub(super) beats: Vec<Beat>,
    pub(super) entries: Vec<(Position, Vec<u8>)>,
    /// Microseconds since 1970.
    pub(super) time: i64,
    pub(super) mark: Option<String>,
    pub(super) editions: Vec<(EditionId, Option<Vec<u8>>)>,
    /// The run that sends the alerts, if that was asked.
    pub(super) lease: Option<String>,
    pub(super) notices: Vec<(String, Vec<u8>)>,
    /// When reports were sent last.
    pub(super) reported: BTreeMap<String, i64>,
}

impl Round<'_> {
    /// The commands. After the beats, the answers of so many only have to be no errors.
    pub(super) fn commands(&self) -> (Pipeline, usize) {
        let mut all = Pipeline::new();
        all.cmd("HVALS").arg(&self.keys.beats);
        for (id, bytes) in &self.editions {
            let key = self.keys.edition(id);
            all.cmd("SET").arg(&key).arg(bytes.as_ref()).arg("NX");
            all.cmd("PEXPIRE").arg(&key).arg(WEEK + DAY);
        }
        self.write_registers(&mut all);
        for message in self.gossip.next() {
            let mut add = cmd("XADD");
            add.arg(&self.keys.news).arg("MAXLEN").arg("~").arg(MOST_NEWS);
            all.add_command(add.arg("*").arg("n").arg(&message.text).clone());
        }
        self.write_report(&mut all);
        if self.trims {
            self.trim(&mut all);
        }
        if !self.removed.is_empty() {
            all.cmd("HDEL").arg(&self.keys.beats).arg(self.removed);
        }
        all.cmd("HSET").arg(&self.keys.beats).arg(&self.beat.node).arg(json(self.beat));
        if let Some(has_lease) = self.lease {
            if has_lease {
                all.cmd("PEXPIRE").arg(&self.keys.lease).arg(LEASE);
            }
            let mut take = cmd("SET");
            take.arg(&self.keys.lease).arg(&self.gossip.run).arg("NX").arg("PX").arg(LEASE);
            all.add_command(take);
        }
        self.write_notices(&mut all);
        all.cmd("SET").arg(&self.keys.mark).arg(self.mark).arg("NX");
        let writes = all.len() - 1;
        all.cmd("GET").arg(&self.keys.mark);
        if self.lease.is_some() {
            all.cmd("GET").arg(&self.keys.lease);
        }
        if self.reads_notices {
            all.cmd("HGETALL").arg(&self.keys.notices);
            all.cmd("HGETALL").arg(&self.keys.reports);
        }
        for id in &self.wanted {
            all.cmd("GET").arg(self.keys.edition(&id.to_string()));
        }
        let mut read = cmd("XREAD");
        read.arg("COUNT").arg(READ_AT_ONCE).arg("STREAMS");
        all.add_command(read.arg(&self.keys.news).arg(self.cursor.to_string()).clone());
        all.cmd("TIME");
        (all, writes)
    }

    fn write_registers(&self, all: &mut Pipeline) {
        type Rows = fn(&Entries) -> &[Dated];
        let registers: [(&String, i64, Rows); 3] = [
            (&self.keys.fetches, WEEK + DAY, |entries| &entries.fetches),
            (&self.keys.rungs, WEEK, |entries| &entries.rungs),
            (&self.keys.openings, DAY, |entries| &entries.openings),
        ];
        for (key, lifetime, of) in registers {
            let mut rows = self.gossip.next().flat_map(|message| of(&message.entries)).peekable();
            if rows.peek().is_some() {
                let mut add = cmd("ZADD");
                add.arg(key).arg("GT");
                for (member, at) in rows {
                    add.arg(*at).arg(member);
                }
                all.add_command(add);
                all.cmd("PEXPIRE").arg(key).arg(lifetime);
            }
        }
        let mut counts = self.gossip.next().flat_map(|message| &message.entries.ladder).peekable();
        if counts.peek().is_some() {
            let key = self.keys.ladder(self.now);
            let mut set = cmd("HSET");
            set.arg(&key);
            for (field, value) in counts {
                set.arg(field).arg(value);
            }
            all.add_command(set);
            all.cmd("PEXPIRE").arg(key).arg(HOURS);
        }
    }

    fn write_notices(&self, all: &mut Pipeline) {
        let key = &self.keys.notices;
        if !self.notices.is_empty() {
            let mut keep = cmd("HSET");
            keep.arg(key);
            for (id, text) in &self.notices {
                keep.arg(id).arg(text);
            }
            all.add_command(keep);
            all.cmd("PEXPIRE").arg(key).arg(DAY);
        }
        if !self.settled.is_empty() {
            all.cmd("HDEL").arg(key).arg(self.settled);
        }
        for (key, second) in &self.reported {
            all.cmd("HSET").arg(&self.keys.reports).arg(key).arg(*second);
            all.cmd("PEXPIRE").arg(&self.keys.reports).arg(10 * WEEK);
        }
    }

    fn write_report(&self, all: &mut Pipeline) {
        let Some(report) = self.report else { return };
        let key = self.keys.report(&report.node);
        match self.beat.gone {
            true => all.cmd("DEL").arg(key),
            false => all.cmd("SET").arg(key).arg(json(report)).arg("PX").arg(DAY),
        };
        if report.serves.editions.is_empty() && self.periods.is_empty() {
            return;
        }
        let (mut first, mut last) = (cmd("ZADD"), cmd("ZADD"));
        first.arg(&self.keys.first).arg("LT");
        last.arg(&self.keys.last).arg("GT");
        for Served { site, edition, since } in &report.serves.editions {
            let member = registers::edition_member(site, edition);
            first.arg(*since).arg(&member);
            last.arg(self.now).arg(&member);
        }
        for (member, from, until) in &self.periods {
            first.arg(*from).arg(member);
            last.arg(*until).arg(member);
        }
        all.add_command(first);
        all.add_command(last);
        for key in [&self.keys.first, &self.keys.last] {
            all.cmd("PEXPIRE").arg(key).arg(WEEK + DAY);
        }
    }

    /// Removes what is too old or too much. Every node does it now and then.
    fn trim(&self, all: &mut Pipeline) {
        let oldest = |age: i64| format!("({}", self.now.saturating_sub(age));
        for (key, age, most) in [
            (&self.keys.fetches, WEEK + DAY, MOST_FETCHES),
            (&self.keys.rungs, WEEK, MOST_ROWS),
            (&self.keys.openings, DAY, MOST_ROWS),
            (&self.keys.last, WEEK + DAY, MOST_ROWS),
        ] {
            all.cmd("ZREMRANGEBYSCORE").arg(key).arg("-inf").arg(oldest(age));
            all.cmd("ZREMRANGEBYRANK").arg(key).arg(0).arg(-(most + 1));
        }
        all.cmd("ZREMRANGEBYRANK").arg(&self.keys.first).arg(0).arg(-(2 * MOST_ROWS + 1));
        let kept = self.now.saturating_sub(KEPT);
        all.cmd("XTRIM").arg(&self.keys.news).arg("MINID").arg("~").arg(kept.max(0));
        all.cmd("PEXPIRE").arg(&self.keys.beats).arg(WEEK);
    }

    pub(super) fn read(&self, mut replies: Replies, writes: usize) -> Result<Answer, Failure> {
        let beats: Vec<Vec<u8>> = replies.next()?;
        let beats = beats.iter().filter_map(|text| Beat::read(text)).collect();
        replies.skip(writes)?;
        let mark = replies.next()?;
        let lease = if self.lease.is_some() { replies.next()? } else { None };
        let (mut notices, mut reported) = Default::default();
        if self.reads_notices {
            (notices, reported) = (replies.fields()?, replies.fields()?);
        }
        let number = |text: Vec<u8>| str::from_utf8(&text).ok()?.parse().ok();
        let reported = reported.into_iter().filter_map(|(key, at)| Some((key, number(at)?)));
        let mut editions = Vec::new();
        for id in &self.wanted {
            editions.push((*id, replies.next()?));
        }
        let entries = replies.entries()?.into_iter();
        let entries = entries.filter_map(|(id, text)| Some((Position::parse(&id)?, text)));
        let (entries, reported) = (entries.collect(), reported.collect());
        let time = replies.time()?;
        Ok(Answer { beats, entries, time, mark, editions, lease, notices, reported })
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
