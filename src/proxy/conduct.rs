//! What follows from how a client behaves: the ladder that it climbs, the pace that it keeps, and the
//! breaker under which nobody is refused.
//!
//! What was seen stays where the site does: a reload takes it over by the site's name. A site without
//! ladder, breaker and pace is left alone: no lock is taken for it and no clock read.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use jiff::Timestamp;

use crate::{
    crawlers::{Name, Outcome},
    enforce::{
        self, Action, AppliedPace, Breaker, Decision, Knowledge, Ladder, Move, Opened, Reason,
        Rung, Site,
    },
    escape,
    metrics::{self, Gauge, Metrics},
    policy,
    robots::Access,
};

use super::{
    knowledge::Client,
    pace::{Key, TooSoon},
    reload::Reloader,
    request, serving,
};

/// How often it is looked whether somebody silent comes down the ladder, or a breaker closes.
const LOOK: Duration = Duration::from_secs(10);

/// What was seen of the clients of one site.
#[derive(Debug)]
pub(super) struct Conduct {
    ladder: Option<Arc<Mutex<Ladder>>>,
    breaker: Option<Arc<Mutex<Switch>>>,
}

/// A breaker and how it is shown.
#[derive(Debug)]
struct Switch {
    breaker: Breaker,
    gauge: Gauge,
}

/// A request that comes sooner than it may.
#[derive(Clone, Copy, Debug)]
pub(super) struct Early<'r> {
    /// By what it is measured.
    pub(super) measured: AppliedPace<'r>,
    pub(super) too_soon: TooSoon,
}

/// A decision weighed by how the client has behaved.
#[derive(Debug)]
pub(super) struct Weighed<'r> {
    pub(super) decision: Decision<'r>,
    pub(super) early: Option<Early<'r>>,
    /// Whose pace the request was charged to.
    pub(super) charged: Option<Key>,
}

/// Weighs a decision by how the client has behaved so far, and counts the request: one that comes
/// too soon is told to wait, and where the breaker is open nobody is refused.
pub(super) fn weigh<'r>(client: &Client<'r>, decision: Decision<'r>) -> Weighed<'r> {
    let conduct = match client.conduct() {
        Some(conduct) if decision.reason != Reason::RobotsTxt => conduct,
        _ => return Weighed { decision, early: None, charged: None },
    };
    conduct.climb(client, &decision);
    let is_block = decision.action == Action::Block;
    let (early, charged) = if is_block { (None, None) } else { measure(client, &decision) };
    let is_ordered = enforce::is_ordered(&client.site.enforcement, &decision);
    let is_refusal = !is_ordered && (is_block || early.is_some());
    let is_open = conduct.is_open(client, &decision, is_refusal);
    let (action, reason) = match early {
        _ if is_open && is_refusal => (Action::Log, Reason::BreakerOpen),
        Some(Early { measured, .. }) if measured.record.is_some() => {
            (Action::Throttle, Reason::TooSoon)
        }
        Some(_) => (Action::Throttle, Reason::Slowed),
        None => (decision.action, decision.reason),
    };
    Weighed { decision: Decision { action, reason, ..decision }, early, charged }
}

/// Measures how fast a crawler comes: whether it comes too soon and shall be told so, else whose pace
/// it is charged to.
fn measure<'r>(client: &Client<'r>, decision: &Decision<'r>) -> (Option<Early<'r>>, Option<Key>) {
    let measured = enforce::applied_pace(client.site, decision, client);
    let name = decision.judgement.and_then(|judgement| Some((judgement, judgement.name?.as_str())));
    let (Some(measured), Some((judgement, name))) = (measured, name) else { return (None, None) };
    let site = &client.site.name;
    // A robots.txt is for one host (RFC 9309 §2.3), so a crawler keeps the pace of each for itself;
    // the ladder's is for the whole site. A host that only the default site takes is anybody's word.
    let host = request::host(client.session.req_header()).ok().flatten();
    let own = host.as_deref().filter(|host| {
        measured.record.is_some() && client.serving.rulebook.site_of_host(host).is_some()
    });
    let key = Key::new(own.unwrap_or(site), name, decision.standing.outcome);
    let is_owed = client.proxy.redirects.settle(&key, Instant::now());
    let checked = match is_owed {
        true => Ok(()),
        false => client.proxy.limiter.check(&key, measured.pace),
    };
    if measured.record.is_some() {
        client.proxy.metrics.pace(site, serving::label(&judgement), checked.is_ok());
    }
    match checked {
        Ok(()) => (None, (!is_owed).then_some(key)),
        Err(too_soon) => (measured.is_enforced.then_some(Early { measured, too_soon }), None),
    }
}

