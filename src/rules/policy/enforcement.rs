//! The `enforcement` section: the treatment of violations.

use std::sync::Arc;

use crate::{
    base::diagnostic::Diagnostic,
    formats::robots,
    rules::{
        crawlers::{Class, Outcome},
        keys,
    },
};

use super::{
    block::{self, Block},
    fields::{Fields, Setting, defaults},
    ladder::{self, Breaker, Ladder},
    mode::{Grace, Mode, OtherForms, PaceMode},
    names::Names,
    overrides::{self, Override, Quiet},
    rate_limits::{self, PeopleFirst, RateLimit},
    robots_txt::RobotsTxt,
    shape::At,
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
    defaults(&keys::ENFORCEMENT, |fields| fields.all("star_binds"))
}

pub(super) fn read(fields: &Fields<'_>, robots_txt: &RobotsTxt, names: &Names<'_>) -> Enforcement {
    let mode: &str = fields.get("mode");
    let is_on_ladder = mode == "ladder";
    let ladder = ladder::ladder(&fields.section("ladder"));
    if let Some(at) = fields.take("ladder").filter(|_| !is_on_ladder) {
        let warning = Diagnostic::warning("policy.idle_ladder", "no crawler is on the ladder");
        at.add(warning.help("set 'mode: ladder', or remove this"));
    }
    let enforcement = Enforcement {
        at: Spot::from(fields.take("mode").as_ref().unwrap_or(&fields.at)),
        mode: Mode::from_word(mode).unwrap_or(Mode::Log),
        ladder: is_on_ladder.then_some(ladder),
        breaker: breaker(fields, is_on_ladder),
        crawl_delay: fields.find("crawl_delay"),
        overrides: overrides::read(fields, names),
        rate_limits: rate_limits::read(fields, robots_txt.source, names),
        quiet: overrides::quiet(fields, names),
        people_first: fields.read("people_first", rate_limits::people_first).map(Arc::new),
        block: block::read(&fields.section("block")),
        star_binds: fields.each("star_binds", star_binds),
        // There is no `throttle`: an impostor has promised no pace.
        impostors: fields.find("impostors"),
        block_confirmed_search: fields.get("block_confirmed_search"),
        grace: fields.get("grace"),
        other_forms: fields.find("other_forms"),
    };
    warn_of_idle_impostors(&enforcement, fields);
    if !fields.get::<bool>("allow_block_all") {
        refuse_to_block_every_crawler(&enforcement, robots_txt, fields);
    }
    enforcement
}

/// The breaker. It is off by default, but on the ladder: an operator who writes `mode: block` means it.
fn breaker(fields: &Fields<'_>, is_on_ladder: bool) -> Option<Breaker> {
    let at = fields.take("breaker");
    let is_on = at.as_ref().map_or(is_on_ladder, |at| !at.node.is_text("off"));
    if let Some(at) = at.filter(|at| is_on && !at.is_map()) {
        let help = "write off, or for example { share: 50%, pause: 10m }";
        at.refuse("neither off nor a mapping", help);
    }
    is_on.then(|| ladder::breaker(&fields.section("breaker")))
}

fn warn_of_idle_impostors(enforcement: &Enforcement, fields: &Fields<'_>) {
    let is_off = |mode| mode == Mode::Off;
    if enforcement.impostors.is_some()
        && is_off(enforcement.mode)
        && enforcement.overrides.iter().all(|one| is_off(one.mode))
    {
        let message = "'impostors' has no effect: the mode is off, so no request is judged";
        let help = "set 'mode: log', or remove 'impostors'";
        fields.at.add(Diagnostic::warning("policy.idle_impostors", message).help(help));
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

#[cfg(test)]
mod tests;
