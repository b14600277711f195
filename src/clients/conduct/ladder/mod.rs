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
    network::Network,
    observations::{LadderCount, LadderKey, RungStep},
};

pub(super) use self::climber::Step;
use self::climber::{Climber, Counts, Told};

mod climber; // one crawler with its counts
#[cfg(test)]
mod tests;

/// The most networks with declared names on the ladder of a site. Beyond it, the ladder forgets
/// networks on the lowest rung, and all if that frees less than half.
const MOST_DECLARED: usize = 4_096;

/// The crawlers of one site on its ladder.
#[derive(Debug, Default)]
pub(super) struct Ladder {
    /// The crawlers that the catalogue or the site names. Their number is bounded.
    /// By the product token in lower case and the outcome of the evidence.
    named: HashMap<(String, Outcome), NamedClimber>,
    /// The names that only User-Agents declare, by network; at most [`MOST_DECLARED`].
    declared: HashMap<Network, NamedClimber>,
}

/// A climber with its name as first written.
#[derive(Debug)]
struct NamedClimber {
    product_token: String,
    outcome: Outcome,
    climber: Climber,
}

/// A step with the crawler that made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Move {
    /// The product token as the catalogue or the site writes it, else as first declared.
    pub product_token: String,
    /// The network, if only a User-Agent declares the name.
    pub network: Option<Network>,
    /// The outcome of the evidence for the claim.
    pub outcome: Outcome,
    /// How often it climbed again after it came down.
    pub returns: u8,
    /// The step.
    pub step: Step,
}

impl Ladder {
    /// The rung of a crawler; an unknown crawler is on the lowest rung.
    pub(super) fn rung(&self, name: Name<'_>, outcome: Outcome, network: Network) -> Rung {
        let one = match name {
            Name::Declared(_) => self.declared.get(&network),
            _ => self.named.get(&(name.as_str().to_ascii_lowercase(), outcome)),
        };
        one.map(|one| one.climber.rung()).unwrap_or_default()
    }

    /// Counts a request of a crawler.
    pub(super) fn note(
        &mut self,
        rules: &policy::Ladder,
        name: Name<'_>,
        (outcome, network): (Outcome, Network),
        is_violation: bool,
        now: Timestamp,
    ) -> Option<Move> {
        let new = || NamedClimber {
            product_token: name.as_str().to_owned(),
            outcome,
            climber: Climber::new(now),
        };
        let declared = matches!(name, Name::Declared(_)).then_some(network);
        let one = self.entry(name.as_str(), (outcome, declared), new);
        let step = one.climber.note(rules, is_violation, now)?;
        Some(one.moved(step, declared))
    }

    /// The requests of a crawler at this node, for the other nodes of a fleet.
    pub(super) fn count(
        &self,
        site: &str,
        name: Name<'_>,
        (outcome, network): (Outcome, Network),
    ) -> Option<LadderCount> {
        let network = matches!(name, Name::Declared(_)).then_some(network);
        let one = match network {
            Some(network) => self.declared.get(&network),
            None => self.named.get(&(name.as_str().to_ascii_lowercase(), outcome)),
        }?;
        let (period, Counts { requests, violations }) = one.climber.own();
        let product_token = one.product_token.clone();
        let key = LadderKey { site: site.to_owned(), product_token, outcome, network };
        let number = period.as_millisecond();
        Some(LadderCount { key, number, period, requests, violations })
    }

    /// Adds what another node counted.
    pub(super) fn learn_count(
        &mut self,
        rules: &policy::Ladder,
        node: u64,
        count: LadderCount,
        now: Timestamp,
    ) -> Option<Move> {
        let LadderCount { key, number, period, requests, violations } = count;
        let is_over = now.duration_since(period).unsigned_abs() >= rules.period;
        if is_over && !self.knows(&key) {
            return None;
        }
        let LadderKey { product_token, outcome, network, .. } = key;
        let name = product_token.clone();
        let new =
            || NamedClimber { product_token, outcome, climber: Climber::new(period.min(now)) };
        let one = self.entry(&name, (outcome, network), new);
        let step = one.climber.settle(rules, now);
        let told = Told { number, counted_from: period, counts: Counts { requests, violations } };
        one.climber.learn_counts(rules, node, told, now);
        step.map(|step| one.moved(step, network))
    }

