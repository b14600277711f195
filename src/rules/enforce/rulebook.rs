//! A policy compiled for serving: sites by host, swapped whole. And what the origins of a site answered when
//! they were asked for forms of a page.

use std::{collections::HashMap, sync::Arc, time::Duration};

use bytes::Bytes;
use jiff::Timestamp;

use crate::{
    base::diagnostic::Diagnostic,
    formats::{probe::Found, robots},
    rules::{
        crawlers::{Catalogue, SiteNames},
        policy::{self, Host, Policy, REQUESTED_HOST, RobotsTxt, host_in_url, split_port},
    },
};

use super::{
    chronicle::Chronicle,
    edition::{Edition, EditionId},
    tags::Tags,
    timeline::Timeline,
    usage_fields::UsageFields,
};

/// Everything that decisions depend on, swapped whole at a reload.
#[derive(Debug)]
pub struct Rulebook {
    catalogue: Arc<Catalogue>,
    sites: Vec<Site>,
    by_host: HashMap<String, usize>,
    has_ports: bool,
    /// `.example.com`, the longest first.
    by_suffix: Vec<(String, usize)>,
    default: Option<usize>,
    fingerprint: String,
    pub(crate) chronicle: Chronicle,
}

impl Rulebook {
    pub(super) fn new(policy: &Policy, sites: Vec<Site>, chronicle: Chronicle) -> Self {
        let (mut by_host, mut by_suffix) = (HashMap::new(), Vec::new());
        for (number, site) in policy.sites.iter().enumerate() {
            for host in &site.hosts {
                match host {
                    Host::Exact(host) => drop(by_host.insert(host.clone(), number)),
                    Host::Below(suffix) => by_suffix.push((suffix.clone(), number)),
                }
            }
        }
        by_suffix.sort_by_key(|(suffix, _)| std::cmp::Reverse(suffix.len()));
        Self {
            catalogue: Arc::clone(&policy.catalogue),
            sites,
            has_ports: by_host.keys().any(|host| split_port(host).is_some()),
            by_host,
            by_suffix,
            default: policy.sites.iter().position(|site| site.default),
            fingerprint: policy.fingerprint.clone(),
            chronicle,
        }
    }

    /// The site that names exactly this host, lower case, and with a port only where the policy has
    /// one. The host need not be valid: an invalid one is found on no site.
    pub(crate) fn exact_site(&self, host: &str) -> Option<(usize, &Site)> {
        self.numbered(*self.by_host.get(host)?)
    }

    /// A host with its port, if a site names both.
    pub(crate) fn named_with_port(&self, host: &str, port: u16) -> Option<String> {
        let name = self.has_ports.then(|| format!("{}:{port}", host_in_url(host)));
        name.filter(|name| self.by_host.contains_key(name))
    }

    /// The site of a host (lower case, without port): one that names it, else the longest wildcard.
    pub(crate) fn site_of_host(&self, host: &str) -> Option<(usize, &Site)> {
        let below = || {
            let found = self.by_suffix.iter().find(|(suffix, _)| host.ends_with(suffix.as_str()));
            self.numbered(found?.1)
        };
        self.exact_site(host).or_else(below)
    }

    /// The site of a host, else the default site. `None` stands for a request without a host.
    pub fn site(&self, host: Option<&str>) -> Option<(usize, &Site)> {
        host.and_then(|host| self.site_of_host(host)).or_else(|| self.numbered(self.default?))
    }

    fn numbered(&self, number: usize) -> Option<(usize, &Site)> {
        self.sites.get(number).map(|site| (number, site))
    }

    /// All sites, in the policy's order.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// The known crawlers.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// The policy's fingerprint.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }
}

/// A site compiled for serving.
#[derive(Debug)]
pub struct Site {
    /// The name in records and metrics.
    pub name: String,
    /// The servers that get its requests, and how they get them.
    pub backend: Arc<policy::Backend>,
    /// How these servers read a path.
    pub reading: robots::Reading,
    /// What these servers answered about it.
    pub probed: Option<Arc<Probed>>,
    /// The source of its rules.
    pub source: policy::Source,
    /// The origin's robots.txt that is merged into the rules. Unknown where none is merged, or none
    /// has been fetched yet.
    pub origin_file: robots::OriginFile,
    /// Whether crawlers get no robots.txt now, because the rules are not known yet (RFC 9309
    /// §2.3.1.4). Then no request is judged.
    pub is_withheld: bool,
    /// Why the edition in force has not all rules of the origin and the policy.
    pub finding: Option<Diagnostic>,
    /// The editions of its robots.txt in time.
    pub timeline: Timeline,
    /// The sitemaps of the edition in force that name the requested host.
    pub(super) sitemaps: HostSitemaps,
    /// How long a copy of robots.txt stays fresh: `Cache-Control: max-age`.
    pub max_age: Duration,
    /// How long crawlers may use a copy of robots.txt (RFC 9309 §2.4).
    pub cache_window: Duration,
    /// The names of its groups and overrides that are in no catalogue.
    pub names: SiteNames,
    /// The tags of its answers.
    pub tags: Tags,
    /// What its responses say about the use of their content, if anything.
    pub usage: Option<UsageFields>,
    /// The treatment of violations.
    pub enforcement: policy::Enforcement,
}

