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
    breaker::{self, Breaker},
    fields::Fields,
    findings::Findings,
    ladder::{self, Ladder},
    mode::{Grace, Mode, OtherForms, PaceMode},
    names::Names,
    overrides::{self, Override},
    people_first::{self, PeopleFirst},
    places::Spot,
    quiet::{self, Quiet},
    rate_limits::{self, RateLimit},
    robots_txt::RobotsTxt,
    shape::At,
};

/// The `enforcement` section: the treatment of violations.
#[derive(Clone, Debug)]
pub struct Enforcement {
    /// The place of `mode`, else of the section.
    pub at: Spot,
    /// The treatment of a violation by a crawler that no override names (default `log`). With the
    /// ladder, the mode of its lowest rung.
    pub mode: Mode,
    /// The ladder, with `mode: ladder`; `None` otherwise.
    pub ladder: Option<Ladder>,
    /// When refusing stops; `None` is never (default: on with `mode: ladder`, else off).
    pub breaker: Option<Breaker>,
    /// The treatment of a request before the crawler's `Crawl-delay` is over; `None` follows the
    /// mode.
    pub crawl_delay: Option<PaceMode>,
    /// Exceptions by crawler; the first that names the crawler wins.
    pub overrides: Vec<Override>,
    /// Limits for the requests of crawlers.
    pub rate_limits: Vec<RateLimit>,
    /// Crawlers without alerts about their violations.
    pub quiet: Vec<Quiet>,
    /// When crawlers make room for people; `None` is never (default).
    pub people_first: Option<Arc<PeopleFirst>>,
    /// The answer to a refused request.
    pub block: Block,
    /// The classes of client that a `*` group binds (default crawler, automation and none).
    pub star_binds: Vec<Class>,
    /// The treatment of every request by a proven impostor; `None` leaves it to the rules
    /// (default).
    pub impostors: Option<Mode>,
    /// Whether rules for `*` alone may block a confirmed search engine (default false).
    pub block_confirmed_search: bool,
    /// The treatment of a request that only the newest robots.txt disallows (default `count`).
    pub grace: Grace,
    /// The treatment of other forms of closed paths; `None` refuses them where the plain path would be
    /// refused, else records them (default).
    pub other_forms: Option<OtherForms>,
}

/// The modes of a site; `None` is the ladder.
const SITE_MODES: [Option<Mode>; 5] =
    [Some(Mode::Off), Some(Mode::Log), Some(Mode::Throttle), Some(Mode::Block), None];

/// The classes that `*` binds by default: crawlers, automatic clients, and clients without a
/// User-Agent. It never binds a browser, and by default no app.
const STAR_BINDS: [Class; 3] = [Class::Crawler, Class::Automation, Class::None];

impl Default for Enforcement {
    fn default() -> Self {
        Self {
            at: Spot::default(),
            mode: Mode::Log,
            ladder: None,
            breaker: None,
            crawl_delay: None,
            overrides: Vec::new(),
            rate_limits: Vec::new(),
            quiet: Vec::new(),
            people_first: None,
            block: Block::default(),
            star_binds: STAR_BINDS.to_vec(),
            impostors: None,
            block_confirmed_search: false,
            grace: Grace::default(),
            other_forms: None,
        }
    }
}

