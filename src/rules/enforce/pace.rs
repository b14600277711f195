//! The pace that a crawler must keep, and whether it is enforced; and the rate limits that the operator sets.
//!
//! A `Crawl-delay` or `Request-rate` binds only crawlers whose catalogue entry says that they keep
//! it. No standard knows these records, so other crawlers have promised nothing. A rung of the
//! [ladder](super::Rung) above the first sets a pace for every crawler on it.
//!
//! No robots.txt has the limits. So a request beyond one is no violation.

use jiff::Timestamp;

use crate::{
    formats::robots::{self, Matcher, Pace, PaceRecord, Target},
    rules::{
        crawlers::{Class, CrawlDelay, Crawler, Kind, Name, Outcome, Purpose},
        policy::{Enforcement, Grace, Mode, PaceMode, RateLimit},
    },
};

use super::{
    decision::{Case, Decision, Knowledge, Rung},
    edition::EditionId,
    overrides::{Treatment, first_for, group_for, has_name, is_bound_by_star, is_over},
    past::Past,
    rulebook::Site,
};

/// The pace that one crawler is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppliedPace<'r> {
    pub(crate) pace: Pace,
    /// The record that sets it; `None` where the ladder does.
    pub(crate) record: Option<&'r robots::Record>,
    /// Whether a request that comes too soon is answered with 429. Otherwise it is only counted.
    pub(crate) is_enforced: bool,
    /// The edition of the record; for the pace of the ladder, the edition in force.
    pub edition: EditionId,
}

/// The pace that the client of a judged request is measured by: the laxest of the editions that it
/// may know, or none if one of them sets none. Calls for the moment only where the edition in force
/// sets a pace that this crawler has promised to keep.
///
/// On a rung above the first, a crawler without a promised pace gets that of the ladder.
pub fn applied_pace<'r>(
    site: &'r Site,
    decision: &Decision<'r>,
    knowledge: &impl Knowledge,
) -> Option<AppliedPace<'r>> {
    let judgement = decision.judgement?;
    let (name, edition) = (judgement.name?, site.edition());
    let own = match edition.sets_pace() && keeps_paces(name) {
        true => promised(edition.matcher(), name, judgement.group, knowledge.moment().now),
        false => None,
    };
    let laxest = own.and_then(|own| laxest(site, decision, (name, own), knowledge));
    if decision.mode == Mode::Off {
        return None;
    }
    if let Some((edition, PaceRecord { pace, record, .. })) = laxest {
        let is_enforced = is_promise_enforced(&site.enforcement, decision.mode, decision.rung);
        return Some(AppliedPace { pace: *pace, record: Some(record), is_enforced, edition });
    }
    let of_ladder = ladder_pace(&site.enforcement, decision.rung)?;
    // An edition that sets no pace must not replace a laxer one by that of the ladder.
    let (pace, record) = match own.filter(|own| of_ladder.is_stricter_than(own.pace)) {
        Some(own) => (own.pace, Some(&own.record)),
        None => (of_ladder, None),
    };
    Some(AppliedPace { pace, record, is_enforced: true, edition: edition.id() })
}

/// The pace of the edition in force that a crawler has promised to keep at `now`, and whether it is
/// enforced for this treatment. A crawler that promises none has none.
pub fn promised_pace<'r>(
    site: &Site,
    matcher: &'r Matcher,
    (name, group): (Name<'_>, Option<robots::Scope>),
    treatment: Treatment,
    now: Timestamp,
) -> Option<(&'r PaceRecord, bool)> {
    let record = promised(matcher, name, group, now)?;
    let (mode, rung) = match treatment {
        Treatment::Pass => return None,
        Treatment::Log => (Mode::Log, None),
        Treatment::Throttle => (Mode::Throttle, None),
        Treatment::Ladder => (Mode::Log, Some(Rung::Observe)),
        Treatment::Block => (Mode::Block, None),
    };
    Some((record, is_promise_enforced(&site.enforcement, mode, rung)))
}

