//! One crawler on the ladder: its rung, its counts, and what other nodes counted.
//!
//! Each node of a fleet counts for itself and tells its sum since the start of the count. So a sum
//! that comes twice, late or not at all does no harm. A step starts all counts again. Of two steps,
//! the later one counts.

use std::{fmt, time::Duration};

use jiff::{SignedDuration, Timestamp};

use crate::rules::{enforce::Rung, policy};

/// The most nodes whose counts are known. Each start of a node is another one.
const MOST_OTHERS: usize = 512;

/// A step of one rung, up or down. Its text is the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub from: Rung,
    pub to: Rung,
    pub requests: u64,
    pub violations: u64,
    pub period: Duration,
    /// The time; of two steps at one node, the second has a later one.
    pub at: Timestamp,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (violations, requests, seconds) =
            (self.violations, self.requests, self.period.as_secs());
        if requests == 0 {
            return write!(f, "no request for {seconds} s");
        }
        let span = if self.to > self.from { "within" } else { "in all of" };
        write!(f, "{violations} of its {requests} requests {span} {seconds} s violated the rules")
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub requests: u64,
    pub violations: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Climber {
    pub(super) rung: Rung,
    since: Timestamp,
    /// The requests of this period, at all nodes as far as they are known.
    counts: Counts,
    /// The requests at this node since [`Self::counted_from`].
    pub(super) own: Counts,
    /// The time at which this node last began to count.
    pub(super) counted_from: Timestamp,
    /// The time of the last step, here or at another node.
    pub(super) stepped: Option<Timestamp>,
    /// The periods without a reason to climb since the last step or the last reason.
    calm: u32,
    /// How often it climbed again after it came down. Each doubles its time on a rung.
    pub(super) returns: u8,
    has_come_down: bool,
    others: Vec<Told>,
}

/// What another node tells of its count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub node: u64,
    /// The number of the count at that node.
    pub number: i64,
    /// Its start, by the clock of this node; it is off by some milliseconds.
    pub counted_from: Timestamp,
    pub counts: Counts,
}

/// The longest time on a rung, and the time without a climb after which all climbs are forgotten.
const LONGEST: Duration = Duration::from_secs(7 * 86_400);

/// How far a time of another node may be off.
const TOLERANCE: SignedDuration = SignedDuration::from_millis(250);

impl Climber {
    pub(super) fn new(now: Timestamp) -> Self {
        Self { since: now, counted_from: now, ..Self::default() }
    }

    /// When it moves down if it obeys the rules from now on.
    pub(super) fn comes_down(&self, rules: &policy::Ladder) -> Timestamp {
        let stay = self.stay(rules);
        let left = match self.counts.reach(rules) {
            true => stay.saturating_add(1),
            false => stay.saturating_sub(self.calm).max(1),
        };
        self.since.saturating_add(rules.period.saturating_mul(left)).unwrap_or(Timestamp::MAX)
    }

    /// The calm periods after which it moves down.
    fn stay(&self, rules: &policy::Ladder) -> u32 {
        let doubled = 1_u32.checked_shl(self.returns.into()).unwrap_or(u32::MAX);
        doubled.min(periods(LONGEST, rules)).max(1)
    }

    /// Forgets that it climbed before.
    #[cfg(test)]
    pub(super) const fn forget_climbs(&mut self) {
        (self.returns, self.has_come_down) = (0, false);
    }

    /// The requests and violations of this period at all nodes.
    #[cfg(test)]
    pub(super) const fn counts(&self) -> (u64, u64) {
        (self.counts.requests, self.counts.violations)
    }

    /// Counts a request. Moves by one rung at most.
    pub(super) fn note(
        &mut self,
        rules: &policy::Ladder,
        is_violation: bool,
        now: Timestamp,
    ) -> Option<Step> {
        let down = self.settle(rules, now);
        let one = Counts { requests: 1, violations: u64::from(is_violation) };
        self.counts = self.counts.with(one, u64::saturating_add);
        self.own = self.own.with(one, u64::saturating_add);
        let climbs = is_violation && down.is_none() && self.counts.reach(rules);
        match self.rung.above().filter(|_| climbs) {
            Some(above) => Some(self.step(rules, above, now)),
            None => down,
        }
    }

