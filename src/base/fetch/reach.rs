//! The addresses that a client may connect to.
//!
//! A catalogue or a policy names the URLs. A URL must not lead into the private network of the
//! proxy. So the client checks every address of a host before it connects, and again after each
//! redirect.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::Arc,
};

use ipnet::IpNet;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::Url;

use super::Failure;

/// The addresses that a client may connect to.
#[derive(Clone, Debug)]
pub enum Reach {
    /// Every address: the host is the operator's own.
    Any,
    /// Every address over HTTPS, and this machine itself over HTTP.
    Secure,
    /// Public addresses over HTTPS, and the networks in `allowed` over HTTPS and HTTP.
    Public {
        /// Whether an address belongs to the public Internet.
        is_public: fn(IpAddr) -> bool,
        /// Networks that the operator allows in addition.
        allowed: Arc<[IpNet]>,
    },
    /// Public addresses, over HTTPS and HTTP: a server elsewhere chose the URL.
    Elsewhere {
        /// Whether an address belongs to the public Internet.
        is_public: fn(IpAddr) -> bool,
    },
}

/// A resolver of host names, in place of the system's resolver.
pub trait Resolver: fmt::Debug + Send + Sync {
    /// The addresses of a host; none if the look-up fails or takes too long.
    fn addresses<'a>(
        &'a self,
        host: &'a str,
    ) -> Pin<Box<dyn Future<Output = Vec<IpAddr>> + Send + 'a>>;
}

impl Reach {
    /// Checks the URL alone: its scheme, its credentials, and its host if that is an address.
    pub(super) fn check(&self, url: &Url) -> Result<(), Failure> {
        let allowed = match self {
            Self::Any => return Ok(()),
            Self::Secure if url.scheme() == "https" || is_this_machine(url) => return Ok(()),
            Self::Secure => return Err(Failure::Address),
            Self::Public { allowed, .. } => &**allowed,
            Self::Elsewhere { .. } => &[],
        };
        let address = match url.host() {
            None => return Err(Failure::Address),
            Some(url::Host::Domain(_)) => None,
            Some(url::Host::Ipv4(address)) => Some(IpAddr::V4(address)),
            Some(url::Host::Ipv6(address)) => Some(IpAddr::V6(address)),
        };
        let is_allowed = |address| allowed.iter().any(|network| network.contains(&address));
        let has_credentials = !url.username().is_empty() || url.password().is_some();
        match (url.scheme(), address) {
            _ if has_credentials => Err(Failure::Address),
            ("https", Some(address)) if !self.includes(address) => Err(Failure::Private),
            ("https", _) => Ok(()),
            ("http", Some(address)) if matches!(self, Self::Elsewhere { .. }) => {
                self.includes(address).then_some(()).ok_or(Failure::Private)
            }
            ("http", None) if matches!(self, Self::Elsewhere { .. }) => Ok(()),
            ("http", Some(address)) if is_allowed(address) => Ok(()),
            _ => Err(Failure::Address),
        }
    }

    /// Checks a redirect. With [`Self::Secure`], it never leads from HTTPS to HTTP.
    pub(super) fn check_redirect(&self, from: Option<&Url>, to: &Url) -> Result<(), Failure> {
        let leaves_https =
            to.scheme() != "https" && from.is_some_and(|url| url.scheme() == "https");
        if leaves_https && matches!(self, Self::Secure) {
            return Err(Failure::Address);
        }
        self.check(to)
    }

    fn includes(&self, address: IpAddr) -> bool {
        match self {
            Self::Any | Self::Secure => true,
            Self::Public { is_public, allowed } => {
                let address = address.to_canonical();
                is_public(address) || allowed.iter().any(|network| network.contains(&address))
            }
            Self::Elsewhere { is_public } => is_public(address.to_canonical()),
        }
    }
}

/// Whether the URL is one over HTTP of this machine.
fn is_this_machine(url: &Url) -> bool {
    url.scheme() == "http"
        && url.host().is_some_and(|host| match host {
            url::Host::Domain(name) => name == "localhost",
            url::Host::Ipv4(address) => address.is_loopback(),
            url::Host::Ipv6(address) => address.is_loopback(),
        })
}

/// A resolver that drops the addresses out of reach.
#[derive(Debug)]
pub(super) struct Hosts {
    pub(super) reach: Reach,
    pub(super) resolver: Option<Arc<dyn Resolver>>,
}

impl Resolve for Hosts {
    fn resolve(&self, name: Name) -> Resolving {
        let (reach, resolver) = (self.reach.clone(), self.resolver.clone());
        Box::pin(async move {
            // "Name resolution libraries SHOULD recognize 'invalid' names as special" (RFC 6761
            // §6.4); the system's may not.
            if name.as_str().trim_end_matches('.').ends_with(".invalid") {
                return Err(Failure::Private.into());
            }
            let found: Vec<SocketAddr> = match resolver {
                Some(resolver) => {
                    let addresses = resolver.addresses(name.as_str()).await;
                    addresses.into_iter().map(|address| (address, 0).into()).collect()
                }
                None => tokio::net::lookup_host((name.as_str(), 0)).await?.collect(),
            };
            if found.is_empty() {
                return Err("no address".into());
            }
            let open: Vec<SocketAddr> =
                found.into_iter().filter(|socket| reach.includes(socket.ip())).collect();
            if open.is_empty() {
                return Err(Failure::Private.into());
            }
            Ok(Box::new(open.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elsewhere_is_every_public_address_over_http_and_https() {
        let is_public = |address: IpAddr| address.to_string().starts_with("192.0.2.");
        let reach = Reach::Elsewhere { is_public };
        for (url, is_within) in [
            ("http://robots.example/robots.txt", true),
            ("https://robots.example:8443/robots.txt", true),
            ("http://192.0.2.1/robots.txt", true),
            ("https://[::ffff:192.0.2.1]/robots.txt", true),
            ("http://127.0.0.1/robots.txt", false),
            ("https://10.0.0.1/robots.txt", false),
            ("http://[::ffff:127.0.0.1]/robots.txt", false),
            ("http://169.254.169.254/latest/meta-data/", false),
            ("http://user@robots.example/robots.txt", false),
            ("ftp://robots.example/robots.txt", false),
        ] {
            assert_eq!(reach.check(&Url::parse(url).unwrap()).is_ok(), is_within, "{url}");
        }
    }

    #[test]
    fn a_secure_reach_is_https_or_this_machine() {
        for (url, is_within) in [
            ("https://policies.example/a.yaml", true),
            ("https://10.0.0.1/a.yaml", true),
            ("https://user:password@policies.example/a.yaml", true),
            ("http://policies.example/a.yaml", false),
            ("http://10.0.0.1/a.yaml", false),
            ("http://127.0.0.1:8000/a.yaml", true),
            ("http://[::1]/a.yaml", true),
            ("http://localhost/a.yaml", true),
            ("http://localhost.example/a.yaml", false),
            ("ftp://127.0.0.1/a.yaml", false),
        ] {
            let url = Url::parse(url).unwrap();
            assert_eq!(Reach::Secure.check(&url).is_ok(), is_within, "{url}");
            let from_https = Url::parse("https://policies.example/").unwrap();
            let is_https = url.scheme() == "https";
            let checked = Reach::Secure.check_redirect(Some(&from_https), &url);
            assert_eq!(checked.is_ok(), is_https, "a redirect to {url}");
        }
    }
}
