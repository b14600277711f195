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
    crawlers::{self, Claim, Class, Kind},
    policy::{Enforcement, Mode},
    robots::{self, Access, Form},
};

pub use self::{
    edition::Edition,
    rulebook::{Rulebook, Site},
    tags::{TagFields, Tags},
};

mod edition; // one published robots.txt: its bytes, its hash, its matcher
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
    /// It is refused and recorded.
    Block,
}

impl Action {
    /// Every action, the mildest first.
    pub const ALL: [Self; 3] = [Self::Pass, Self::Log, Self::Block];

    /// The action as written in records and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Log => "log",
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
            Self::Off => "enforcement.off",
            Self::Unbound => "robots.unbound",
            Self::RobotsTxt => "robots.robots_txt",
        }
    }
}

/// What is known about a claim. Evidence is not gathered in this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing speaks for or against it.
    Unknown,
}

impl Standing {
    /// The standing as written in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
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
}

/// One product token judged by one group.
#[derive(Clone, Copy)]
pub struct Judgement<'r> {
    /// The name that was judged; `None` for a client that gives no name.
    pub name: Option<crawlers::Name<'r>>,
    /// The group that binds it.
    pub group: robots::Scope,
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
/// `is_nameless` tells whether the request has no User-Agent worth the name: such a client is
/// bound by `*` where the site says so, one with an unknown User-Agent is not.
pub fn decide<'r>(
    site: &'r Site,
    claim: &'r Claim<'r>,
    is_nameless: bool,
    target: &robots::Target<'_>,
) -> Decision<'r> {
    if target.is_robots_txt() {
        return pass(Reason::RobotsTxt);
    }
    let by_tokens = claim.tokens().map(|name| judge_name(site, name, target));
    // By which program a crawler comes counts only where the site has rules for the program.
    let by_programs = claim.programs().filter_map(|program| judge_program(site, program, target));
    let by_all = site.edition.matcher().scopes().filter(|_| claim.is_crowded()).map(|group| {
        judge(site, claim.primary(), group, strictest_mode(&site.enforcement), target)
    });
    let strictest = by_tokens
        .chain(by_programs)
        .chain(by_all)
        .reduce(|so_far, decision| if rank(&decision) > rank(&so_far) { decision } else { so_far });
    match strictest {
        Some(decision) => decision,
        None if claim.class() == Class::None && is_nameless => judge_nameless(site, target),
        None => pass(Reason::Unbound),
    }
}

/// Whether a User-Agent says nothing: empty, white space, or the `-` that some clients send.
pub fn is_blank(user_agent: &[u8]) -> bool {
    matches!(user_agent.trim_ascii(), b"" | b"-")
}

/// Disallow before allow, block before log, a group before none.
fn rank(decision: &Decision<'_>) -> (bool, Action, bool) {
    (decision.access == Access::Disallow, decision.action, decision.judgement.is_some())
}

const fn pass<'r>(reason: Reason) -> Decision<'r> {
    Decision { access: Access::Allow, action: Action::Pass, reason, judgement: None }
}

fn judge_name<'r>(
    site: &'r Site,
    name: crawlers::Name<'r>,
    target: &robots::Target<'_>,
) -> Decision<'r> {
    let mode = mode_for(&site.enforcement, Some(name));
    if mode == Mode::Off {
        return pass(Reason::Off);
    }
    group_of(site, name)
        .map_or_else(|| pass(Reason::Unbound), |group| judge(site, Some(name), group, mode, target))
}

/// A library or tool that a crawler's User-Agent names beside the crawler, by the group that names
/// it; `*` is for whoever has no name of its own.
fn judge_program<'r>(
    site: &'r Site,
    program: crawlers::Name<'r>,
    target: &robots::Target<'_>,
) -> Option<Decision<'r>> {
    let mode = mode_for(&site.enforcement, Some(program));
    let group = site.edition.matcher().group(program.as_str())?;
    (mode != Mode::Off).then(|| judge(site, Some(program), group, mode, target))
}

fn judge_nameless<'r>(site: &'r Site, target: &robots::Target<'_>) -> Decision<'r> {
    let mode = mode_for(&site.enforcement, None);
    let star = site.edition.matcher().star().filter(|_| binds(&site.enforcement, Class::None));
    match star {
        _ if mode == Mode::Off => pass(Reason::Off),
        Some(group) => judge(site, None, group, mode, target),
        None => pass(Reason::Unbound),
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

/// The first override that names the crawler, else the site's mode.
fn mode_for(enforcement: &Enforcement, name: Option<crawlers::Name<'_>>) -> Mode {
    let names_it = |one: &&crate::policy::Override| {
        one.all
            || name.is_some_and(|name| match name {
                crawlers::Name::Known(crawler) => {
                    one.tokens.contains(crawler.product_token())
                        || crawler.aliases().iter().any(|alias| one.tokens.contains(alias))
                }
                crawlers::Name::Site(token) => one.tokens.contains(token),
                crawlers::Name::Declared(text) => {
                    one.tokens.iter().any(|token| token.key().eq_ignore_ascii_case(text))
                }
            })
    };
    enforcement.overrides.iter().find(names_it).map_or(enforcement.mode, |one| one.mode)
}

/// For whoever hides among names: whatever is done with anybody.
fn strictest_mode(enforcement: &Enforcement) -> Mode {
    let overrides = enforcement.overrides.iter().map(|one| one.mode);
    overrides.fold(enforcement.mode, Mode::max)
}

fn judge<'r>(
    site: &'r Site,
    name: Option<crawlers::Name<'r>>,
    group: robots::Scope,
    mode: Mode,
    target: &robots::Target<'_>,
) -> Decision<'r> {
    let verdict = site.edition.matcher().verdict(group, target);
    let (action, reason) = match (verdict.access, verdict.form) {
        (Access::Allow, _) => (Action::Pass, Reason::Allow),
        (Access::Disallow, form) => (
            if mode == Mode::Block { Action::Block } else { Action::Log },
            if form == Form::Letter { Reason::Disallow } else { Reason::Evasion },
        ),
    };
    let judgement = Some(Judgement { name, group, rule: verdict.rule });
    Decision { access: verdict.access, action, reason, judgement }
}