/// The laxest record among the editions that a crawler may know, with its edition. `own` is the
/// record of the edition in force. `None` if the crawler may know an edition without a pace.
fn laxest<'r>(
    site: &'r Site,
    decision: &Decision<'r>,
    (name, own): (Name<'r>, &'r PaceRecord),
    knowledge: &impl Knowledge,
) -> Option<(EditionId, &'r PaceRecord)> {
    let (enforcement, own) = (&site.enforcement, (site.edition().id(), own));
    // Another node may serve an edition without a pace.
    if knowledge.may_miss_editions() {
        return None;
    }
    if site.timeline.is_single() {
        return Some(own);
    }
    let moment = knowledge.moment();
    let laxer = |laxest: (EditionId, &'r PaceRecord), past: &'r Past| {
        let matcher = past.matcher();
        let group = group_for(matcher, &enforcement.star_binds, name);
        let other = promised(matcher, name, group, moment.now)?;
        let is_laxer = laxest.1.pace.is_stricter_than(other.pace);
        Some(if is_laxer { (past.id(), other) } else { laxest })
    };
    if enforcement.grace == Grace::Enforce {
        // What is in force at another node is no earlier edition.
        let mut past = site.timeline.past.iter().filter(|past| past.is_in_force());
        return past.try_fold(own, laxer);
    }
    let start = moment.start_of(site.cache_window);
    let known = knowledge.known_editions(name, decision.standing, start);
    site.timeline.known(start, &known)?.try_fold(own, laxer)
}

/// Whether a crawler documents that it keeps these records.
pub fn keeps_paces(name: Name<'_>) -> bool {
    name.known().is_some_and(|known| known.entry.honours.crawl_delay == Some(CrawlDelay::Yes))
}

/// The record that a crawler has promised to keep: of the group that it obeys, by the time of day.
/// Some crawlers, as bingbot, take a `Crawl-delay` from `*` if their own group has none.
fn promised<'r>(
    matcher: &'r Matcher,
    name: Name<'_>,
    group: Option<robots::Scope>,
    now: Timestamp,
) -> Option<&'r PaceRecord> {
    if !keeps_paces(name) {
        return None;
    }
    let honours = name.known()?.entry.honours;
    let minute = u16::try_from(now.as_second().rem_euclid(86_400) / 60).ok()?;
    let of_star = || {
        let star = matcher.star().filter(|_| honours.crawl_delay_of_star)?;
        let is_delay = |one: &&PaceRecord| one.record.name.eq_ignore_ascii_case("crawl-delay");
        matcher.pace(star, minute).filter(is_delay)
    };
    matcher.pace(group?, minute).or_else(of_star)
}

/// Whether a promised pace is enforced, for a crawler in this mode and on this rung; `rung` is
/// `None` where the ladder does not decide. By default, a promise is enforced in the mode
/// `throttle` and on the ladder, and measured elsewhere: `block` is about Disallow.
fn is_promise_enforced(enforcement: &Enforcement, mode: Mode, rung: Option<Rung>) -> bool {
    match enforcement.crawl_delay {
        Some(PaceMode::Throttle) => true,
        Some(PaceMode::Log) => is_slowed(rung),
        None => mode == Mode::Throttle || rung.is_some(),
    }
}

fn ladder_pace(enforcement: &Enforcement, rung: Option<Rung>) -> Option<Pace> {
    enforcement.ladder.filter(|_| is_slowed(rung)).map(|ladder| ladder.throttle)
}

fn is_slowed(rung: Option<Rung>) -> bool {
    rung.is_some_and(|rung| rung > Rung::Observe)
}

/// A limit that counts a request.
#[derive(Clone, Copy, Debug)]
pub struct AppliedLimit<'r> {
    /// Its place in the list of the site.
    pub(crate) number: usize,
    pub(crate) limit: &'r RateLimit,
    /// The name that it counts; `None` for a client without one.
    pub name: Option<Name<'r>>,
    /// The outcome of the evidence for the name.
    pub outcome: Outcome,
}

