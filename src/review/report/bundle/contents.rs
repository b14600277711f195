//! Material to files.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    records::{
        record::{Fetch, Violation},
        violations::jsonl,
    },
    rules::{crawlers::Name, enforce::group_names},
};

use super::{
    file::{self, File},
    history::History,
    manifest::{Manifest, Settings},
    material::{Material, Served},
    message,
    standing::{Published, Standings},
    summary::{self, Facts},
};

/// The files of a bundle, in the order of their names.
pub(crate) fn contents(material: &Material<'_>) -> Vec<File> {
    let name = material.crawler.map_or(Name::Declared(material.wanted.product_token), Name::Known);
    let group_names: Vec<String> = group_names(name).map(str::to_owned).collect();
    let mut manifest = Manifest::new(material, group_names);
    let mut by_site: BTreeMap<&str, Vec<&Violation>> = BTreeMap::new();
    for record in &material.records {
        by_site.entry(record.site.as_str()).or_default().push(record);
    }
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let (mut rows, mut missing) = (Vec::new(), BTreeSet::new());
    for (site, records) in &by_site {
        let is_it = |served: &&Served<'_>| served.site.name().eq_ignore_ascii_case(site);
        let served = material.sites.iter().find(is_it);
        let settings = served.map(Settings::of);
        let history = History::of(site, served, &material.editions);
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
        (file::SUMMARY, summary::text(&facts).into_bytes()),
        (file::MESSAGE, message::text(&facts).into_bytes()),
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
