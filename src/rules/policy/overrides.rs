//! The `overrides` of an enforcement.

use std::collections::HashSet;

use jiff::Timestamp;

use crate::{
    base::{diagnostic::Diagnostic, product_token::ProductToken},
    rules::{crawlers::Outcome, keys},
};

use super::{
    fields::Fields,
    findings::Findings,
    mode::Mode,
    names::{Names, Selection},
    places::Spot,
    shape::At,
};

/// A mode for some crawlers.
#[derive(Clone, Debug)]
pub struct Override {
    /// The crawlers. Empty without `all`, the override applies to none.
    pub tokens: HashSet<ProductToken>,
    /// Whether it names `*`, every crawler.
    pub all: bool,
    /// The place of that `*`.
    pub star: Option<Spot>,
    /// The standings of a crawler in which it applies; empty is all of them.
    pub standings: Vec<Outcome>,
    /// The treatment of violations by these crawlers.
    pub mode: Mode,
    /// When it ends; `None` is never (default).
    pub until: Option<Timestamp>,
    /// The entries of `user_agents` except `*`, with the crawlers of each.
    pub named: Vec<Named>,
}

/// An entry of an override's `user_agents`.
#[derive(Clone, Debug)]
pub struct Named {
    /// Its place in the policy.
    pub at: Spot,
    /// Its crawlers.
    pub tokens: Vec<ProductToken>,
}

/// Reads the list; an override without effect is a finding.
pub(super) fn read(
    fields: &Fields<'_>,
    names: &Names<'_>,
    findings: &mut Findings,
) -> Vec<Override> {
    let mut overrides: Vec<Override> = Vec::new();
    for at in fields.list("overrides", findings) {
        let Some(one) = one_override(&at, names, findings) else { continue };
        if is_idle(&one, &overrides) {
            findings.add(
                &at,
                Diagnostic::warning("policy.idle_override", "earlier overrides name all of these")
                    .help("the first that names a crawler wins: move this one up, or remove it"),
            );
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

fn one_override(at: &At<'_>, names: &Names<'_>, findings: &mut Findings) -> Option<Override> {
    let fields = at.fields(&keys::OVERRIDE, findings)?;
    let user_agents = fields.require("user_agents", "write for example [set:ai]", findings);
    let modes = fields.words("mode", [Mode::Off, Mode::Log, Mode::Throttle, Mode::Block]);
    let mode = fields.require("mode", "write off, log, throttle or block", findings);
    let mode = mode.and_then(|at| at.choice(&modes, findings));
    let (mut tokens, mut star, mut named) = (HashSet::new(), None, Vec::new());
    for item in user_agents?.items(findings) {
        match names.select(&item, findings) {
            Some(Selection::Star) => star = Some(Spot::from(&item)),
            Some(Selection::Tokens(selected)) => {
                tokens.extend(selected.iter().cloned());
                named.push(Named { at: Spot::from(&item), tokens: selected });
            }
            None => {}
        }
    }
    let outcomes = fields.words("standing", Outcome::ALL);
    let standings = fields.each("standing", |at, found| at.choice(&outcomes, found), findings);
    let until = fields.instant("until", findings);
    Some(Override { tokens, all: star.is_some(), star, standings, mode: mode?, until, named })
}
