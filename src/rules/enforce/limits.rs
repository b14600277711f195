//! The rate limits that the operator sets for crawlers, and which of them count a request.
//!
//! No robots.txt has them. So a request beyond one is no violation.

use crate::{
    formats::robots::Target,
    rules::{
        crawlers::{Class, Crawler, Kind, Name, Outcome, Purpose},
        policy::{Mode, RateLimit},
    },
};

use super::{
    group::is_bound_by_star,
    knowledge::{Case, Knowledge},
    overrides::{first_for, has_name, is_over},
    site::Site,
};

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
