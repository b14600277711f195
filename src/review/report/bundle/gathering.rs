//! The bundle of a crawler, from a policy and its database.

use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use jiff::Timestamp;

use crate::{
    records::{
        counts::Question,
        record::{Edition, Error, Filter, Violation},
        violations::Store,
    },
    rules::{
        crawlers::Name,
        enforce::{Chronicle, HostPeriod, is_bound_by_star},
        policy::{self, Policy},
    },
};

use super::{
    contents::contents,
    file::File,
    material::{Counts, MAX_RECORDS, Material, Served, Wanted},
    message::recipient,
};

/// The most bytes of robots.txt files that are read; older ones are left out.
pub(crate) const MOST_EDITIONS: usize = 128 << 20;

#[derive(Debug)]
pub(crate) struct Bundle {
    pub(crate) files: Vec<File>,
    /// The address of the operator, or how to find one.
    pub(crate) recipient: String,
    pub(crate) violations: usize,
    /// Whether earlier records of the span are left out, because there are too many.
    pub(crate) is_cut: bool,
    /// Whether older editions were left out, because they are too large.
    pub(crate) are_editions_cut: bool,
}

pub(crate) fn file_name(product_token: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let token: String = product_token.chars().map(safe).collect();
    format!("evidence-{token}.zip")
}

/// The bundle of a crawler; `None` without violations.
pub(crate) fn gather(
    store: &Store,
    policy: &Policy,
    wanted: &Wanted<'_>,
) -> Result<Option<Bundle>, Error> {
    let Wanted { product_token, site, claimant, since, until, made } = *wanted;
    let filter = Filter {
        product_token: Some(product_token.to_owned()),
        site: site.map(str::to_owned),
        claimant: Some(claimant),
        since: Some(since),
        until: Some(until),
        limit: Some(MAX_RECORDS + 1),
        ..Filter::default()
    };
    let mut records: Vec<Violation> =
        store.query(&filter)?.records.into_iter().map(|(_, record)| record).collect();
    let is_cut = records.len() > MAX_RECORDS;
    records.drain(..records.len().saturating_sub(MAX_RECORDS));
    // A record is stored when its response ends. Ids sort in the order of requests.
    records.sort_by(|one, other| (one.time, &one.id).cmp(&(other.time, &other.id)));
    let Some(first) = records.iter().map(|record| record.time).min() else { return Ok(None) };
    let leaps = store.clock_leaps(back(first, policy::MAX_CACHE_WINDOW * 2))?;
    let jumps = leaps.iter().fold(Duration::ZERO, |sum, leap| sum.saturating_add(leap.by));
    let start = back(first, policy::MAX_CACHE_WINDOW.saturating_add(jumps));
    let (editions, are_editions_cut) = editions(store, start, &records)?;
    let chronicle = chronicle(store, start, made)?;
    let material = Material {
        crawler: policy.catalogue.find(product_token),
        counts: counts(store, &filter)?,
        sites: served(policy, &chronicle, product_token, made),
        wanted,
        records,
        is_cut,
        editions,
        fetches: store.fetches()?,
        leaps,
    };
    let files = contents(&material);
    let recipient = recipient(material.crawler);
    Ok(Some(Bundle {
        files,
        recipient,
        violations: material.records.len(),
        is_cut,
        are_editions_cut,
    }))
}

fn back(time: Timestamp, by: Duration) -> Timestamp {
    time.checked_sub(by).unwrap_or(Timestamp::MIN)
}

/// The editions that were in force at `start` or later, and those that records name. Whether some
/// are left out.
fn editions(
    store: &Store,
    start: Timestamp,
    records: &[Violation],
) -> Result<(Vec<Edition>, bool), Error> {
    let (mut editions, rest) = store.latest_editions(start, None, MOST_EDITIONS)?;
    let named: BTreeSet<(&str, &str)> = records
        .iter()
        .flat_map(|record| {
            let (site, read) = (record.site.as_str(), record.robots_read.edition.as_deref());
            [Some(record.robots.edition.as_str()), read]
                .into_iter()
                .flatten()
                .map(move |id| (site, id))
        })
        .collect();
    for (site, id) in named {
        let is_it = |one: &Edition| one.id == *id && one.site.eq_ignore_ascii_case(site);
        if !editions.iter().any(is_it) {
            editions.extend(store.editions_by_id(id, Some(site))?.into_iter().filter(is_it));
        }
    }
    Ok((editions, rest.is_some()))
}

/// The sites that hosts belonged to at `start` or later.
fn chronicle(store: &Store, start: Timestamp, now: Timestamp) -> Result<Chronicle, Error> {
    let hosts = store.hosts(start)?.into_iter().map(|row| HostPeriod {
        host: row.host.to_string(),
        site: row.site.to_string(),
        from: row.from,
        until: row.until,
    });
    Ok(Chronicle::of(HashMap::new(), hosts.collect(), None, now))
}

fn served<'a>(
    policy: &'a Policy,
    chronicle: &'a Chronicle,
    product_token: &str,
    now: Timestamp,
) -> Vec<Served<'a>> {
    let crawler = policy.catalogue.find(product_token);
    let name = crawler.map_or(Name::Declared(product_token), Name::Known);
    let sites = policy.sites.iter().map(|site| Served {
        site,
        inherited: chronicle.inherited(site, policy, now).collect(),
        is_bound_by_star: is_bound_by_star(&site.enforcement.star_binds, name),
    });
    sites.collect()
}

/// The counts by hour; `None` if the database has none for this time.
fn counts(store: &Store, filter: &Filter) -> Result<Option<Counts>, Error> {
    let question = Question {
        since: filter.since.unwrap_or(Timestamp::MIN),
        until: filter.until.unwrap_or(Timestamp::MAX),
        site: filter.site.clone(),
        product_token: filter.product_token.clone(),
        claimant: filter.claimant,
        ..Question::default()
    };
    let counted = store.counted(&question)?;
    let sum = counted.iter().fold(Counts::default(), |sum, one| Counts {
        requests: sum.requests + one.requests,
        violations: sum.violations + one.violations,
        folded: sum.folded + one.folded,
        dropped: sum.dropped + one.dropped,
    });
    Ok((sum.requests > 0).then_some(sum))
}
