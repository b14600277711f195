//! The conduct at one site: its ladder and its breaker. A reload keeps them by the name of the
//! site.

use std::sync::Arc;

use jiff::Timestamp;
use parking_lot::Mutex;

use crate::{
    crawlers::{Name, Outcome},
    enforce::{self, Action, Decision, Reason, Rung, Site},
    escape,
    metrics::{self, Gauge, Metrics},
    policy,
    robots::Access,
};

use super::{
    breaker::{Alarm, Breaker, Refusal},
    ladder::{Ladder, Move},
    network::Network,
};

/// The ladder and the breaker of one site, if its policy has them.
#[derive(Debug)]
pub struct SiteConduct {
    ladder: Option<Arc<Mutex<Ladder>>>,
    breaker: Option<Arc<Mutex<Switch>>>,
}

/// A breaker with its metric.
#[derive(Debug)]
struct Switch {
    breaker: Breaker,
    gauge: Gauge,
}

impl SiteConduct {
    /// The conduct of a site. It keeps the state of `previous` if the policy still has the ladder
    /// or the breaker.
    pub fn following(previous: Option<&Self>, site: &Site, metrics: &Metrics) -> Self {
        let ladder = previous.and_then(|before| before.ladder.clone());
        let breaker = previous.and_then(|before| before.breaker.clone());
        let enforcement = &site.enforcement;
        if ladder.is_some() && enforcement.ladder.is_none() {
            metrics.forget_ladder(&site.name);
        }
        if breaker.is_some() && enforcement.breaker.is_none() {
            metrics.forget_breaker(&site.name);
        }
        let closed =
            || Switch { breaker: Breaker::default(), gauge: metrics.breaker_open(&site.name) };
        Self {
            ladder: enforcement.ladder.map(|_| ladder.unwrap_or_default()),
            breaker: enforcement
                .breaker
                .map(|_| breaker.unwrap_or_else(|| Arc::new(Mutex::new(closed())))),
        }
    }

    /// The rung of a crawler on the site's ladder.
    pub fn rung(&self, name: Name<'_>, outcome: Outcome, network: Network) -> Rung {
        let ladder = self.ladder.as_ref();
        ladder.map(|ladder| ladder.lock().rung(name, outcome, network)).unwrap_or_default()
    }

    /// Moves silent crawlers down the ladder, and closes the breaker after its pause.
    pub fn settle(&self, site: &Site, now: Timestamp, metrics: &Metrics) {
        if let (Some(ladder), Some(rules)) = (&self.ladder, &site.enforcement.ladder) {
            let moves = ladder.lock().settle(rules, now);
            moves.iter().for_each(|one| report_move(site, one, metrics));
        }
        if let (Some(switch), Some(rules)) = (&self.breaker, &site.enforcement.breaker) {
            switch.lock().is_open(site, rules, now);
        }
    }
}

/// A decided request at its site.
#[derive(Clone, Copy, Debug)]
pub struct Sighting<'a, 'r> {
    /// The site.
    pub site: &'r Site,
    /// The host, if a site names it. A host of the default site can be any word.
    pub host: Option<&'a str>,
    /// The ladder and the breaker of the site.
    pub conduct: &'a SiteConduct,
    /// The network of the client.
    pub network: Network,
    /// Whether the method asks for the content of a page. Other requests cost next to nothing.
    pub is_for_content: bool,
}

impl Sighting<'_, '_> {
    /// Counts a request of a crawler on the ladder.
    pub(super) fn climb(
        &self,
        decision: &Decision<'_>,
        now: impl FnOnce() -> Timestamp,
        metrics: &Metrics,
    ) {
        let Self { site, conduct, network, is_for_content, .. } = *self;
        let name = decision.judgement.and_then(|judgement| judgement.name);
        if let (Some(ladder), Some(rules)) = (&conduct.ladder, &site.enforcement.ladder)
            && let (Some(name), Some(_)) = (name, decision.rung)
        {
            // Beadle never blocks a confirmed search engine by '*' alone. So these requests don't
            // move it up the ladder either.
            let is_exempt = enforce::is_protected(&site.enforcement, name, decision.standing)
                && site.edition().matcher().star()
                    == decision.judgement.and_then(|judgement| judgement.group);
            let is_violation = decision.access == Access::Disallow
                && decision.reason != Reason::Grace
                && !is_exempt;
            if !is_violation && !is_for_content {
                // A crawler could make its share of violations as small as it likes by HEAD.
                return;
            }
            let claim = (decision.standing.outcome, network);
            let step = ladder.lock().note(rules, name, claim, is_violation, now());
            step.iter().for_each(|one| report_move(site, one, metrics));
        }
    }

