//! `manifest.json`: what the bundle is about, and the hash of each file; the window before a request.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::file::{self, File};
use crate::{
    formats::robots::{Reading, Steps},
    records::record::{ClockLeap, time},
    rules::{enforce, policy},
};

pub(super) const SCHEMA: u32 = 1;

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

/// The requests of the crawler in the hours of the span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub(crate) requests: u64,
    pub(crate) violations: u64,
    /// The violations that are counted alone: there were more of a kind than are recorded.
    pub(crate) folded: u64,
    /// The violations that are counted alone, because records found no room.
    pub(crate) dropped: u64,
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

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

impl Manifest {
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
    pub(super) fn of(site: &policy::Site, is_bound_by_star: bool) -> Self {
        Self {
            site: site.name().to_owned(),
            case_insensitive: site.reading.case_insensitive,
            decode_depth: site.reading.decode_depth,
            cache_window: site.robots_txt.cache_window.as_secs(),
            is_bound_by_star,
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

/// How long a jump of the clock counts: longer than any window.
const LEAP_LIFETIME: Duration =
    policy::MAX_CACHE_WINDOW.saturating_add(Duration::from_secs(86_400));

/// A jump of the clock, as it is written.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Leap {
    #[serde(with = "time::required")]
    pub(super) at: Timestamp,
    pub(super) milliseconds: u64,
}

impl Leap {
    pub(super) fn of(leap: &ClockLeap) -> Self {
        let milliseconds = u64::try_from(leap.by.as_millis()).unwrap_or(u64::MAX);
        Self { at: leap.at, milliseconds }
    }
}

/// The start of the window before `at`. It reaches back by the jumps of the clock, as for the
/// decision itself.
pub(super) fn start(at: Timestamp, window: Duration, leaps: &[Leap]) -> Timestamp {
    let ages = leaps.iter().filter_map(|leap| {
        let ago = Duration::try_from(at.duration_since(leap.at)).ok()?;
        (ago < LEAP_LIFETIME).then_some((ago, Duration::from_millis(leap.milliseconds)))
    });
    let leap = ages.fold(None, |sum: Option<enforce::Leap>, (ago, by)| {
        let sum = sum.unwrap_or(enforce::Leap { by: Duration::ZERO, ago });
        Some(enforce::Leap { by: sum.by.saturating_add(by), ago: sum.ago.min(ago) })
    });
    enforce::Moment { leap, ..enforce::Moment::at(at) }.start_of(window)
}

/// A time for people: `2026-11-22 10:00 UTC`.
pub(super) fn plain(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_reaches_back_by_the_jumps_of_the_clock_within_it() {
        let at = |second| Timestamp::from_second(second).expect("a time");
        let day = Duration::from_secs(86_400);
        let leaps = [(1_000_000, 50), (1_000_100, 7)]
            .map(|(second, by)| Leap { at: at(second), milliseconds: by * 1000 });
        for (second, expected) in [
            (999_999, 999_999 - 86_400),
            (1_000_001, 1_000_001 - 86_400 - 50),
            (1_000_101, 1_000_101 - 86_400 - 57),
            (1_200_000, 1_200_000 - 86_400),
        ] {
            assert_eq!(start(at(second), day, &leaps), at(expected), "{second}");
        }
    }
}
