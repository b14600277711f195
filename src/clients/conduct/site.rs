//! The conduct at one site: its ladder and its breaker. A reload keeps them by the name of the
//! site.

use std::{net::IpAddr, sync::Arc, time::Duration};

use jiff::Timestamp;
use parking_lot::{Mutex, MutexGuard};

use crate::{
    base::{
        escape,
        metrics::{self, Gauge, Metrics},
    },
    rules::{
        crawlers::{Name, Outcome},
        enforce::{self, Action, Decision, Reason, Rung, Site},
        policy,
    },
};

use super::{
    admission::Admission,
    breaker::{Breaker, Cause, Refusal},
    collector::Fleet,
    key::Network,
    ladder::{Ladder, Move},
    observations::{LadderKey, Opening, RungStep},
};

/// The ladder and the breaker of one site, if its policy has them.
#[derive(Debug)]
pub struct SiteConduct {
    ladder: Option<Arc<Mutex<Ladder>>>,
    breaker: Option<Arc<Mutex<Switch>>>,
    pub(crate) admission: Option<Arc<Admission>>,
}

#[derive(Debug)]
pub(super) struct Switch {
    pub(super) breaker: Breaker,
    gauge: Gauge,
}

impl SiteConduct {
    /// The conduct of a site. It keeps the state of `previous` if the policy still has the ladder
    /// or the breaker.
    pub fn following(previous: Option<&Self>, site: &Site, metrics: &Metrics) -> Self {
        let ladder = previous.and_then(|before| before.ladder.clone());
        let breaker = previous.and_then(|before| before.breaker.clone());
        let admission = previous.and_then(|before| before.admission.clone());
        let enforcement = &site.enforcement;
        if ladder.is_some() && enforcement.ladder.is_none() {
            metrics.forget_ladder(&site.name);
        }
        if breaker.is_some() && enforcement.breaker.is_none() {
            metrics.forget_breaker(&site.name);
        }
        if admission.is_some() && enforcement.people_first.is_none() {
            metrics.forget_people_first(&site.name);
        }
        let closed = || {
            let (breaker, gauge) = (Breaker::default(), metrics.breaker_open(&site.name));
            Arc::new(Mutex::new(Switch { breaker, gauge }))
        };
        Self {
            admission: enforcement.people_first.as_ref().map(|_| admission.unwrap_or_default()),
            ladder: enforcement.ladder.map(|_| ladder.unwrap_or_default()),
            breaker: enforcement.breaker.map(|_| breaker.unwrap_or_else(closed)),
        }
    }

    /// The rung of a crawler on the ladder.
    pub fn rung(&self, name: Name<'_>, outcome: Outcome, network: Network) -> Rung {
        let ladder = self.ladder.as_ref();
        ladder.map(|ladder| ladder.lock().rung(name, outcome, network)).unwrap_or_default()
    }

