//! Notes that wait for the database beside records: fetches, published editions, hosts, quarantined
//! files, jumps of the clock, answers of origins about forms of paths.
//!
//! Each kind is bounded; hosts, quarantined files and answers are as many as the sites. Of fetches, hosts,
//! quarantined files and answers only the latest state counts; of editions every one does.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    ops::AddAssign,
    sync::Arc,
};

use bytes::Bytes;

use crate::{
    base::text::Text,
    records::record::{ClockLeap, Edition, Fetch, PolicyEntry, Probed, Quarantined, SiteHosts},
};

/// The most waiting fetches, one for each site, product token and network.
const FETCHES: usize = 16_384;
/// The most waiting editions; more than the sites of a policy, which all publish at the start.
const EDITIONS: usize = 16_384;
/// The most bytes of waiting editions.
const EDITION_BYTES: usize = 64 << 20;
/// The most waiting jumps of the clock.
const LEAPS: usize = 1_024;

/// The most waiting policies.
const POLICIES: usize = 64;

/// Notes by kind, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoteCounts {
    /// Published editions.
    pub editions: u64,
    /// States of fetches.
    pub fetches: u64,
    /// Hosts of sites.
    pub hosts: u64,
    /// Jumps of the clock.
    pub clock_leaps: u64,
    /// Changes of the quarantine.
    pub quarantine: u64,
}

impl AddAssign for NoteCounts {
    fn add_assign(&mut self, other: Self) {
        self.editions += other.editions;
        self.fetches += other.fetches;
        self.hosts += other.hosts;
        self.clock_leaps += other.clock_leaps;
        self.quarantine += other.quarantine;
    }
}

/// The waiting notes; within a kind, they are written in the order of arrival.
#[derive(Debug, Default)]
pub(super) struct Notes {
    fetches: HashMap<[Text; 3], Fetch>,
    editions: VecDeque<Edition>,
    edition_bytes: usize,
    /// The id of the last waiting edition of each site.
    last_editions: HashMap<Text, Text>,
    hosts: HashMap<Text, SiteHosts>,
    leaps: Vec<ClockLeap>,
    quarantine: HashMap<Text, QuarantineNote>,
    /// They are not counted: no judgement needs them, and each is noted again within an hour.
    probed: HashMap<Text, Probed>,
    /// They are not counted either.
    policies: Vec<(PolicyEntry, Arc<[u8]>)>,
}

/// A change of a site's quarantine.
#[derive(Debug, Default)]
pub(super) struct QuarantineNote {
    /// Whether the file that was in quarantine before is released. A file that comes back after
    /// that needs an acceptance of its own, so the release is written before the new file.
    pub(super) is_released: bool,
    pub(super) file: Option<Quarantined>,
}

impl Notes {
    pub(super) fn is_empty(&self) -> bool {
        self.fetches.is_empty()
            && self.editions.is_empty()
            && self.hosts.is_empty()
            && self.leaps.is_empty()
            && self.quarantine.is_empty()
            && self.probed.is_empty()
            && self.policies.is_empty()
    }

    /// The number of notes of each kind.
    pub(super) fn counts(&self) -> NoteCounts {
        NoteCounts {
            editions: self.editions.len() as u64,
            fetches: self.fetches.len() as u64,
            hosts: self.hosts.len() as u64,
            clock_leaps: self.leaps.len() as u64,
            quarantine: self.quarantine.len() as u64,
        }
    }

