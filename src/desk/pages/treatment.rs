//! The treatment of a crawler's violations now: the mode, or the rung of the ladder.

use std::{collections::BTreeSet, net::Ipv4Addr};

use jiff::Timestamp;

use crate::{
    clients::conduct::Network,
    records::{record::Violation, tally::Claimant},
    review::report::review::CrawlerRow,
    rules::{
        crawlers::{Name, Outcome, Standing},
        enforce::Treatment,
    },
    state::publication::Snapshot,
};

/// The treatment at a site, or at all of them: one word for each that applies.
pub(super) fn treated(
    published: &Snapshot,
    row: &CrawlerRow<'_>,
    site: &str,
    now: Timestamp,
) -> String {
    let outcome = match (row.claimant, row.entry) {
        (Claimant::Impostor, _) => Outcome::Contradicted,
        (_, Some(entry)) if entry.publishes_evidence() => Outcome::Confirmed,
        _ => Outcome::Unverifiable,
    };
    let declared = Some(&*row.product_token).filter(|token| **token != *Violation::NAMELESS);
    let name = row.entry.map(Name::Known).or_else(|| declared.map(Name::Declared));
    let standing = Standing { outcome, evidence: None };
    let sites = (0..published.rulebook.sites().len()).filter_map(|at| published.site(at));
    let sites = sites.filter(|(one, _)| site.is_empty() || one.name.eq_ignore_ascii_case(site));
    let words = sites.map(|(site, served)| {
        let treatment = Treatment::of(&site.enforcement, name, standing, false, now);
        match (treatment, row.entry) {
            (Treatment::Ladder, Some(entry)) => {
                let anywhere = Network::of(Ipv4Addr::UNSPECIFIED.into());
                let rung = served.conduct.rung(Name::Known(entry), outcome, anywhere);
                format!("rung {}", rung.as_str())
            }
            (treatment, _) => treatment.as_str().to_owned(),
        }
    });
    words.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
}
