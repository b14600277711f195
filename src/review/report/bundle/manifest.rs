//! `manifest.json`: what the bundle is about, and the hash of each file.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    base::version,
    formats::robots::{Reading, Steps},
    records::record::time,
    rules::policy,
};

use super::{
    file::{self, File},
    material::{Counts, Material, Served},
    window::Leap,
};

/// The version of the format.
pub(super) const SCHEMA: u32 = 1;

/// The contents of `manifest.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) schema: u32,
    /// The program that made it, with its version.
    pub(super) tool: String,
    #[serde(with = "time::required")]
    pub(super) made: Timestamp,
    pub(super) product_token: String,
    pub(super) operator: Option<String>,
    /// The names of groups that the crawler looks for in robots.txt, in order, before `*`.
    pub(super) group_names: Vec<String>,
    #[serde(with = "time::required")]
    pub(super) since: Timestamp,
    #[serde(with = "time::required")]
    pub(super) until: Timestamp,
    /// The only site, if one was chosen.
    pub(super) site: Option<String>,
    pub(super) records: u64,
    /// Whether earlier records of the span are left out.
    pub(super) is_cut: bool,
    pub(super) counts: Option<Counts>,
    pub(super) sites: Vec<Settings>,
    pub(super) clock_leaps: Vec<Leap>,
    /// The editions that a record names and that are no longer kept.
    pub(super) missing_editions: Vec<String>,
    pub(super) files: Vec<Entry>,
}

/// The settings by which the requests to a site are judged, as they were when the bundle was made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Settings {
    pub(super) site: String,
    /// How the origin reads a path.
    pub(super) case_insensitive: bool,
    pub(super) decode_depth: u8,
    /// How long a fetched robots.txt may be used, in seconds.
    pub(super) cache_window: u64,
    /// Whether `*` binds the crawler where no group names it.
    pub(super) is_bound_by_star: bool,
    /// Whether a request that an earlier edition allows is excused.
    pub(super) is_excused: bool,
}

/// One other file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

impl Manifest {
    pub(super) fn new(material: &Material<'_>, group_names: Vec<String>) -> Self {
        let wanted = material.wanted;
        Self {
            schema: SCHEMA,
            tool: format!("beadle {}", version::NUMBER),
            made: wanted.made,
            product_token: wanted.product_token.to_owned(),
            operator: material.crawler.and_then(|one| one.operator()).map(str::to_owned),
            group_names,
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
        }
    }

    pub(super) fn close(mut self, files: &[File]) -> [File; 2] {
        let entry = |(name, bytes): &File| Entry {
            name: name.clone(),
            bytes: bytes.len() as u64,
            sha256: file::hash(bytes),
        };
        self.files = files.iter().map(entry).collect();
        let manifest = file::json(&self);
        let seal = file::seal(&manifest);
        [(file::MANIFEST.to_owned(), manifest), (file::SEAL.to_owned(), seal)]
    }

    pub(super) fn settings(&self, site: &str) -> Option<&Settings> {
        self.sites.iter().find(|one| one.site.eq_ignore_ascii_case(site))
    }
}

impl Settings {
    pub(super) fn of(served: &Served<'_>) -> Self {
        let site = served.site;
        Self {
            site: site.name().to_owned(),
            case_insensitive: site.reading.case_insensitive,
            decode_depth: site.reading.decode_depth,
            cache_window: site.robots_txt.cache_window.as_secs(),
            is_bound_by_star: served.is_bound_by_star,
            is_excused: site.enforcement.grace == policy::Grace::Count,
        }
    }

    pub(super) const fn reading(&self) -> Reading {
        let (case_insensitive, decode_depth) = (self.case_insensitive, self.decode_depth);
        Reading { case_insensitive, decode_depth, steps: Steps::ALL }
    }

    pub(super) const fn window(&self) -> Duration {
        Duration::from_secs(self.cache_window)
    }
}
