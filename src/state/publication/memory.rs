//! The memory of earlier runs in the database: editions, hosts, fetches, quarantined files, jumps of
//! the clock, and what origins answered about forms of paths.

use std::{collections::HashMap, path::Path, sync::Arc, time::Duration};

use jiff::Timestamp;

use crate::{
    base::text::Text,
    clients::conduct::{Fetches, Ledger, Network},
    formats::{
        probe::Found,
        robots::{self, OriginFile, Steps, closes_everything},
    },
    records::{
        record::{self, ClockLeap, Fetch, Obstacle, PolicyEntry, Quarantined, SiteHosts, Unread},
        violations::{self, Sink, Store},
    },
    rules::{
        crawlers::Outcome,
        enforce::{
            self, Chronicle, EditionId, History, HostPeriod, Moment, Period, Probe, Probed,
            Rulebook,
        },
        policy::{self, ClientIp, Policy, Source},
    },
};

use super::{
    clock::Clock,
    origin_files::{Held, KnownFile},
    wildcards::with_hosts,
};

/// How long the database keeps replaced editions, hosts, fetches and clock changes at least: the
/// longest `cache_window`, which a reload may set, and a day for changes of the clock.
pub const KEPT: Duration = policy::MAX_CACHE_WINDOW.saturating_add(Duration::from_secs(86_400));

/// The most bytes of robots.txt files that a start reads before it serves. The rest is read in the
/// background, in parts of this size.
const AT_START: usize = 4 << 20;

/// The rows of the database that still matter.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// The editions that were in force, by time.
    pub editions: Vec<record::Edition>,
    /// The older editions that are not among them yet.
    pub unread: Option<Unread>,
    pub(crate) hosts: Vec<record::HostPeriod>,
    pub(crate) leaps: Vec<ClockLeap>,
    pub(crate) fetches: Vec<Fetch>,
    pub(crate) quarantine: Vec<Quarantined>,
    /// What the origins answered about forms of paths. A server asks anew at its start.
    pub probed: Vec<record::Probed>,
}

impl Memory {
    /// The rows of the policy's database that matter at `now`; none without a database.
    pub fn read(policy: &Policy, now: Timestamp) -> Result<Self, record::Error> {
        Self::read_up_to(policy, now, usize::MAX)
    }

    /// The rows that a start needs: of many editions, the latest ones. The rest is read later.
    pub fn read_latest(policy: &Policy, now: Timestamp) -> Result<Self, record::Error> {
        Self::read_up_to(policy, now, AT_START)
    }

    fn read_up_to(policy: &Policy, now: Timestamp, most: usize) -> Result<Self, record::Error> {
        let Some(file) = policy.violations.local_database() else { return Ok(Self::default()) };
        match Store::open_read_only(file).and_then(|store| Self::of(&store, now, most)) {
            Err(error) if matches!(error.obstacle, Obstacle::NoFile | Obstacle::NoFolder) => {
                Ok(Self::default())
            }
            read => read,
        }
    }

    fn of(store: &Store, now: Timestamp, most: usize) -> Result<Self, record::Error> {
        let leaps = store.clock_leaps(Moment::at(now).start_of(KEPT))?;
        let start = start(&leaps, now);
        let (editions, unread) = store.latest_editions(start, None, most)?;
        Ok(Self {
            editions,
            unread,
            hosts: store.hosts(start)?,
            leaps,
            fetches: store.fetches()?,
            quarantine: store.quarantine()?,
            probed: store.probed()?,
        })
    }

    /// The policy with the sites that the last server gave to hosts below wildcards.
    pub fn with_hosts(&self, policy: Policy, now: Timestamp) -> Policy {
        with_hosts(policy, &self.chronicle(now))
    }

    /// The policy as a server would publish it at `now`, without any fetch from an origin. What the
    /// origins answered about forms of paths is known by the last server.
    pub fn rulebook(&self, policy: &Policy, now: Timestamp) -> Rulebook {
        let (moment, chronicle) = (self.clock(now).moment_at(now), self.chronicle(now));
        let probed = policy.sites.iter().filter_map(|site| self.probed(site)).collect();
        let mut history = History { moment, chronicle, probed, ..History::after(None, now) };
        Rulebook::compile_with(policy, &mut history)
    }

    /// What the origins of a site answered last, if the policy still asks them so.
    fn probed(&self, site: &policy::Site) -> Option<(String, Arc<Probed>)> {
        let probe = Probe::wanted(&site.backend)?;
        let asked = question(&probe);
        let mut rows = self.probed.iter();
        let row =
            rows.find(|row| row.site.as_str() == site.name() && row.question == asked)?.clone();
        let found = match row.why {
            Some(why) => Err(why.to_string()),
            None => Ok(Found {
                folder: probe.path.rsplit_once('/').map(|(folder, _)| format!("{folder}/"))?,
                taken: Steps::of_names(&row.taken),
                not_taken: Steps::of_names(&row.not_taken),
                case_insensitive: row.case_insensitive,
                decode_depth: row.decode_depth,
            }),
        };
        Some((site.name().to_owned(), Arc::new(Probed { probe, at: row.at, found })))
    }

