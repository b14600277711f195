//! The decision: what a request claims, what the published rules say of it, and what is done.
//!
//! [`Rulebook`] is a policy compiled for serving; [`decide`] is one pure function of a site, a
//! claim and a target. It has no clock and no I/O, never fails, and its [`Decision`] carries
//! everything that the log, the block page and `explain` say: the token that was judged, the
//! group, the rule, its line and the edition.
//!
//! May use: policy, robots, robots_tag, crawlers, diagnostic, product_token. Must not know: pingora,
//! the store, any clock.

use crate::{
    crawlers::{self, Claim, Class, Crawler, Kind, Outcome, Purpose, Standing},
    policy::{Enforcement, Mode, Override},
    robots::{self, Access, Form},
};

pub use self::{
    breaker::{Breaker, Opened, Why},
    edition::Edition,
    ladder::{Climber, Ladder, Move, Rung, Step},
    pace::{Held, held, promised},
    rulebook::{Rulebook, Site},
    tags::{TagFields, Tags},
};

mod breaker; // when nothing is refused any more
mod edition; // one published robots.txt: its bytes, its hash, its matcher
mod ladder; // a crawler goes from rung to rung by its own violations
mod pace; // how fast a crawler may come
mod rulebook; // policy -> sites by host, swapped whole
mod tags; // the Robots-Tag rules of a site, prepared

#[cfg(test)]
mod tests;

/// What is done with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// It goes on; nothing is recorded.
    Pass,
    /// It goes on and is recorded.
    Log,
    /// It came too soon: it is told to wait, and recorded.
    Throttle,
    /// It is refused and recorded.
    Block,
}

impl Action {
    /// Every action, the mildest first.
    pub const ALL: [Self; 4] = [Self::Pass, Self::Log, Self::Throttle, Self::Block];

    /// The action as written in records and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Log => "log",
            Self::Throttle => "throttle",
            Self::Block => "block",
        }
    }
}

/// Why a decision is what it is. The codes are stable, for records and metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// No rule of the group matches, or the most specific one allows.
    Allow,
    /// The most specific rule disallows the path as written.
    Disallow,
    /// The path as written is allowed, but a form that an origin may make of it is not.
    Evasion,
    /// The rules disallow the path, but only those for `*`, and a search engine that is proven to be
    /// one asks: it is not refused unless the policy says so.
    Spared,
    /// Whatever the rules say: the client is proven not to be who it says, and the site asks that
    /// such are recorded or refused.
    Impostor,
    /// It came sooner than the crawler has promised to the rules.
    TooSoon,
    /// It came sooner than the crawler may on its rung of the ladder.
    Slowed,
    /// It would be refused, but the site's breaker is open.
    BreakerOpen,
    /// The site's rules are off for this crawler.
    Off,
    /// Nothing in the file is for this client: no group names it, and `*` does not bind it.
    Unbound,
    /// robots.txt itself, which is open to everyone (RFC 9309 §2.2.2).
    RobotsTxt,
}

impl Reason {
    /// The stable code.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "robots.allow",
            Self::Disallow => "robots.disallow",
            Self::Evasion => "robots.disallow.evasion",
            Self::Spared => "robots.disallow.spared",
            Self::Impostor => "claim.contradicted",
            Self::TooSoon => "robots.crawl_delay",
            Self::Slowed => "ladder.throttle",
            Self::BreakerOpen => "breaker.open",
            Self::Off => "enforcement.off",
            Self::Unbound => "robots.unbound",
            Self::RobotsTxt => "robots.robots_txt",
        }
    }
}

/// What is done with one request, and why.
#[derive(Clone, Copy, Debug)]
pub struct Decision<'r> {
    /// Whether the rules allow the request.
    pub access: Access,
    /// What is done.
    pub action: Action,
    /// Why.
    pub reason: Reason,
    /// The judgement that decided, where one was made.
    pub judgement: Option<Judgement<'r>>,
    /// Whether the client is who it says.
    pub standing: Standing,
}

/// One product token judged by one group.
#[derive(Clone, Copy)]
pub struct Judgement<'r> {
    /// The name that was judged; `None` for a client that gives no name.
    pub name: Option<crawlers::Name<'r>>,
    /// The group that binds it; `None` where none does, and its claim is what is held against it.
    pub group: Option<robots::Scope>,
    /// The rule that decided; `None` where no rule matches.
    pub rule: Option<&'r robots::Rule>,
}

impl std::fmt::Debug for Judgement<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Judgement")
            .field("name", &self.name.map(crawlers::Name::as_str))
            .field("rule", &self.rule)
            .finish_non_exhaustive()
    }
}

