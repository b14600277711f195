//! The publisher: one task that owns the state in force, and the one place that changes it.
//!
//! ```text
//! SIGHUP, a changed file ─┐
//! news of the origins    ─┤  build the new parts   ─▶ next(in force, change) ─▶ editions stored
//! an accepted file       ─┤                                                  ─▶ swapped whole
//! a clock set back       ─┘
//! ```
//! The publisher first does everything that can fail. So a refused policy changes nothing.

use std::{path::PathBuf, sync::Arc, time::Duration};

use bytes::Bytes;
use jiff::Timestamp;
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
};

use crate::{
    base::{
        diagnostic::{Diagnostic, Severity},
        metrics::Metrics,
    },
    clients::{
        conduct::Conduct,
        evidence::{self, Verifier},
    },
    formats::robots::OriginFile,
    outside::{
        alerts::{Receiver, Refusal},
        remote::{Document, Follower, Remote},
        tls::Certificates,
    },
    records::{
        record::{Quarantined, Unread},
        violations::Sink,
    },
    rules::policy::{Policy, Site},
};

use super::{
    addresses::AddressBook,
    change::{Change, InForce, next},
    fellowship::FleetEnds,
    followed_lists::ListFollowers,
    handles::Handles,
    log,
    memory::{self, Memory},
    origin_files::{Clients, News, OriginFiles, OriginReports},
    policy_file::PolicyFile,
    probes::Probes,
    replacement,
    snapshot::{PolicyInForce, Snapshot},
    sources,
    wildcards::{Wildcards, with_hosts},
};

/// The findings of a policy's own tests; `&str` is the name of its file. An error refuses the policy.
pub type Trial = fn(&Policy, &str) -> Vec<Diagnostic>;

/// The owner of the state in force. Publishes the new state after each change.
#[derive(Debug)]
pub struct Publisher {
    pub(super) handles: Handles,
    pub(super) addresses: Arc<AddressBook>,
    pub(super) file: PolicyFile,
    trial: Trial,
    pub(super) in_force: InForce,
    pub(super) origins: OriginFiles,
    pub(super) comparison: JoinSet<()>,
    pub(super) news: mpsc::UnboundedReceiver<News>,
    pub(super) unread: Option<Unread>,
    sender: mpsc::UnboundedSender<News>,
    pub(super) clients: Clients,
    pub(super) probes: Probes,
    pub(super) wildcards: Wildcards,
    pub(super) lists: ListFollowers,
    /// `None` without a fleet.
    pub(super) fleet: Option<FleetEnds>,
    /// When editions that wait for the fleet are tried again, by the steady clock.
    pub(super) next_retry: Duration,
    verifier: Option<Arc<Verifier>>,
    policies: watch::Sender<Arc<Policy>>,
    receivers: watch::Sender<Vec<Receiver>>,
}

/// The outcome of a reload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The new policy is in force.
    Applied,
    /// The policy in the file is in force already.
    Unchanged,
    /// The last good policy stays in force, for these reasons.
    Refused(Vec<Diagnostic>),
}

