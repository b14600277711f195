//! One exchange: the commands, and what their answers say.
//!
//! The registers are written before the messages, and both before the beat, so that a reader never
//! knows of a message without its entries. The beats are read first: before the messages, so that every
//! message that a beat mentions has come, and before the own beat, which hides that of a namesake.

use std::collections::BTreeMap;

use redis::{Pipeline, cmd};

use crate::{
    rules::enforce::EditionId,
    state::fleet::{
        Beat, Position, Report, Served, json,
        registers::{self, Dated, Entries},
    },
};

use super::{failure::Failure, gossip::Gossip, key_names::Keys, replies::Replies};

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
        let (entries, time) = (entries.collect(), replies.time()?);
        Ok(Answer {
            beats,
            entries,
            time,
            mark,
            editions,
            lease,
            notices,
            reported: reported.collect(),
        })
    }
}
