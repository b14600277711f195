//! A policy compiled for serving: sites by host, swapped whole.

use std::{collections::HashMap, sync::Arc};

use crate::rules::{
    crawlers::Catalogue,
    policy::{Host, Policy, host_in_url, split_port},
};

use super::{chronicle::Chronicle, site::Site};

/// Everything that decisions depend on, swapped whole at a reload.
#[derive(Debug)]
pub struct Rulebook {
    catalogue: Arc<Catalogue>,
    sites: Vec<Site>,
    by_host: HashMap<String, usize>,
    /// Whether a host of a site has a port.
    has_ports: bool,
    /// `.example.com`, the longest first.
    by_suffix: Vec<(String, usize)>,
    default: Option<usize>,
    fingerprint: String,
    /// The editions and hosts until now.
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