    /// Takes over a step that another node made. Returns the rung before, if it changes.
    pub(super) fn learn_step(
        &mut self,
        rules: &policy::Ladder,
        step: &RungStep,
        now: Timestamp,
    ) -> Option<Rung> {
        let RungStep { key, rung, returns, at } = step;
        if *rung == Rung::Observe && *returns == 0 && !self.knows(key) {
            return None;
        }
        let LadderKey { product_token, outcome, network, .. } = key;
        let new = || NamedClimber {
            product_token: product_token.clone(),
            outcome: *outcome,
            climber: Climber::new(now),
        };
        let one = self.entry(product_token, (*outcome, *network), new);
        one.climber.learn_step(rules, (*rung, *returns, *at), now)
    }

    /// Ends the periods that are over, and forgets silent crawlers on the lowest rung. Moves each
    /// crawler by one rung at most.
    pub(super) fn settle(&mut self, rules: &policy::Ladder, now: Timestamp) -> Vec<Move> {
        let mut moves = Vec::new();
        let mut stays = |one: &mut NamedClimber, network| {
            if let Some(step) = one.climber.settle(rules, now) {
                moves.push(one.moved(step, network));
            }
            !one.climber.is_at_rest()
        };
        self.named.retain(|_, one| stays(one, None));
        self.declared.retain(|network, one| stays(one, Some(*network)));
        moves.sort_by(|a, b| a.product_token.cmp(&b.product_token));
        moves
    }

    /// The last steps of the crawlers above the lowest rung, the highest first, each with the time at
    /// which the crawler comes down if it obeys the rules from now on.
    pub(super) fn above_observe(
        &self,
        site: &str,
        rules: &policy::Ladder,
    ) -> Vec<(RungStep, Timestamp)> {
        let named = self.named.values().map(|one| (one, None));
        let declared = self.declared.iter().map(|(network, one)| (one, Some(*network)));
        let above = named.chain(declared).filter(|(one, _)| one.climber.rung() > Rung::Observe);
        let mut all: Vec<_> = above
            .map(|(NamedClimber { product_token, outcome, climber }, network)| {
                let (site, product_token) = (site.to_owned(), product_token.clone());
                let key = LadderKey { site, product_token, outcome: *outcome, network };
                let (rung, returns) = (climber.rung(), climber.returns());
                let at = climber.stepped().unwrap_or_default();
                (RungStep { key, rung, returns, at }, climber.comes_down(rules))
            })
            .collect();
        all.sort_by(|(a, _), (b, _)| {
            b.rung.cmp(&a.rung).then_with(|| a.key.product_token.cmp(&b.key.product_token))
        });
        all
    }

    /// The climber of a crawler; a new one if it has none. `declared` is the network of a name that
    /// only User-Agents declare.
    fn entry(
        &mut self,
        name: &str,
        (outcome, declared): (Outcome, Option<Network>),
        new: impl FnOnce() -> NamedClimber,
    ) -> &mut NamedClimber {
        match declared {
            Some(network) => {
                make_room(&mut self.declared, network);
                self.declared.entry(network).or_insert_with(new)
            }
            None => self.named.entry((name.to_ascii_lowercase(), outcome)).or_insert_with(new),
        }
    }

    fn knows(&self, key: &LadderKey) -> bool {
        match key.network {
            Some(network) => self.declared.contains_key(&network),
            None => self.named.contains_key(&(key.product_token.to_ascii_lowercase(), key.outcome)),
        }
    }
}

impl NamedClimber {
    fn moved(&self, step: Step, network: Option<Network>) -> Move {
        let product_token = self.product_token.clone();
        let (outcome, returns) = (self.outcome, self.climber.returns());
        Move { product_token, network, outcome, returns, step }
    }
}

impl Move {
    /// Whether only a User-Agent declares the name.
    pub(super) const fn is_declared(&self) -> bool {
        self.network.is_some()
    }

    /// The step, for the other nodes of a fleet.
    pub(super) fn told(&self, site: &str) -> RungStep {
        let Self { product_token, network, outcome, returns, step } = self;
        let (site, product_token) = (site.to_owned(), product_token.clone());
        let key = LadderKey { site, product_token, outcome: *outcome, network: *network };
        RungStep { key, rung: step.to, returns: *returns, at: step.at }
    }
}

/// Makes room for a new network.
fn make_room(declared: &mut HashMap<Network, NamedClimber>, network: Network) {
    if declared.len() >= MOST_DECLARED && !declared.contains_key(&network) {
        declared.retain(|_, one| one.climber.rung() > Rung::Observe);
        if declared.len() >= MOST_DECLARED / 2 {
            declared.clear();
        }
    }
}