    /// The number of notes of each kind, together with `earlier` ones. What both note counts once.
    pub(super) fn counts_with(&self, earlier: &Self) -> NoteCounts {
        fn names<'a, K: Eq + std::hash::Hash + 'a>(
            all: impl Iterator<Item = &'a K>,
        ) -> HashSet<&'a K> {
            all.collect()
        }
        let mut last: HashMap<&Text, &Text> = HashMap::new();
        let all = earlier.editions.iter().chain(&self.editions);
        let editions = all.filter(|one| last.insert(&one.site, &one.id) != Some(&one.id)).count();
        let fetches = names(earlier.fetches.keys().chain(self.fetches.keys())).len();
        let hosts = names(earlier.hosts.keys().chain(self.hosts.keys())).len();
        let quarantine = names(earlier.quarantine.keys().chain(self.quarantine.keys())).len();
        NoteCounts {
            editions: editions as u64,
            fetches: fetches as u64,
            hosts: hosts as u64,
            clock_leaps: (earlier.leaps.len() + self.leaps.len()) as u64,
            quarantine: quarantine as u64,
        }
    }

    /// Takes the fetch in place of an earlier one of the same crawler and network, and returns what
    /// found no room.
    pub(super) fn fetched(&mut self, mut fetch: Fetch) -> NoteCounts {
        let name = [&fetch.site, &fetch.product_token, &fetch.network].map(Text::clone);
        if let Some(known) = self.fetches.get_mut(&name) {
            fetch.first = fetch.first.min(known.first);
            if known.last <= fetch.last {
                *known = fetch;
            } else {
                known.first = fetch.first;
            }
        } else if self.fetches.len() < FETCHES {
            self.fetches.insert(name, fetch);
        } else {
            // A lost fetch makes the judgement after a restart milder, never harder: without a
            // known fetch, a crawler may use any edition of the cache window.
            return NoteCounts { fetches: 1, ..NoteCounts::default() };
        }
        NoteCounts::default()
    }

    /// Takes the edition and returns the earlier ones that it displaced. Of an edition that waits
    /// already, only the origin's file is news.
    pub(super) fn published(&mut self, edition: Edition) -> NoteCounts {
        if self.last_editions.get(&edition.site) == Some(&edition.id) {
            self.again(edition);
            return NoteCounts::default();
        }
        self.last_editions.insert(edition.site.clone(), edition.id.clone());
        self.edition_bytes += size(&edition);
        self.editions.push_back(edition);
        let mut lost = NoteCounts::default();
        // The newest edition stays, however large, because it is in force.
        while self.editions.len() > EDITIONS
            || (self.edition_bytes > EDITION_BYTES && self.editions.len() > 1)
        {
            let Some(first) = self.editions.pop_front() else { break };
            self.edition_bytes -= size(&first);
            if self.last_editions.get(&first.site) == Some(&first.id) {
                self.last_editions.remove(&first.site);
            }
            lost.editions += 1;
        }
        lost
    }

    /// Takes the origin's file of an edition that waits.
    fn again(&mut self, edition: Edition) {
        let mut waiting = self.editions.iter_mut().rev();
        let same = waiting.find(|one| one.site == edition.site && one.id == edition.id);
        if let Some(same) = same.filter(|same| same.origin_file != edition.origin_file) {
            self.edition_bytes -= size(same);
            same.origin_file = edition.origin_file;
            self.edition_bytes += size(same);
        }
    }

    /// Takes the hosts of a site in place of earlier ones.
    pub(super) fn served(&mut self, hosts: SiteHosts) -> NoteCounts {
        self.hosts.insert(hosts.site.clone(), hosts);
        NoteCounts::default()
    }

    /// Takes a jump of the clock, and returns it if it finds no room.
    pub(super) fn leapt(&mut self, leap: ClockLeap) -> NoteCounts {
        if self.leaps.len() < LEAPS {
            self.leaps.push(leap);
            return NoteCounts::default();
        }
        NoteCounts { clock_leaps: 1, ..NoteCounts::default() }
    }

    /// Takes the quarantined file. Each site has one at most.
    pub(super) fn quarantined(&mut self, file: Quarantined) -> NoteCounts {
        let note = self.quarantine.entry(file.site.clone()).or_default();
        note.file = Some(file);
        NoteCounts::default()
    }

    /// Notes that the site's quarantine is empty.
    pub(super) fn released(&mut self, site: Text) -> NoteCounts {
        self.quarantine.insert(site, QuarantineNote { is_released: true, file: None });
        NoteCounts::default()
    }

    /// Takes the answers of a site's origins in place of earlier ones.
    pub(super) fn probed(&mut self, probed: Probed) -> NoteCounts {
        self.probed.insert(probed.site.clone(), probed);
        NoteCounts::default()
    }

    /// Takes a policy that came into force, with its bytes. Beyond the limit, the oldest goes.
    pub(super) fn in_force(&mut self, entry: PolicyEntry, bytes: Arc<[u8]>) -> NoteCounts {
        if self.policies.len() >= POLICIES {
            self.policies.remove(0);
        }
        self.policies.push((entry, bytes));
        NoteCounts::default()
    }

    pub(super) fn fetches(&self) -> impl Iterator<Item = &Fetch> {
        self.fetches.values()
    }

    /// The editions in the order in which they were published.
    pub(super) fn editions(&self) -> impl ExactSizeIterator<Item = &Edition> {
        self.editions.iter()
    }

    pub(super) fn hosts(&self) -> impl Iterator<Item = &SiteHosts> {
        self.hosts.values()
    }

    pub(super) fn leaps(&self) -> &[ClockLeap] {
        &self.leaps
    }

    pub(super) fn quarantine(&self) -> impl Iterator<Item = (&Text, &QuarantineNote)> {
        self.quarantine.iter()
    }

    pub(super) fn answers(&self) -> impl Iterator<Item = &Probed> {
        self.probed.values()
    }

    pub(super) fn policies(&self) -> &[(PolicyEntry, Arc<[u8]>)] {
        &self.policies
    }
}

fn size(edition: &Edition) -> usize {
    edition.bytes.len() + edition.origin_file.bytes().map_or(0, Bytes::len)
}

#[cfg(test)]
mod tests;
