//! A source of published evidence: one fetch from it, within a maximum size and from public addresses
//! only; its last good copy on disk; and the doubt about a response that is implausible beside that copy,
//! probably a fault of the source, perhaps its new content.

use std::{
    fs::File,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use bytes::Bytes;
use http::HeaderMap;
use sha2::{Digest, Sha256};

use crate::{
    base::{
        diagnostic::Diagnostic,
        escape::hex,
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

/// A folder with the last good copies. The file name is a hash, so no URL can choose another file.
#[derive(Clone, Debug)]
pub(super) struct Copies {
    folder: Option<PathBuf>,
    kind: &'static str,
    failures: Arc<AtomicU64>,
}

impl Copies {
    pub(super) fn new(folder: Option<&Path>, kind: &'static str) -> Self {
        Self { folder: folder.map(Path::to_owned), kind, failures: Arc::default() }
    }

    pub(super) fn read(&self, url: &str) -> Option<Vec<u8>> {
        std::fs::read(self.path(url)?).ok()
    }

    /// The last time at which the source had this content.
    pub(super) fn modified(&self, url: &str) -> Option<SystemTime> {
        std::fs::metadata(self.path(url)?).ok()?.modified().ok()
    }

    /// Notes that the source still has the content of the copy.
    pub(super) fn touch(&self, url: &str) {
        let Some(path) = self.path(url) else { return };
        let file = File::options().write(true).open(&path);
        self.note(file.and_then(|file| file.set_modified(SystemTime::now())), &path);
    }

    pub(super) fn write(&self, url: &str, octets: &[u8]) {
        let Some(path) = self.path(url) else { return };
        let new = path.with_extension("new");
        let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        let written = folder.and_then(|()| std::fs::write(&new, octets));
        self.note(written.and_then(|()| std::fs::rename(&new, &path)), &path);
    }

    /// Logs a failure, unless the last copy failed too: most often it is the folder that fails.
    fn note(&self, saved: std::io::Result<()>, path: &Path) {
        match saved {
            Ok(()) => {
                let failures = self.failures.swap(0, Ordering::Relaxed);
                if failures > 0 {
                    tracing::info!(failures, "copies of published evidence are saved again");
                }
            }
            Err(error) if self.failures.fetch_add(1, Ordering::Relaxed) == 0 => {
                let path = path.display();
                tracing::warn!(%error, %path, "copies of published evidence are not saved");
            }
            Err(_) => {}
        }
    }

    fn path(&self, url: &str) -> Option<PathBuf> {
        let hash: String = hex(Sha256::digest(url).iter().take(8));
        Some(self.folder.as_ref()?.join(format!("{}-{hash}", self.kind)))
    }
}

/// How long a source must repeat a loss. An operator notices a truncated list within this time.
const LOSS: Duration = Duration::from_secs(3 * 24 * 3_600);
/// How long a source must repeat a replacement.
pub(super) const REPLACEMENT: Duration = Duration::from_secs(3_600);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// Most of the copy in use is missing.
    Loss,
    /// It has nothing in common with the copy in use.
    Replacement,
}

/// The first of the implausible responses since the last good one.
#[derive(Debug)]
pub(super) struct Suspect<T> {
    first: Option<(T, Instant)>,
}

impl<T: PartialEq + Clone> Suspect<T> {
    /// Whether the source has repeated an implausible response for long enough. A replacement must
    /// stay the same: errors differ from time to time.
    pub(super) fn is_believed(&mut self, fresh: &T, doubt: Doubt) -> bool {
        let patience = match doubt {
            Doubt::Loss => LOSS,
            Doubt::Replacement => REPLACEMENT,
        };
        let first = self.first.take();
        let first = first.filter(|(content, _)| doubt == Doubt::Loss || content == fresh);
        let (content, since) = first.unwrap_or_else(|| (fresh.clone(), Instant::now()));
        self.first = Some((content, since));
        since.elapsed() >= patience
    }

    pub(super) fn clear(&mut self) {
        self.first = None;
    }

    #[cfg(test)]
    pub(super) fn pass(&mut self, time: Duration) {
        if let Some((_, since)) = &mut self.first {
            *since = since.checked_sub(time).expect("the clock runs for longer");
        }
    }
}

impl<T> Default for Suspect<T> {
    fn default() -> Self {
        Self { first: None }
    }
}
