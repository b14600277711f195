//! The `enforcement` section: what happens to violations.

use std::collections::HashSet;

use crate::{
    crawlers::{Class, Outcome},
    diagnostic::Diagnostic,
    policy::{
        Block, Enforcement, Mode, Override, RobotsTxt, block, ladder,
        names::{Names, Selection},
        shape::{At, Fields, Findings},
    },
    robots,
};

/// What happens to a request that the newest robots.txt disallows, and an older one that the crawler
/// may still go by allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grace {
    /// It passes, and is counted.
    #[default]
    Count,
    /// It is a violation like any other.
    Enforce,
}

impl Grace {
    /// The word in the policy.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Enforce => "enforce",
        }
    }
}

const MODES: [(&str, Mode); 4] =
    [("off", Mode::Off), ("log", Mode::Log), ("throttle", Mode::Throttle), ("block", Mode::Block)];
/// Of a site; `None` is the ladder.
const SITE_MODES: [(&str, Option<Mode>); 5] = [
    ("off", Some(Mode::Off)),
    ("log", Some(Mode::Log)),
    ("throttle", Some(Mode::Throttle)),
    ("block", Some(Mode::Block)),
    ("ladder", None),
];
/// Of impostors, who have promised no pace.
const IMPOSTOR_MODES: [(&str, Mode); 2] = [("log", Mode::Log), ("block", Mode::Block)];

/// The classes that `*` binds unless the policy says otherwise: whoever crawls or is automatic,
/// and who does not say what it is. A person's browser is never among them.
const STAR_BINDS: [Class; 3] = [Class::Crawler, Class::Automation, Class::None];

/// Reads the section; without one, violations are logged.
pub(super) fn read(
    at: Option<&At<'_>>,
    robots_txt: &RobotsTxt,
    names: &Names<'_>,
    findings: &mut Findings,
) -> Enforcement {
    const KEYS: [&str; 11] = [
        "mode",
        "overrides",
        "block",
        "star_binds",
        "impostors",
        "block_confirmed_search",
        "allow_block_all",
        "grace",
        "ladder",
        "breaker",
        "crawl_delay",
    ];
    let mut enforcement = Enforcement {
        mode: Mode::Log,
        ladder: None,
        breaker: None,
        crawl_delay: None,
        overrides: Vec::new(),
        block: Block::default(),
        star_binds: STAR_BINDS.to_vec(),
        impostors: None,
        block_confirmed_search: false,
        grace: Grace::default(),
    };
    let Some(fields) = at.and_then(|at| at.fields(&KEYS, findings)) else { return enforcement };
    let mode = fields.take("mode").and_then(|at| at.choice(&SITE_MODES, findings));
    enforcement.mode = mode.flatten().unwrap_or(Mode::Log);
    ladder::read(&fields, mode == Some(None), &mut enforcement, findings);
    for at in fields.list("overrides", findings) {
        let Some(one) = one_override(&at, names, findings) else { continue };
        // An override for some standings leaves the crawler in the others to those that follow.
        let before = || {
            let covers = |before: &&Override| {
                before.standings.is_empty()
                    || (!one.standings.is_empty()
                        && one.standings.iter().all(|outcome| before.standings.contains(outcome)))
            };
            enforcement.overrides.iter().filter(covers)
        };
        let is_taken = |token| before().any(|before| before.tokens.contains(token));
        let taken_all = before().any(|before| before.all);
        if taken_all || (!one.all && !one.tokens.is_empty() && one.tokens.iter().all(is_taken)) {
            findings.add(
                &at,
                Diagnostic::warning("policy.idle_override", "earlier overrides name all of these")
                    .help("the first that names a crawler wins: move this one up, or remove it"),
            );
        }
        enforcement.overrides.push(one);
    }
    if let Some(at) = fields.take("block") {
        block::read(&at, &mut enforcement.block, findings);
    }
    if let Some(at) = fields.take("star_binds") {
        enforcement.star_binds = star_binds(&at, findings);
    }
    let impostors = fields.take("impostors").and_then(|at| at.choice(&IMPOSTOR_MODES, findings));
    enforcement.impostors = impostors;
    let is_off = |mode| mode == Mode::Off;
    if impostors.is_some()
        && is_off(enforcement.mode)
        && enforcement.overrides.iter().all(|one| is_off(one.mode))
    {
        let message = "'impostors' does nothing where the mode is off: nobody is judged";
        findings.add(
            fields.at(),
            Diagnostic::warning("policy.idle_impostors", message)
                .help("set 'mode: log', or remove 'impostors'"),
        );
    }
    if let Some(at) = fields.take("block_confirmed_search") {
        enforcement.block_confirmed_search = at.boolean(findings).unwrap_or(false);
    }
    if let Some(at) = fields.take("grace") {
        let choices = [Grace::Count, Grace::Enforce].map(|grace| (grace.as_str(), grace));
        enforcement.grace = at.choice(&choices, findings).unwrap_or_default();
    }
    let allow_block_all =
        fields.take("allow_block_all").and_then(|at| at.boolean(findings)).unwrap_or(false);
    if !allow_block_all {
        refuse_to_block_everybody(&enforcement, robots_txt, &fields, findings);
    }
    enforcement
}

