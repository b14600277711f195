//! The ladder: a crawler climbs from observe to throttle to block by its own violations, and comes
//! down again when it keeps to the rules.
//!
//! Of each crawler the requests and the violations of one period are counted. It climbs a rung as
//! soon as there are [`policy::Ladder::min_violations`] of them and they are
//! [`policy::Ladder::share`] of its requests, and then its counting begins anew. It comes down a rung
//! at the end of a period in which there were fewer of them, or a lesser share; who doesn't come at
//! all keeps to the rules. A blocked crawler that stays away, or fetches what it may, is thus back at the bottom after
//! two periods.
//!
//! Claims that are known to be true, known to be false and not known are counted apart
//! ([`Outcome`]): who only borrows a name shall not have the crawler blocked that it belongs to.
//!
//! **Clocks.** Time is what the caller says. A look that finds the clock set back begins the period
//! anew, and however far it leapt ahead, one look moves a crawler by one rung at most: the periods
//! that were not seen are not made up for. A look every minute or so makes the descent of the silent
//! ones visible ([`Ladder::look`]).

use std::{collections::HashMap, fmt, time::Duration};

use jiff::Timestamp;

use crate::{
    crawlers::{Name, Outcome},
    enforce::Rung,
    policy,
};

/// How many made-up names a site keeps count of. When there are more, those at the bottom begin
/// anew, and all of them if these are less than half.
const MOST_DECLARED: usize = 4_096;

/// A crawler went one rung up or down. Shown, it is the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Where it stood.
    pub from: Rung,
    /// Where it stands.
    pub to: Rung,
    /// Its requests in the period.
    pub requests: u64,
    /// Those of them that violated the rules.
    pub violations: u64,
    /// The period.
    pub period: Duration,
}

impl Step {
    /// `up` or `down`.
    pub fn direction(&self) -> &'static str {
        if self.to > self.from { "up" } else { "down" }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (violations, requests, seconds) =
            (self.violations, self.requests, self.period.as_secs());
        if requests == 0 {
            return write!(f, "it did not come for {seconds} s");
        }
        let kept = if self.to > self.from { "within" } else { "in all of" };
        write!(f, "{violations} of its {requests} requests {kept} {seconds} s violated the rules")
    }
}

/// The standing of one crawler on one site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Climber {
    rung: Rung,
    since: Timestamp,
    requests: u64,
    violations: u64,
}

impl Climber {
    /// One that is seen for the first time.
    pub const fn new(now: Timestamp) -> Self {
        Self { rung: Rung::Observe, since: now, requests: 0, violations: 0 }
    }

    /// Where it stands.
    pub const fn rung(&self) -> Rung {
        self.rung
    }

