//! The `enforcement` section: the treatment of violations, with the ladder, the breaker and what differs for
//! some crawlers.

use std::{collections::HashSet, sync::Arc, time::Duration};

use jiff::Timestamp;

use crate::{
    base::{diagnostic::Diagnostic, product_token::ProductToken},
    formats::robots::{self, Pace},
    rules::{
        crawlers::{Class, Outcome},
        keys,
    },
};

use super::{
    block::{self, Block},
    fields::{Fields, Setting, defaults, section},
    mode::{Grace, Mode, OtherForms, PaceMode},
    names::{Named, Names, Selected},
    rate_limits::{self, PeopleFirst, RateLimit},
    robots_txt::RobotsTxt,
    shape::At,
    units::Share,
    yaml::Spot,
};

/// The `enforcement` section: the treatment of violations.
#[derive(Clone, Debug)]
pub struct Enforcement {
    /// The place of `mode`, else of the section.
    pub(crate) at: Spot,
    /// The treatment of a violation by a crawler that no override names (default `log`). With the
    /// ladder, the mode of its lowest rung.
    pub(crate) mode: Mode,
    /// The ladder, with `mode: ladder`; `None` otherwise.
    pub(crate) ladder: Option<Ladder>,
    /// When refusing stops; `None` is never (default: on with `mode: ladder`, else off).
    pub(crate) breaker: Option<Breaker>,
    /// The treatment of a request before the crawler's `Crawl-delay` is over; `None` follows the
    /// mode.
    pub(crate) crawl_delay: Option<PaceMode>,
    /// Exceptions by crawler; the first that names the crawler wins.
    pub(crate) overrides: Vec<Override>,
    pub(crate) rate_limits: Vec<RateLimit>,
    pub(crate) quiet: Vec<Quiet>,
    pub(crate) people_first: Option<Arc<PeopleFirst>>,
    pub(crate) block: Block,
    pub(crate) star_binds: Vec<Class>,
    pub(crate) impostors: Option<Mode>,
    pub(crate) block_confirmed_search: bool,
    pub(crate) grace: Grace,
    pub(crate) other_forms: Option<OtherForms>,
}

/// The classes that `*` binds by default: crawlers, automatic clients, and clients without a
/// User-Agent. It never binds a browser, and by default no app.
pub fn default_star_binds() -> Vec<Class> {
    defaults(&keys::ENFORCEMENT, |fields| fields.get("star_binds"))
}

pub(super) fn read(fields: &Fields<'_>, robots_txt: &RobotsTxt, names: &Names<'_>) -> Enforcement {
    let mode: &str = fields.get("mode");
    let is_on_ladder = mode == "ladder";
    let ladder = Ladder::read(&fields.section("ladder"));
    if let Some(at) = fields.take("ladder").filter(|_| !is_on_ladder) {
        let help = "set 'mode: ladder', or remove this";
        at.warn("policy.idle_ladder", "no crawler is on the ladder", help);
    }
    let enforcement = Enforcement {
        at: fields.take("mode").as_ref().unwrap_or(&fields.at).node.spot,
        mode: Mode::from_word(mode).unwrap_or(Mode::Log),
        ladder: is_on_ladder.then_some(ladder),
        breaker: breaker(fields, is_on_ladder),
        crawl_delay: fields.get("crawl_delay"),
        overrides: overrides(fields, names),
        rate_limits: rate_limits::read(fields, robots_txt.source, names),
        quiet: quiet(fields, names),
        people_first: fields.within("people_first", PeopleFirst::read).map(Arc::new),
        block: block::read(&fields.section("block")),
        star_binds: fields.each("star_binds", star_binds),
        // There is no `throttle`: an impostor has promised no pace.
        impostors: fields.get("impostors"),
        block_confirmed_search: fields.get("block_confirmed_search"),
        grace: fields.get("grace"),
        other_forms: fields.get("other_forms"),
    };
    warn_of_idle_impostors(&enforcement, fields);
    if !fields.get::<bool>("allow_block_all") {
        refuse_to_block_every_crawler(&enforcement, robots_txt, fields);
    }
    enforcement
}

/// The breaker. It is off by default, but on the ladder: an operator who writes `mode: block` means it.
fn breaker(fields: &Fields<'_>, is_on_ladder: bool) -> Option<Breaker> {
    match fields.take("breaker") {
        None => is_on_ladder.then(Breaker::default),
        Some(at) if at.node.is_text("off") => None,
        Some(at) if at.is_map() => at.fields().map(|fields| Breaker::read(&fields)),
        Some(at) => {
            let help = "write off, or for example { share: 50%, pause: 10m }";
            at.refuse("neither off nor a mapping", help);
            Some(Breaker::default())
        }
    }
}

fn warn_of_idle_impostors(enforcement: &Enforcement, fields: &Fields<'_>) {
    let is_off = |mode| mode == Mode::Off;
    if enforcement.impostors.is_some()
        && is_off(enforcement.mode)
        && enforcement.overrides.iter().all(|one| is_off(one.mode))
    {
        let message = "'impostors' has no effect: the mode is off, so no request is judged";
        let help = "set 'mode: log', or remove 'impostors'";
        fields.at.warn("policy.idle_impostors", message, help);
    }
}

