//! Looks for the robots.txt of a host below a wildcard, when a client asks for it. The request is answered
//! with the wildcard's file and does not wait.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
};

use crate::rules::{enforce::Chronicle, policy::Policy};

use super::origin_files::{Clients, KnownHosts, WatchedSite, fetch_once};

const AGAIN: Duration = Duration::from_secs(3_600);
/// The most hosts that are looked at in this time: anyone can ask for any host.
const MOST: usize = 1_024;
const WAITING: usize = 16;

/// Takes hosts whose robots.txt a client asked for. The default takes none.
#[derive(Clone, Debug, Default)]
pub struct AskedHosts(Option<mpsc::Sender<String>>);

impl AskedHosts {
    pub(crate) fn push(&self, host: &str) {
        if let Some(hosts) = &self.0 {
            drop(hosts.try_send(host.to_owned()));
        }
    }
}

/// The hosts that clients asked for, and the files that their origins have. The task ends on drop.
#[derive(Debug)]
pub(super) struct Wildcards {
    pub(super) asked: AskedHosts,
    pub(super) found: mpsc::Receiver<(String, Bytes)>,
    _task: JoinSet<()>,
}

impl Wildcards {
    pub(super) fn start(clients: &Clients, policies: watch::Receiver<Arc<Policy>>) -> Self {
        let (asked, hosts) = mpsc::channel(WAITING);
        let (sender, found) = mpsc::channel(1);
        let mut task = JoinSet::new();
        task.spawn(look(hosts, policies, clients.clone(), sender));
        Self { asked: AskedHosts(Some(asked)), found, _task: task }
    }
}

/// The policy with sites for the hosts below wildcards that had one before.
pub(super) fn with_hosts(mut policy: Policy, chronicle: &Chronicle) -> Policy {
    let own = chronicle.host_periods().filter(|one| one.until.is_none() && one.host == one.site);
    policy.add_hosts(own.map(|one| one.host.as_str()));
    policy
}

async fn look(
    mut hosts: mpsc::Receiver<String>,
    policies: watch::Receiver<Arc<Policy>>,
    clients: Clients,
    found: mpsc::Sender<(String, Bytes)>,
) {
    let mut seen: HashMap<String, Instant> = HashMap::new();
    while let Some(host) = hosts.recv().await {
        seen.retain(|_, at| at.elapsed() < AGAIN);
        let policy = Arc::clone(&policies.borrow());
        let Some((_, site)) = policy.below_wildcard(&host) else { continue };
        if seen.len() >= MOST || seen.contains_key(&host) {
            continue;
        }
        seen.insert(host.clone(), Instant::now());
        let (site, known) = (WatchedSite::of(&site, &policy), KnownHosts::of(&policy.sites));
        if let Ok(Some(file)) = fetch_once(clients.clone(), known, &site).await
            && found.send((host, file)).await.is_err()
        {
            return;
        }
    }
}