    /// Counts a request. One rung at most, up or down.
    pub fn note(
        &mut self,
        rules: &policy::Ladder,
        is_violation: bool,
        now: Timestamp,
    ) -> Option<Step> {
        let down = self.look(rules, now);
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

    /// Ends a period that is over; one rung down at most.
    pub fn look(&mut self, rules: &policy::Ladder, now: Timestamp) -> Option<Step> {
        if now < self.since {
            self.since = now;
        }
        if now.duration_since(self.since).unsigned_abs() < rules.period {
            return None;
        }
        // What would not take it up does not keep it there: a slow bot may have one request an hour.
        let behaved = self.violations < rules.min_violations
            || !rules.share.is_reached(self.violations, self.requests);
        match self.rung.below().filter(|_| behaved) {
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

    /// Whether nothing is lost if it is forgotten.
    const fn is_at_rest(&self) -> bool {
        matches!(self.rung, Rung::Observe) && self.requests == 0
    }
}

/// The crawlers of one site on its ladder.
#[derive(Debug, Default)]
pub struct Ladder {
    /// Of crawlers that the catalogue or the site names: there are only so many.
    named: Places,
    /// Of names that only clients give themselves; at most [`MOST_DECLARED`].
    declared: Places,
}

/// By the product token in lower case, and by what is known of the claim.
type Places = HashMap<(String, Outcome), Place>;

#[derive(Debug)]
struct Place {
    product_token: String,
    climber: Climber,
}

/// A step with whose it is: the product token, and what is known of the claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The product token, as the catalogue or the site writes it, else as it came first.
    pub product_token: String,
    /// Whether only clients name it.
    pub is_declared: bool,
    /// What is known of who bears it.
    pub outcome: Outcome,
    /// The step.
    pub step: Step,
}

impl Ladder {
    /// Where a crawler stands; one that was never counted stands at the bottom.
    pub fn rung(&self, name: Name<'_>, outcome: Outcome) -> Rung {
        let table = if is_declared(name) { &self.declared } else { &self.named };
        table
            .get(&(name.as_str().to_ascii_lowercase(), outcome))
            .map(|place| place.climber.rung())
            .unwrap_or_default()
    }

    /// Counts a request of a crawler.
    pub fn note(
        &mut self,
        rules: &policy::Ladder,
        name: Name<'_>,
        outcome: Outcome,
        is_violation: bool,
        now: Timestamp,
    ) -> Option<Move> {
        let is_declared = is_declared(name);
        let table = if is_declared { &mut self.declared } else { &mut self.named };
        let key = (name.as_str().to_ascii_lowercase(), outcome);
        if is_declared && table.len() >= MOST_DECLARED && !table.contains_key(&key) {
            table.retain(|_, place| place.climber.rung() > Rung::Observe);
            if table.len() >= MOST_DECLARED / 2 {
                table.clear();
            }
        }
        let place = table.entry(key).or_insert_with(|| Place {
            product_token: name.as_str().to_owned(),
            climber: Climber::new(now),
        });
        let step = place.climber.note(rules, is_violation, now)?;
        Some(Move { product_token: place.product_token.clone(), is_declared, outcome, step })
    }

    /// Ends the periods that are over, and forgets who stands at the bottom and is silent. One rung
    /// at most for each.
    pub fn look(&mut self, rules: &policy::Ladder, now: Timestamp) -> Vec<Move> {
        let mut moves = Vec::new();
        for (table, is_declared) in [(&mut self.named, false), (&mut self.declared, true)] {
            table.retain(|(_, outcome), Place { product_token, climber }| {
                if let Some(step) = climber.look(rules, now) {
                    let product_token = product_token.clone();
                    moves.push(Move { product_token, is_declared, outcome: *outcome, step });
                }
                !climber.is_at_rest()
            });
        }
        moves.sort_by(|a, b| a.product_token.cmp(&b.product_token));
        moves
    }
}

const fn is_declared(name: Name<'_>) -> bool {
    matches!(name, Name::Declared(_))
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
    fn ours_a_walk_up_the_ladder_and_down_again() {
        use Rung::{Block, Observe, Throttle};
        const HOUR: i64 = 3_600;
        let mut climber = Climber::new(at(0));
        // When, how many requests that obey, how many that don't, and where it stands then.
        for (time, good, bad, rung) in [
            (0, 0, 2, Observe),
            (10, 100, 0, Observe),
            (20, 0, 9, Observe),  // 11 of 111 are less than a tenth
            (30, 0, 1, Throttle), // 12 of 112 are more
            (40, 0, 2, Throttle), // counted anew
            (50, 0, 1, Block),
            (60, 0, 500, Block),             // nothing lies above
            (50 + HOUR, 50, 0, Block),       // the period was bad
            (50 + 2 * HOUR, 1, 0, Throttle), // this one was good
            (51 + 2 * HOUR, 0, 2, Throttle),
            (51 + 3 * HOUR, 0, 0, Observe), // a large share, but few violations
            (60 + 3 * HOUR, 0, 4, Throttle),
            (80 + 6 * HOUR, 10, 0, Observe), // who stays away keeps to the rules
            (90 + 99 * HOUR, 10, 0, Observe),
        ] {
            climber.look(&rules(), at(time));
            for is_violation in [vec![false; good], vec![true; bad]].concat() {
                climber.note(&rules(), is_violation, at(time));
            }
            assert_eq!(climber.rung(), rung, "at {time}");
        }
    }

    #[test]
    fn ours_a_step_says_why() {
        let mut climber = Climber::new(at(0));
        let steps: Vec<_> = (0..6).filter_map(|_| climber.note(&rules(), true, at(1))).collect();
        let shown: Vec<_> = steps
            .iter()
            .map(|step| (step.to.as_str(), step.direction(), step.to_string()))
            .collect();
        let why = "3 of its 3 requests within 3600 s violated the rules".to_owned();
        assert_eq!(shown, [("throttle", "up", why.clone()), ("block", "up", why)]);
        let step = climber.look(&rules(), at(4_000)).expect("it stayed away");
        assert_eq!((step.to, step.direction()), (Rung::Throttle, "down"));
        assert_eq!(step.to_string(), "it did not come for 3600 s");
    }

    #[test]
    fn ours_a_clock_that_jumps_moves_nobody_by_more_than_a_rung() {
        let blocked = || {
            let mut climber = Climber::new(at(0));
            let steps = (0..6).filter_map(|_| climber.note(&rules(), true, at(0)));
            assert_eq!(steps.count(), 2);
            assert_eq!(climber.rung(), Rung::Block);
            climber
        };
        const TEN_YEARS: i64 = 10 * 365 * 86_400;
        let mut leapt = blocked();
        assert!(leapt.look(&rules(), at(TEN_YEARS)).is_some());
        assert!(leapt.look(&rules(), at(TEN_YEARS)).is_none());
        assert_eq!(leapt.rung(), Rung::Throttle);
        // Set back: it neither falls nor stays for ten years.
        let mut back = blocked();
        assert!(back.look(&rules(), at(-TEN_YEARS)).is_none());
        assert!(back.look(&rules(), at(-TEN_YEARS + 3_600)).is_some());
        for extreme in [Timestamp::MIN, Timestamp::MAX, Timestamp::MIN] {
            back.note(&rules(), true, extreme);
            back.look(&rules(), extreme);
        }
    }

    #[test]
    fn ours_who_borrows_a_name_moves_only_borrowers() {
        let catalogue = policy::built_in_catalogue();
        let bingbot = Name::Known(catalogue.find("bingbot").expect("it is known"));
        let mut ladder = Ladder::default();
        let moves: Vec<_> = (0..4)
            .filter_map(|_| ladder.note(&rules(), bingbot, Outcome::Contradicted, true, at(0)))
            .collect();
        assert_eq!(moves.len(), 1);
        assert_eq!((moves[0].product_token.as_str(), moves[0].is_declared), ("bingbot", false));
        assert_eq!(ladder.rung(bingbot, Outcome::Contradicted), Rung::Throttle);
        assert_eq!(ladder.rung(bingbot, Outcome::Confirmed), Rung::Observe);
        assert!(ladder.look(&rules(), at(60)).is_empty());
        assert_eq!(ladder.look(&rules(), at(3_600)).len(), 1, "one violation is too few");
        assert!(ladder.look(&rules(), at(7_200)).is_empty());
        assert!(ladder.named.is_empty(), "nothing is known of it that matters");
    }

    #[test]
    fn ours_made_up_names_are_bounded_and_crowd_out_nobody() {
        let catalogue = policy::built_in_catalogue();
        let gptbot = Name::Known(catalogue.find("GPTBot").expect("it is known"));
        let mut ladder = Ladder::default();
        for climbs in [gptbot, Name::Declared("firstbot")] {
            (0..3).for_each(|_| drop(ladder.note(&rules(), climbs, Outcome::Unknown, true, at(0))));
        }
        for number in 0..2 * MOST_DECLARED + 5 {
            let name = format!("x{number}bot");
            let name = Name::Declared(&name);
            ladder.note(&rules(), name, Outcome::Unverifiable, true, at(0));
        }
        assert!(ladder.declared.len() <= MOST_DECLARED);
        assert_eq!(ladder.rung(gptbot, Outcome::Unknown), Rung::Throttle);
        assert_eq!(ladder.rung(Name::Declared("firstbot"), Outcome::Unknown), Rung::Throttle);
        // Made-up names that climb are bounded as well.
        for number in 0..MOST_DECLARED {
            let name = format!("y{number}bot");
            let mut note =
                || ladder.note(&rules(), Name::Declared(&name), Outcome::Unknown, true, at(0));
            (0..3).for_each(|_| drop(note()));
        }
        assert!(ladder.declared.len() <= MOST_DECLARED);
        assert_eq!(ladder.rung(gptbot, Outcome::Unknown), Rung::Throttle);
    }

    proptest! {
        #[test]
        fn ours_no_look_moves_by_more_than_a_rung(
            looks in proptest::collection::vec((any::<Option<bool>>(), -9_000_i64..9_000), 0..200)
        ) {
            let (mut climber, mut now) = (Climber::new(at(0)), 0);
            for (is_violation, later) in looks {
                now += later;
                let before = climber.rung();
                let step = match is_violation {
                    Some(is_violation) => climber.note(&rules(), is_violation, at(now)),
                    None => climber.look(&rules(), at(now)),
                };
                let after = climber.rung();
                prop_assert_eq!(step.map(|step| (step.from, step.to)), (before != after).then_some((before, after)));
                prop_assert!((before as i8 - after as i8).abs() <= 1);
            }
        }

        #[test]
        fn ours_who_violates_nothing_never_climbs(
            looks in proptest::collection::vec(-9_000_i64..9_000, 0..500)
        ) {
            let (mut climber, mut now) = (Climber::new(at(0)), 0);
            for later in looks {
                now += later;
                prop_assert_eq!(climber.note(&rules(), false, at(now)), None);
            }
            prop_assert_eq!(climber.rung(), Rung::Observe);
        }
    }
}
