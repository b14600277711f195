//! The treatment of a crawler's violations now: the mode, or the rung of the ladder.

use std::{collections::BTreeMap, net::Ipv4Addr};

use jiff::Timestamp;

use crate::{
    clients::conduct::Network,
    records::{record::Violation, tally::Claimant},
    review::report::review::CrawlerRow,
    rules::{
        crawlers::{Crawler, Name, Outcome, Standing},
        enforce::Treatment,
    },
    state::publication::Snapshot,
};

/// The treatment at a site, or at all of them. Where it differs, each word has the sites.
pub(super) fn treated(
    published: &Snapshot,
    row: &CrawlerRow<'_>,
    site: &str,
    now: Timestamp,
) -> String {
    let has_evidence = row.entry.is_some_and(Crawler::publishes_evidence);
    // Each standing has its own treatment; that of most requests is shown.
    let outcome = match row.claimant {
        Claimant::Impostor => Outcome::Contradicted,
        Claimant::Crawler if row.now.confirmed > row.now.open() => Outcome::Confirmed,
        Claimant::Crawler if has_evidence => Outcome::Unknown,
        Claimant::Crawler => Outcome::Unverifiable,
    };
    let declared = Some(&*row.product_token).filter(|token| **token != *Violation::NAMELESS);
    let name = row.entry.map(Name::Known).or_else(|| declared.map(Name::Declared));
    let standing = Standing { outcome, evidence: None };
    let sites = (0..published.rulebook.sites().len()).filter_map(|at| published.site(at));
    let sites = sites.filter(|(one, _)| site.is_empty() || one.name.eq_ignore_ascii_case(site));
    let mut words: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (site, served) in sites {
        let treatment = Treatment::of(&site.enforcement, name, standing, false, now);
        let word = match (treatment, row.entry) {
            (Treatment::Ladder, Some(entry)) => {
                let anywhere = Network::of(Ipv4Addr::UNSPECIFIED.into());
                let rung = served.conduct.rung(Name::Known(entry), outcome, anywhere);
                format!("rung {}", rung.as_str())
            }
            (treatment, _) => treatment.as_str().to_owned(),
        };
        words.entry(word).or_default().push(&site.name);
    }
    let is_one = words.len() == 1;
    let text = |(word, sites): (String, Vec<&str>)| match is_one {
        true => word,
        false => format!("{word} ({})", sites.join(", ")),
    };
    words.into_iter().map(text).collect::<Vec<_>>().join(", ")
}
