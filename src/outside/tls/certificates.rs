//! The certificates of all listeners.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::{
    base::{diagnostic::Diagnostic, metrics::Metrics},
    rules::policy::{Acme, CertificateFiles, Listener, Policy},
};

use super::{
    challenges::Challenges,
    pair::Pair,
    source::Source,
    stand_in,
    table::{Resolver, Table},
};

/// The time before its end in which a certificate is to be renewed. Programs that renew by themselves do
/// so a month before. Of a short lifetime, it is the last sixth.
const RENEWAL: SignedDuration = SignedDuration::from_hours(14 * 24);

/// The certificates of all listeners, and the challenges of their orders.
#[derive(Debug, Default)]
pub struct Certificates {
    shelf: Mutex<Shelf>,
    /// Of open orders.
    pub(crate) challenges: Arc<Challenges>,
    stirred: Notify,
}

/// A certificate that a listener presents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presented {
    pub(crate) file: String,
    pub(crate) begins: Timestamp,
    pub(crate) ends: Timestamp,
}

/// A certificate that could not be renewed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// Its file, as it is shown.
    pub file: String,
    /// Why its files were refused, or why its last order failed.
    pub reason: String,
}

/// A certificate that ACME orders.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub(crate) acme: Acme,
    pub(crate) host: String,
    pub(crate) file: PathBuf,
    pub(crate) pair: Option<Arc<Pair>>,
}

#[derive(Debug, Default)]
struct Shelf {
    /// Each pair of files once, although several listeners may present it.
    sources: BTreeMap<CertificateFiles, Source>,
    listeners: Vec<Presenting>,
}

#[derive(Debug)]
struct Presenting {
    address: SocketAddr,
    files: Vec<CertificateFiles>,
    acme: Option<(Acme, Vec<String>)>,
    stand_in: Option<Pair>,
    resolver: Arc<Resolver>,
}

impl Certificates {
    /// Reads the certificates of a policy at the start.
    ///
    /// # Errors
    /// A finding for each unusable one.
    pub fn read(policy: &Policy, metrics: &Metrics) -> Result<Self, Vec<Diagnostic>> {
        let listeners = policy.server.listen.iter().filter_map(|one| Presenting::of(one, policy));
        let mut shelf = Shelf { listeners: listeners.collect(), ..Shelf::default() };
        let findings = shelf.fill();
        if !findings.is_empty() {
            return Err(findings);
        }
        shelf.present(metrics);
        Ok(Self { shelf: Mutex::new(shelf), ..Self::default() })
    }

    /// Presents certificates for the hosts of another policy with the same listeners.
    pub fn follow(&self, policy: &Policy, metrics: &Metrics) {
        let mut shelf = self.shelf.lock();
        let mut has_changed = false;
        for presenting in &mut shelf.listeners {
            let Some((acme, hosts)) = &mut presenting.acme else { continue };
            let next = acme.hosts_of(&policy.sites);
            if *hosts != next {
                let issued: BTreeSet<_> = hosts.iter().map(|host| acme.files_of(host)).collect();
                presenting.files.retain(|files| !issued.contains(files));
                presenting.files.extend(next.iter().map(|host| acme.files_of(host)));
                *hosts = next;
                has_changed = true;
            }
        }
        if has_changed {
            // Only files of ACME are new, and a fault of theirs is no finding.
            shelf.fill();
            shelf.present(metrics);
            drop(shelf);
            self.stirred.notify_one();
        }
    }

    /// Reads the files that have changed, once they are stable.
    pub fn check(&self, metrics: &Metrics) {
        self.read_some(metrics, Source::has_changed);
    }

    /// Reads all files, and lets a failed order try again at once.
    pub fn read_again(&self, metrics: &Metrics) {
        self.read_some(metrics, |_| true);
        self.stirred.notify_one();
    }

    /// Presents what an order has written.
    pub fn take(&self, file: &Path, metrics: &Metrics) {
        self.read_some(metrics, |source| source.is_in(file));
    }

    fn read_some(&self, metrics: &Metrics, is_meant: impl Fn(&mut Source) -> bool) {
        let mut shelf = self.shelf.lock();
        let mut has_news = false;
        for source in shelf.sources.values_mut().filter_map(|one| is_meant(one).then_some(one)) {
            if let Some(outcome) = source.read_again() {
                metrics.certificate_read(outcome);
                has_news = true;
            }
        }
        if has_news {
            shelf.present(metrics);
        }
    }

    /// The choice of a certificate at a listener; `None` without TLS.
    pub fn resolver(&self, address: SocketAddr) -> Option<Arc<Resolver>> {
        let shelf = self.shelf.lock();
        let listener = shelf.listeners.iter().find(|one| one.address == address)?;
        Some(Arc::clone(&listener.resolver))
    }