fn one_override(at: &At<'_>, names: &Names<'_>, findings: &mut Findings) -> Option<Override> {
    let fields = at.fields(&["user_agents", "standing", "mode"], findings)?;
    let who = fields.require("user_agents", "write for example [set:ai]", findings);
    let mode = fields
        .require("mode", "write off, log, throttle or block", findings)
        .and_then(|at| at.choice(&MODES, findings));
    let (mut tokens, mut all) = (HashSet::new(), false);
    for item in who?.items(findings) {
        match names.select(&item, findings) {
            Some(Selection::Star) => all = true,
            Some(Selection::Tokens(selected)) => tokens.extend(selected),
            None => {}
        }
    }
    let outcomes = Outcome::ALL.map(|outcome| (outcome.as_str(), outcome));
    let standings = fields.list("standing", findings);
    let standings = standings.iter().filter_map(|item| item.choice(&outcomes, findings)).collect();
    Some(Override { tokens, all, standings, mode: mode? })
}

fn star_binds(at: &At<'_>, findings: &mut Findings) -> Vec<Class> {
    const CLASSES: [(&str, Class); 4] = [
        ("crawler", Class::Crawler),
        ("user-triggered", Class::UserTriggered),
        ("automation", Class::Automation),
        ("none", Class::None),
    ];
    at.items(findings)
        .iter()
        .filter_map(|item| {
            if item.node.is_text("browser") {
                let help = "leave browsers out; '*' binds crawlers, not people";
                findings.refuse(item, "a browser is never judged", help);
                return None;
            }
            item.choice(&CLASSES, findings)
        })
        .collect()
}

/// Rules for `*` that leave nothing open, enforced by blocking, take a site out of every
/// search engine: that is asked for in so many words or not at all.
fn refuse_to_block_everybody(
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
        // Whoever violates such rules climbs to the top of the ladder.
        let by_site = enforcement.ladder.map_or(enforcement.mode, |_| Mode::Block);
        first.map_or(by_site, |one| one.mode) == Mode::Block
    };
    // Unknown is every search engine until it was looked at, and where nothing is.
    let blocks_star =
        blocks(Outcome::Unknown) || (blocks(Outcome::Unverifiable) && blocks(Outcome::Confirmed));
    if blocks_star && robots::closes_everything(&robots_txt.file) {
        let at = fields.at();
        let message = "this blocks every crawler from the whole site";
        findings.add(
            at,
            Diagnostic::error("policy.blocks_everybody", message)
                .help("add 'allow_block_all: true' here if that is meant, or set 'mode: log'"),
        );
    }
}
