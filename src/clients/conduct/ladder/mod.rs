//! The ladder of a site: violations move a crawler up from observe to throttle to block, and
//! compliance moves it down.
//!
//! The ladder counts the requests and violations of each crawler in a period. A crawler moves up
//! one rung after at least [`policy::Ladder::min_violations`] violations, if their share of its
//! requests reaches [`policy::Ladder::share`]; then its count restarts. It moves down one rung at
//! the end of a period below either limit, also without any request. So a blocked crawler that
//! obeys the rules is back on the lowest rung after two periods.
//!
//! A crawler that climbs again after it came down needs twice as many such periods for each step down,
//! and so on, up to seven days. Seven days on the lowest rung without a climb end that.
//!
//! Confirmed, contradicted and unknown claims count separately ([`Outcome`]). A client that borrows
//! a name never gets the real crawler blocked. A client can invent names without limit, so all
//! names that only User-Agents declare share one rung for each network.
//!
//! In a fleet, the counts of the other nodes are added as they come, and a step at one node is one at
//! all.
//!
//! **Clocks.** The caller passes the time. If the clock is set back, the period restarts. However
//! far it leaps ahead, one call moves a crawler by one rung at most. [`Ladder::settle`] runs
//! regularly, so that silent crawlers move down, too.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::rules::{
    crawlers::{Name, Outcome},
    enforce::Rung,
    policy,
};

use super::{
    capacity::make_room,
    key::Network,
    observations::{LadderCount, LadderKey, RungStep},
};

pub(super) use self::climber::Step;
use self::climber::{Climber, Counts, Told};

mod climber; // one crawler with its counts
#[cfg(test)]
mod tests;

/// The most networks with declared names. Beyond it, those on the lowest rung go first.
const MOST_DECLARED: usize = 4_096;

#[derive(Debug, Default)]
pub(super) struct Ladder {
    /// The crawlers that the catalogue or the site names. Their number is bounded.
    /// By the product token in lower case and the outcome of the evidence.
    named: HashMap<(String, Outcome), NamedClimber>,
    /// The names that only User-Agents declare, by network; at most [`MOST_DECLARED`].
    declared: HashMap<Network, NamedClimber>,
}

#[derive(Debug)]
struct NamedClimber {
    key: LadderKey,
    climber: Climber,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Move {
    pub key: LadderKey,
    /// How often it climbed again after it came down.
    pub returns: u8,
    pub step: Step,
}

impl Ladder {
    /// The rung of a crawler; an unknown crawler is on the lowest rung.
    pub(super) fn rung(&self, name: Name<'_>, outcome: Outcome, network: Network) -> Rung {
        let one = self.find(name.as_str(), outcome, declared(name, network));
        one.map(|one| one.climber.rung).unwrap_or_default()
    }

    pub(super) fn note(
        &mut self,
        (site, rules): (&str, &policy::Ladder),
        name: Name<'_>,
        (outcome, network): (Outcome, Network),
        is_violation: bool,
        now: Timestamp,
    ) -> Option<Move> {
        let network = declared(name, network);
        let one = self.entry((site, name.as_str()), outcome, network, now);
        let step = one.climber.note(rules, is_violation, now)?;
        Some(one.moved(step))
    }

    pub(super) fn count(
        &self,
        name: Name<'_>,
        (outcome, network): (Outcome, Network),
    ) -> Option<LadderCount> {
        let one = self.find(name.as_str(), outcome, declared(name, network))?;
        let Climber { counted_from: period, own: Counts { requests, violations }, .. } =
            one.climber;
        let number = period.as_millisecond();
        Some(LadderCount { key: one.key.clone(), number, period, requests, violations })
    }

    pub(super) fn learn_count(
        &mut self,
        rules: &policy::Ladder,
        node: u64,
        count: &LadderCount,
        now: Timestamp,
    ) -> Option<Move> {
        let LadderCount { ref key, number, period, requests, violations } = *count;
        let is_over = now.duration_since(period).unsigned_abs() >= rules.period;
        if is_over && !self.knows(key) {
            return None;
        }
        let one = self.entry_of(key, period.min(now));
        let step = one.climber.settle(rules, now);
        let counts = Counts { requests, violations };
        one.climber.learn_counts(rules, Told { node, number, counted_from: period, counts }, now);
        step.map(|step| one.moved(step))
    }

