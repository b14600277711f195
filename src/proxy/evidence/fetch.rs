//! Something fetched from the operator of a crawler: bounded in time and size, and only from
//! addresses that are public.
//!
//! What is fetched is named by a catalogue, a policy or even a request, so a name must not lead
//! into the network that the proxy stands in. The addresses of every host are looked at before a
//! connection is made, those of each redirect too; a host that is an address itself likewise.

use std::{
    net::{IpAddr, SocketAddr},
    path::Path,
    sync::Arc,
    time::Duration,
};

use ipnet::IpNet;
use reqwest::{
    Certificate, Client, StatusCode, Url,
    dns::{Addrs, Name, Resolve, Resolving},
    redirect,
};

use crate::{
    crawlers::ranges,
    proxy::fetching::{self, Broken, Validators},
};

use super::names::Resolver;

/// Fetches. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Fetcher {
    following: Client,
    staying: Client,
    allowed: Arc<[IpNet]>,
}

/// What is asked of an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    /// The most octets, decompressed.
    pub(super) octets: usize,
    /// Whether redirects are followed.
    pub(super) redirects: bool,
}

/// An answer.
#[derive(Debug)]
pub(super) enum Fetched {
    /// What the validators are for is what the server has still.
    Unchanged,
    /// The octets, with what makes the next request conditional.
    Fresh {
        octets: Vec<u8>,
        validators: Validators,
        /// `Cache-Control: max-age`.
        max_age: Option<Duration>,
    },
}

/// Why there is no answer that counts.
#[derive(Debug)]
pub(super) enum Failure {
    /// Occurs when the address is no URL that is fetched from: not HTTPS, and not HTTP within the
    /// networks that the policy allows.
    Address,
    /// Occurs when the host has no address that is public, or allowed by the policy.
    Private,
    /// Occurs when one redirect follows another too often.
    Redirects,
    /// Occurs when there is more than was asked for.
    TooLarge,
    /// Occurs when the status is neither 200 nor 304.
    Status(StatusCode),
    /// Occurs when the exchange failed or took too long; says how.
    Transport(String),
}

impl Failure {
    /// The stable name, fit for a metric label.
    pub(super) const fn code(&self) -> &'static str {
        match self {
            Self::Address => "fetch.address",
            Self::Private => "fetch.private",
            Self::Redirects => "fetch.redirects",
            Self::TooLarge => "fetch.too_large",
            Self::Status(_) => "fetch.status",
            Self::Transport(_) => "fetch.transport",
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Address => f.write_str(
                "not an https:// address (http:// is for addresses in evidence.allow_addresses)",
            ),
            Self::Private => f.write_str(
                "its host is at no public address (if that is meant, name the network in \
                 evidence.allow_addresses)",
            ),
            Self::Redirects => f.write_str("more than five redirects"),
            Self::TooLarge => f.write_str("more octets than are read"),
            Self::Status(status) => write!(f, "status {status}"),
            Self::Transport(how) => f.write_str(how),
        }
    }
}

impl std::error::Error for Failure {}

impl Fetcher {
    /// A fetcher that also trusts the authorities in the PEM file, and also takes addresses within
    /// `allowed`. Hosts are resolved by `resolver`, or as the system does it.
    ///
    /// # Errors
    /// Where the file can't be read or holds no certificate, or TLS can't be set up.
    pub(super) fn new(
        authorities: Option<&Path>,
        allowed: &[IpNet],
        resolver: Option<Resolver>,
    ) -> Result<Self, String> {
        let shown = |error: &dyn std::fmt::Display, path: &Path| {
            format!("{}: {error} (name a PEM file of certificates)", path.display())
        };
        let mut certificates = Vec::new();
        if let Some(path) = authorities {
            let pem = std::fs::read(path).map_err(|error| shown(&error, path))?;
            certificates =
                Certificate::from_pem_bundle(&pem).map_err(|error| shown(&error, path))?;
            if certificates.is_empty() {
                return Err(shown(&"no certificate", path));
            }
        }
        let allowed: Arc<[IpNet]> = allowed.into();
        let hosts = Arc::new(Hosts { allowed: Arc::clone(&allowed), resolver });
        let build = |policy| {
            let builder = fetching::client(fetching::PRODUCT)
                .redirect(policy)
                .dns_resolver(Arc::clone(&hosts));
            let builder = match certificates.is_empty() {
                true => builder,
                false => builder.tls_certs_merge(certificates.clone()),
            };
            builder.build().map_err(|error| error.to_string())
        };
        let follow = {
            let allowed = Arc::clone(&allowed);
            redirect::Policy::custom(move |attempt| {
                if attempt.previous().len() > fetching::REDIRECTS {
                    return attempt.error(Failure::Redirects);
                }
                // From HTTPS to HTTP is a way for anybody in between to write the list.
                match check(attempt.url(), &allowed) {
                    Ok(()) => attempt.follow(),
                    Err(failure) => attempt.error(failure),
                }
            })
        };
        Ok(Self { following: build(follow)?, staying: build(redirect::Policy::none())?, allowed })
    }