/// Reads the section; without one, violations are logged.
pub(super) fn read(
    at: Option<&At<'_>>,
    robots_txt: &RobotsTxt,
    names: &Names<'_>,
    findings: &mut Findings,
) -> Enforcement {
    let mut enforcement = Enforcement::default();
    let Some(fields) = at.and_then(|at| at.fields(&keys::ENFORCEMENT, findings)) else {
        return enforcement;
    };
    enforcement.at = Spot::from(fields.take("mode").as_ref().unwrap_or_else(|| fields.at()));
    let mode = fields.choice("mode", SITE_MODES, findings);
    enforcement.mode = mode.flatten().unwrap_or(Mode::Log);
    read_behaviour(&fields, mode == Some(None), &mut enforcement, findings);
    enforcement.overrides = overrides::read(&fields, names, findings);
    enforcement.rate_limits = rate_limits::read(&fields, robots_txt.source, names, findings);
    enforcement.quiet = quiet::read(&fields, names, findings);
    enforcement.people_first =
        fields.read("people_first", people_first::read, findings).map(Arc::new);
    if let Some(at) = fields.take("block") {
        block::read(&at, &mut enforcement.block, findings);
    }
    if fields.take("star_binds").is_some() {
        enforcement.star_binds = star_binds(&fields, findings);
    }
    // There is no `throttle`: an impostor has promised no pace.
    enforcement.impostors = fields.choice("impostors", [Mode::Log, Mode::Block], findings);
    warn_of_idle_impostors(&enforcement, &fields, findings);
    enforcement.block_confirmed_search = fields.is("block_confirmed_search", findings);
    let grace = fields.choice("grace", [Grace::Count, Grace::Enforce], findings);
    enforcement.grace = grace.unwrap_or_default();
    let forms = [OtherForms::Pass, OtherForms::Log, OtherForms::Refuse];
    enforcement.other_forms = fields.choice("other_forms", forms, findings);
    if !fields.is("allow_block_all", findings) {
        refuse_to_block_every_crawler(&enforcement, robots_txt, &fields, findings);
    }
    enforcement
}

/// Reads `ladder`, `breaker` and `crawl_delay`. On the ladder, the breaker is on by default.
/// Elsewhere it is off: an operator who writes `mode: block` means it.
fn read_behaviour(
    fields: &Fields<'_>,
    is_on_ladder: bool,
    enforcement: &mut Enforcement,
    findings: &mut Findings,
) {
    let ladder = fields.take("ladder");
    if let Some(at) = ladder.as_ref().filter(|_| !is_on_ladder) {
        findings.add(
            at,
            Diagnostic::warning("policy.idle_ladder", "no crawler is on the ladder")
                .help("set 'mode: ladder', or remove this"),
        );
    }
    let ladder = ladder::read(ladder.as_ref(), findings);
    enforcement.ladder = is_on_ladder.then_some(ladder);
    enforcement.breaker = match fields.take("breaker") {
        Some(at) if at.node.is_text("off") => None,
        Some(at) => Some(breaker::read(&at, findings)),
        None => is_on_ladder.then(Breaker::default),
    };
    let paces = [PaceMode::Log, PaceMode::Throttle];
    enforcement.crawl_delay = fields.choice("crawl_delay", paces, findings);
}

fn warn_of_idle_impostors(enforcement: &Enforcement, fields: &Fields<'_>, findings: &mut Findings) {
    let is_off = |mode| mode == Mode::Off;
    if enforcement.impostors.is_some()
        && is_off(enforcement.mode)
        && enforcement.overrides.iter().all(|one| is_off(one.mode))
    {
        let message = "'impostors' has no effect: the mode is off, so no request is judged";
        let help = "set 'mode: log', or remove 'impostors'";
        findings.add(fields.at(), Diagnostic::warning("policy.idle_impostors", message).help(help));
    }
}

fn star_binds(fields: &Fields<'_>, findings: &mut Findings) -> Vec<Class> {
    const CLASSES: [Class; 5] =
        [Class::Crawler, Class::UserTriggered, Class::Automation, Class::App, Class::None];
    let classes = fields.words("star_binds", CLASSES);
    let read = |item: &At<'_>, findings: &mut Findings| {
        if item.node.is_text("browser") {
            let help = "leave browsers out; '*' binds crawlers, not people";
            return findings.refused(item, "a browser is never judged", help);
        }
        item.choice(&classes, findings)
    };
    fields.each("star_binds", read, findings)
}

/// Refuses to block every crawler from the whole site, unless the policy says so explicitly: the
/// site would vanish from every search engine.
fn refuse_to_block_every_crawler(
    enforcement: &Enforcement,
    robots_txt: &RobotsTxt,
    fields: &Fields<'_>,
    findings: &mut Findings,
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
        let at = fields.at();
        let message = "this blocks every crawler from the whole site";
        let help = "add 'allow_block_all: true' here if that is meant, or set 'mode: log'";
        findings.add(at, Diagnostic::error("policy.blocks_everybody", message).help(help));
    }
}

#[cfg(test)]
mod tests;