    pub(super) fn learn_step(
        &mut self,
        rules: &policy::Ladder,
        RungStep { key, rung, returns, at }: &RungStep,
        now: Timestamp,
    ) -> Option<Rung> {
        if *rung == Rung::Observe && *returns == 0 && !self.knows(key) {
            return None;
        }
        let one = self.entry_of(key, now);
        one.climber.learn_step(rules, (*rung, *returns, *at), now)
    }

    /// Ends the periods that are over, and forgets silent crawlers on the lowest rung. Moves each
    /// crawler by one rung at most.
    pub(super) fn settle(&mut self, rules: &policy::Ladder, now: Timestamp) -> Vec<Move> {
        let mut moves = Vec::new();
        let mut stays = |one: &mut NamedClimber| {
            let step = one.climber.settle(rules, now);
            moves.extend(step.map(|step| one.moved(step)));
            !one.climber.is_at_rest()
        };
        self.named.retain(|_, one| stays(one));
        self.declared.retain(|_, one| stays(one));
        moves.sort_by(|a, b| a.key.product_token.cmp(&b.key.product_token));
        moves
    }

    pub(super) fn above_observe(&self, rules: &policy::Ladder) -> Vec<(RungStep, Timestamp)> {
        let climbers = self.named.values().chain(self.declared.values());
        let above = climbers.filter(|one| one.climber.rung > Rung::Observe);
        let mut all: Vec<_> = above
            .map(|one| {
                let (rung, returns) = (one.climber.rung, one.climber.returns);
                let at = one.climber.stepped.unwrap_or_default();
                let step = RungStep { key: one.key.clone(), rung, returns, at };
                (step, one.climber.comes_down(rules))
            })
            .collect();
        all.sort_by(|(a, _), (b, _)| {
            b.rung.cmp(&a.rung).then_with(|| a.key.product_token.cmp(&b.key.product_token))
        });
        all
    }

    /// The climber of a crawler; `declared` is the network of a name that only User-Agents declare.
    fn find(
        &self,
        name: &str,
        outcome: Outcome,
        declared: Option<Network>,
    ) -> Option<&NamedClimber> {
        match declared {
            Some(network) => self.declared.get(&network),
            None => self.named.get(&(name.to_ascii_lowercase(), outcome)),
        }
    }

    /// The same climber; a new one since `now` if there is none.
    fn entry(
        &mut self,
        (site, name): (&str, &str),
        outcome: Outcome,
        declared: Option<Network>,
        now: Timestamp,
    ) -> &mut NamedClimber {
        let new = || {
            let (site, product_token) = (site.to_owned(), name.to_owned());
            let key = LadderKey { site, product_token, outcome, network: declared };
            NamedClimber { key, climber: Climber::new(now) }
        };
        match declared {
            Some(network) => {
                let climbs = |one: &NamedClimber| one.climber.rung > Rung::Observe;
                make_room(&mut self.declared, &network, MOST_DECLARED, climbs);
                self.declared.entry(network).or_insert_with(new)
            }
            None => self.named.entry((name.to_ascii_lowercase(), outcome)).or_insert_with(new),
        }
    }

    fn entry_of(&mut self, key: &LadderKey, now: Timestamp) -> &mut NamedClimber {
        self.entry((&key.site, &key.product_token), key.outcome, key.network, now)
    }

    fn knows(&self, key: &LadderKey) -> bool {
        self.find(&key.product_token, key.outcome, key.network).is_some()
    }
}

/// The network under which a crawler counts, if only its User-Agent declares the name.
fn declared(name: Name<'_>, network: Network) -> Option<Network> {
    matches!(name, Name::Declared(_)).then_some(network)
}

impl NamedClimber {
    fn moved(&self, step: Step) -> Move {
        Move { key: self.key.clone(), returns: self.climber.returns, step }
    }
}

impl Move {
    pub(super) fn told(&self) -> RungStep {
        let Self { key, returns, step } = self;
        RungStep { key: key.clone(), rung: step.to, returns: *returns, at: step.at }
    }
}