/// Judges a request to `site` by every token of its claim; the strictest answer counts, so that
/// nobody can choose the laxer group by naming two. A claim of more names than are kept is judged
/// by every group there is.
///
/// `standing` tells what is known of the claim to be this crawler; it is asked once for each name,
/// but not for one that another crawler of the claim is known to borrow.
/// `is_nameless` tells whether the request has no User-Agent worth the name: such a client is
/// bound by `*` where the site says so, one with an unknown User-Agent is not.
pub fn decide<'r>(
    site: &'r Site,
    claim: &'r Claim<'r>,
    standing: impl Fn(&Crawler) -> Standing,
    is_nameless: bool,
    target: &robots::Target<'_>,
) -> Decision<'r> {
    let of_name = |name: crawlers::Name<'r>| {
        let known = name.known().filter(|crawler| !claim.is_borrowed(crawler));
        Asking { name, standing: known.map_or(Standing::UNVERIFIABLE, &standing) }
    };
    if target.is_robots_txt() {
        // Who reads the rules first is looked at before it asks for anything else.
        let standing =
            claim.primary().map_or(Standing::UNVERIFIABLE, |name| of_name(name).standing);
        return pass(Reason::RobotsTxt, standing);
    }
    let by_tokens = claim.tokens().map(|name| judge_name(site, of_name(name), target));
    // By which program a crawler comes counts only where the site has rules for the program.
    let by_programs =
        claim.programs().filter_map(|program| judge_program(site, of_name(program), target));
    let by_all = claim.primary().filter(|_| claim.is_crowded()).into_iter().flat_map(|name| {
        let (asking, mode) = (of_name(name), strictest_mode(&site.enforcement));
        let groups = site.edition.matcher().scopes();
        groups.map(move |group| judge(site, Some(asking), group, mode, target))
    });
    let strictest = by_tokens
        .chain(by_programs)
        .chain(by_all)
        .reduce(|so_far, decision| if rank(&decision) > rank(&so_far) { decision } else { so_far });
    match strictest {
        Some(decision) => decision,
        None if claim.class() == Class::None && is_nameless => judge_nameless(site, target),
        None => pass(Reason::Unbound, Standing::UNVERIFIABLE),
    }
}

/// A name and whether its bearer is who it says.
#[derive(Clone, Copy)]
struct Asking<'r> {
    name: crawlers::Name<'r>,
    standing: Standing,
}

/// Whether a User-Agent says nothing: empty, white space, or the `-` that some clients send.
pub fn is_blank(user_agent: &[u8]) -> bool {
    matches!(user_agent.trim_ascii(), b"" | b"-")
}

/// Block before throttle before log before pass, then disallow before allow, a group before none. The action comes
/// first: an impostor is refused where the rules allow, and no rule that is only logged may save it.
fn rank(decision: &Decision<'_>) -> (Action, bool, bool) {
    (decision.action, decision.access == Access::Disallow, decision.judgement.is_some())
}

const fn pass<'r>(reason: Reason, standing: Standing) -> Decision<'r> {
    Decision { access: Access::Allow, action: Action::Pass, reason, judgement: None, standing }
}

fn judge_name<'r>(site: &'r Site, asking: Asking<'r>, target: &robots::Target<'_>) -> Decision<'r> {
    let mode = mode_for(&site.enforcement, Some(asking));
    if mode == Mode::Off {
        return pass(Reason::Off, asking.standing);
    }
    let decision = match group_of(site, asking.name) {
        Some(group) => judge(site, Some(asking), group, mode, target),
        None => pass(Reason::Unbound, asking.standing),
    };
    unmask(site, asking, decision)
}

/// Whoever is proven to be somebody else is treated as the site asks for impostors, wherever the
/// rules alone would be milder.
fn unmask<'r>(site: &'r Site, asking: Asking<'r>, decision: Decision<'r>) -> Decision<'r> {
    let action = match site.enforcement.impostors {
        Some(mode) if asking.standing.outcome == Outcome::Contradicted => action_of(mode),
        _ => return decision,
    };
    if action <= decision.action {
        return decision;
    }
    let judgement =
        decision.judgement.or(Some(Judgement { name: Some(asking.name), group: None, rule: None }));
    Decision { action, reason: Reason::Impostor, judgement, ..decision }
}

/// A library or tool that a crawler's User-Agent names beside the crawler, by the group that names
/// it; `*` is for whoever has no name of its own.
fn judge_program<'r>(
    site: &'r Site,
    program: Asking<'r>,
    target: &robots::Target<'_>,
) -> Option<Decision<'r>> {
    let mode = mode_for(&site.enforcement, Some(program));
    let group = site.edition.matcher().group(program.name.as_str())?;
    (mode != Mode::Off).then(|| judge(site, Some(program), group, mode, target))
}

fn judge_nameless<'r>(site: &'r Site, target: &robots::Target<'_>) -> Decision<'r> {
    let mode = mode_for(&site.enforcement, None);
    let star = site.edition.matcher().star().filter(|_| binds(&site.enforcement, Class::None));
    match star {
        _ if mode == Mode::Off => pass(Reason::Off, Standing::UNVERIFIABLE),
        Some(group) => judge(site, None, group, mode, target),
        None => pass(Reason::Unbound, Standing::UNVERIFIABLE),
    }
}

