//! The rules of origins that policies replace: a fetch for each site with `source: policy`, in
//! the background, and a comparison by meaning.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use tokio::{
    task::spawn_blocking,
    time::{sleep, timeout},
};

use crate::{
    advice::comparison::{KEEP_RULES, Replaced},
    base::fetch::{self, Fetching, Sources},
    formats::robots,
    rules::policy::{self, Policy, Source},
};

use super::origin_files::{self, Clients, KnownHosts, WatchedSite};

const PURPOSE: &str = "robots.txt of the origin, compared with the policy";
/// The time from a start or a reload to the fetches: an origin may just be starting up.
const DELAY: Duration = Duration::from_secs(2);
const RETRY: Duration = Duration::from_secs(300);

/// The rules of origins that the policy in force replaces, by site.
pub type ReplacedBySite = BTreeMap<String, Replaced>;

/// The answer for a site: the rules that its policy replaces, or the reason why they are unknown.
pub type ReplacedAnswer = Result<Replaced, String>;

/// The rules of its origin that each site with `source: policy` replaces.
///
/// # Errors
/// A sentence: TLS setup failed.
pub async fn replaced(
    policy: &Policy,
    within: Duration,
) -> Result<BTreeMap<String, ReplacedAnswer>, String> {
    let rounds = Rounds::of(policy, Clients::new(PURPOSE)?, Arc::default());
    let mut answers = BTreeMap::new();
    let late = |_| Err(format!("no answer within {} s", within.as_secs()));
    for first in (0..rounds.count()).step_by(Rounds::AT_ONCE) {
        let of = |number| Some((number, tokio::spawn(timeout(within, rounds.fetch(number)?))));
        let under_way: Vec<_> = (first..first + Rounds::AT_ONCE).filter_map(of).collect();
        for (number, task) in under_way {
            let answer = task.await.map_err(|error| error.to_string())?.unwrap_or_else(late);
            answers.extend(rounds.sites.get(number).map(|one| (one.site.name.clone(), answer)));
        }
    }
    Ok(answers)
}

/// Compares the policy in force with the files of its origins, soon and once. A fetch that fails is
/// repeated.
pub(super) fn comparison(
    policy: &Policy,
    known: &Arc<ArcSwap<ReplacedBySite>>,
) -> Option<impl Future<Output = ()> + Send + use<>> {
    // The client for the files of the origins was set up in the same way.
    let clients = Clients::new(PURPOSE).ok()?;
    let rounds = Rounds::of(policy, clients, Arc::clone(known));
    // A site that publishes its origin's file replaces nothing.
    let mut kept = ReplacedBySite::clone(&known.load());
    kept.retain(|name, _| rounds.sites.iter().any(|one| one.site.name == *name));
    known.store(Arc::new(kept));
    Some(async move {
        sleep(DELAY).await;
        fetch::repeat(rounds).await;
    })
}

struct Rounds {
    sites: Vec<Compared>,
    hosts: KnownHosts,
    clients: Clients,
    known: Arc<ArcSwap<ReplacedBySite>>,
}

struct Compared {
    site: WatchedSite,
    has_failed: bool,
    own: Arc<robots::RobotsTxt>,
}

impl Rounds {
    fn of(policy: &Policy, clients: Clients, known: Arc<ArcSwap<ReplacedBySite>>) -> Self {
        let sites = policy.sites.iter().filter(|site| site.robots_txt.source == Source::Policy);
        let compared = |site: &policy::Site| Compared {
            site: WatchedSite::of(site, policy),
            has_failed: false,
            own: Arc::new(site.robots_txt.file.clone()),
        };
        let (sites, hosts) = (sites.map(compared).collect(), KnownHosts::of(&policy.sites));
        Self { sites, hosts, clients, known }
    }
}

impl Sources for Rounds {
    type Fetched = ReplacedAnswer;
    const AT_ONCE: usize = 8;

    fn count(&self) -> usize {
        self.sites.len()
    }

    fn fetch(&self, number: usize) -> Option<Fetching<ReplacedAnswer>> {
        let Compared { site, own, .. } = self.sites.get(number)?;
        let (clients, hosts) = (self.clients.clone(), self.hosts.clone());
        let (site, own) = (site.clone(), Arc::clone(own));
        Some(Box::pin(async move {
            let file = origin_files::fetch_once(clients, hosts, &site).await?;
            let compare = move || {
                let file = file.map(|file| robots::parse(&file).0).unwrap_or_default();
                Replaced::of(&file, &own)
            };
            spawn_blocking(compare).await.map_err(|error| error.to_string())
        }))
    }

    fn settle(&mut self, number: usize, answer: ReplacedAnswer) -> Option<Duration> {
        let Compared { site, has_failed, .. } = self.sites.get_mut(number)?;
        let site = &site.name;
        let mut all = ReplacedBySite::clone(&self.known.load());
        match answer {
            Ok(replaced) if replaced.is_empty() => drop(all.remove(site)),
            Ok(replaced) => {
                let (code, repair) = ("policy.replaces_origin", KEEP_RULES);
                let lines = replaced.lines().join("; ");
                tracing::warn!(
                    site,
                    code,
                    lines,
                    repair,
                    "the policy replaces rules of the origin's own robots.txt"
                );
                all.insert(site.clone(), replaced);
            }
            Err(why) => {
                if !std::mem::replace(has_failed, true) {
                    tracing::warn!(
                        site,
                        why,
                        "policy not compared with the origin's robots.txt: it may replace rules; \
                         the fetch is repeated"
                    );
                }
                return Some(RETRY);
            }
        }
        self.known.store(Arc::new(all));
        None
    }
}