impl Publisher {
    /// Publishes a policy, after a short wait for the files of the origins and the look-up of their
    /// names. `file` is the policy's file, `trial` runs the tests of the policies that follow.
    ///
    /// # Errors
    /// The policy's evidence settings or the secrets of its alerts are unusable, or the HTTP client
    /// can't be set up.
    pub async fn start(
        policy: Policy,
        (file, trial): (PathBuf, Trial),
        memory: Memory,
        sink: Arc<Sink>,
        certificates: Arc<Certificates>,
        metrics: Arc<Metrics>,
    ) -> Result<Self, Diagnostic> {
        let in_file = |finding: Diagnostic| finding.in_file(&file.display().to_string());
        let (receivers, _) = watch::channel(Receiver::of(&policy).map_err(in_file)?);
        let verifier = Verifier::start(&policy, &metrics).map_err(in_file)?;
        let clients = Clients::new("robots.txt of the origin")
            .map_err(|error| Diagnostic::error("origin_robots.client", error))?;
        if !clients.own.has_systems_authorities() {
            tracing::warn!("the system has no certificate authorities: fetches over HTTPS fail");
        }
        let (sender, news) = mpsc::unbounded_channel();
        let clock = Arc::new(memory.clock(Timestamp::now()));
        metrics.policy_accepted(clock.moment().now.as_second());
        let origin_reports = OriginReports::default();
        let chronicle = memory.chronicle(clock.moment().now);
        let policy = Arc::new(with_hosts(policy, &chronicle));
        let now = clock.moment().now;
        let known = |site: &Site| sources::of_memory(&memory, &chronicle, site, now);
        let shown = (&metrics, &origin_reports);
        let origins = sources::start(&clients, &policy, known, &sender, shown);
        origins.wait_for_first_results(sources::AT_START).await;
        let files = sources::files(&policy, &origins);
        let moment = clock.moment();
        let in_force = InForce::first(Arc::clone(&policy), files, chronicle, moment);
        log::log_problems(&in_force.rulebook);
        log::log_editions(None, &in_force.rulebook);
        memory::store(&sink, &in_force.rulebook, moment.now);
        memory::store_policy(&sink, &policy, "start", moment.now);
        let idle = |one: &&Quarantined| !sources::is_watched(&policy, &one.site);
        memory.quarantine.iter().filter(idle).for_each(|one| sink.released(one.site.clone()));
        let addresses = Arc::new(AddressBook::default());
        let rulebook = Arc::clone(&in_force.rulebook);
        let policy_in_force = PolicyInForce { policy: Arc::clone(&policy), since: moment.now };
        let (kept, of_start) = (verifier.clone(), policy_in_force);
        let published = Snapshot::new(of_start, rulebook, None, kept, &addresses, &metrics);
        let conduct = Conduct::of(memory.ledger());
        conduct.ledger.set_back(moment.now);
        addresses.look_up().await;
        let file = PolicyFile::new(file, &policy);
        let (policies, in_force_now) = watch::channel(policy);
        let wildcards = Wildcards::start(&clients, in_force_now);
        let handles = Handles {
            certificates,
            origin_reports,
            asked: wildcards.asked.clone(),
            ..Handles::new(published, conduct, clock, sink, metrics)
        };
        handles.remember(policies.borrow().violations.client_ip);
        let unread = memory.unread;
        Ok(Self {
            handles,
            addresses,
            file,
            trial,
            in_force,
            origins,
            comparison: JoinSet::new(),
            news,
            unread,
            sender,
            clients,
            probes: Probes::start(),
            wildcards,
            lists: ListFollowers::default(),
            fleet: None,
            next_retry: Duration::ZERO,
            verifier,
            policies,
            receivers,
        })
    }

    /// Follows the policy on a server in place of the file. `document` is the policy in force.
    pub fn follow(&mut self, remote: Remote, document: Document, every: Duration) {
        let (name, copy) = (remote.name().to_owned(), remote.copy.clone());
        self.file.follow(name, document, copy, Follower::start(remote, every));
    }

    pub(crate) fn handles(&self) -> Handles {
        self.handles.clone()
    }

    pub(crate) fn policies(&self) -> watch::Receiver<Arc<Policy>> {
        self.policies.subscribe()
    }

    pub(crate) fn receivers(&self) -> watch::Receiver<Vec<Receiver>> {
        self.receivers.subscribe()
    }

    /// Reads the policy file and puts it in force, or returns the reasons against it. Looks up new
    /// origins and fetches their files first, so that requests don't come before. `by` is the cause, for
    /// the history.
    pub(super) async fn reload(&mut self, by: &str) -> Outcome {
        let outcome = match self.file.read(&self.in_force.policy) {
            Ok(None) => Outcome::Unchanged,
            Ok(Some(policy)) => match self.try_policy(policy, by).await {
                Ok(()) => Outcome::Applied,
                Err(findings) => Outcome::Refused(findings),
            },
            Err(findings) => Outcome::Refused(findings),
        };
        self.report(&outcome);
        if !matches!(outcome, Outcome::Refused(_)) {
            self.file.keep().await;
        }
        outcome
    }

    async fn try_policy(&mut self, policy: Policy, by: &str) -> Result<(), Vec<Diagnostic>> {
        let failures = (self.trial)(&policy, &self.file.name());
        if failures.iter().any(|one| one.severity == Severity::Error) {
            return Err(failures);
        }
        let policy = with_hosts(policy, &self.in_force.rulebook.chronicle);
        self.apply(Arc::new(policy)).await.map_err(|finding| vec![finding])?;
        let Handles { sink, clock, .. } = &self.handles;
        memory::store_policy(sink, &self.in_force.policy, by, clock.moment().now);
        log::log_failures(&failures);
        Ok(())
    }

    /// Gives a host below a wildcard a site of its own, as its origin has this file for it, and not the
    /// wildcard's.
    pub(super) async fn add_host(&mut self, host: &str, file: Bytes) {
        let policy = &self.in_force.policy;
        let wildcard = policy.below_wildcard(host).and_then(|(number, _)| policy.sites.get(number));
        let known = |wildcard: &Site| self.origins.known(wildcard.name());
        if wildcard.and_then(known).is_some_and(|one| one.file == OriginFile::Present(file)) {
            return;
        }
        let mut policy = Policy::clone(policy);
        if policy.add_hosts([host]) {
            tracing::info!(host, "a host below a wildcard has its own robots.txt at the origin");
            let applied = self.apply(Arc::new(policy)).await;
            applied.unwrap_or_else(|finding| tracing::error!(host, %finding, "host not added"));
        }
    }

