//! Addresses of the origins: names looked up here, asynchronously and again, never on the request
//! path. (pingora's own look-up blocks the worker and panics where the name is not known.)

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;

use crate::policy;

/// A look-up that takes longer counts as failed.
const DEADLINE: Duration = Duration::from_secs(5);

/// All origins of the policy in force, by host and port.
#[derive(Debug, Default)]
pub struct Origins {
    known: Mutex<HashMap<policy::Origin, Arc<Addresses>>>,
}

/// The addresses of one origin.
#[derive(Debug)]
pub struct Addresses {
    current: ArcSwap<Vec<SocketAddr>>,
    next: AtomicUsize,
}

impl Addresses {
    /// One of the addresses, each in turn; `None` while the name is not resolved.
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
}

impl Origins {
    /// The addresses of `origin`. An address is there at once, a name after the next
    /// [`Self::look_up`].
    pub fn addresses(&self, origin: &policy::Origin) -> Arc<Addresses> {
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let entry = known.entry(origin.clone()).or_insert_with(|| {
            let literal = origin.host.parse::<IpAddr>().ok();
            let current = literal.map(|ip| SocketAddr::new(ip, origin.port)).into_iter().collect();
            Arc::new(Addresses {
                current: ArcSwap::from_pointee(current),
                next: AtomicUsize::new(0),
            })
        });
        Arc::clone(entry)
    }

    /// Looks up every name once. A failure keeps the last good addresses and is logged.
    pub async fn look_up(&self) {
        self.look_up_those(|_| true).await;
    }

    /// Looks up the names that have no address yet.
    pub async fn look_up_new(&self) {
        self.look_up_those(|addresses| addresses.current.load().is_empty()).await;
    }

    async fn look_up_those(&self, wanted: impl Fn(&Addresses) -> bool) {
        let named: Vec<(policy::Origin, Arc<Addresses>)> = {
            let known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let is_name = |origin: &policy::Origin| origin.host.parse::<IpAddr>().is_err();
            known
                .iter()
                .filter(|(origin, addresses)| is_name(origin) && wanted(addresses))
                .map(|(origin, addresses)| (origin.clone(), Arc::clone(addresses)))
                .collect()
        };
        for (origin, addresses) in named {
            let name = (origin.host.as_str(), origin.port);
            let outcome = tokio::time::timeout(DEADLINE, tokio::net::lookup_host(name)).await;
            let failure = match outcome {
                Ok(Ok(found)) => {
                    let mut found: Vec<SocketAddr> = found.collect();
                    found.sort_unstable();
                    found.dedup();
                    if found.is_empty() {
                        "the name has no address".to_owned()
                    } else {
                        addresses.current.store(Arc::new(found));
                        continue;
                    }
                }
                Ok(Err(error)) => error.to_string(),
                Err(_) => format!("no answer within {DEADLINE:?}"),
            };
            tracing::warn!(origin = origin.host, failure, "origin's name could not be resolved");
        }
    }

    /// Forgets the origins that no site uses any more.
    pub fn retain(&self, used: impl Fn(&policy::Origin) -> bool) {
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        known.retain(|origin, _| used(origin));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(host: &str) -> policy::Origin {
        policy::Origin { tls: false, host: host.to_owned(), port: 3000 }
    }

    #[test]
    fn an_address_needs_no_lookup() {
        let addresses = Origins::default().addresses(&origin("127.0.0.1"));
        assert_eq!(addresses.pick(), Some("127.0.0.1:3000".parse().unwrap()));
    }

    #[tokio::test]
    async fn a_name_is_resolved_and_an_unknown_one_is_not_fatal() {
        let origins = Origins::default();
        let (local, nowhere) = (
            origins.addresses(&origin("localhost")),
            origins.addresses(&origin("nowhere.invalid")),
        );
        assert_eq!(local.pick(), None);
        origins.look_up().await;
        assert!(local.pick().is_some_and(|address| address.ip().is_loopback()));
        assert_eq!(nowhere.pick(), None);
    }

    #[test]
    fn several_addresses_take_turns() {
        let several: Vec<SocketAddr> =
            vec!["192.0.2.1:80".parse().unwrap(), "192.0.2.2:80".parse().unwrap()];
        let addresses = Addresses {
            current: ArcSwap::from_pointee(several.clone()),
            next: AtomicUsize::new(0),
        };
        let picked: Vec<_> = (0..4).filter_map(|_| addresses.pick()).collect();
        assert_eq!(picked, [several[0], several[1], several[0], several[1]]);
    }
}
