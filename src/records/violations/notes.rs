//! Facts for the database beside records: those that wait for it, and the history for one that lacks them.
//!
//! Each kind is bounded; hosts, quarantined files and answers are as many as the sites. Of fetches, hosts,
//! quarantined files and answers only the latest state counts; of editions every one does.
//!
//! A database may be moved away, emptied or replaced while it is in use. The writer then writes the
//! history into the new one, so that the next start judges as the running program does.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    fmt,
    hash::Hash,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use derive_more::{AddAssign, From};

use crate::{
    base::text::Text,
    records::record::{
        ClockLeap, Edition, Fetch, HostPeriod, PolicyEntry, Probed, Quarantined, SiteHosts,
    },
};

/// The most waiting fetches, one for each site, product token and network.
const FETCHES: usize = 16_384;
/// The most waiting editions; more than the sites of a policy, which all publish at the start.
const EDITIONS: usize = 16_384;
/// The most bytes of waiting editions.
const EDITION_BYTES: usize = 64 << 20;
const LEAPS: usize = 1_024;
const POLICIES: usize = 64;

/// A fact for the database beside records.
#[derive(Debug, From)]
pub enum Note {
    /// The state of a crawler's fetches of a robots.txt.
    Fetch(Fetch),
    /// A site publishes the edition from [`Edition::from`] on, which ends the edition before it.
    /// [`Edition::until`] is ignored. Publishing the edition in force again changes nothing, even if
    /// another instance published it.
    Edition(Edition),
    /// The hosts of a site. A host that another site had leaves that one.
    Hosts(SiteHosts),
    /// A jump of the clock.
    Leap(ClockLeap),
    /// A file is in quarantine, in place of the site's former one. An acceptance of the same file stays; an
    /// acceptance of another file ends. [`Quarantined::accepted`] is ignored.
    Quarantined(Quarantined),
    /// The quarantine of this site is empty.
    #[from(skip)]
    Released(Text),
    /// What the origins of a site answered about forms of paths, in place of what they answered before.
    Probed(Probed),
    /// A policy that came into force, with its bytes.
    Policy(PolicyEntry, Arc<[u8]>),
}

/// Notes by kind, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, AddAssign)]
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

/// The waiting notes; within a kind, they are written in the order of arrival.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) fetches: HashMap<[Text; 3], Fetch>,
    /// In the order in which they were published.
    pub(super) editions: VecDeque<Edition>,
    edition_bytes: usize,
    /// The id of the last waiting edition of each site.
    last_editions: HashMap<Text, Text>,
    pub(super) hosts: HashMap<Text, SiteHosts>,
    pub(super) leaps: Vec<ClockLeap>,
    pub(super) quarantine: HashMap<Text, QuarantineNote>,
    /// They are not counted: no judgement needs them, and each is noted again within an hour.
    pub(super) probed: HashMap<Text, Probed>,
    /// They are not counted either.
    pub(super) policies: Vec<(PolicyEntry, Arc<[u8]>)>,
}

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
        fn of_both<K: Eq + Hash, V>(one: &HashMap<K, V>, other: &HashMap<K, V>) -> u64 {
            one.keys().chain(other.keys()).collect::<HashSet<_>>().len() as u64
        }
        let mut last: HashMap<&Text, &Text> = HashMap::new();
        let all = earlier.editions.iter().chain(&self.editions);
        let editions = all.filter(|one| last.insert(&one.site, &one.id) != Some(&one.id)).count();
        NoteCounts {
            editions: editions as u64,
            fetches: of_both(&earlier.fetches, &self.fetches),
            hosts: of_both(&earlier.hosts, &self.hosts),
            clock_leaps: (earlier.leaps.len() + self.leaps.len()) as u64,
            quarantine: of_both(&earlier.quarantine, &self.quarantine),
        }
    }

    /// Takes a note, and returns what found no room.
    pub(super) fn take(&mut self, note: impl Into<Note>) -> NoteCounts {
        let mut lost = NoteCounts::default();
        match note.into() {
            Note::Fetch(fetch) => lost.fetches = self.fetched(fetch),
            Note::Edition(edition) => lost.editions = self.published(edition),
            Note::Hosts(hosts) => drop(self.hosts.insert(hosts.site.clone(), hosts)),
            Note::Leap(leap) if self.leaps.len() < LEAPS => self.leaps.push(leap),
            Note::Leap(_) => lost.clock_leaps = 1,
            Note::Quarantined(file) => {
                let note = self.quarantine.entry(file.site.clone()).or_default();
                note.file = Some(file);
            }
            Note::Released(site) => {
                self.quarantine.insert(site, QuarantineNote { is_released: true, file: None });
            }
            Note::Probed(probed) => drop(self.probed.insert(probed.site.clone(), probed)),
            Note::Policy(entry, bytes) => {
                if self.policies.len() >= POLICIES {
                    self.policies.remove(0);
                }
                self.policies.push((entry, bytes));
            }
        }
        lost
    }

    /// Takes the fetch in place of an earlier one of the same crawler and network, and returns how many
    /// found no room.
    fn fetched(&mut self, mut fetch: Fetch) -> u64 {
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
            return 1;
        }
        0
    }

    /// Takes the edition and returns how many earlier ones it displaced. Of an edition that waits
    /// already, only the origin's file is news.
    fn published(&mut self, edition: Edition) -> u64 {
        if self.last_editions.get(&edition.site) == Some(&edition.id) {
            self.again(edition);
            return 0;
        }
        self.last_editions.insert(edition.site.clone(), edition.id.clone());
        self.edition_bytes += size(&edition);
        self.editions.push_back(edition);
        let mut lost = 0;
        // The newest edition stays, however large, because it is in force.
        while self.editions.len() > EDITIONS
            || (self.edition_bytes > EDITION_BYTES && self.editions.len() > 1)
        {
            let Some(first) = self.editions.pop_front() else { break };
            self.edition_bytes -= size(&first);
            if self.last_editions.get(&first.site) == Some(&first.id) {
                self.last_editions.remove(&first.site);
            }
            lost += 1;
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
}

fn size(edition: &Edition) -> usize {
    edition.bytes.len() + edition.origin_file.bytes().map_or(0, Bytes::len)
}

/// Everything that the judgement needs after a restart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The editions of all sites. Of a site, in the order of their ends; the one in force is last.
    pub editions: Vec<Edition>,
    /// The sites of hosts; of a host, in their order.
    pub hosts: Vec<HostPeriod>,
    /// The jumps of the clock.
    pub leaps: Vec<ClockLeap>,
    /// The fetches of robots.txt.
    pub fetches: Vec<Fetch>,
}

/// The source of the history. There is none before the program has one in force.
#[derive(Clone, Default)]
pub(super) struct Recollection(Arc<OnceLock<Source>>);

type Source = Box<dyn Fn() -> History + Send + Sync>;

impl Recollection {
    /// Sets the source. The first one stays.
    pub(super) fn set(&self, source: impl Fn() -> History + Send + Sync + 'static) {
        let _ = self.0.set(Box::new(source));
    }

    pub(super) fn history(&self) -> Option<History> {
        self.0.get().map(|source| source())
    }
}

impl fmt::Debug for Recollection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recollection").field("is_set", &self.0.get().is_some()).finish()
    }
}

#[cfg(test)]
mod tests;