impl Site {
    /// The edition in force.
    pub fn edition(&self) -> &Edition {
        self.timeline.current()
    }

    pub(crate) fn reading_of(&self, target: &[u8]) -> robots::Reading {
        match self.probed.as_ref().map(|probed| &probed.found) {
            Some(Ok(found)) => found.reading(self.reading, target),
            Some(Err(_)) | None => self.reading,
        }
    }

    /// Which forms of this target count, and why. `None` where all count, as the policy says nothing.
    pub(crate) fn forms_of(&self, target: &[u8]) -> Option<String> {
        let found = self.probed.as_ref().and_then(|probed| probed.found.as_ref().ok());
        let is_elsewhere = found.is_some_and(|found| !found.covers(target));
        let text = self.forms()?;
        Some(if is_elsewhere { format!("{text}; this path lies elsewhere: all") } else { text })
    }

    /// Which forms of paths count, and why. `None` where all count, as the policy says nothing.
    pub(crate) fn forms(&self) -> Option<String> {
        let Some(probed) = &self.probed else {
            let names = self.reading.steps.names();
            return match self.reading.steps {
                _ if self.backend.is_probed => {
                    Some("all, until the running server has asked the origin".to_owned())
                }
                robots::Steps::ALL => None,
                robots::Steps::NONE => Some("none but dot segments".to_owned()),
                _ => Some(format!("dot segments and {names}, as the policy says")),
            };
        };
        let path = &probed.probe.path;
        Some(match &probed.found {
            Ok(found) => format!("asked for {path} at {:.0}, the origin {found}", probed.at),
            Err(why) => format!("all: asked for {path} at {:.0}, {why}", probed.at),
        })
    }

    /// The robots.txt for one of the site's hosts, with its entity tag. They are the edition in force,
    /// but for the sitemaps that name the host.
    pub(crate) fn robots_txt(&self, host: Option<&str>) -> (Bytes, EditionId) {
        let edition = self.edition();
        let other = host.filter(|host| *host != self.backend.host);
        let file = other.and_then(|host| self.sitemaps.file(host));
        file.unwrap_or_else(|| (edition.bytes().clone(), edition.id()))
    }
}

/// A robots.txt without the host in the URLs of its sitemaps.
#[derive(Debug, Default)]
pub(super) struct HostSitemaps {
    /// What stands before, between and after the hosts; empty without such URLs.
    pieces: Vec<Vec<u8>>,
}

impl HostSitemaps {
    /// Finds the sitemaps of the policy in an edition. An older edition may have none of them.
    pub(super) fn new(edition: &Edition, robots_txt: &RobotsTxt, own_host: &str) -> Self {
        let own_host = host_in_url(own_host);
        let mut lines: Vec<(String, &str)> = robots_txt
            .host_sitemaps
            .iter()
            .map(|url| (format!("Sitemap: {}\n", url.replace(REQUESTED_HOST, &own_host)), &**url))
            .collect();
        if lines.is_empty() {
            return Self::default();
        }
        let (mut pieces, mut piece) = (Vec::new(), Vec::new());
        for line in edition.bytes().split_inclusive(|octet| *octet == b'\n') {
            // An equal line that names no host stays.
            let found = lines.iter().position(|(own, _)| own.as_bytes() == line);
            let Some((_, url)) = found.map(|at| lines.swap_remove(at)) else {
                piece.extend_from_slice(line);
                continue;
            };
            piece.extend_from_slice(b"Sitemap: ");
            for (number, part) in url.split(REQUESTED_HOST).enumerate() {
                if number > 0 {
                    pieces.push(std::mem::take(&mut piece));
                }
                piece.extend_from_slice(part.as_bytes());
            }
            piece.push(b'\n');
        }
        pieces.push(piece);
        Self { pieces }
    }

    /// The file for a host, with its entity tag. `None` if it is that of every host.
    pub(super) fn file(&self, host: &str) -> Option<(Bytes, EditionId)> {
        if self.pieces.len() < 2 {
            return None;
        }
        let bytes = self.pieces.join(host_in_url(host).as_bytes());
        let id = EditionId::of(&bytes);
        Some((bytes.into(), id))
    }
}

/// The page of a site to ask its origins for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Probe {
    /// The servers, each of which is asked.
    pub(crate) origins: Vec<policy::Origin>,
    pub(crate) host: String,
    pub(crate) path: String,
}

/// The answers of the origins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probed {
    pub(crate) probe: Probe,
    pub(crate) at: Timestamp,
    /// What is known of all origins together; else the origin and the reason.
    pub(crate) found: Result<Found, String>,
}

impl Probe {
    /// The page that the policy names, whether a running server asks for it or not.
    pub fn of(backend: &policy::Backend) -> Option<Self> {
        let path = backend.probe_path.clone()?;
        Some(Self { origins: backend.origins.clone(), host: backend.host.clone(), path })
    }

    /// The page that a running server asks for.
    pub(crate) fn wanted(backend: &policy::Backend) -> Option<Self> {
        Self::of(backend).filter(|_| backend.is_probed)
    }
}
