//! The ladder of a site: violations move a crawler up from observe to throttle to block, and
//! compliance moves it down.
//!
//! The ladder counts the requests and violations of each crawler in a period. A crawler moves up
//! one rung after at least [`policy::Ladder::min_violations`] violations, if their share of its
//! requests reaches [`policy::Ladder::share`]; then its count restarts. It moves down one rung at
//! the end of a period below either limit, also without any request. So a blocked crawler that
//! obeys the rules is back on the lowest rung after two periods.
//!
//! Confirmed, contradicted and unknown claims count separately ([`Outcome`]). A client that borrows
//! a name never gets the real crawler blocked. A client can invent names without limit, so all
//! names that only User-Agents declare share one rung for each network.
//!
//! **Clocks.** The caller passes the time. If the clock is set back, the period restarts. However
//! far it leaps ahead, one call moves a crawler by one rung at most. [`Ladder::settle`] runs
//! regularly, so that silent crawlers move down, too.

use std::{collections::HashMap, fmt, time::Duration};

use jiff::Timestamp;

use crate::{
    crawlers::{Name, Outcome},
    enforce::Rung,
    policy,
};

use super::network::Network;

/// The most networks with declared names on the ladder of a site. Beyond it, the ladder forgets
/// networks on the lowest rung, and all if that frees less than half.
const MOST_DECLARED: usize = 4_096;

/// A step of one rung, up or down. Its text is the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The rung before.
    pub from: Rung,
    /// The rung after.
    pub to: Rung,
    /// The requests in the period.
    pub requests: u64,
    /// The violations among them.
    pub violations: u64,
    /// The period.
    pub period: Duration,
}

impl Step {
    /// `up` or `down`.
    pub(super) fn direction(&self) -> &'static str {
        if self.to > self.from { "up" } else { "down" }
    }
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

/// The position of one crawler on the ladder, with its counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Climber {
    rung: Rung,
    since: Timestamp,
    requests: u64,
    violations: u64,
}

impl Climber {
    /// A crawler with its first request.
    pub(super) const fn new(now: Timestamp) -> Self {
        Self { rung: Rung::Observe, since: now, requests: 0, violations: 0 }
    }

    /// The present rung.
    pub(super) const fn rung(&self) -> Rung {
        self.rung
    }

    /// Counts a request. Moves by one rung at most.
    pub(super) fn note(
        &mut self,
        rules: &policy::Ladder,
        is_violation: bool,
        now: Timestamp,
    ) -> Option<Step> {
        let down = self.settle(rules, now);
        self.requests = self.requests.saturating_add(1);
        self.violations = self.violations.saturating_add(u64::from(is_violation));
        let climbs = is_violation
            && down.is_none()
            && self.violations >= rules.min_violations
            && rules.share.is_reached(self.violations, self.requests);
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
        if now.duration_since(self.since).unsigned_abs() < rules.period {
            return None;
        }
        // The limits for moving up also decide here, because a slow bot may send one request an
        // hour.
        let complies = self.violations < rules.min_violations
            || !rules.share.is_reached(self.violations, self.requests);
        match self.rung.below().filter(|_| complies) {
            Some(below) => Some(self.step(rules, below, now)),
            None => {
                *self = Self { rung: self.rung, ..Self::new(now) };
                None
            }
        }
    }

    fn step(&mut self, rules: &policy::Ladder, to: Rung, now: Timestamp) -> Step {
        let Self { rung: from, requests, violations, .. } = *self;
        *self = Self { rung: to, ..Self::new(now) };
        Step { from, to, requests, violations, period: rules.period }
    }

    /// Whether the ladder can forget it without a loss.
    const fn is_at_rest(&self) -> bool {
        matches!(self.rung, Rung::Observe) && self.requests == 0
    }
}

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
    /// Whether only a User-Agent declares the name.
    pub is_declared: bool,
    /// The outcome of the evidence for the claim.
    pub outcome: Outcome,
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
        let is_declared = matches!(name, Name::Declared(_));
        let one = if is_declared {
            make_room(&mut self.declared, network);
            self.declared.entry(network).or_insert_with(new)
        } else {
            let key = (name.as_str().to_ascii_lowercase(), outcome);
            self.named.entry(key).or_insert_with(new)
        };
        let step = one.climber.note(rules, is_violation, now)?;
        Some(one.moved(step, is_declared))
    }

    /// Ends the periods that are over, and forgets silent crawlers on the lowest rung. Moves each
    /// crawler by one rung at most.
    pub(super) fn settle(&mut self, rules: &policy::Ladder, now: Timestamp) -> Vec<Move> {
        let mut moves = Vec::new();
        let mut stays = |one: &mut NamedClimber, is_declared| {
            if let Some(step) = one.climber.settle(rules, now) {
                moves.push(one.moved(step, is_declared));
            }
            !one.climber.is_at_rest()
        };
        self.named.retain(|_, one| stays(one, false));
        self.declared.retain(|_, one| stays(one, true));
        moves.sort_by(|a, b| a.product_token.cmp(&b.product_token));
        moves
    }
}