impl Conduct {
    /// What was seen of a site so far, where its policy still looks at it.
    pub(super) fn following(previous: Option<&Self>, site: &Site, metrics: &Metrics) -> Self {
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

    /// Where a crawler stands on the site's ladder.
    pub(super) fn rung(&self, name: Name<'_>, outcome: Outcome) -> Rung {
        self.ladder.as_ref().map(|ladder| lock(ladder).rung(name, outcome)).unwrap_or_default()
    }

    /// Counts a request of a crawler about which the ladder decides.
    fn climb(&self, client: &Client<'_>, decision: &Decision<'_>) {
        let name = decision.judgement.and_then(|judgement| judgement.name);
        let (site, metrics) = (client.site, &client.proxy.metrics);
        if let (Some(ladder), Some(rules)) = (&self.ladder, &site.enforcement.ladder)
            && let (Some(name), Some(_)) = (name, decision.rung)
        {
            // What a search engine that is proven to be one would be spared at the top of the ladder
            // does not take it there, nor slow it down on the way.
            let is_spared = enforce::is_protected(&site.enforcement, name, decision.standing)
                && site.edition().matcher().star()
                    == decision.judgement.and_then(|judgement| judgement.group);
            let is_violation = decision.access == Access::Disallow
                && decision.reason != Reason::Grace
                && !is_spared;
            let (outcome, now) = (decision.standing.outcome, client.moment().now);
            let step = lock(ladder).note(rules, name, outcome, is_violation, now);
            step.iter().for_each(|one| tell_move(site, one, metrics));
        }
    }

    /// Counts a request, and whether it would be refused; whether nothing is refused now.
    fn is_open(&self, client: &Client<'_>, decision: &Decision<'_>, is_refusal: bool) -> bool {
        let (site, metrics) = (client.site, &client.proxy.metrics);
        let (Some(switch), Some(rules)) = (&self.breaker, &site.enforcement.breaker) else {
            return false;
        };
        let name = decision.judgement.and_then(|judgement| judgement.name);
        let protected = name.filter(|name| {
            decision.action == Action::Block
                && enforce::is_protected(&site.enforcement, *name, decision.standing)
        });
        let now = client.moment().now;
        let mut switch = lock(switch);
        let opened = match protected {
            Some(name) => switch.breaker.spare(rules, name.as_str(), now),
            None => switch.breaker.note(rules, is_refusal, now),
        };
        let is_open = switch.is_open(site, rules, now);
        drop(switch);
        opened.iter().for_each(|opened| tell_opened(site, opened, rules, metrics));
        is_open
    }

    /// Lets those come down who are silent, and a breaker close whose pause is over.
    fn look(&self, site: &Site, now: Timestamp, metrics: &Metrics) {
        if let (Some(ladder), Some(rules)) = (&self.ladder, &site.enforcement.ladder) {
            let moves = lock(ladder).look(rules, now);
            moves.iter().for_each(|one| tell_move(site, one, metrics));
        }
        if let (Some(switch), Some(rules)) = (&self.breaker, &site.enforcement.breaker) {
            lock(switch).is_open(site, rules, now);
        }
    }
}

impl Switch {
    /// Whether it is open; says so where it shows something else.
    fn is_open(&mut self, site: &Site, rules: &policy::Breaker, now: Timestamp) -> bool {
        let is_open = self.breaker.is_open(rules, now);
        if is_open != (self.gauge.get() == 1) {
            self.gauge.set(i64::from(is_open));
            if !is_open {
                tracing::info!(code = "breaker.closed", site = site.name, "the breaker is closed");
            }
        }
        is_open
    }
}

impl Reloader {
    /// Looks now and then at every site whether somebody silent comes down, or its breaker closes.
    /// Never ends.
    pub async fn look_at_conduct(&self) {
        let mut looks = tokio::time::interval(LOOK);
        loop {
            looks.tick().await;
            let (serving, now) = (self.shared.serving.load_full(), self.shared.clock.moment().now);
            for (number, site) in serving.rulebook.sites().iter().enumerate() {
                if let Some(served) = serving.site(number) {
                    served.conduct.look(site, now, &self.shared.metrics);
                }
            }
        }
    }
}

/// Says that a crawler went one rung up or down.
fn tell_move(site: &Site, one: &Move, metrics: &Metrics) {
    let Move { product_token, is_declared, outcome, step } = one;
    let (standing, direction, rung) = (outcome.as_str(), step.direction(), step.to);
    let label = if *is_declared { metrics::OTHER_TOKEN } else { product_token };
    metrics.ladder_step(&site.name, label, standing, direction, rung as i64);
    let (site, from, to) = (&site.name, step.from.as_str(), rung.as_str());
    let product_token = escape::bounded(product_token.as_bytes(), 200);
    let reason = step.to_string();
    macro_rules! say {
        ($level:ident, $code:literal, $what:literal) => {
            tracing::$level!(code = $code, site, product_token, standing, from, to, reason, $what)
        };
    }
    // Anybody can make up names, and fill the log with them.
    match (direction, is_declared) {
        ("up", false) => say!(warn, "ladder.up", "a crawler climbs"),
        ("up", true) => say!(debug, "ladder.up", "a crawler climbs"),
        (_, false) => say!(info, "ladder.down", "a crawler comes down"),
        (_, true) => say!(debug, "ladder.down", "a crawler comes down"),
    }
}

/// The alarm.
fn tell_opened(site: &Site, opened: &Opened, rules: &policy::Breaker, metrics: &Metrics) {
    metrics.breaker_opened(&site.name, opened.why.as_str());
    let (reason, seconds) = (opened.why.to_string(), rules.pause.as_secs());
    tracing::error!(
        code = "breaker.opened",
        site = site.name,
        reason,
        seconds,
        "the breaker is open: nobody is refused until it closes"
    );
}

/// What another thread left behind is whole: each call leaves it so.
fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{enforce::Rulebook, metrics::RecordCounts};