fn star_binds(at: &At<'_>) -> Option<Class> {
    if at.node.is_text("browser") {
        let help = "leave browsers out; '*' binds crawlers, not people";
        return at.refused("a browser is never judged", help);
    }
    Class::read(at)
}

/// Refuses to block every crawler from the whole site, unless the policy says so explicitly: the
/// site would vanish from every search engine.
fn refuse_to_block_every_crawler(
    enforcement: &Enforcement,
    robots_txt: &RobotsTxt,
    fields: &Fields<'_>,
) {
    let blocks = |outcome: Outcome| {
        let is_for = |one: &&Override| {
            one.all && (one.standings.is_empty() || one.standings.contains(&outcome))
        };
        let first = enforcement.overrides.iter().find(is_for);
        // A crawler that violates such rules climbs to the top of the ladder.
        let by_site = enforcement.ladder.map_or(enforcement.mode, |_| Mode::Block);
        first.map_or(by_site, |one| one.mode) == Mode::Block
    };
    // Without evidence, every search engine is unknown.
    let blocks_star =
        blocks(Outcome::Unknown) || (blocks(Outcome::Unverifiable) && blocks(Outcome::Confirmed));
    if blocks_star && robots::closes_everything(&robots_txt.file) {
        let at = &fields.at;
        let message = "this blocks every crawler from the whole site";
        let help = "add 'allow_block_all: true' here if that is meant, or set 'mode: log'";
        at.add(Diagnostic::error("policy.blocks_everybody", message).help(help));
    }
}

section! {
    /// How a crawler climbs and comes down.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Ladder: LADDER {
        pub(crate) period: Duration,
        pub(crate) share: Share,
        pub(crate) min_violations: u64,
        pub(crate) throttle: Pace,
    }
}

section! {
    /// When refusing stops, because far more would be refused than intended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Breaker: BREAKER {
        pub(crate) share: Share,
        pub(crate) min_requests: u64,
        pub(crate) window: Duration,
        pub(crate) pause: Duration,
    }
}

/// A mode for some crawlers.
#[derive(Clone, Debug)]
pub struct Override {
    pub(crate) tokens: HashSet<ProductToken>,
    /// Whether it names `*`, every crawler.
    pub(crate) all: bool,
    pub(crate) star: Option<Spot>,
    /// The standings of a crawler in which it applies; empty is all of them.
    pub(crate) standings: Vec<Outcome>,
    pub(crate) mode: Mode,
    pub(crate) until: Option<Timestamp>,
    /// The entries of `user_agents` except `*`, with the crawlers of each.
    pub(crate) named: Vec<Named>,
}

/// Reads the list; an override without effect is a finding.
fn overrides(fields: &Fields<'_>, names: &Names<'_>) -> Vec<Override> {
    let mut overrides: Vec<Override> = Vec::new();
    for at in fields.list("overrides") {
        let Some(one) = one_override(&at, names) else { continue };
        if is_idle(&one, &overrides) {
            let message = "earlier overrides name all of these";
            let help = "the first that names a crawler wins: move this one up, or remove it";
            at.warn("policy.idle_override", message, help);
        }
        overrides.push(one);
    }
    overrides
}

/// Whether earlier overrides name all crawlers of this one. An earlier override for some standings
/// covers only a later one for the same standings, and one that ends covers none.
fn is_idle(one: &Override, earlier: &[Override]) -> bool {
    let covers = |before: &&Override| {
        before.standings.is_empty()
            || (!one.standings.is_empty()
                && one.standings.iter().all(|outcome| before.standings.contains(outcome)))
    };
    let before = || earlier.iter().filter(|before| before.until.is_none()).filter(covers);
    let is_taken = |token| before().any(|before| before.tokens.contains(token));
    before().any(|before| before.all)
        || (!one.all && !one.tokens.is_empty() && one.tokens.iter().all(is_taken))
}

fn one_override(at: &At<'_>, names: &Names<'_>) -> Option<Override> {
    let fields = at.fields()?;
    let user_agents = fields.require("user_agents", "write for example [set:ai]");
    let mode = fields.required("mode", "write off, log, throttle or block", Mode::read);
    let selected = names.selected(&user_agents?.items());
    let tokens = selected.tokens();
    let Selected { star, named } = selected;
    let (standings, until) = (fields.get("standing"), fields.get("until"));
    Some(Override { tokens, all: star.is_some(), star, standings, mode: mode?, until, named })
}

/// Crawlers without alerts.
#[derive(Clone, Debug)]
pub struct Quiet {
    pub(crate) tokens: HashSet<ProductToken>,
    /// Whether it names `*`, every crawler.
    pub(crate) all: bool,
    pub(crate) until: Option<Timestamp>,
}

fn quiet(fields: &Fields<'_>, names: &Names<'_>) -> Vec<Quiet> {
    let one_quiet = |at: &At<'_>| {
        let fields = at.fields()?;
        let user_agents = fields.require("user_agents", "write for example [GPTBot]");
        let selected = names.selected(&user_agents.map(|at| at.items()).unwrap_or_default());
        let (tokens, all) = (selected.tokens(), selected.star.is_some());
        Some(Quiet { tokens, all, until: fields.get("until") })
    };
    fields.each("quiet", one_quiet)
}

#[cfg(test)]
mod tests;