/// The group that a name obeys: its own, else that of its catalogue chain, else `*` where that
/// binds its class (RFC 9309 §2.2.1; the deviations are those the operators document).
pub fn group_of(site: &Site, name: crawlers::Name<'_>) -> Option<robots::Scope> {
    let matcher = site.edition.matcher();
    let Some(crawler) = name.known() else {
        let own = matcher.group(name.as_str());
        return own
            .or_else(|| matcher.star().filter(|_| binds(&site.enforcement, Class::Automation)));
    };
    let named = crawler.groups().find_map(|token| matcher.group(token.as_str()));
    let class = match crawler.kind() {
        Kind::Crawler | Kind::Control => Class::Crawler,
        Kind::UserTriggered => Class::UserTriggered,
        Kind::Automation => Class::Automation,
    };
    named.or_else(|| {
        matcher.star().filter(|_| !crawler.ignores_star() && binds(&site.enforcement, class))
    })
}

fn binds(enforcement: &Enforcement, class: Class) -> bool {
    enforcement.star_binds.contains(&class)
}

/// The first override that names the crawler in its standing, else the site's mode.
fn mode_for(enforcement: &Enforcement, asking: Option<Asking<'_>>) -> Mode {
    let standing = asking.map_or(Standing::UNVERIFIABLE, |asking| asking.standing);
    let is_for = |one: &&Override| {
        is_for_outcome(one, standing.outcome)
            && (one.all || asking.is_some_and(|asking| names(one, asking.name)))
    };
    enforcement.overrides.iter().find(is_for).map_or(enforcement.mode, |one| one.mode)
}

fn is_for_outcome(one: &Override, outcome: Outcome) -> bool {
    one.standings.is_empty() || one.standings.contains(&outcome)
}

fn names(one: &Override, name: crawlers::Name<'_>) -> bool {
    match name {
        crawlers::Name::Known(crawler) => {
            one.tokens.contains(crawler.product_token())
                || crawler.aliases().iter().any(|alias| one.tokens.contains(alias))
        }
        crawlers::Name::Site(token) => one.tokens.contains(token),
        crawlers::Name::Declared(text) => {
            one.tokens.iter().any(|token| token.key().eq_ignore_ascii_case(text))
        }
    }
}

/// For whoever hides among names: whatever is done with anybody.
fn strictest_mode(enforcement: &Enforcement) -> Mode {
    let overrides = enforcement.overrides.iter().map(|one| one.mode);
    overrides.fold(enforcement.mode, Mode::max)
}

fn judge<'r>(
    site: &'r Site,
    asking: Option<Asking<'r>>,
    group: robots::Scope,
    mode: Mode,
    target: &robots::Target<'_>,
) -> Decision<'r> {
    let verdict = site.edition.matcher().verdict(group, target);
    let (action, reason) = match (verdict.access, verdict.form) {
        (Access::Allow, _) => (Action::Pass, Reason::Allow),
        (Access::Disallow, form) => {
            (action_of(mode), if form == Form::Letter { Reason::Disallow } else { Reason::Evasion })
        }
    };
    let spared = action == Action::Block
        && asking.is_some_and(|asking| is_spared(&site.enforcement, asking))
        && site.edition.matcher().star() == Some(group);
    let (action, reason) = if spared { (Action::Log, Reason::Spared) } else { (action, reason) };
    Decision {
        access: verdict.access,
        action,
        reason,
        judgement: Some(Judgement {
            name: asking.map(|asking| asking.name),
            group: Some(group),
            rule: verdict.rule,
        }),
        standing: asking.map_or(Standing::UNVERIFIABLE, |asking| asking.standing),
    }
}

/// Whether a rule for everybody must not shut this one out: it is proven to be a search engine, and
/// the policy neither names it where it blocks nor says that it may be.
fn is_spared(enforcement: &Enforcement, Asking { name, standing }: Asking<'_>) -> bool {
    let is_search = |crawler: &Crawler| crawler.purpose() == Purpose::Search;
    // An override that blocks those who borrow the name says nothing of whom it belongs to.
    let is_named = |one: &Override| {
        one.mode == Mode::Block && is_for_outcome(one, standing.outcome) && names(one, name)
    };
    standing.outcome == Outcome::Confirmed
        && name.known().is_some_and(is_search)
        && !enforcement.block_confirmed_search
        && !enforcement.overrides.iter().any(is_named)
}

const fn action_of(mode: Mode) -> Action {
    match mode {
        Mode::Off => Action::Pass,
        // What is slowed down is who comes too soon, whatever it asks for.
        Mode::Log | Mode::Throttle => Action::Log,
        Mode::Block => Action::Block,
    }
}