    #[test]
    fn ours_who_is_silent_comes_down_and_is_no_longer_shown() {
        let text = "sites: [{ hosts: [a.example], origin: \"http://127.0.0.1:1\", \
                    enforcement: { mode: ladder } }]";
        let (policy, findings) = policy::read("test.yaml", text.as_bytes());
        let policy = policy.unwrap_or_else(|| panic!("{findings:?}"));
        let book = Rulebook::compile(&policy, Timestamp::UNIX_EPOCH, None);
        let (site, metrics) = (&book.sites()[0], Metrics::new());
        let conduct = Conduct::following(None, site, &metrics);
        let rules = site.enforcement.ladder.expect("it is asked for");
        let name = book.catalogue().find("gptbot").map(Name::Known).expect("it is known");
        let at = |hours: i64| Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_hours(hours);
        let climb = |number: u64| {
            let ladder = conduct.ladder.as_ref().expect("it is asked for");
            (0..number).for_each(|_| {
                let one = lock(ladder).note(&rules, name, Outcome::Unknown, true, at(0));
                one.iter().for_each(|one| tell_move(site, one, &metrics));
            });
        };
        climb(2 * rules.min_violations);
        let shown = || {
            let text = metrics.exposition(RecordCounts::default());
            let line = text.lines().find(|line| line.starts_with("beadle_ladder_rung{"));
            line.map(str::to_owned)
        };
        let labels = r#"product_token="GPTBot",site="a.example",standing="unknown""#;
        let expected = |rung: u8| Some(format!("beadle_ladder_rung{{{labels}}} {rung}"));
        assert_eq!((conduct.rung(name, Outcome::Unknown), shown()), (Rung::Block, expected(2)));
        // A reload takes it over.
        let conduct = Conduct::following(Some(&conduct), site, &metrics);
        conduct.look(site, at(1), &metrics);
        assert_eq!((conduct.rung(name, Outcome::Unknown), shown()), (Rung::Throttle, expected(1)));
        conduct.look(site, at(2), &metrics);
        assert_eq!((conduct.rung(name, Outcome::Unknown), shown()), (Rung::Observe, None));
    }
}
