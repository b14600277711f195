//! The addresses of the origins. Beadle looks names up regularly and never on the request path.
//! (pingora's own look-up blocks the worker and panics for an unknown name.)

use std::{
    collections::HashMap,
    future::Future,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use tokio::{sync::Semaphore, task::JoinSet, time::timeout};

use crate::rules::policy;

const DEADLINE: Duration = Duration::from_secs(5);

/// The most look-ups at the same time. The system's resolver takes a thread for each.
const AT_ONCE: usize = 64;
/// The most time that a reload waits for the names of new origins. The next regular look-up finds
/// slower names.
const NEW_NAMES: Duration = Duration::from_secs(10);

/// The addresses of all origins of the policy in force, by host and port.
#[derive(Debug, Default)]
pub struct AddressBook {
    known: Mutex<HashMap<policy::Origin, Arc<Addresses>>>,
}

/// The addresses of one origin.
#[derive(Debug, Default)]
pub struct Addresses {
    current: ArcSwap<Vec<SocketAddr>>,
    next: AtomicUsize,
    failures: AtomicUsize,
}

impl Addresses {
    /// One of the addresses, in rotation; `None` while there is none.
    pub fn pick(&self) -> Option<SocketAddr> {
        let current = self.current.load();
        match current.as_slice() {
            [] => None,
            [only] => Some(*only),
            several => {
                let turn = self.next.fetch_add(1, Ordering::Relaxed);
                several.get(turn % several.len()).copied()
            }
        }
    }

    pub(crate) fn known(&self) -> Arc<Vec<SocketAddr>> {
        self.current.load_full()
    }

    pub(super) fn are_known(&self) -> bool {
        !self.current.load().is_empty()
    }

    pub(crate) fn failures(&self) -> usize {
        self.failures.load(Ordering::Relaxed)
    }
}

impl AddressBook {
    /// The addresses of `origin`. A literal address is available at once, the addresses of a name
    /// after the next [`Self::look_up`].
    pub fn of(&self, origin: &policy::Origin) -> Arc<Addresses> {
        let mut known = self.known.lock();
        let entry = known.entry(origin.clone()).or_insert_with(|| {
            let literal = origin.host.parse::<IpAddr>().ok();
            let current = literal.map(|ip| SocketAddr::new(ip, origin.port)).into_iter().collect();
            Arc::new(Addresses { current: ArcSwap::from_pointee(current), ..Addresses::default() })
        });
        Arc::clone(entry)
    }

    /// Looks up every name once. A failure keeps the last good addresses. Failures in a row are
    /// logged ever more rarely: the first, the second, the fourth, and so on.
    pub async fn look_up(&self) {
        self.look_up_where(|_| true, find).await;
    }

    /// Looks up the names that have no address yet.
    pub async fn look_up_new(&self) {
        let is_new = |addresses: &Addresses| addresses.current.load().is_empty();
        let look_up = self.look_up_where(is_new, find);
        if timeout(NEW_NAMES, look_up).await.is_err() {
            tracing::warn!("some origins have no address yet (Beadle retries regularly)");
        }
    }

    /// Looks up names concurrently, so that dead names take one deadline together.
    async fn look_up_where<Found>(
        &self,
        wanted: impl Fn(&Addresses) -> bool,
        find: impl Fn(policy::Origin) -> Found,
    ) where
        Found: Future<Output = Result<Vec<SocketAddr>, String>> + Send + 'static,
    {
        let is_name = |origin: &policy::Origin| origin.host.parse::<IpAddr>().is_err();
        let names: Vec<(policy::Origin, Arc<Addresses>)> = {
            let known = self.known.lock();
            let wanted = known.iter().filter(|(origin, one)| is_name(origin) && wanted(one));
            wanted.map(|(origin, one)| (origin.clone(), Arc::clone(one))).collect()
        };
        let permits = Arc::new(Semaphore::new(AT_ONCE));
        let mut look_ups = JoinSet::new();
        for (origin, addresses) in names {
            let permits = Arc::clone(&permits);
            let found = find(origin.clone());
            look_ups.spawn(async move {
                let _permit = permits.acquire().await;
                let found = timeout(DEADLINE, found).await;
                match found.unwrap_or_else(|_| Err(format!("no answer within {DEADLINE:?}"))) {
                    Ok(found) => {
                        addresses.current.store(Arc::new(found));
                        let failures = addresses.failures.swap(0, Ordering::Relaxed);
                        if failures > 0 {
                            let origin = origin.host;
                            tracing::info!(origin, failures, "origin name look-up works again");
                        }
                    }
                    Err(failure) => {
                        // The look-up is repeated every few seconds, and most often fails again.
                        let failures = addresses.failures.fetch_add(1, Ordering::Relaxed) + 1;
                        if failures.is_power_of_two() {
                            let origin = origin.host;
                            tracing::warn!(origin, failure, failures, "origin name look-up failed");
                        }
                    }
                }
            });
        }
        look_ups.join_all().await;
    }

    pub(crate) fn retain(&self, used: impl Fn(&policy::Origin) -> bool) {
        let mut known = self.known.lock();
        known.retain(|origin, _| used(origin));
    }
}

async fn find(origin: policy::Origin) -> Result<Vec<SocketAddr>, String> {
    let found = tokio::net::lookup_host((origin.host.as_str(), origin.port)).await;
    let mut found: Vec<SocketAddr> = found.map_err(|error| error.to_string())?.collect();
    found.sort_unstable();
    found.dedup();
    if found.is_empty() { Err("the name has no address".to_owned()) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(host: &str) -> policy::Origin {
        policy::Origin { tls: false, host: host.to_owned(), port: 3000 }
    }

    #[test]
    fn a_literal_address_needs_no_look_up() {
        let addresses = AddressBook::default().of(&origin("127.0.0.1"));
        assert_eq!(addresses.pick(), Some("127.0.0.1:3000".parse().unwrap()));
    }

    #[tokio::test]
    async fn an_unknown_name_does_not_affect_the_others() {
        let book = AddressBook::default();
        let (local, nowhere) = (book.of(&origin("localhost")), book.of(&origin("nowhere.invalid")));
        assert_eq!(local.pick(), None);
        book.look_up().await;
        assert!(local.pick().is_some_and(|address| address.ip().is_loopback()));
        assert_eq!(nowhere.pick(), None);
    }

    /// A finder that answers only once all fifty names are being looked up. One after the other,
    /// each name would wait for its deadline in vain.
    #[tokio::test]
    async fn fifty_names_are_looked_up_side_by_side() {
        let book = AddressBook::default();
        let origins: Vec<_> = (0..50).map(|number| origin(&format!("o{number}.invalid"))).collect();
        origins.iter().for_each(|origin| drop(book.of(origin)));
        let all = Arc::new(tokio::sync::Barrier::new(origins.len()));
        let address: SocketAddr = "192.0.2.1:80".parse().unwrap();
        book.look_up_where(
            |_| true,
            |_| {
                let all = Arc::clone(&all);
                async move {
                    all.wait().await;
                    Ok(vec![address])
                }
            },
        )
        .await;
        assert!(origins.iter().all(|origin| book.of(origin).pick() == Some(address)));
    }

    #[tokio::test]
    async fn no_more_than_the_bound_are_looked_up_at_once() {
        let book = AddressBook::default();
        let origins = (0..3 * AT_ONCE).map(|number| origin(&format!("o{number}.invalid")));
        origins.for_each(|origin| drop(book.of(&origin)));
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        book.look_up_where(
            |_| true,
            |_| {
                let (now, most) = (Arc::clone(&now), Arc::clone(&most));
                async move {
                    most.fetch_max(now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
                    tokio::task::yield_now().await;
                    now.fetch_sub(1, Ordering::Relaxed);
                    Err("no address".to_owned())
                }
            },
        )
        .await;
        assert_eq!(most.load(Ordering::Relaxed), AT_ONCE);
    }

    #[test]
    fn several_addresses_take_turns() {
        let several: Vec<SocketAddr> =
            vec!["192.0.2.1:80".parse().unwrap(), "192.0.2.2:80".parse().unwrap()];
        let addresses = Addresses {
            current: ArcSwap::from_pointee(several.clone()),
            next: AtomicUsize::new(0),
            failures: AtomicUsize::new(0),
        };
        let picked: Vec<_> = (0..4).filter_map(|_| addresses.pick()).collect();
        assert_eq!(picked, [several[0], several[1], several[0], several[1]]);
    }
}
