//! The policy on disk or on a web server: its changes and its content.

use std::{io, path::PathBuf};

use crate::{
    base::{diagnostic::Diagnostic, metrics::Metrics, stamp::Stamp},
    outside::remote::{Answer, Document, Failure, Fetched, Follower, KeptCopy},
    rules::policy::{Following, Policy},
};

use super::files::{self, PolicyRead};

/// The policy file, the catalogue file that it names, and what is kept of the lists that it follows.
#[derive(Debug)]
pub(super) struct PolicyFile {
    /// The file; of a policy on a server, the last good copy.
    path: PathBuf,
    server: Option<Server>,
    /// From the last policy that was read, valid or not.
    catalogue: Option<PathBuf>,
    following: Option<Following>,
    seen: Option<Stamps>,
    last_read: Option<Stamps>,
}

#[derive(Debug)]
struct Server {
    /// The address without its secrets.
    name: String,
    follower: Follower,
    copy: KeptCopy,
    /// The last one that the server sent with a valid signature.
    document: Document,
    is_kept: bool,
    failure: Option<Failure>,
    /// The failure that the next read reports.
    objection: Option<Failure>,
}

/// Of the policy, of the catalogue, and of each followed list.
type Stamps = Vec<Option<Stamp>>;

impl PolicyFile {
    pub(super) fn new(path: PathBuf, policy: &Policy) -> Self {
        let (catalogue, following) = (policy.catalogue_file.clone(), policy.following.clone());
        Self { path, server: None, catalogue, following, seen: None, last_read: None }
    }

    /// Follows a server from now on. `document` is in force.
    pub(super) fn follow(
        &mut self,
        name: String,
        document: Document,
        copy: KeptCopy,
        follower: Follower,
    ) {
        let (failure, objection) = (None, None);
        let is_kept = copy.last_good().is_ok_and(|kept| kept == document);
        let server = Server { name, follower, copy, document, is_kept, failure, objection };
        self.server = Some(server);
    }

    pub(super) fn name(&self) -> String {
        match &self.server {
            Some(server) => server.name.clone(),
            None => self.path.display().to_string(),
        }
    }

    /// Whether the files have changed since the last read and are stable since the last check. A
    /// half-written file is not stable. A server may start without a file; one that never was is no
    /// change.
    pub(super) fn has_changed(&mut self) -> bool {
        let now = self.stamps();
        let is_absent = self.server.is_none() && now.first().is_some_and(Option::is_none);
        let now = Some(now);
        let was_never = is_absent && self.last_read.is_none();
        let has_changed = now == self.seen && now != self.last_read && !was_never;
        self.seen.clone_from(&now);
        if has_changed {
            self.last_read = now;
        }
        has_changed
    }

    pub(super) fn mark_as_read(&mut self) {
        self.last_read = Some(self.stamps());
    }

    /// Asks the server for the policy, if it is on one. Returns whether an answer follows.
    pub(super) fn fetch_now(&self) -> bool {
        self.server.as_ref().is_some_and(|server| server.follower.fetch_now())
    }

    /// The next answer of the server; never, if the policy is a file.
    pub(super) async fn answer(&mut self) -> Option<Answer> {
        match &mut self.server {
            Some(server) => server.follower.answer().await,
            None => std::future::pending().await,
        }
    }

    /// Takes an answer. Returns whether there is something new to read.
    pub(super) fn take(&mut self, answer: Answer, metrics: &Metrics) -> bool {
        let Some(server) = &mut self.server else { return false };
        let before = server.failure.take();
        if before.is_some() && answer.fetched.is_ok() {
            tracing::info!(policy = server.name, "the policy is fetched again");
        }
        let (outcome, is_new) = match answer.fetched {
            Ok(Fetched::New(document)) => {
                server.is_kept &= document == server.document;
                server.document = document;
                ("new", true)
            }
            Ok(Fetched::Unchanged) => ("unchanged", before.is_some_and(|one| one.is_refusal())),
            Err(failure) => {
                let is_known = before.as_ref() == Some(&failure);
                let is_refused = failure.is_refusal();
                // A server on its way out has many words for it.
                let is_away = before.as_ref().is_some_and(|before| before.code() == failure.code());
                if !is_away && !is_refused && !answer.is_asked {
                    let (policy, code, error) = (&server.name, failure.code(), failure.to_string());
                    tracing::error!(policy, code, error, "the policy in force stays in force");
                }
                let is_told = answer.is_asked || (is_refused && !is_known);
                server.objection = is_told.then(|| failure.clone());
                server.failure = Some(failure);
                (if is_refused { "refused" } else { "failed" }, is_told)
            }
        };
        metrics.policy_fetched(outcome);
        is_new || answer.is_asked
    }

    pub(super) async fn keep(&mut self) {
        let Some(server) = self.server.as_mut().filter(|server| !server.is_kept) else { return };
        let (copy, document) = (server.copy.clone(), server.document.clone());
        let kept = tokio::task::spawn_blocking(move || copy.keep(&document)).await;
        match kept.unwrap_or_else(|error| Err(io::Error::other(error))) {
            Ok(()) => server.is_kept = true,
            Err(error) => {
                let file = self.path.display();
                tracing::error!(code = "policy.copy", %file, %error, "the policy is not kept as a copy");
            }
        }
    }

    /// The policy in the file or from the server; `None` if it is in force already.
    ///
    /// # Errors
    /// All findings about the file, or one for each change that needs a restart.
    pub(super) fn read(&mut self, in_force: &Policy) -> Result<Option<Policy>, Vec<Diagnostic>> {
        let name = self.name();
        let read = self.content(&name).map_err(|finding| vec![finding])?;
        // A broken policy may end before it names its catalogue. Beadle still watches the known
        // one.
        if read.policy.is_some() || read.catalogue_file.is_some() {
            self.catalogue.clone_from(&read.catalogue_file);
        }
        let findings = read.restart_findings(in_force, &name);
        let Some(policy) = read.policy else { return Err(read.findings) };
        self.following.clone_from(&policy.following);
        if policy.fingerprint == in_force.fingerprint {
            return Ok(None);
        }
        if findings.is_empty() { Ok(Some(policy)) } else { Err(findings) }
    }

    fn content(&mut self, name: &str) -> Result<PolicyRead, Diagnostic> {
        let Some(server) = &mut self.server else {
            return files::read_policy(&self.path).map_err(|error| {
                let finding = Diagnostic::error("policy.unreadable", error.to_string());
                finding.in_file(name).help("put the file back, or make it readable")
            });
        };
        match server.objection.take() {
            Some(failure) => Err(failure.finding(name)),
            None => Ok(files::read_policy_bytes(&self.path, name, server.document.bytes.clone())),
        }
    }

    fn stamps(&self) -> Stamps {
        // A copy changes by this program alone.
        let policy = self.server.is_none().then(|| Stamp::of(&self.path)).flatten();
        let catalogue = self.catalogue.as_deref().and_then(Stamp::of);
        let followed = self.following.iter().flat_map(Following::files);
        [policy, catalogue].into_iter().chain(followed.map(|file| Stamp::of(&file))).collect()
    }
}
