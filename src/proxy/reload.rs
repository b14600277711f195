//! The policy read again: a good one is swapped in whole, a broken one leaves the last good one in
//! force and says so loudly.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use arc_swap::ArcSwap;
use jiff::Timestamp;
use notify::{RecursiveMode, Watcher};
use tokio::sync::mpsc;

use crate::{
    diagnostic::{Diagnostic, Severity},
    enforce::Rulebook,
    metrics::Metrics,
    policy::{self, Policy},
};

use super::{origins::Origins, serving::Serving};

/// A file counts as written when its size and time stay the same for this long.
const SETTLED: Duration = Duration::from_millis(200);

/// Swaps the rulebook when the policy changes.
#[derive(Debug)]
pub struct Reloader {
    file: PathBuf,
    in_force: Mutex<Policy>,
    serving: Arc<ArcSwap<Serving>>,
    origins: Arc<Origins>,
    metrics: Arc<Metrics>,
}

/// What a reload came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The new policy is in force.
    Applied,
    /// The file says what is in force already.
    Unchanged,
    /// The last good policy stays, for these reasons.
    Refused(Vec<Diagnostic>),
}

impl Reloader {
    pub(super) fn new(
        file: PathBuf,
        policy: Policy,
        serving: Arc<ArcSwap<Serving>>,
        origins: Arc<Origins>,
        metrics: Arc<Metrics>,
    ) -> Self {
        Self { file, in_force: Mutex::new(policy), serving, origins, metrics }
    }

    /// Where the origins' addresses are looked up.
    pub fn origins(&self) -> &Origins {
        &self.origins
    }

    /// Reads the file and puts it in force, or says why not. One at a time.
    pub fn reload(&self, now: Timestamp) -> Outcome {
        let mut in_force = self.in_force.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = match self.read(&in_force) {
            Ok(None) => Outcome::Unchanged,
            Ok(Some(policy)) => {
                let previous = self.serving.load_full();
                let rulebook = Rulebook::compile(&policy, now, Some(&previous.rulebook));
                let serving = Serving::new(rulebook, &self.origins, &self.metrics);
                self.serving.store(Arc::new(serving));
                *in_force = policy;
                Outcome::Applied
            }
            Err(findings) => Outcome::Refused(findings),
        };
        self.report(&outcome, &in_force);
        outcome
    }

    /// The policy of the file, `None` where it is the one in force.
    fn read(&self, in_force: &Policy) -> Result<Option<Policy>, Vec<Diagnostic>> {
        let name = self.file.display().to_string();
        let bytes = read_policy_file(&self.file).map_err(|error| {
            let finding = Diagnostic::error("policy.unreadable", error.to_string());
            vec![finding.in_file(&name).help("put the file back, or make it readable")]
        })?;
        let (policy, findings) = policy::read(&name, &bytes);
        let Some(policy) = policy else { return Err(findings) };
        if policy.fingerprint == in_force.fingerprint {
            return Ok(None);
        }
        if policy.server != in_force.server || policy.violations != in_force.violations {
            let message = "the sections 'server' and 'violations' take effect at a start only";
            let finding = Diagnostic::error("policy.restart_needed", message);
            return Err(vec![finding.in_file(&name).help("restart, or take the change back")]);
        }
        Ok(Some(policy))
    }

    fn report(&self, outcome: &Outcome, in_force: &Policy) {
        let policy = in_force.fingerprint.as_str();
        match outcome {
            Outcome::Applied => {
                self.metrics.reload("applied");
                tracing::info!(policy, sites = in_force.sites.len(), "policy reloaded");
            }
            Outcome::Unchanged => self.metrics.reload("unchanged"),
            Outcome::Refused(findings) => {
                self.metrics.reload("refused");
                for finding in findings.iter().filter(|one| one.severity == Severity::Error) {
                    let finding = format!("{finding:#}");
                    tracing::error!(finding, "policy refused");
                }
                tracing::error!(
                    policy,
                    "the policy on disk is broken; the last good one stays in force"
                );
            }
        }
    }

    /// Reloads whenever the file changes on disk or `hangup` says so. Ends with `hangup`.
    pub async fn watch(&self, mut hangup: mpsc::Receiver<()>) {
        let (changed, mut changes) = mpsc::channel(16);
        // Kept until the end: dropping it stops the watch.
        let _watcher = match watcher(&self.file, changed) {
            Ok(watcher) => Some(watcher),
            Err(error) => {
                tracing::warn!(%error, "the policy file can't be watched; SIGHUP still reloads it");
                None
            }
        };
        loop {
            tokio::select! {
                told = hangup.recv() => {
                    if told.is_none() {
                        return;
                    }
                    if self.reload(Timestamp::now()) == Outcome::Unchanged {
                        tracing::info!("policy unchanged");
                    }
                }
                Some(()) = changes.recv() => {
                    settle(&self.file).await;
                    while changes.try_recv().is_ok() {}
                    self.reload(Timestamp::now());
                }
            }
        }
    }
}

/// The bytes of a policy file; of one that is larger than a policy may be, just enough to tell.
///
/// # Errors
/// Where it can't be read.
pub fn read_policy_file(file: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file)?.take(policy::MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Tells of changes to the file: of its folder's entry, so that a file that is replaced is seen,
/// and of the `..data` link by which Kubernetes replaces a whole folder.
fn watcher(file: &Path, changed: mpsc::Sender<()>) -> notify::Result<impl Watcher + use<>> {
    let name = file.file_name().map(ToOwned::to_owned);
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let Ok(event) = event else { return };
        let concerns_us = event.paths.iter().any(|path| {
            let entry = path.file_name();
            entry == name.as_deref() || entry.is_some_and(|entry| entry == "..data")
        });
        if concerns_us && !event.kind.is_access() {
            // A full channel has a reload ahead of it already.
            let _ = changed.try_send(());
        }
    })?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    watcher.watch(folder.unwrap_or_else(|| Path::new(".")), RecursiveMode::NonRecursive)?;
    Ok(watcher)
}

/// Waits until nobody writes to the file any more, for some seconds at most.
async fn settle(file: &Path) {
    let mut before = state(file);
    for _ in 0..25 {
        tokio::time::sleep(SETTLED).await;
        let now = state(file);
        if now == before {
            return;
        }
        before = now;
    }
}

fn state(file: &Path) -> Option<(u64, SystemTime)> {
    let metadata = std::fs::metadata(file).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}