    pub(crate) fn clock(&self, now: Timestamp) -> Clock {
        Clock::after(&self.leaps, now)
    }

    /// The editions of all sites and the sites of all hosts. Sites with the same edition share it.
    pub fn chronicle(&self, now: Timestamp) -> Chronicle {
        let hosts = self.hosts.iter().map(|row| HostPeriod {
            host: row.host.to_string(),
            site: row.site.to_string(),
            from: row.from,
            until: row.until,
        });
        let unread = self.unread.map(|unread| unread.until);
        Chronicle::of(periods(&self.editions), hosts.collect(), unread, now)
    }

    pub(crate) fn ledger(&self) -> Ledger {
        Ledger::of(self.fetches.iter().filter_map(|fetch| {
            Some(Fetches {
                site: fetch.site.to_string(),
                product_token: fetch.product_token.to_string(),
                network: Network::parse(&fetch.network),
                outcome: Outcome::from_word(&fetch.standing).unwrap_or(Outcome::Unknown),
                edition: EditionId::parse(&fetch.edition)?,
                first: fetch.first,
                last: fetch.last,
                count: u32::try_from(fetch.count).unwrap_or(u32::MAX),
                interval: fetch.interval,
            })
        }))
    }

    /// The file of the origin of a site that is in quarantine.
    pub fn quarantine_of(&self, site: &str) -> Option<&Quarantined> {
        self.quarantine.iter().find(|one| one.site.as_str() == site)
    }

    /// The known file of the origin of a site: its last file, never the policy's.
    pub(super) fn origin_file(&self, site: &str) -> KnownFile {
        let last = self.editions.iter().rev().find(|edition| edition.site.as_str() == site);
        let was_open = last.is_some_and(|last| !closes_everything(&robots::parse(&last.bytes).0));
        let file = last.map_or(OriginFile::Unknown, |last| match &last.origin_file {
            OriginFile::Unknown if last.source.as_str() == Source::Origin.as_str() => {
                OriginFile::Present(last.bytes.clone())
            }
            file => file.clone(),
        });
        let held = self.quarantine_of(site).map(|one| {
            let file = match one.bytes.is_empty() {
                true => OriginFile::Absent,
                false => OriginFile::Present(one.bytes.clone()),
            };
            Held::known(file, one.since, one.discarded.is_some())
        });
        KnownFile { file, held, was_open, ..KnownFile::default() }
    }
}

/// The stored periods of each site, by name. Sites with the same edition share it.
fn periods(rows: &[record::Edition]) -> HashMap<String, Vec<Period>> {
    let mut known: HashMap<&str, Arc<enforce::Edition>> = HashMap::new();
    let mut periods: HashMap<String, Vec<Period>> = HashMap::new();
    for row in rows {
        let edition = known
            .entry(&row.sha256)
            .or_insert_with(|| Arc::new(enforce::Edition::of_bytes(row.bytes.clone())));
        let period = Period { edition: Arc::clone(edition), from: row.from, until: row.until };
        periods.entry(row.site.to_string()).or_default().push(period);
    }
    periods
}

fn start(leaps: &[ClockLeap], now: Timestamp) -> Timestamp {
    Clock::after(leaps, now).moment_at(now).start_of(policy::MAX_CACHE_WINDOW)
}

/// Reads the editions that a start left `unread`, a part at a time. It can take long.
pub(super) fn recall(
    database: &Path,
    mut unread: Option<Unread>,
    now: Timestamp,
) -> Result<Chronicle, record::Error> {
    let store = Store::open_read_only(database)?;
    let start = start(&store.clock_leaps(Moment::at(now).start_of(KEPT))?, now);
    let mut all = Chronicle::default();
    while unread.is_some() {
        let (rows, rest) = store.latest_editions(start, unread, AT_START)?;
        all.recall(Chronicle::of(periods(&rows), Vec::new(), None, now), now);
        unread = rest;
    }
    Ok(all)
}

/// Stores the editions in force, the hosts of their sites, and what their origins answered about forms of
/// paths. Editions and hosts that are stored are not written again.
pub(super) fn store(sink: &Sink, rulebook: &Rulebook, now: Timestamp) {
    let known = rulebook.sites().iter().filter(|site| !site.edition().is_provisional());
    known.for_each(|site| sink.note(row(site)));
    for site in rulebook.sites() {
        let hosts = rulebook.chronicle.hosts(&site.name);
        let hosts = hosts.map(|(host, since)| (host.into(), since)).collect();
        sink.note(SiteHosts { site: site.name.as_str().into(), hosts, at: now });
        if let Some(probed) = &site.probed {
            sink.note(answer(&site.name, probed));
        }
    }
}

