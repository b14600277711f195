//! A source of published evidence, and one fetch from it: a maximum size, and public addresses
//! only.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;

use crate::{
    crawlers::ranges,
    diagnostic::Diagnostic,
    fetch::{self, Client, Failure, Reach, Redirects, Request, Validators},
    policy,
};

use super::names::Resolver;

/// The most time to find the addresses of a host.
const NAME_DEADLINE: Duration = Duration::from_secs(5);

/// A client for evidence. Copies share connections and settings.
#[derive(Clone, Debug)]
pub(super) struct Fetcher {
    with_redirects: Client,
    without_redirects: Client,
}

/// The limits of a response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    /// The most octets, decompressed.
    pub(super) octets: usize,
    /// Whether to follow redirects.
    pub(super) redirects: bool,
}

/// The present content of a source.
#[derive(Debug)]
pub(super) enum Fetched {
    /// The content that the validators belong to.
    Unchanged,
    /// New content, with the validators for the next request.
    Fresh {
        octets: Bytes,
        validators: Validators,
        /// `Cache-Control: max-age`.
        max_age: Option<Duration>,
    },
}

impl Fetcher {
    /// A fetcher with the authorities, networks and name servers of a policy's section; without a
    /// section, those of the system.
    ///
    /// # Errors
    /// The file of authorities or the name servers are unusable.
    pub(super) fn new(settings: Option<&policy::Evidence>) -> Result<Self, Diagnostic> {
        let authorities = settings.and_then(|settings| settings.certificate_authorities.as_deref());
        let allowed = settings.map(|settings| settings.allow_addresses.as_slice());
        let allowed: Arc<[ipnet::IpNet]> = allowed.unwrap_or_default().into();
        let servers: &[SocketAddr] =
            settings.map_or(&[], |settings| settings.name_servers.as_slice());
        let resolver: Option<Arc<dyn fetch::Resolver>> = match servers {
            [] => None,
            servers => Some(Arc::new(Resolver::new(servers, NAME_DEADLINE)?)),
        };
        let client = |redirects| {
            Client::new(fetch::Settings {
                user_agent: fetch::PRODUCT,
                reach: Reach::Public {
                    is_public: ranges::is_public,
                    allowed: Arc::clone(&allowed),
                },
                redirects,
                authorities,
                resolver: resolver.clone(),
            })
            .map_err(|error| Diagnostic::error("evidence.certificate_authorities", error))
        };
        Ok(Self {
            with_redirects: client(Redirects::Follow)?,
            without_redirects: client(Redirects::Return)?,
        })
    }

    /// The content at `url`, unless it still has these `validators`.
    ///
    /// # Errors
    /// No response with the status 200 or 304, or too many octets.
    pub(super) async fn fetch(
        &self,
        url: &str,
        validators: &Validators,
        terms: Terms,
    ) -> Result<Fetched, Failure> {
        let client = if terms.redirects { &self.with_redirects } else { &self.without_redirects };
        let request = Request { url, host: None, forwarded_proto: None, validators };
        let response = client.get(request).await?;
        match response.status() {
            304 if !validators.is_empty() => Ok(Fetched::Unchanged),
            200 => {
                let (validators, max_age) = (response.validators(), response.max_age());
                let octets = response.body(terms.octets).await?;
                Ok(Fetched::Fresh { octets, validators, max_age })
            }
            status => Err(Failure::Status(status)),
        }
    }
}
