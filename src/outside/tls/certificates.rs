//! The certificates of all listeners: the files of each, and what was last read from them.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::{
    challenges::Challenges,
    pair::{Fault, Pair},
    stand_in,
    table::{Resolver, Table},
};
use crate::{
    base::{diagnostic::Diagnostic, escape, metrics::Metrics, stamp::Stamp},
    rules::policy::{Acme, CertificateFiles, Listener, Policy},
};

/// The time before its end in which a certificate is to be renewed. Programs that renew by themselves do
/// so a month before. Of a short lifetime, it is the last sixth.
const RENEWAL: SignedDuration = SignedDuration::from_hours(14 * 24);

/// The certificates of all listeners, and the challenges of their orders.
#[derive(Debug, Default)]
pub struct Certificates {
    shelf: Mutex<Shelf>,
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
    /// The operator's own.
    files: Vec<CertificateFiles>,
    /// The hosts whose certificates are ordered.
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
            has_changed |= *hosts != next;
            *hosts = next;
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
            let issued: BTreeSet<_> = presenting.issued().collect();
            for files in presenting.files() {
                if !needed.insert(files.clone()) || self.sources.contains_key(&files) {
                    continue;
                }
                let is_issued = issued.contains(&files);
                match Source::read(files.clone(), is_issued) {
                    Ok(source) => drop(self.sources.insert(files, source)),
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
            let pairs = presenting.files().map(|files| sources.get(&files)?.pair.as_deref());
            let pairs: Vec<Option<&Pair>> = pairs.collect();
            let is_complete = pairs.iter().all(Option::is_some);
            presenting.stand_in = match &presenting.acme {
                Some((_, hosts)) if !is_complete => match stand_in::for_hosts(hosts) {
                    Ok(pair) => Some(pair),
                    Err(error) => {
                        let code = "tls.stand_in";
                        tracing::error!(code, error, "no stand-in for a certificate");
                        None
                    }
                },
                _ => None,
            };
            let pairs = pairs.into_iter().flatten();
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
        Some(Self {
            address: listener.address,
            files: tls.certificates.clone(),
            acme,
            stand_in: None,
            resolver: Arc::default(),
        })
    }

    fn files(&self) -> impl Iterator<Item = CertificateFiles> {
        self.files.iter().cloned().chain(self.issued())
    }

    /// The files that ACME writes.
    fn issued(&self) -> impl Iterator<Item = CertificateFiles> {
        let of = |(acme, hosts): &'_ (Acme, Vec<String>)| -> Vec<CertificateFiles> {
            hosts.iter().map(|host| acme.files_of(host)).collect()
        };
        self.acme.iter().flat_map(of)
    }
}

#[derive(Debug)]
pub(super) struct Source {
    files: CertificateFiles,
    /// Whether ACME writes the file, which is not there before the first order.
    is_issued: bool,
    pub(super) pair: Option<Arc<Pair>>,
    seen: Stamps,
    last_read: Stamps,
    pub(super) fault: Option<String>,
    pub(super) failure: Option<String>,
}

type Stamps = [Option<Stamp>; 2];

impl Source {
    /// The files as they are at a start.
    ///
    /// # Errors
    /// The operator's files are unusable. What ACME wrote is issued anew.
    pub(super) fn read(files: CertificateFiles, is_issued: bool) -> Result<Self, Fault> {
        let stamps = stamps(&files);
        let mut source = Self {
            files,
            is_issued,
            pair: None,
            seen: stamps.clone(),
            last_read: stamps,
            fault: None,
            failure: None,
        };
        match Pair::read(&source.files) {
            Ok(pair) => source.pair = Some(Arc::new(pair)),
            Err(fault) if !is_issued => return Err(fault),
            Err(fault) if fault.is_absent() => {}
            Err(fault) => source.refuse(&fault),
        }
        Ok(source)
    }

    /// Whether a file has changed since the last read, and both are stable since the last check. So a
    /// pair that is being written is left alone.
    pub(super) fn has_changed(&mut self) -> bool {
        let now = stamps(&self.files);
        let has_changed = now == self.seen && now != self.last_read;
        self.seen = now;
        has_changed
    }

    /// Reads the files. The last good pair stays if they are unusable. Returns `taken` or `refused` for a
    /// change.
    pub(super) fn read_again(&mut self) -> Option<&'static str> {
        // A change during the read is another change.
        self.last_read = stamps(&self.files);
        match Pair::read(&self.files) {
            Ok(pair) => {
                let was_refused = self.fault.take().is_some();
                let is_same = self.pair.as_ref().is_some_and(|old| old.chain() == pair.chain());
                if is_same {
                    if was_refused {
                        let file = self.name();
                        tracing::info!(file, "certificate accepted again: it is the present one");
                    }
                    return None;
                }
                let (file, ends) = (self.name(), pair.ends);
                tracing::info!(file, %ends, "certificate taken");
                self.failure = None;
                self.pair = Some(Arc::new(pair));
                Some("taken")
            }
            Err(fault) if self.is_issued && fault.is_absent() => None,
            Err(fault) => {
                self.refuse(&fault);
                Some("refused")
            }
        }
    }

    fn refuse(&mut self, fault: &Fault) {
        let error = escape::bounded(fault.to_string().as_bytes(), 500);
        let kept = if self.pair.is_some() { "the last good one stays" } else { "there is none" };
        tracing::error!(code = "tls.certificate_refused", error, "certificate refused: {kept}");
        self.fault = Some(error);
    }

    pub(super) fn is_in(&self, file: &Path) -> bool {
        self.files.certificate == file
    }

    pub(super) fn name(&self) -> String {
        escape::path(&self.files.certificate)
    }
}

fn stamps(files: &CertificateFiles) -> Stamps {
    [Stamp::of(&files.certificate), Stamp::of(&files.key)]
}
