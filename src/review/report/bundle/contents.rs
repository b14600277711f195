//! The facts that a bundle is made of, from a policy and its database, and its files.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    time::Duration,
};

use jiff::Timestamp;

use super::{
    file::{self, File},
    history::{History, Published, Standings, named},
    manifest::{Counts, Leap, Manifest, SCHEMA, Settings},
    summary::{self, Facts, recipient},
};
use crate::{
    base::version,
    records::{
        counts::Question,
        record::{ClockLeap, Edition, Error, Fetch, Filter, Violation},
        tally::Claimant,
        violations::{Store, jsonl},
    },
    rules::{
        crawlers::{Crawler, Name},
        enforce::{Chronicle, HostPeriod, Stay, group_names, is_bound_by_star},
        policy::{self, Policy},
    },
};

/// The most records in a bundle; the latest count.
pub(crate) const MAX_RECORDS: usize = 100_000;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) product_token: &'a str,
    /// The only site, as records have it.
    pub(crate) site: Option<&'a str>,
    /// Whether it is about the crawler or about its impostors.
    pub(crate) claimant: Claimant,
    pub(crate) since: Timestamp,
    pub(crate) until: Timestamp,
    /// The time at which the bundle is made.
    pub(crate) made: Timestamp,
}

#[derive(Debug)]
pub(crate) struct Material<'a> {
    pub(crate) wanted: &'a Wanted<'a>,
    /// The catalogue's entry, if there is one.
    pub(crate) crawler: Option<&'a Crawler>,
    /// The records of the span, in the order of writing.
    pub(crate) records: Vec<Violation>,
    /// Whether earlier records of the span are left out, because there are too many.
    pub(crate) is_cut: bool,
    /// The counts by hour of the span; `None` where the database has none.
    pub(crate) counts: Option<Counts>,
    pub(crate) sites: Vec<Served<'a>>,
    /// The editions of all sites, one for each period in force.
    pub(crate) editions: Vec<Edition>,
    pub(crate) fetches: Vec<Fetch>,
    pub(crate) leaps: Vec<ClockLeap>,
}

#[derive(Debug)]
pub(crate) struct Served<'a> {
    pub(crate) site: &'a policy::Site,
    /// The sites that its hosts belonged to before.
    pub(crate) inherited: Vec<Stay<'a>>,
    /// Whether `*` binds the crawler here, if no group names it.
    pub(crate) is_bound_by_star: bool,
}

/// The files of a bundle, in the order of their names.
pub(crate) fn contents(material: &Material<'_>) -> Vec<File> {
    let wanted = material.wanted;
    let name = material.crawler.map_or(Name::Declared(wanted.product_token), Name::Known);
    let mut manifest = Manifest {
        schema: SCHEMA,
        tool: format!("beadle {}", version::NUMBER),
        made: wanted.made,
        product_token: wanted.product_token.to_owned(),
        operator: material.crawler.and_then(Crawler::operator).map(str::to_owned),
        group_names: group_names(name).map(str::to_owned).collect(),
        since: wanted.since,
        until: wanted.until,
        site: wanted.site.map(str::to_owned),
        records: material.records.len() as u64,
        is_cut: material.is_cut,
        counts: material.counts,
        sites: Vec::new(),
        clock_leaps: material.leaps.iter().map(Leap::of).collect(),
        missing_editions: Vec::new(),
        files: Vec::new(),
    };
    let mut by_site: BTreeMap<&str, Vec<&Violation>> = BTreeMap::new();
    for record in &material.records {
        by_site.entry(record.site.as_str()).or_default().push(record);
    }
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let (mut rows, mut missing) = (Vec::new(), BTreeSet::new());
    for (site, records) in &by_site {
        let is_it = |served: &&Served<'_>| served.site.name().eq_ignore_ascii_case(site);
        let served = material.sites.iter().find(is_it);
        let settings = served.map(|served| Settings::of(served.site, served.is_bound_by_star));
        let inherited = served.map(|served| served.inherited.as_slice()).unwrap_or_default();
        let history = History::of(site, inherited, &material.editions);
        let (found, not_kept) =
            history.concerned(settings.as_ref(), &manifest.clock_leaps, records);
        for row in &found {
            if let Some(bytes) = history.bytes(&row.edition) {
                files.insert(row.file.clone(), bytes.to_vec());
            }
        }
        manifest.sites.extend(settings);
        rows.extend(found);
        missing.extend(not_kept);
    }
    manifest.missing_editions = missing.into_iter().collect();
    let sites: Vec<&str> = by_site.keys().copied().collect();
    let fetches = fetches(&material.fetches, &sites, &manifest.group_names);
    let published = material.crawler.map(Published::of).unwrap_or_default();
    let standings = Standings::of(material.records.iter(), published);
    let mut lines = Vec::new();
    material.records.iter().for_each(|record| jsonl::push(&mut lines, record));
    let facts = Facts {
        manifest: &manifest,
        crawler: material.crawler,
        records: &material.records,
        standings: &standings,
        sites: &sites,
        editions: files.len(),
    };
    for (name, bytes) in [
        (file::LINES, file::line_hashes(&lines)),
        (file::RECORDS, lines),
        (file::EDITIONS, file::json(&rows)),
        (file::FETCHES, file::json(&fetches)),
        (file::STANDING, file::json(&standings)),
        (file::SUMMARY, facts.text(summary::summary)),
        (file::MESSAGE, facts.text(summary::message)),
    ] {
        files.insert(name.to_owned(), bytes);
    }
    let mut files: Vec<File> = files.into_iter().collect();
    files.extend(manifest.close(&files));
    files.sort();
    files
}

/// The fetches of these sites under any of the names, in the order of their last time.
fn fetches(fetches: &[Fetch], sites: &[&str], names: &[String]) -> Vec<Fetch> {
    let is_name =
        |fetch: &Fetch| names.iter().any(|name| name.eq_ignore_ascii_case(&fetch.product_token));
    let is_site = |fetch: &Fetch| sites.iter().any(|site| fetch.site.eq_ignore_ascii_case(site));
    let wanted = fetches.iter().filter(|fetch| is_site(fetch) && is_name(fetch));
    let mut rows: Vec<Fetch> = wanted.cloned().collect();
    rows.sort_by(|a, b| (a.last, &a.site, &a.network).cmp(&(b.last, &b.site, &b.network)));
    rows
}

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
    let named = records.iter().flat_map(|one| named(one).map(move |id| (one.site.as_str(), id)));
    let named: BTreeSet<(&str, &str)> = named.collect();
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