impl NamedClimber {
    fn moved(&self, step: Step, is_declared: bool) -> Move {
        let product_token = self.product_token.clone();
        Move { product_token, is_declared, outcome: self.outcome, step }
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

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use proptest::prelude::*;

    use super::*;

    fn rules() -> policy::Ladder {
        policy::Ladder { min_violations: 3, ..policy::Ladder::default() }
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH
            .saturating_add(SignedDuration::from_secs(seconds))
            .expect("a time of day")
    }

    #[test]
    fn violations_move_a_crawler_up_and_compliance_moves_it_down() {
        use Rung::{Block, Observe, Throttle};
        const HOUR: i64 = 3_600;
        let mut climber = Climber::new(at(0));
        // The time, requests that obey, requests that violate, and the rung afterwards.
        for (time, good, bad, rung) in [
            (0, 0, 2, Observe),
            (10, 100, 0, Observe),
            (20, 0, 9, Observe),  // 11 of 111 are below one tenth
            (30, 0, 1, Throttle), // 12 of 112 are above it
            (40, 0, 2, Throttle), // a new count
            (50, 0, 1, Block),
            (60, 0, 500, Block),             // the top rung
            (50 + HOUR, 50, 0, Block),       // a period with violations
            (50 + 2 * HOUR, 1, 0, Throttle), // a period without
            (51 + 2 * HOUR, 0, 2, Throttle),
            (51 + 3 * HOUR, 0, 0, Observe), // a large share, but few violations
            (60 + 3 * HOUR, 0, 4, Throttle),
            (80 + 6 * HOUR, 10, 0, Observe), // no request is compliance
            (90 + 99 * HOUR, 10, 0, Observe),
        ] {
            climber.settle(&rules(), at(time));
            for is_violation in [vec![false; good], vec![true; bad]].concat() {
                climber.note(&rules(), is_violation, at(time));
            }
            assert_eq!(climber.rung(), rung, "at {time}");
        }
    }

    #[test]
    fn a_step_has_a_reason() {
        let mut climber = Climber::new(at(0));
        let steps: Vec<_> = (0..6).filter_map(|_| climber.note(&rules(), true, at(1))).collect();
        let shown: Vec<_> = steps
            .iter()
            .map(|step| (step.to.as_str(), step.direction(), step.to_string()))
            .collect();
        let why = "3 of its 3 requests within 3600 s violated the rules".to_owned();
        assert_eq!(shown, [("throttle", "up", why.clone()), ("block", "up", why)]);
        let step = climber.settle(&rules(), at(4_000)).expect("it sent no request");
        assert_eq!((step.to, step.direction()), (Rung::Throttle, "down"));
        assert_eq!(step.to_string(), "no request for 3600 s");
    }

    #[test]
    fn a_clock_change_moves_a_crawler_by_one_rung_at_most() {
        let blocked = || {
            let mut climber = Climber::new(at(0));
            let steps = (0..6).filter_map(|_| climber.note(&rules(), true, at(0)));
            assert_eq!(steps.count(), 2);
            assert_eq!(climber.rung(), Rung::Block);
            climber
        };
        const TEN_YEARS: i64 = 10 * 365 * 86_400;
        let mut leapt = blocked();
        assert!(leapt.settle(&rules(), at(TEN_YEARS)).is_some());
        assert!(leapt.settle(&rules(), at(TEN_YEARS)).is_none());
        assert_eq!(leapt.rung(), Rung::Throttle);
        // Set back: it moves down after one period of the new time.
        let mut back = blocked();
        assert!(back.settle(&rules(), at(-TEN_YEARS)).is_none());
        assert!(back.settle(&rules(), at(-TEN_YEARS + 3_600)).is_some());
        for extreme in [Timestamp::MIN, Timestamp::MAX, Timestamp::MIN] {
            back.note(&rules(), true, extreme);
            back.settle(&rules(), extreme);
        }
    }

    fn network(number: u32) -> Network {
        Network::of((number << 8).to_be_bytes().into())
    }

    #[test]
    fn violations_under_a_borrowed_name_do_not_move_the_real_crawler() {
        let catalogue = policy::built_in_catalogue();
        let bingbot = Name::Known(catalogue.find("bingbot").expect("a known crawler"));
        let mut ladder = Ladder::default();
        // A name of the catalogue has one rung for all its networks.
        let moves: Vec<_> = (0..4)
            .filter_map(|number| {
                let impostor = (Outcome::Contradicted, network(number));
                ladder.note(&rules(), bingbot, impostor, true, at(0))
            })
            .collect();
        assert_eq!(moves.len(), 1);
        assert_eq!((moves[0].product_token.as_str(), moves[0].is_declared), ("bingbot", false));
        assert_eq!(ladder.rung(bingbot, Outcome::Contradicted, network(9)), Rung::Throttle);
        assert_eq!(ladder.rung(bingbot, Outcome::Confirmed, network(1)), Rung::Observe);
        assert!(ladder.settle(&rules(), at(60)).is_empty());
        assert_eq!(ladder.settle(&rules(), at(3_600)).len(), 1, "one violation is below the limit");
        assert!(ladder.settle(&rules(), at(7_200)).is_empty());
        assert!(ladder.named.is_empty(), "the ladder forgets it");
    }

    #[test]
    fn invented_names_share_a_rung_for_each_network() {
        let mut ladder = Ladder::default();
        let fresh = |number| format!("Fresh{number}Bot");
        for number in 0..6 {
            let name = fresh(number);
            let claim = (Outcome::Unverifiable, network(1));
            ladder.note(&rules(), Name::Declared(&name), claim, true, at(0));
        }
        let rung = |number, name: &str| {
            ladder.rung(Name::Declared(name), Outcome::Unverifiable, network(number))
        };
        assert_eq!((rung(1, &fresh(99)), rung(2, &fresh(1))), (Rung::Block, Rung::Observe));
    }

    #[test]
    fn declared_names_are_bounded_and_evict_no_known_crawler() {
        let catalogue = policy::built_in_catalogue();
        let gptbot = Name::Known(catalogue.find("GPTBot").expect("a known crawler"));
        let (mut ladder, unknown) = (Ladder::default(), Outcome::Unknown);
        for climbs in [gptbot, Name::Declared("firstbot")] {
            let claim = (unknown, network(0));
            (0..3).for_each(|_| drop(ladder.note(&rules(), climbs, claim, true, at(0))));
        }
        for number in 0..2 * MOST_DECLARED as u32 + 5 {
            let claim = (unknown, network(1 + number));
            ladder.note(&rules(), Name::Declared("xbot"), claim, true, at(0));
        }
        assert!(ladder.declared.len() <= MOST_DECLARED);
        assert_eq!(ladder.rung(gptbot, unknown, network(7)), Rung::Throttle);
        assert_eq!(ladder.rung(Name::Declared("xbot"), unknown, network(0)), Rung::Throttle);
        // Networks that move up are bounded as well.
        for number in 0..MOST_DECLARED as u32 {
            let claim = (unknown, network(number));
            let mut note = || ladder.note(&rules(), Name::Declared("ybot"), claim, true, at(0));
            (0..3).for_each(|_| drop(note()));
        }
        assert!(ladder.declared.len() <= MOST_DECLARED);
        assert_eq!(ladder.rung(gptbot, unknown, network(7)), Rung::Throttle);
    }

    proptest! {
        #[test]
        fn no_call_moves_by_more_than_one_rung(
            calls in proptest::collection::vec((any::<Option<bool>>(), -9_000_i64..9_000), 0..200)
        ) {
            let (mut climber, mut now) = (Climber::new(at(0)), 0);
            for (is_violation, later) in calls {
                now += later;
                let before = climber.rung();
                let step = match is_violation {
                    Some(is_violation) => climber.note(&rules(), is_violation, at(now)),
                    None => climber.settle(&rules(), at(now)),
                };
                let after = climber.rung();
                prop_assert_eq!(step.map(|step| (step.from, step.to)), (before != after).then_some((before, after)));
                prop_assert!((before as i8 - after as i8).abs() <= 1);
            }
        }

        #[test]
        fn a_crawler_without_violations_never_moves_up(
            calls in proptest::collection::vec(-9_000_i64..9_000, 0..500)
        ) {
            let (mut climber, mut now) = (Climber::new(at(0)), 0);
            for later in calls {
                now += later;
                prop_assert_eq!(climber.note(&rules(), false, at(now)), None);
            }
            prop_assert_eq!(climber.rung(), Rung::Observe);
        }
    }
}
