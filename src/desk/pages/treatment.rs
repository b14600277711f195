//! The treatment of a crawler's violations now: the mode, or the rung of the ladder.

use std::{collections::BTreeSet, net::Ipv4Addr};

use crate::{
    clients::conduct::Network,
    records::tally::Claimant,
    review::report::review::CrawlerRow,
    rules::{
        crawlers::{Name, Outcome},
        policy::Override,
    },
    state::publication::Snapshot,
};

/// The treatment at a site, or at all of them: one word for each mode that applies.
pub(super) fn treated(published: &Snapshot, row: &CrawlerRow<'_>, site: &str) -> String {
    let outcome = match (row.claimant, row.entry) {
        (Claimant::Impostor, _) => Outcome::Contradicted,
        (_, Some(entry)) if entry.publishes_evidence() => Outcome::Confirmed,
        _ => Outcome::Unverifiable,
    };
    let is_for = |one: &&Override| {
        let mut names = one.tokens.iter().map(|token| token.as_str());
        (one.standings.is_empty() || one.standings.contains(&outcome))
            && (one.all || names.any(|name| name.eq_ignore_ascii_case(&row.product_token)))
    };
    let sites = (0..published.rulebook.sites().len()).filter_map(|at| published.site(at));
    let sites = sites.filter(|(one, _)| site.is_empty() || one.name.eq_ignore_ascii_case(site));
    let words = sites.map(|(site, served)| {
        let enforcement = &site.enforcement;
        let impostors = enforcement.impostors.filter(|_| outcome == Outcome::Contradicted);
        let own =
            impostors.or_else(|| enforcement.overrides.iter().find(is_for).map(|one| one.mode));
        match (own, enforcement.ladder, row.entry) {
            (Some(mode), ..) => mode.as_str().to_owned(),
            (None, None, _) => enforcement.mode.as_str().to_owned(),
            (None, Some(_), None) => "ladder".to_owned(),
            (None, Some(_), Some(entry)) => {
                let anywhere = Network::of(Ipv4Addr::UNSPECIFIED.into());
                let rung = served.conduct.rung(Name::Known(entry), outcome, anywhere);
                format!("rung {}", rung.as_str())
            }
        }
    });
    words.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
}
