//! A source of published evidence, and one fetch from it: a maximum size, and public addresses
//! only.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::HeaderMap;

use crate::{
    base::{
        diagnostic::Diagnostic,
        fetch::{self, Client, Failure, Reach, Redirects, Request, Validators},
    },
    rules::{crawlers::ranges, policy},
};

use super::names::Resolver;

const NAME_DEADLINE: Duration = Duration::from_secs(5);

/// A client for evidence. Copies share connections and settings.
#[derive(Clone, Debug)]
pub(super) struct Fetcher {
    with_redirects: Client,
    /// Without redirects and content codings: the digest of the content may be signed.
    verbatim: Client,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    /// The most octets, decompressed.
    pub(super) octets: usize,
    pub(super) redirects: bool,
}

#[derive(Debug)]
pub(super) enum Fetched {
    /// The content that the validators belong to.
    Unchanged,
    /// New content, with the validators for the next request.
    Fresh {
        content: Box<Content>,
        validators: Validators,
        /// `Cache-Control: max-age`.
        max_age: Option<Duration>,
    },
}

#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) octets: Bytes,
    pub(super) fields: HeaderMap,
}

impl Fetcher {
    /// A fetcher with the authorities, networks and name servers of a policy's section; without a
    /// section, those of the system.
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
        let settings = |redirects| fetch::Settings {
            user_agent: fetch::PRODUCT,
            reach: Reach::Public { is_public: ranges::is_public, allowed: Arc::clone(&allowed) },
            redirects,
            authorities,
            resolver: resolver.clone(),
        };
        let refused = |error| Diagnostic::error("evidence.certificate_authorities", error);
        Ok(Self {
            with_redirects: Client::new(settings(Redirects::Follow)).map_err(refused)?,
            verbatim: Client::verbatim(settings(Redirects::Return)).map_err(refused)?,
        })
    }

    /// The content at `url`, unless it still has these `validators`.
    pub(super) async fn fetch(
        &self,
        url: &str,
        validators: &Validators,
        terms: Terms,
    ) -> Result<Fetched, Failure> {
        let client = if terms.redirects { &self.with_redirects } else { &self.verbatim };
        let request = Request { url, host: None, forwarded: None, validators };
        let response = client.get(request).await?;
        match response.status() {
            304 if !validators.is_empty() => Ok(Fetched::Unchanged),
            200 => {
                let (validators, max_age) = (response.validators(), response.max_age());
                let fields = response.fields().clone();
                let octets = response.body(terms.octets).await?;
                let content = Box::new(Content { octets, fields });
                Ok(Fetched::Fresh { content, validators, max_age })
            }
            status => Err(Failure::Status(status)),
        }
    }
}

#[cfg(test)]
impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self { octets: Bytes::copy_from_slice(text.as_bytes()), ..Self::default() }
    }
}