/// The limits that count a request. A crawler has none if an override sets its mode to `off`.
pub fn applied_limits<'r>(
    site: &'r Site,
    case: Case<'r, '_>,
    knowledge: &impl Knowledge,
) -> Vec<AppliedLimit<'r>> {
    let enforcement = &site.enforcement;
    if enforcement.rate_limits.is_empty() || case.target.is_robots_txt() {
        return Vec::new();
    }
    let now = || knowledge.moment().now;
    let limits = enforcement.rate_limits.iter().enumerate();
    let applied = limits.filter_map(|(number, limit)| {
        let name = counted_name(site, limit, case)?;
        if is_over(limit.until, now) {
            return None;
        }
        if !limit.paths.is_empty() && !is_on(limit, case.target) {
            return None;
        }
        let outcome =
            name.map_or(Outcome::Unverifiable, |name| case.standing(name, knowledge).outcome);
        let own = first_for(enforcement, name, outcome, now);
        let is_off = own.is_some_and(|one| one.mode == Mode::Off);
        (!is_off).then_some(AppliedLimit { number, limit, name, outcome })
    });
    applied.collect()
}

/// The name of a client that a limit counts: the first that it names, else the primary one for `*`.
/// `None` if it does not count the client, as one that only has names which the operator has not
/// accepted.
fn counted_name<'r>(
    site: &Site,
    limit: &RateLimit,
    case: Case<'r, '_>,
) -> Option<Option<Name<'r>>> {
    let mut names = case.claim.tokens().chain(case.claim.programs());
    let is_counted = |name: &Name<'_>| !name.is_pending() && has_name(&limit.tokens, *name);
    if let Some(name) = names.find(is_counted) {
        return Some(Some(name));
    }
    (limit.all && is_bound(site, case)).then(|| case.claim.primary())
}

/// Whether a group for `*` would bind the client, and no person sends its requests.
fn is_bound(site: &Site, case: Case<'_, '_>) -> bool {
    let star_binds = &site.enforcement.star_binds;
    let accepted = case.claim.tokens().find(|name| !name.is_pending());
    match accepted {
        Some(name) => is_in_star(star_binds, name),
        None if !case.claim.is_empty() => false,
        None => case.nameless().is_some_and(|class| star_binds.contains(&class)),
    }
}

/// The place of a crawler's request in the order of `people_first`; `None` for those of people. Impostors
/// come last.
pub fn rank(
    site: &Site,
    case: Case<'_, '_>,
    order: &[Purpose],
    knowledge: &impl Knowledge,
) -> Option<usize> {
    if !is_bound(site, case) {
        return None;
    }
    let accepted = case.claim.tokens().find(|name| !name.is_pending());
    let Some(name) = accepted else { return Some(order.len()) };
    let outcome = case.standing(name, knowledge).outcome;
    let own = first_for(&site.enforcement, Some(name), outcome, || knowledge.moment().now);
    if own.is_some_and(|one| one.mode == Mode::Off) {
        return None;
    }
    let purpose = name.known().filter(|_| outcome != Outcome::Contradicted).map(Crawler::purpose);
    let place = purpose.and_then(|purpose| order.iter().position(|one| *one == purpose));
    Some(place.unwrap_or(order.len()))
}

/// Whether a limit counts the crawler of this name.
pub fn counts(limit: &RateLimit, star_binds: &[Class], name: Name<'_>) -> bool {
    has_name(&limit.tokens, name) || (limit.all && is_in_star(star_binds, name))
}

/// Whether `*` of a limit means this name. A fetcher that a person starts has to be named.
fn is_in_star(star_binds: &[Class], name: Name<'_>) -> bool {
    let is_fetcher = name.known().is_some_and(|one| one.kind() == Kind::UserTriggered);
    is_bound_by_star(star_binds, name) && !is_fetcher
}

/// Whether a path of the limit matches any form of the target.
fn is_on(limit: &RateLimit, target: &Target<'_>) -> bool {
    let is_match = |form: &[u8]| limit.paths.iter().any(|path| path.matches(form));
    is_match(target.letter())
        || target.is_cut()
        || target.evasions().iter().any(|form| is_match(form))
}

#[cfg(test)]
mod tests;