    /// Counts a request, and whether Beadle would refuse it. Returns the reason to let a refused
    /// request pass.
    pub(super) fn lift(
        &self,
        decision: &Decision<'_>,
        is_refusal: bool,
        now: impl FnOnce() -> Timestamp,
        metrics: &Metrics,
    ) -> Option<Reason> {
        let Self { site, conduct, network, .. } = *self;
        let (Some(switch), Some(rules)) = (&conduct.breaker, &site.enforcement.breaker) else {
            return None;
        };
        let name = decision.judgement.and_then(|judgement| judgement.name);
        let protected = name.filter(|name| {
            decision.action == Action::Block
                && enforce::is_protected(&site.enforcement, *name, decision.standing)
        });
        let (now, edition) = (now(), site.timeline.current());
        let mut switch = switch.lock();
        let alarm = match protected {
            Some(name) => switch.breaker.spare(rules, edition, name.as_str(), now),
            None if is_refusal => {
                switch.breaker.refuse(rules, edition, Refusal { network, name }, now)
            }
            None => {
                switch.breaker.pass(rules, now);
                None
            }
        };
        let is_open = switch.is_open(site, rules, now);
        drop(switch);
        alarm.iter().for_each(|alarm| report_alarm(site, alarm, rules, metrics));
        match protected {
            _ if is_open && is_refusal => Some(Reason::BreakerOpen),
            // The breaker opened for this crawler and these rules before. It alone passes.
            Some(_) => Some(Reason::Spared),
            None => None,
        }
    }
}

impl Switch {
    /// Whether the breaker is open. Updates the metric after a change.
    fn is_open(&mut self, site: &Site, rules: &policy::Breaker, now: Timestamp) -> bool {
        let is_open = self.breaker.is_open(rules, now);
        if is_open != (self.gauge.get() == 1) {
            self.gauge.set(i64::from(is_open));
            if !is_open {
                tracing::info!(code = "breaker.closed", site = site.name, "breaker closed");
            }
        }
        is_open
    }
}

/// Logs and counts a step on the ladder.
fn report_move(site: &Site, one: &Move, metrics: &Metrics) {
    let Move { product_token, is_declared, outcome, step } = one;
    let (standing, direction, rung) = (outcome.as_str(), step.direction(), step.to);
    let label = if *is_declared { metrics::OTHER_TOKEN } else { product_token };
    metrics.ladder_step(&site.name, label, standing, direction, rung as i64);
    let (site, from, to) = (&site.name, step.from.as_str(), rung.as_str());
    let product_token = escape::shown(product_token);
    let reason = step.to_string();
    macro_rules! log {
        ($level:ident, $code:literal, $what:literal) => {
            tracing::$level!(code = $code, site, product_token, standing, from, to, reason, $what)
        };
    }
    // Clients can declare names without limit; these must not fill the log.
    match (direction, is_declared) {
        ("up", false) => log!(warn, "ladder.up", "crawler moved up the ladder"),
        ("up", true) => log!(debug, "ladder.up", "crawler moved up the ladder"),
        (_, false) => log!(info, "ladder.down", "crawler moved down the ladder"),
        (_, true) => log!(debug, "ladder.down", "crawler moved down the ladder"),
    }
}

/// Logs and counts the alarm of a breaker.
fn report_alarm(site: &Site, alarm: &Alarm, rules: &policy::Breaker, metrics: &Metrics) {
    metrics.breaker_opened(&site.name, alarm.cause.as_str());
    let (reason, seconds) = (alarm.cause.to_string(), rules.pause.as_secs());
    tracing::error!(
        code = "breaker.opened",
        site = site.name,
        reason,
        seconds,
        "breaker opened: no request is refused until it closes"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{enforce::Rulebook, metrics::RecordCounts, policy::Policy};

    #[test]
    fn a_silent_crawler_moves_down_and_its_metric_ends() {
        let text = "sites: [{ hosts: [a.example], origin: \"http://127.0.0.1:1\", \
                    enforcement: { mode: ladder } }]";
        let policy: Policy = text.parse().unwrap();
        let book = Rulebook::compile(&policy, Timestamp::UNIX_EPOCH, None);
        let (site, metrics) = (&book.sites()[0], Metrics::new());
        let conduct = SiteConduct::following(None, site, &metrics);
        let rules = site.enforcement.ladder.expect("the policy has one");
        let name = book.catalogue().find("gptbot").map(Name::Known).expect("a known crawler");
        let at = |hours: i64| Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_hours(hours);
        let network = Network::of([192, 0, 2, 1].into());
        let claim = (Outcome::Unknown, network);
        let climb = |number: u64| {
            let ladder = conduct.ladder.as_ref().expect("the policy has one");
            (0..number).for_each(|_| {
                let one = ladder.lock().note(&rules, name, claim, true, at(0));
                one.iter().for_each(|one| report_move(site, one, &metrics));
            });
        };
        climb(2 * rules.min_violations);
        let shown = || {
            let text = metrics.exposition(&RecordCounts::default());
            let line = text.lines().find(|line| line.starts_with("beadle_ladder_rung{"));
            line.map(str::to_owned)
        };
        let labels = r#"product_token="GPTBot",site="a.example",standing="unknown""#;
        let expected = |rung: u8| Some(format!("beadle_ladder_rung{{{labels}}} {rung}"));
        assert_eq!(
            (conduct.rung(name, Outcome::Unknown, network), shown()),
            (Rung::Block, expected(2))
        );
        // A reload continues it.
        let conduct = SiteConduct::following(Some(&conduct), site, &metrics);
        conduct.settle(site, at(1), &metrics);
        assert_eq!(
            (conduct.rung(name, Outcome::Unknown, network), shown()),
            (Rung::Throttle, expected(1))
        );
        conduct.settle(site, at(2), &metrics);
        assert_eq!((conduct.rung(name, Outcome::Unknown, network), shown()), (Rung::Observe, None));
    }
}