    /// The certificates that listeners present, but no stand-in.
    pub fn presented(&self) -> Vec<Presented> {
        let shelf = self.shelf.lock();
        let present = shelf.sources.values().filter_map(|source| {
            let pair = source.pair.as_ref()?;
            Some(Presented { file: source.name(), begins: pair.begins, ends: pair.ends })
        });
        present.collect()
    }

    pub(crate) fn troubles(&self) -> Vec<Trouble> {
        let shelf = self.shelf.lock();
        let troubled = shelf.sources.values().filter_map(|source| {
            let reason = source.fault.as_ref().or(source.failure.as_ref())?.clone();
            Some(Trouble { file: source.name(), reason })
        });
        troubled.collect()
    }

    /// Notes that the order of a certificate failed, for alerts and pages.
    pub fn note_failure(&self, file: &Path, reason: &str) {
        let mut shelf = self.shelf.lock();
        for source in shelf.sources.values_mut().filter(|source| source.is_in(file)) {
            source.failure = Some(reason.to_owned());
        }
    }

    pub(crate) fn wanted(&self) -> Vec<Wanted> {
        let shelf = self.shelf.lock();
        let mut wanted = BTreeMap::new();
        for (acme, hosts) in shelf.listeners.iter().filter_map(|one| one.acme.as_ref()) {
            for host in hosts {
                let files = acme.files_of(host);
                let pair = shelf.sources.get(&files).and_then(|source| source.pair.clone());
                let file = files.certificate;
                let one = Wanted { acme: acme.clone(), host: host.clone(), file, pair };
                wanted.insert(one.file.clone(), one);
            }
        }
        wanted.into_values().collect()
    }

    /// Waits until the files were read again, or other hosts are wanted.
    pub async fn stirred(&self) {
        self.stirred.notified().await;
    }
}

impl Presented {
    /// Whether it is to be renewed now.
    pub fn is_due(&self, now: Timestamp) -> bool {
        let lifetime = self.ends.duration_since(self.begins);
        self.ends.duration_since(now) < RENEWAL.min(lifetime / 6)
    }

    /// What is wrong and how it is repaired, if it is to be renewed.
    pub fn warning(&self, now: Timestamp) -> Option<String> {
        let Self { file, ends, .. } = self;
        let ends = ends.strftime("%F %H:%M:%S UTC");
        let verb = if self.ends > now { "ends" } else { "ended" };
        self.is_due(now).then(|| format!("certificate {file} {verb} at {ends}; renew it"))
    }
}

impl Shelf {
    /// Reads the files that no source has yet, and drops the sources that no listener presents.
    fn fill(&mut self) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        let mut needed = BTreeSet::new();
        for presenting in &self.listeners {
            for files in &presenting.files {
                if !needed.insert(files.clone()) || self.sources.contains_key(files) {
                    continue;
                }
                match Source::read(files.clone(), presenting.issues(files)) {
                    Ok(source) => drop(self.sources.insert(files.clone(), source)),
                    Err(fault) => findings.push(fault.finding()),
                }
            }
        }
        self.sources.retain(|files, _| needed.contains(files));
        findings
    }

    fn present(&mut self, metrics: &Metrics) {
        let Self { sources, listeners } = self;
        for presenting in listeners {
            let pair =
                |files| sources.get(files).and_then(|source: &Source| source.pair.as_deref());
            let is_complete = presenting.files.iter().all(|files| pair(files).is_some());
            presenting.stand_in = match &presenting.acme {
                Some((_, hosts)) if !is_complete => match stand_in::for_hosts(hosts) {
                    Ok(pair) => Some(pair),
                    Err(error) => {
                        tracing::error!(
                            code = "tls.stand_in",
                            error,
                            "no stand-in for a certificate"
                        );
                        None
                    }
                },
                _ => None,
            };
            let pairs = presenting.files.iter().filter_map(pair);
            presenting.resolver.swap(Table::of(pairs.chain(&presenting.stand_in)));
        }
        let presented =
            sources.values().filter_map(|one| Some((one.name(), one.pair.as_ref()?.ends)));
        metrics.certificates(presented.map(|(file, ends)| (file, ends.as_second())));
    }
}

impl Presenting {
    fn of(listener: &Listener, policy: &Policy) -> Option<Self> {
        let tls = listener.tls.as_ref()?;
        let acme = tls.acme.clone().map(|acme| {
            let hosts = acme.hosts_of(&policy.sites);
            (acme, hosts)
        });
        let mut files = tls.certificates.clone();
        if let Some((acme, hosts)) = &acme {
            files.extend(hosts.iter().map(|host| acme.files_of(host)));
        }
        Some(Self {
            address: listener.address,
            files,
            acme,
            stand_in: None,
            resolver: Arc::default(),
        })
    }

    fn issues(&self, files: &CertificateFiles) -> bool {
        let mut issued = self
            .acme
            .iter()
            .flat_map(|(acme, hosts)| hosts.iter().map(move |host| acme.files_of(host)));
        issued.any(|issued| issued == *files)
    }
}
