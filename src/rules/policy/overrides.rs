//! The `overrides` and the `quiet` of an enforcement: what differs for some crawlers.

use std::collections::HashSet;

use jiff::Timestamp;

use crate::{
    base::{diagnostic::Diagnostic, product_token::ProductToken},
    rules::crawlers::Outcome,
};

use super::{
    fields::{Fields, Setting},
    mode::Mode,
    names::{Named, Names, Selected},
    shape::At,
    yaml::Spot,
};

/// A mode for some crawlers.
#[derive(Clone, Debug)]
pub struct Override {
    pub(crate) tokens: HashSet<ProductToken>,
    /// Whether it names `*`, every crawler.
    pub(crate) all: bool,
    /// The place of that `*`.
    pub(crate) star: Option<Spot>,
    /// The standings of a crawler in which it applies; empty is all of them.
    pub(crate) standings: Vec<Outcome>,
    pub(crate) mode: Mode,
    pub(crate) until: Option<Timestamp>,
    /// The entries of `user_agents` except `*`, with the crawlers of each.
    pub(crate) named: Vec<Named>,
}

/// Reads the list; an override without effect is a finding.
pub(super) fn read(fields: &Fields<'_>, names: &Names<'_>) -> Vec<Override> {
    let mut overrides: Vec<Override> = Vec::new();
    for at in fields.list("overrides") {
        let Some(one) = one_override(&at, names) else { continue };
        if is_idle(&one, &overrides) {
            let message = "earlier overrides name all of these";
            let help = "the first that names a crawler wins: move this one up, or remove it";
            at.add(Diagnostic::warning("policy.idle_override", message).help(help));
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
    let (standings, until) = (fields.all("standing"), fields.find("until"));
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

pub(super) fn quiet(fields: &Fields<'_>, names: &Names<'_>) -> Vec<Quiet> {
    let one_quiet = |at: &At<'_>| {
        let fields = at.fields()?;
        let user_agents = fields.require("user_agents", "write for example [GPTBot]");
        let selected = names.selected(&user_agents.map(|at| at.items()).unwrap_or_default());
        let (tokens, all) = (selected.tokens(), selected.star.is_some());
        Some(Quiet { tokens, all, until: fields.find("until") })
    };
    fields.each("quiet", one_quiet)
}
