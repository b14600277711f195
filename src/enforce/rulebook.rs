//! A policy compiled for serving: sites by host, each with its edition, its tags and its actions.

use std::{collections::HashMap, sync::Arc, time::Duration};

use jiff::Timestamp;

use crate::{
    crawlers::{Catalogue, SiteNames},
    enforce::{Edition, History, Tags, Timeline},
    policy::{self, Host, Policy},
    product_token::ProductToken,
};

/// Everything that decides about requests, swapped whole at a reload.
#[derive(Debug)]
pub struct Rulebook {
    catalogue: Arc<Catalogue>,
    sites: Vec<Site>,
    by_host: HashMap<String, usize>,
    /// `.example.com`, the longest first.
    by_suffix: Vec<(String, usize)>,
    default: Option<usize>,
    fingerprint: String,
}

/// A site compiled for serving.
#[derive(Debug)]
pub struct Site {
    /// Its name in records and metrics.
    pub name: String,
    /// Where its requests go.
    pub origin: policy::Origin,
    /// Whose rules it publishes.
    pub source: policy::Source,
    /// Where its own rules are joined with the origin's, the origin's file as it was last known;
    /// empty where the origin has none.
    pub origin_file: Option<Arc<[u8]>>,
    /// What crawlers are told and were told before.
    pub timeline: Timeline,
    /// How long crawlers may use what they are told: `Cache-Control: max-age`.
    pub max_age: Duration,
    /// How long they are judged by it (RFC 9309 §2.4).
    pub cache_window: Duration,
    /// The names of its groups and overrides that are in no catalogue.
    pub names: SiteNames,
    /// The tags it sets.
    pub tags: Tags,
    /// What happens to violations.
    pub enforcement: policy::Enforcement,
}

impl Rulebook {
    /// Compiles a policy, in force from `now` on in place of `previous`.
    pub fn compile(policy: &Policy, now: Timestamp, previous: Option<&Self>) -> Self {
        Self::compile_with(policy, &mut History::after(previous, now))
    }

    /// Compiles a policy with what was before, and with what the origins say.
    pub fn compile_with(policy: &Policy, history: &mut History<'_>) -> Self {
        let sites: Vec<Site> = policy
            .sites
            .iter()
            .map(|site| Site::compile(site, &policy.catalogue, history))
            .collect();
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
            by_host,
            by_suffix,
            default: policy.sites.iter().position(|site| site.default),
            fingerprint: policy.fingerprint.clone(),
        }
    }

    /// The site that names exactly this host, lower case and without port. Safe for a host that
    /// has not been parsed: what is no host is nobody's.
    pub fn exact_site(&self, host: &str) -> Option<(usize, &Site)> {
        self.numbered(*self.by_host.get(host)?)
    }

    /// The site of a host (lower case, without port): one that names it, else the longest wildcard.
    pub fn site_of_host(&self, host: &str) -> Option<(usize, &Site)> {
        let below = || {
            let found = self.by_suffix.iter().find(|(suffix, _)| host.ends_with(suffix.as_str()));
            self.numbered(found?.1)
        };
        self.exact_site(host).or_else(below)
    }

    /// The site of a host, else the default site. `None` as host is a request without one.
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

    /// The crawlers that are known.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// The policy's fingerprint.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }
}

impl Site {
    fn compile(site: &policy::Site, catalogue: &Catalogue, history: &mut History<'_>) -> Self {
        let timeline = history.timeline(site);
        let edition = timeline.current();
        let groups = edition.file().groups.iter();
        let names = groups.flat_map(|group| group.user_agents.iter().map(|ua| ua.name.as_str()));
        let overrides = site.enforcement.overrides.iter();
        let overridden = overrides.flat_map(|one| one.tokens.iter().map(ProductToken::as_str));
        Self {
            name: site.name().to_owned(),
            origin: site.origin.clone(),
            names: SiteNames::new(catalogue, names.filter(|name| *name != "*").chain(overridden)),
            tags: Tags::compile(&site.robots_tag, site.robots_tag_legacy),
            enforcement: site.enforcement.clone(),
            source: site.robots_txt.source,
            origin_file: history.origin_file(site),
            max_age: site.robots_txt.max_age,
            cache_window: site.robots_txt.cache_window,
            timeline,
        }
    }

    /// What crawlers are told, and judged by.
    pub fn edition(&self) -> &Edition {
        self.timeline.current()
    }
}
