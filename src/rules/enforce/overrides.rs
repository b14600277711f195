//! The overrides of a site: which of them apply to a name, which names send no alerts, and the treatment
//! of a violation that follows from the policy alone, before any request.

use std::collections::HashSet;

use jiff::Timestamp;

use crate::{
    base::{product_token::ProductToken, text::words},
    rules::{
        crawlers::{Catalogue, Crawler, Name, Outcome, Purpose, Standing},
        policy::{Enforcement, Mode, Override},
    },
};

use super::decision::{Action, Decision, Reason};

/// The first override that has not ended for a client with this name and outcome.
pub(super) fn first_for<'e>(
    enforcement: &'e Enforcement,
    name: Option<Name<'_>>,
    outcome: Outcome,
    now: impl Fn() -> Timestamp,
) -> Option<&'e Override> {
    let is_for = |one: &&Override| {
        is_for_outcome(one, outcome)
            && (one.all || name.is_some_and(|name| has_name(&one.tokens, name)))
            && !is_over(one.until, &now)
    };
    enforcement.overrides.iter().find(is_for)
}

fn is_for_outcome(one: &Override, outcome: Outcome) -> bool {
    one.standings.is_empty() || one.standings.contains(&outcome)
}

/// Whether the end of an entry is past. Most entries have none, so the clock is not read for them.
pub(super) fn is_over(until: Option<Timestamp>, now: impl FnOnce() -> Timestamp) -> bool {
    until.is_some_and(|until| until <= now())
}

pub(super) fn has_name(tokens: &HashSet<ProductToken>, name: Name<'_>) -> bool {
    match name {
        Name::Known(crawler) => {
            tokens.contains(crawler.product_token())
                || crawler.aliases.iter().any(|alias| tokens.contains(alias))
        }
        Name::Site(token) => tokens.contains(token),
        Name::Declared(text) => tokens.iter().any(|token| token.key().eq_ignore_ascii_case(text)),
    }
}

/// Whether the violations of a crawler send no alerts. Counts have its name in the catalogue, or the
/// policy's.
pub fn is_quiet(
    enforcement: &Enforcement,
    catalogue: &Catalogue,
    product_token: &str,
    now: impl Fn() -> Timestamp,
) -> bool {
    let name = catalogue.find(product_token).map_or(Name::Declared(product_token), Name::Known);
    let mut quiet = enforcement.quiet.iter().filter(|one| !is_over(one.until, &now));
    quiet.any(|one| one.all || has_name(&one.tokens, name))
}

pub(super) fn strictest_mode(enforcement: &Enforcement, now: impl Fn() -> Timestamp) -> Mode {
    let overrides = enforcement.overrides.iter().filter(|one| !is_over(one.until, &now));
    overrides.map(|one| one.mode).fold(enforcement.mode, Mode::max)
}

/// Whether a client is a confirmed search engine that the policy does not block by name. A rule for
/// every crawler does not block it, and the breaker opens if a rule of its own group would.
pub fn is_protected(
    enforcement: &Enforcement,
    name: Name<'_>,
    standing: Standing,
    now: impl Fn() -> Timestamp,
) -> bool {
    let is_search = |crawler: &Crawler| crawler.purpose() == Purpose::Search;
    standing.outcome == Outcome::Confirmed
        && name.known().is_some_and(is_search)
        && !enforcement.block_confirmed_search
        && !is_named_to_block(enforcement, name, standing, now)
}

/// Whether an override blocks this name in this standing. An override that blocks only impostors
/// does not block the crawler itself.
fn is_named_to_block(
    enforcement: &Enforcement,
    name: Name<'_>,
    standing: Standing,
    now: impl Fn() -> Timestamp,
) -> bool {
    enforcement.overrides.iter().any(|one| {
        one.mode == Mode::Block
            && is_for_outcome(one, standing.outcome)
            && has_name(&one.tokens, name)
            && !is_over(one.until, &now)
    })
}

/// Whether the operator explicitly ordered this refusal: of a crawler that an override names, or of
/// an impostor. The breaker ignores such refusals.
pub fn is_ordered(
    enforcement: &Enforcement,
    decision: &Decision<'_>,
    now: impl Fn() -> Timestamp,
) -> bool {
    let name = decision.judgement.and_then(|judgement| judgement.name);
    decision.action == Action::Block
        && (decision.reason == Reason::Impostor
            || name
                .is_some_and(|name| is_named_to_block(enforcement, name, decision.standing, now)))
}

words! {
    /// What happens to the violations of a crawler, the mildest first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Treatment {
        /// Its requests are not judged.
        Pass = "off",
        /// They are recorded.
        Log = "log",
        /// They are recorded, and its pace is enforced.
        Throttle = "throttle",
        /// Its place on the ladder decides.
        Ladder = "ladder",
        /// They are refused.
        Block = "block",
    }
}

impl Treatment {
    /// The treatment of a client with this name and standing. `None` is a client without a
    /// User-Agent. `is_by_star` says that a group for `*` disallows the request. At the least time,
    /// every override that ends counts.
    pub fn of(
        enforcement: &Enforcement,
        name: Option<Name<'_>>,
        standing: Standing,
        is_by_star: bool,
        now: Timestamp,
    ) -> Self {
        let own = match first_for(enforcement, name, standing.outcome, || now) {
            Some(one) => Self::of_mode(one.mode),
            None if name.is_some() && enforcement.ladder.is_some() => Self::Ladder,
            None => Self::of_mode(enforcement.mode),
        };
        let is_pending = name.is_some_and(Name::is_pending);
        let own = if is_pending { own.min(Self::Log) } else { own };
        let is_spared = own == Self::Block
            && is_by_star
            && name.is_some_and(|name| is_protected(enforcement, name, standing, || now));
        match enforcement.impostors {
            Some(mode) if own > Self::Pass && standing.outcome == Outcome::Contradicted => {
                own.max(Self::of_mode(mode))
            }
            _ if is_spared => Self::Log,
            _ => own,
        }
    }

    const fn of_mode(mode: Mode) -> Self {
        match mode {
            Mode::Off => Self::Pass,
            Mode::Log => Self::Log,
            Mode::Throttle => Self::Throttle,
            Mode::Block => Self::Block,
        }
    }
}