    async fn apply(&mut self, policy: Arc<Policy>) -> Result<(), Diagnostic> {
        // First the steps that can fail or take time. The old policy stays in force meanwhile.
        let receivers = Receiver::of(&policy)?;
        let is_kept = evidence::is_same(&policy, &self.in_force.policy);
        let verifier = match is_kept {
            true => self.verifier.clone(),
            false => Verifier::start(&policy, &self.handles.metrics)?,
        };
        let origins = policy.sites.iter().flat_map(|site| &site.backend.origins);
        origins.for_each(|origin| drop(self.addresses.of(origin)));
        self.addresses.look_up_new().await;
        self.watch_origins(&policy).await;
        let change = Change::Policy(Arc::clone(&policy), sources::files(&policy, &self.origins));
        if let Err(finding) = self.announce(&change).await {
            self.watch_origins(&Arc::clone(&self.in_force.policy)).await;
            return Err(finding);
        }
        // The swap comes last.
        let retired = std::mem::replace(&mut self.verifier, verifier);
        self.handles.certificates.follow(&policy, &self.handles.metrics);
        self.publish(change);
        self.probes.follow(&policy);
        self.lists.follow(&policy, &self.handles);
        self.policies.send_replace(policy);
        self.receivers.send_replace(receivers);
        // Open connections keep the old verifier until they close.
        if let Some(old) = retired.filter(|_| !is_kept) {
            old.retire();
        }
        Ok(())
    }

    /// Fetches the files of the origins of this policy from now on. The old fetches end first, because both
    /// write the same time series.
    async fn watch_origins(&mut self, policy: &Arc<Policy>) {
        self.origins.retire();
        let now = self.handles.clock.moment().now;
        let chronicle = &self.in_force.rulebook.chronicle;
        let known = |site: &Site| sources::known(&self.origins, chronicle, site, now);
        let shown = (&self.handles.metrics, &self.handles.origin_reports);
        let next = sources::start(&self.clients, policy, known, &self.sender, shown);
        let before = std::mem::replace(&mut self.origins, next);
        let was_failing = sources::any_failing(policy, &before);
        let most = if was_failing { sources::AFTER_FAILURE } else { sources::AT_RELOAD };
        self.origins.wait_for_first_results(most).await;
        // Without fetches for a site, its quarantined file can't be accepted any more.
        let quarantine = before.quarantine().into_iter();
        let idle = quarantine.filter(|site| !sources::is_watched(policy, site));
        idle.for_each(|site| self.handles.sink.released(site.as_str().into()));
    }

    /// Compares the policy in force with the files of the origins, in the background.
    pub(super) fn compare_origins(&mut self) {
        self.comparison = JoinSet::new();
        let (policy, known) = (&self.in_force.policy, &self.handles.replaced);
        if let Some(comparison) = replacement::comparison(policy, known) {
            self.comparison.spawn(comparison);
        }
    }

    /// Puts the state after a change in force. Only this function
    /// stores and swaps.
    pub(super) fn publish(&mut self, change: Change) {
        let moment = self.handles.clock.moment();
        let after = next(&self.in_force, change, moment);
        let before = std::mem::replace(&mut self.in_force, after);
        let after = &self.in_force;
        if Arc::ptr_eq(&before.rulebook, &after.rulebook) {
            return;
        }
        log::log_problems(&after.rulebook);
        log::log_editions(Some(&before.rulebook), &after.rulebook);
        self.handles.publish(&before, after, self.verifier.clone(), &self.addresses);
    }

    fn report(&self, outcome: &Outcome) {
        let policy = self.in_force.policy.shown_fingerprint();
        let Handles { metrics, refused, clock, .. } = &self.handles;
        let now = clock.moment().now;
        if !matches!(outcome, Outcome::Refused(_)) {
            metrics.policy_accepted(now.as_second());
            let was_refused = refused.swap(None).is_some();
            if was_refused && *outcome == Outcome::Unchanged {
                tracing::info!(policy, "policy accepted again: it is the one in force");
            }
        }
        match outcome {
            Outcome::Applied => {
                metrics.reload("applied");
                tracing::info!(policy, sites = self.in_force.policy.sites.len(), "policy reloaded");
            }
            Outcome::Unchanged => {}
            Outcome::Refused(findings) => {
                metrics.reload("refused");
                metrics.policy_refused();
                let errors = findings.iter().filter(|one| one.severity == Severity::Error);
                let findings: Vec<String> = errors.map(|one| format!("{one:#}")).collect();
                for finding in &findings {
                    tracing::error!(finding, "policy refused");
                }
                refused.store(Some(Arc::new(Refusal { at: now, findings })));
                tracing::error!(policy, "policy not reloaded: the last good one stays in force");
            }
        }
    }
}