    /// Ends a period that is over. Moves down by one rung at most.
    pub(super) fn settle(&mut self, rules: &policy::Ladder, now: Timestamp) -> Option<Step> {
        if now < self.since {
            self.since = now;
        }
        let elapsed = now.duration_since(self.since).unsigned_abs();
        if elapsed < rules.period {
            return None;
        }
        // The limits for moving up also decide here, because a slow bot may send one request an
        // hour.
        self.calm = match self.counts.reach(rules) {
            true => 0,
            false => self.calm.saturating_add(periods(elapsed, rules)),
        };
        match self.rung.below().filter(|_| self.calm >= self.stay(rules)) {
            Some(below) => Some(self.step(rules, below, now)),
            None => {
                if self.calm >= periods(LONGEST, rules) {
                    (self.returns, self.has_come_down) = (0, false);
                }
                self.restart(now);
                None
            }
        }
    }

    /// Adds what another node counted, as far as it is new. The crawler climbs at its next violation at
    /// the earliest.
    pub(super) fn learn_counts(&mut self, rules: &policy::Ladder, told: Told, now: Timestamp) {
        let Told { node, number, counted_from, counts } = told;
        let is_over = |since: Timestamp| now.duration_since(since).unsigned_abs() >= rules.period;
        let known = self.others.iter_mut().find(|one| one.node == node);
        let known_counts = match &known {
            Some(known) if known.number > number => return,
            Some(known) if known.number == number => known.counts,
            _ => Counts::default(),
        };
        let latest = known_counts.with(counts, u64::max);
        let told = Told { counts: latest, ..told };
        match known {
            Some(known) => *known = told,
            None => {
                if self.others.len() >= MOST_OTHERS {
                    self.others.retain(|one| !is_over(one.counted_from));
                    let fits = MOST_OTHERS / 2;
                    self.others.drain(..self.others.len().saturating_sub(fits));
                }
                self.others.push(told);
            }
        }
        // What came before a step made that step, or would have.
        let is_before = |stepped: Timestamp| stepped.duration_since(counted_from) > TOLERANCE;
        if self.stepped.is_some_and(is_before) || is_over(counted_from) {
            return;
        }
        let new = latest.with(known_counts, u64::saturating_sub);
        self.counts = self.counts.with(new, u64::saturating_add);
    }

    /// Takes over the step of another node, if it is later than the last one here. Returns the rung
    /// before, if it changes.
    pub(super) fn learn_step(
        &mut self,
        rules: &policy::Ladder,
        (rung, returns, at): (Rung, u8, Timestamp),
        now: Timestamp,
    ) -> Option<Rung> {
        if self.stepped.is_some_and(|stepped| at <= stepped) {
            return None;
        }
        // A node that starts hears of steps long ago. Those of other nodes still watch the crawler.
        let is_recent = at <= now && now.duration_since(at).unsigned_abs() < rules.period;
        self.restart(if is_recent { at } else { now });
        self.counted_from = self.counted_from.max(at);
        self.stepped = Some(at);
        (self.calm, self.returns, self.has_come_down) = (0, returns, rung < self.rung);
        let before = std::mem::replace(&mut self.rung, rung);
        (before != rung).then_some(before)
    }

    fn step(&mut self, rules: &policy::Ladder, to: Rung, now: Timestamp) -> Step {
        let (from, Counts { requests, violations }) = (self.rung, self.counts);
        // The clock may be behind that of the node that made the last step.
        let after = |last: Timestamp| last.saturating_add(SignedDuration::from_millis(1));
        let after = self.stepped.map(|last| after(last).unwrap_or(last));
        let at = after.map_or(now, |after| after.max(now));
        let is_return = to > from && self.has_come_down;
        self.returns = self.returns.saturating_add(u8::from(is_return));
        (self.calm, self.has_come_down) = (0, to < from);
        self.restart(now);
        (self.rung, self.stepped, self.counted_from) = (to, Some(at), at);
        Step { from, to, requests, violations, period: rules.period, at }
    }

    fn restart(&mut self, now: Timestamp) {
        (self.since, self.counted_from) = (now, now);
        (self.counts, self.own) = (Counts::default(), Counts::default());
    }

    /// Whether the ladder can forget it without a loss.
    pub(super) const fn is_at_rest(&self) -> bool {
        matches!(self.rung, Rung::Observe)
            && self.counts.requests == 0
            && self.returns == 0
            && !self.has_come_down
    }
}

fn periods(time: Duration, rules: &policy::Ladder) -> u32 {
    u32::try_from(time.as_secs() / rules.period.as_secs().max(1)).unwrap_or(u32::MAX)
}

impl Counts {
    fn reach(self, rules: &policy::Ladder) -> bool {
        let Self { requests, violations } = self;
        violations >= rules.min_violations && rules.share.is_reached(violations, requests)
    }

    fn with(self, other: Self, join: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            requests: join(self.requests, other.requests),
            violations: join(self.violations, other.violations),
        }
    }
}
