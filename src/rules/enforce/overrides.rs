//! The group that a name obeys, the overrides of a site that apply to it, which names send no alerts, and the
//! treatment of a violation that follows from the policy alone, before any request.

use std::collections::HashSet;

use jiff::Timestamp;

use crate::{
    base::{product_token::ProductToken, text::words},
    formats::robots::{Matcher, Scope},
    rules::{
        crawlers::{Catalogue, Class, Crawler, Kind, Name, Outcome, Purpose, Standing},
        policy::{Enforcement, Mode, Override},
    },
};

use super::{
    decision::{Action, Decision, Reason},
    rulebook::Site,
};

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

/// The group of the edition in force that a name obeys.
pub fn group_of(site: &Site, name: Name<'_>) -> Option<Scope> {
    group_for(site.edition().matcher(), &site.enforcement.star_binds, name)
}

/// The group that a name obeys: its own, else that of its catalogue chain, else `*` where
/// `star_binds` has its class (RFC 9309 §2.2.1; the deviations are documented by the operators of
/// the crawlers).
pub fn group_for(matcher: &Matcher, star_binds: &[Class], name: Name<'_>) -> Option<Scope> {
    first_group(matcher, group_names(name), || is_bound_by_star(star_binds, name))
}

/// The group that a name with these names of groups obeys. With [`group_names`] and
/// [`is_bound_by_star`], it needs no catalogue.
pub fn first_group<'n>(
    matcher: &Matcher,
    mut names: impl Iterator<Item = &'n str>,
    is_bound_by_star: impl FnOnce() -> bool,
) -> Option<Scope> {
    let named = names.find_map(|name| matcher.group(name));
    named.or_else(|| matcher.star().filter(|_| is_bound_by_star()))
}

/// The group that a crawler with these names of groups obeys if it reads a list in one user-agent line
/// as the names in it.
pub fn listed_group<'n>(
    matcher: &Matcher,
    mut names: impl Iterator<Item = &'n str>,
) -> Option<Scope> {
    let of_name = |name| matcher.listed(name).or_else(|| matcher.group(name));
    matcher.has_lists().then(|| names.find_map(of_name)).flatten()
}

/// Whether a file allows what `is_allowed` judges by one group. A crawler that reads lists as Google does
/// obeys the rules as it reads them, so one of both readings is enough.
pub fn allows<'n>(
    matcher: &Matcher,
    group: Option<Scope>,
    names: impl Iterator<Item = &'n str>,
    is_allowed: impl Fn(Scope) -> bool,
) -> bool {
    group.is_none_or(&is_allowed) || listed_group(matcher, names).is_some_and(is_allowed)
}

/// The names of groups that a name looks for, in order. The first that has a group binds it.
pub fn group_names<'a>(name: Name<'a>) -> impl Iterator<Item = &'a str> {
    let family = name.known().into_iter().flat_map(|crawler| crawler.groups());
    let alone = name.known().is_none().then(|| name.as_str());
    family.map(ProductToken::as_str).chain(alone)
}

/// Whether `*` binds a name for which the file has no group.
pub fn is_bound_by_star(star_binds: &[Class], name: Name<'_>) -> bool {
    let Some(crawler) = name.known() else { return star_binds.contains(&Class::Automation) };
    let class = match crawler.kind() {
        Kind::Crawler | Kind::Control => Class::Crawler,
        Kind::UserTriggered => Class::UserTriggered,
        Kind::Automation => Class::Automation,
        Kind::App => Class::App,
    };
    star_binds.contains(&class) && !crawler.ignores_star()
}