    /// What is at `url`, unless it is what `validators` are for.
    pub(super) async fn fetch(
        &self,
        url: &str,
        validators: &Validators,
        terms: Terms,
    ) -> Result<Fetched, Failure> {
        let url = Url::parse(url).map_err(|_| Failure::Address)?;
        check(&url, &self.allowed)?;
        let client = if terms.redirects { &self.following } else { &self.staying };
        let request = validators.make_conditional(client.get(url));
        let response = request.send().await.map_err(transport)?;
        match response.status() {
            StatusCode::NOT_MODIFIED if *validators != Validators::default() => {
                Ok(Fetched::Unchanged)
            }
            StatusCode::OK => {
                let validators = Validators::of(response.headers());
                let max_age = fetching::max_age(response.headers());
                let octets = fetching::body(response, terms.octets).await?;
                Ok(Fetched::Fresh { octets, validators, max_age })
            }
            status => Err(Failure::Status(status)),
        }
    }
}

/// HTTPS, or HTTP to an address within the networks that the policy allows; no credentials.
fn check(url: &Url, allowed: &[IpNet]) -> Result<(), Failure> {
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
        ("https", Some(address)) if !is_open(address, allowed) => Err(Failure::Private),
        ("https", _) => Ok(()),
        ("http", Some(address)) if is_allowed(address) => Ok(()),
        _ => Err(Failure::Address),
    }
}

/// Whether an address may be connected to.
fn is_open(address: IpAddr, allowed: &[IpNet]) -> bool {
    let address = address.to_canonical();
    ranges::is_public(address) || allowed.iter().any(|network| network.contains(&address))
}

fn transport(error: reqwest::Error) -> Failure {
    // What was refused here is told by what caused the error.
    let refused = fetching::causes(&error).find_map(|cause| match cause.downcast_ref() {
        Some(Failure::Private) => Some(Failure::Private),
        Some(Failure::Address) => Some(Failure::Address),
        Some(Failure::Redirects) => Some(Failure::Redirects),
        _ => None,
    });
    refused.unwrap_or_else(|| Failure::Transport(fetching::first_cause(&error)))
}

impl From<Broken> for Failure {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::TooLarge => Self::TooLarge,
            Broken::Transport(error) => transport(error),
        }
    }
}

/// Resolves hosts, and leaves out the addresses that may not be connected to.
#[derive(Debug)]
struct Hosts {
    allowed: Arc<[IpNet]>,
    resolver: Option<Resolver>,
}

impl Resolve for Hosts {
    fn resolve(&self, name: Name) -> Resolving {
        let (allowed, resolver) = (Arc::clone(&self.allowed), self.resolver.clone());
        Box::pin(async move {
            // "Name resolution libraries SHOULD recognise 'invalid' names as special" and ask nobody
            // (RFC 6761 §6.4); the system's may not.
            if name.as_str().trim_end_matches('.').ends_with(".invalid") {
                return Err(Box::new(Failure::Private) as Box<dyn std::error::Error + Send + Sync>);
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
                found.into_iter().filter(|socket| is_open(socket.ip(), &allowed)).collect();
            if open.is_empty() {
                return Err(Box::new(Failure::Private) as Box<dyn std::error::Error + Send + Sync>);
            }
            Ok(Box::new(open.into_iter()) as Addrs)
        })
    }
}
