//! Hosts below a wildcard whose origin has a robots.txt for each of them (RFC 9309 §2.3).

use super::{
    host::{self, Host},
    sections::Policy,
    sites::Site,
    source::Source,
};

/// The most hosts below wildcards that have a site of their own.
const MOST: usize = 64;

impl Policy {
    /// The site of a host below a wildcard, as if the policy named the host, and the number of the site
    /// that has the wildcard. `None` if a site names the host, if the wildcard's file is the policy's,
    /// or in a fleet, whose other nodes would not know the site.
    pub(crate) fn below_wildcard(&self, host: &str) -> Option<(usize, Site)> {
        if self.fleet.is_some() {
            return None;
        }
        let covers = |named: &Host| match named {
            Host::Exact(known) if known == host => Some(usize::MAX),
            Host::Below(suffix) if host.ends_with(suffix.as_str()) => Some(suffix.len()),
            _ => None,
        };
        let length = |site: &Site| site.hosts.iter().filter_map(covers).max();
        let covering = self.sites.iter().enumerate();
        let covering = covering.filter_map(|(number, site)| Some((length(site)?, number)));
        let (length, number) = covering.max()?;
        let site = self.sites.get(number)?;
        let is_followed = length < usize::MAX && site.robots_txt.source != Source::Policy;
        let host =
            host::parsed(host).filter(|host| is_followed && matches!(host, Host::Exact(_)))?;
        Some((number, Site { is_asked: true, watch: None, ..site.part(host) }))
    }

    /// Gives hosts below wildcards sites of their own. Returns whether there is a new one: 64 are the
    /// most.
    pub(crate) fn add_hosts<'h>(&mut self, hosts: impl IntoIterator<Item = &'h str>) -> bool {
        let before = self.sites.len();
        for host in hosts {
            let is_full = self.sites.iter().filter(|site| site.is_asked).count() >= MOST;
            if let Some((number, part)) = self.below_wildcard(host).filter(|_| !is_full) {
                self.sites.insert(number + 1, part);
            }
        }
        self.sites.len() > before
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::policy::Policy;

    #[test]
    fn a_host_below_a_wildcard_can_have_a_site_of_its_own() {
        let text = r#"
sites:
  - hosts: [a.example, "*.a.example", named.a.example]
    origin: http://127.0.0.1:1
    robots_txt: { source: merge, sitemaps: ["https://{host}/s.xml"] }
  - { hosts: ["*.own.a.example"], origin: "http://127.0.0.1:1" }
"#;
        let names = |policy: &Policy| {
            let sites = policy.sites.iter().map(|site| site.name().to_owned());
            sites.collect::<Vec<_>>().join(" ")
        };
        let mut policy: Policy = text.parse().expect("a policy");
        assert_eq!(names(&policy), "a.example named.a.example own.a.example");
        for host in ["a.example", "named.a.example", "x.own.a.example", "b.example", "*.a.example"]
        {
            assert!(!policy.add_hosts([host]), "{host}");
        }
        assert!(policy.add_hosts(["x.a.example"]));
        assert!(!policy.add_hosts(["x.a.example"]));
        assert_eq!(names(&policy), "a.example x.a.example named.a.example own.a.example");
        let part = &policy.sites[1];
        assert_eq!((part.is_asked, &*part.backend.host), (true, "x.a.example"));
        let file = part.robots_txt.file.to_string();
        assert!(file.contains("Sitemap: https://x.a.example/s.xml\n"), "{file}");
        assert_eq!(policy.written_sites().count(), 2);
        let many: Vec<String> = (0..100).map(|number| format!("{number}.a.example")).collect();
        assert!(policy.add_hosts(many.iter().map(String::as_str)));
        assert_eq!(policy.sites.len(), 3 + 64);
    }
}