    pub(super) fn ladder<'a>(
        &'a self,
        site: &'a Site,
    ) -> Option<(MutexGuard<'a, Ladder>, &'a policy::Ladder)> {
        Some((self.ladder.as_ref()?.lock(), site.enforcement.ladder.as_ref()?))
    }

    pub(super) fn switch<'a>(
        &'a self,
        site: &'a Site,
    ) -> Option<(MutexGuard<'a, Switch>, &'a policy::Breaker)> {
        Some((self.breaker.as_ref()?.lock(), site.enforcement.breaker.as_ref()?))
    }

    /// The last steps of the crawlers above the lowest rung, the highest first, each with the time at
    /// which the crawler comes down if it obeys the rules from now on.
    pub fn above_observe(&self, site: &Site) -> Vec<(RungStep, Timestamp)> {
        let ladder = self.ladder(site);
        ladder.map(|(ladder, rules)| ladder.above_observe(rules)).unwrap_or_default()
    }

    /// Moves silent crawlers down the ladder, and closes the breaker after its pause. A node that
    /// hears nothing of the others moves none: the crawler may not be silent there.
    pub(super) fn settle(
        &self,
        site: &Site,
        now: Timestamp,
        (fleet, metrics): (Fleet<'_>, &Metrics),
    ) {
        if let Some((mut ladder, rules)) = self.ladder(site).filter(|_| !fleet.is_alone) {
            let moves = ladder.settle(rules, now);
            drop(ladder);
            moves.iter().for_each(|one| report_move(one, (fleet, metrics)));
        }
        if let Some((mut switch, rules)) = self.switch(site) {
            switch.is_open(site, rules, now);
        }
    }

    /// Shows the load of a site where people come first, and logs that no crawler is put off any more.
    pub fn show_admission(&self, site: &Site, steady: Duration, metrics: &Metrics) {
        let (Some(admission), Some(rules)) = (&self.admission, &site.enforcement.people_first)
        else {
            return;
        };
        let (site, calmed) = (&site.name, admission.calmed(steady));
        let load = admission.load(rules);
        let counts =
            [("people", load.people), ("crawler", load.crawlers), ("waiting", load.waiting)];
        metrics.people_first(site, load.limit, counts, load.is_active);
        if let Some(put_off) = calmed {
            tracing::info!(code = "people_first.ended", site, put_off, "no crawler is put off");
        }
    }

    pub(super) fn learn_opening(&self, site: &Site, opening: &Opening, now: Timestamp) {
        if let Some((mut switch, rules)) = self.switch(site) {
            let (edition, engine) = (site.timeline.current(), opening.search_engine.as_deref());
            if switch.breaker.learn_opening(rules, edition, (opening.at, engine), now) {
                let (site, seconds) = (&site.name, rules.pause.as_secs());
                tracing::warn!(
                    code = "breaker.opened_elsewhere",
                    site,
                    seconds,
                    "breaker opened at another node: no request is refused until it closes"
                );
            }
            switch.is_open(site, rules, now);
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
    /// The address of the client.
    pub address: IpAddr,
    /// Whether the method asks for the content of a page. Other requests cost next to nothing.
    pub is_for_content: bool,
}

impl Sighting<'_, '_> {
    pub(super) fn climb(
        &self,
        decision: &Decision<'_>,
        now: impl Fn() -> Timestamp,
        (fleet, metrics): (Fleet<'_>, &Metrics),
    ) {
        let Self { site, conduct, address, is_for_content, .. } = *self;
        if fleet.excuses {
            // Without the violations that are excused, every crawler would seem to comply.
            return;
        }
        let name = decision.judgement.and_then(|judgement| judgement.name);
        if let (Some(ladder), Some(rules)) = (&conduct.ladder, &site.enforcement.ladder)
            && let (Some(name), Some(_)) = (name, decision.rung)
        {
            // Beadle never blocks a confirmed search engine by '*' alone. So these requests don't
            // move it up the ladder either.
            let is_exempt = enforce::is_protected(&site.enforcement, name, decision.standing, &now)
                && site.edition().matcher().star()
                    == decision.judgement.and_then(|judgement| judgement.group);
            let is_violation = decision.is_violation() && !is_exempt;
            if !is_violation && !is_for_content {
                // A crawler could make its share of violations as small as it likes by HEAD.
                return;
            }
            let network = Network::of_client(address, Some(name));
            let claim = (decision.standing.outcome, network);
            let mut ladder = ladder.lock();
            let step = ladder.note((&site.name, rules), name, claim, is_violation, now());
            if let Some(collector) = fleet.collector {
                ladder.count(name, claim).into_iter().for_each(|one| collector.count(one));
            }
            drop(ladder);
            step.iter().for_each(|one| report_move(one, (fleet, metrics)));
        }
    }

    /// Counts a request, and whether Beadle would refuse it. Returns the reason to let a refused
    /// request pass.
    pub(super) fn lift(
        &self,
        decision: &Decision<'_>,
        is_refusal: bool,
        now: impl Fn() -> Timestamp,
        (fleet, metrics): (Fleet<'_>, &Metrics),
    ) -> Option<Reason> {
        let Self { site, conduct, address, .. } = *self;
        let (Some(switch), Some(rules)) = (&conduct.breaker, &site.enforcement.breaker) else {
            return None;
        };
        let name = decision.judgement.and_then(|judgement| judgement.name);
        let protected = name.filter(|name| {
            decision.action == Action::Block
                && enforce::is_protected(&site.enforcement, *name, decision.standing, &now)
        });
        let (now, edition) = (now(), site.timeline.current());
        let mut switch = switch.lock();
        let alarm = match protected {
            Some(name) => switch.breaker.spare(rules, edition, name.as_str(), now),
            // Polite crawlers follow links to other forms, and anyone can publish such links. So these
            // refusals count neither for nor against an alarm.
            None if decision.action == Action::Block && decision.reason == Reason::Form => None,
            None if is_refusal => {
                let refusal = Refusal::of(Network::of_client(address, name), name);
                let counts = switch.breaker.heeds(rules, edition, refusal, now);
                let collector = fleet.collector.filter(|_| counts);
                collector.iter().for_each(|one| one.refuse(&site.name, refusal, now));
                counts.then(|| switch.breaker.count_refusal(rules, refusal, now)).flatten()
            }
            None => {
                let counts = switch.breaker.pass(rules, now);
                let collector = fleet.collector.filter(|_| counts);
                collector.iter().for_each(|one| one.pass(&site.name, now));
                None
            }
        };
        let is_open = switch.is_open(site, rules, now);
        drop(switch);
        if let (Some(alarm), Some(collector)) = (&alarm, fleet.collector) {
            collector.opening(alarm.told(&site.name, now));
        }
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

/// Counts a step on the ladder. Returns its direction, and the crawler as logs show it.
fn count_step(key: &LadderKey, from: Rung, to: Rung, metrics: &Metrics) -> (&'static str, String) {
    let LadderKey { site, product_token, outcome, network } = key;
    let direction = if to > from { "up" } else { "down" };
    let label = if network.is_some() { metrics::OTHER_TOKEN } else { product_token };
    metrics.ladder_step(site, label, outcome.as_str(), direction, to as i64);
    (direction, escape::shown(product_token))
}

/// Logs and counts a step on the ladder, and tells the other nodes.
pub(super) fn report_move(one: &Move, (fleet, metrics): (Fleet<'_>, &Metrics)) {
    fleet.collector.iter().for_each(|collector| collector.step(one.told()));
    let Move { key, step, .. } = one;
    let (direction, product_token) = count_step(key, step.from, step.to, metrics);
    let (site, standing, reason) = (&key.site, key.outcome.as_str(), step.to_string());
    let (from, to) = (step.from.as_str(), step.to.as_str());
    macro_rules! log {
        ($level:ident, $code:literal, $what:literal) => {
            tracing::$level!(code = $code, site, product_token, standing, from, to, reason, $what)
        };
    }
    // Clients can declare names without limit; these must not fill the log.
    match (direction, key.network.is_some()) {
        ("up", false) => log!(warn, "ladder.up", "crawler moved up the ladder"),
        ("up", true) => log!(debug, "ladder.up", "crawler moved up the ladder"),
        (_, false) => log!(info, "ladder.down", "crawler moved down the ladder"),
        (_, true) => log!(debug, "ladder.down", "crawler moved down the ladder"),
    }
}

pub(super) fn report_learned_step(from: Rung, step: &RungStep, metrics: &Metrics) {
    let RungStep { key, rung, .. } = step;
    let (_, product_token) = count_step(key, from, *rung, metrics);
    let (site, standing) = (&key.site, key.outcome.as_str());
    let (from, to) = (from.as_str(), rung.as_str());
    // The node that made it warns.
    tracing::debug!(
        code = "ladder.elsewhere",
        site,
        product_token,
        standing,
        from,
        to,
        "crawler moved on the ladder at another node"
    );
}

fn report_alarm(site: &Site, cause: &Cause, rules: &policy::Breaker, metrics: &Metrics) {
    metrics.breaker_opened(&site.name, cause.as_str());
    let (reason, seconds) = (cause.to_string(), rules.pause.as_secs());
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
    use crate::rules::{enforce::Rulebook, policy::Policy};

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
                let one = ladder.lock().note((&site.name, &rules), name, claim, true, at(0));
                one.iter().for_each(|one| report_move(one, (Fleet::NONE, &metrics)));
            });
        };
        climb(2 * rules.min_violations);
        let shown = || {
            let text = metrics.exposition(|_| ());
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
        conduct.settle(site, at(1), (Fleet::NONE, &metrics));
        assert_eq!(
            (conduct.rung(name, Outcome::Unknown, network), shown()),
            (Rung::Throttle, expected(1))
        );
        conduct.settle(site, at(2), (Fleet::NONE, &metrics));
        assert_eq!((conduct.rung(name, Outcome::Unknown, network), shown()), (Rung::Observe, None));
    }
}