/// What was asked, as a text that changes with the page and the origins.
fn question(probe: &Probe) -> Text {
    let origins: Vec<_> = probe.origins.iter().map(ToString::to_string).collect();
    Text::path(format!("{}{} at {}", probe.host, probe.path, origins.join(" ")).as_bytes())
}

fn answer(site: &str, probed: &Probed) -> record::Probed {
    let found = probed.found.as_ref();
    let names = |steps: fn(&Found) -> Steps| {
        let found = found.ok();
        found.map(|found| Text::path(steps(found).names().as_bytes())).unwrap_or_default()
    };
    record::Probed {
        site: site.into(),
        question: question(&probed.probe),
        at: probed.at,
        why: found.err().map(|why| Text::path(why.as_bytes())),
        taken: names(|found| found.taken),
        not_taken: names(|found| found.not_taken),
        case_insensitive: found.is_ok_and(|found| found.case_insensitive),
        decode_depth: found.map_or(1, |found| found.decode_depth),
    }
}

/// The history by which requests are judged now, as rows of a database.
pub(super) fn history(
    rulebook: &Rulebook,
    ledger: &Ledger,
    leaps: Vec<ClockLeap>,
    client_ip: ClientIp,
) -> violations::History {
    let chronicle = &rulebook.chronicle;
    let editions = chronicle.periods().map(|(name, period)| {
        let served = rulebook.sites().iter().find(|site| site.name == name);
        match served.filter(|_| period.until.is_none()) {
            Some(site) => row(site),
            None => past_row(name, &period),
        }
    });
    let hosts = chronicle.host_periods().map(|period| record::HostPeriod {
        host: period.host.as_str().into(),
        site: period.site.as_str().into(),
        from: period.from,
        until: period.until,
    });
    let fetches = ledger.all().into_iter().map(|fetches| {
        let edition = chronicle.stored_as(&fetches.site, fetches.edition);
        let network = network(fetches.network, client_ip);
        fetch_row(Fetches { edition, ..fetches }, network)
    });
    let (editions, hosts, fetches) = (editions.collect(), hosts.collect(), fetches.collect());
    violations::History { editions, hosts, leaps, fetches }
}

/// The row of fetches from a network as the policy wants it recorded.
pub fn fetch_row(fetches: Fetches, network: Text) -> Fetch {
    Fetch {
        site: fetches.site.into(),
        product_token: fetches.product_token.into(),
        network,
        standing: Text::word(fetches.outcome.as_str()),
        edition: fetches.edition.to_string().into(),
        first: fetches.first,
        last: fetches.last,
        count: u64::from(fetches.count),
        interval: fetches.interval,
    }
}

/// A network in a stored history. A hashed one is unknown after a start anyway.
fn network(network: Network, client_ip: ClientIp) -> Text {
    match client_ip {
        ClientIp::Hash if network.address().is_some() => Text::word("-"),
        ClientIp::Hash | ClientIp::Network | ClientIp::Full => network.to_string().into(),
    }
}

pub(super) fn store_policy(sink: &Sink, policy: &Policy, by: &str, now: Timestamp) {
    let (sha256, length) = (policy.sha256().into(), policy.bytes.len() as u64);
    let entry = PolicyEntry { id: 0, at: now, by: by.into(), sha256, length };
    sink.note((entry, Arc::clone(&policy.bytes)));
}

pub(super) fn store_removal(sink: &Sink, site: &str, now: Timestamp) {
    sink.note(SiteHosts { site: site.into(), hosts: Vec::new(), at: now });
}

/// Stores the provisional editions that a client fetched, before `next` replaces them.
pub(super) fn store_provisional(sink: &Sink, replaced: &Rulebook, next: &Rulebook) {
    let is_followed = |site: &&enforce::Site| {
        let mut sites = next.sites().iter();
        sites.any(|one| one.name == site.name && !one.edition().is_provisional())
    };
    let sites = replaced.sites().iter();
    sites
        .filter(|site| site.edition().is_provisional() && site.edition().may_be_known())
        .filter(is_followed)
        .for_each(|site| sink.note(row(site)));
}

/// An edition that no site of the policy has in force. Its source is not known any more.
fn past_row(site: &str, period: &Period) -> record::Edition {
    let edition = &period.edition;
    record::Edition {
        site: site.into(),
        id: edition.id().to_string().into(),
        sha256: edition.sha256().into(),
        bytes: edition.bytes().clone(),
        source: Text::word("unknown"),
        origin_file: OriginFile::Unknown,
        from: period.from,
        until: period.until,
    }
}

fn row(site: &enforce::Site) -> record::Edition {
    let edition = Arc::clone(site.timeline.current());
    let period = Period { edition, from: site.timeline.since, until: None };
    record::Edition {
        source: Text::word(site.source.as_str()),
        origin_file: site.origin_file.clone(),
        ..past_row(&site.name, &period)
    }
}
