//! The `sites` section, with the look at a site from outside.

use std::{sync::Arc, time::Duration};

use crate::{
    base::product_token::ProductToken,
    formats::robots::{self, Reading, Steps},
};

use super::{
    backend::{self, Backend, Origin, path},
    enforcement::{self, Enforcement},
    fields::Fields,
    host::{self, Host},
    mode::Source,
    names::Names,
    preferences::{self, Preferences},
    robots_txt::{self, RobotsTxt},
    shape::{At, duplicate},
    tag_rules::{self, TagRule},
    timeouts::Timeouts,
    yaml::Spot,
};

/// Hosts that share origins, robots rules, tag rules and enforcement.
#[derive(Clone, Debug)]
pub struct Site {
    /// Its place in the policy. Sites that the policy has as one have the same.
    pub(crate) at: Spot,
    pub(crate) hosts: Vec<Host>,
    /// Whether clients ask for its host, and the policy has it only below a wildcard.
    pub(crate) is_asked: bool,
    pub(crate) default: bool,
    pub(crate) backend: Arc<Backend>,
    pub(crate) reading: Reading,
    /// The robots.txt to publish.
    pub robots_txt: RobotsTxt,
    pub(crate) robots_tag: Vec<TagRule>,
    pub(crate) robots_tag_legacy: bool,
    pub(crate) preferences: Preferences,
    pub(crate) enforcement: Enforcement,
    pub(crate) watch: Option<Watch>,
}

impl Site {
    /// The site's name in records and metrics: its first host.
    pub(crate) fn name(&self) -> &str {
        self.hosts.first().map_or("default", Host::as_str)
    }

    pub(super) fn part(&self, host: Host) -> Self {
        let name = host.as_str().to_owned();
        let mut robots_txt = self.robots_txt.clone();
        robots_txt.rename(&self.backend.host, &name);
        let backend = Arc::new(Backend { host: name, ..Backend::clone(&self.backend) });
        Self { hosts: vec![host], default: false, backend, robots_txt, ..self.clone() }
    }

    /// Whether the hosts below a wildcard share the robots.txt that the origin has for one host.
    pub(crate) fn shares_origin_file(&self) -> bool {
        let has_wildcard = self.hosts.iter().any(|host| matches!(host, Host::Below(_)));
        self.robots_txt.source != Source::Policy && has_wildcard
    }

    pub(crate) fn forms(&self) -> String {
        match (self.backend.is_probed, self.reading.steps) {
            (true, _) => "probe".to_owned(),
            (false, Steps::ALL) => "all".to_owned(),
            (false, steps) => steps.names(),
        }
    }
}

/// Reads all sites. A site with an error is left out; its findings stay.
pub(super) fn read<'n>(at: &At<'n>, names: &Names<'_>, timeouts: &Timeouts) -> Vec<(At<'n>, Site)> {
    let items = at.items();
    if items.is_empty() {
        at.refuse("no site", "write at least one with 'hosts' and 'origin'");
    }
    let sites: Vec<(At<'n>, Site)> = items
        .into_iter()
        .filter_map(|item| site(&item, names, timeouts).map(|site| (item, site)))
        .collect();
    refuse_duplicate_hosts(&sites);
    sites
}

fn site(at: &At<'_>, names: &Names<'_>, timeouts: &Timeouts) -> Option<Site> {
    let fields = at.fields()?;
    let hosts = hosts(&fields);
    let host = hosts.as_deref().map(own_host).unwrap_or_default().to_owned();
    let backend = backend::read(&fields, &host, timeouts);
    let mut robots_txt = robots_txt::read(&fields, &host, names);
    let robots_tag = tag_rules::read(&fields, names);
    let preferences = preferences::read(&fields, robots_txt.source, names);
    if let Some(url) = preferences.license.as_ref().filter(|_| robots_txt.source != Source::Origin)
    {
        robots_txt.file.records.extend(robots::Record::new("License", url));
    }
    let enforcement = enforcement::read(&fields.section("enforcement"), &robots_txt, names);
    let default = fields.get("default");
    let of = (hosts.as_deref().unwrap_or_default(), default);
    let watch = fields.take("watch").and_then(|at| watch(&at, of, names));
    let ((backend, reading), hosts) = (backend?, hosts?);
    Some(Site {
        at: at.node.spot,
        hosts,
        is_asked: false,
        default,
        backend: Arc::new(backend),
        reading,
        robots_txt,
        robots_tag,
        robots_tag_legacy: fields.get("robots_tag_legacy"),
        preferences,
        enforcement,
        watch,
    })
}

/// The sites with a robots.txt for each host (RFC 9309 §2.3). Where the file comes from the origin,
/// each host becomes a site of its own, as if the policy had it alone. Wildcards and the default stay
/// with the first host.
pub(super) fn by_file<'n>(sites: impl IntoIterator<Item = (At<'n>, Site)>) -> Vec<Site> {
    let parts = |(_, mut site): (At<'n>, Site)| {
        let is_own = |host: &Host| {
            site.robots_txt.source == Source::Policy
                || matches!(host, Host::Below(_))
                || host.as_str() == site.backend.host
        };
        let (own, others): (Vec<Host>, Vec<Host>) = site.hosts.drain(..).partition(is_own);
        let others: Vec<Site> = others.into_iter().map(|host| site.part(host)).collect();
        std::iter::once(Site { hosts: own, ..site }).chain(others)
    };
    let mut sites: Vec<Site> = sites.into_iter().flat_map(parts).collect();
    // Of several parts, one has the host in the address.
    for site in sites.iter_mut().filter(|site| !site.default) {
        site.watch = site.watch.take().filter(|watch| watch.is_of(&site.hosts));
    }
    sites
}

/// The first host without a wildcard, else the first one.
fn own_host(hosts: &[Host]) -> &str {
    let exact = hosts.iter().find(|host| matches!(host, Host::Exact(_)));
    exact.or_else(|| hosts.first()).map(Host::as_str).unwrap_or_default()
}

fn hosts(fields: &Fields<'_>) -> Option<Vec<Host>> {
    let at = fields.require("hosts", "write 'hosts: [www.example.com]'")?;
    let items = at.items();
    if items.is_empty() {
        at.refuse("no host", "write for example [www.example.com]");
    }
    let hosts: Vec<Host> = items.iter().filter_map(host::read_with_port).collect();
    (hosts.len() == items.len() && !hosts.is_empty()).then_some(hosts)
}

/// Refuses a host on two sites: which rules bind it would depend on their order.
fn refuse_duplicate_hosts(sites: &[(At<'_>, Site)]) {
    let all: Vec<(At<'_>, &Host)> = sites
        .iter()
        .flat_map(|(at, site)| at.child("hosts").elements().into_iter().zip(&site.hosts))
        .collect();
    if let Some((at, host)) = duplicate(&all, |(_, host)| *host) {
        let first = all.iter().find(|(_, other)| other == host);
        let line = first.map_or(0, |(at, _)| at.node.spot.line);
        at.refuse_as(
            "policy.duplicate_host",
            format!("host '{}' stands in the policy already, in line {line}", host.as_str()),
            "give each host to one site",
        );
    }
    if let Some((at, _)) = sites.iter().filter(|(_, site)| site.default).nth(1) {
        let at = at.child("default");
        at.refuse("a second default site", "set 'default: true' on one site");
    }
}

/// How Beadle looks at a site from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch {
    pub(crate) url: Origin,
    pub(crate) every: Duration,
    pub(crate) pages: Vec<String>,
    pub(crate) crawlers: Vec<ProductToken>,
}

impl Watch {
    fn is_of(&self, hosts: &[Host]) -> bool {
        let Origin { host, port, .. } = &self.url;
        hosts.iter().any(|one| match one {
            Host::Exact(known) => known == host || *known == format!("{host}:{port}"),
            Host::Below(suffix) => host.ends_with(suffix.as_str()),
        })
    }
}

/// Reads the section of a site with these hosts; `is_default` takes all of them.
fn watch(at: &At<'_>, (hosts, is_default): (&[Host], bool), names: &Names<'_>) -> Option<Watch> {
    let fields = at.fields()?;
    let (every, pages) = (fields.get("every"), fields.each("pages", path));
    let crawlers = names.crawlers(&fields.list("user_agents"));
    let help = "write 'url: https://www.example.com', the address that people use";
    let at = fields.require("url", help)?;
    let url = backend::origin(&at)?;
    let watch = Watch { url, every, pages, crawlers };
    if !is_default && !watch.is_of(hosts) {
        let message = format!("'{}' is no host of this site", watch.url.host);
        return at.refused(message, "add it to 'hosts', or name one of them");
    }
    Some(watch)
}

#[cfg(test)]
mod tests {
    use crate::rules::policy;

    fn read(hosts: &str, watch: &str) -> Result<Vec<(String, String)>, String> {
        let text = format!(
            "sites: [{{ hosts: [{hosts}], origin: \"http://127.0.0.1:1\", watch: {watch} }}]"
        );
        let (policy, findings) = policy::read("beadle.yaml", text.as_bytes());
        let told = || findings.iter().map(|one| one.message.clone()).collect::<Vec<_>>().join("; ");
        let sites = policy.ok_or_else(told)?.sites;
        let urls = sites
            .iter()
            .filter_map(|one| Some((one.name().to_owned(), one.watch.as_ref()?.url.to_string())));
        Ok(urls.collect())
    }

    #[test]
    fn the_address_is_one_of_the_site() {
        for (hosts, watch, is_read) in [
            ("a.example", "{ url: \"https://a.example\" }", true),
            ("a.example", "{ url: \"http://a.example:8080/\", every: 1s, pages: [/x] }", true),
            ("a.example:8080", "{ url: \"http://a.example:8080\" }", true),
            ("'*.a.example'", "{ url: \"https://b.a.example\", user_agents: [GPTBot] }", true),
            (
                "a.example], default: true, timeouts: {}, request_fields: {}, robots_tag: [",
                "{ url: \"https://b.example\" }",
                true,
            ),
            ("a.example", "{ url: \"https://b.example\" }", false),
            ("a.example", "{ url: \"https://a.example/x\" }", false),
            ("a.example", "{ url: \"https://u@a.example\" }", false),
            ("a.example", "{ url: \"https://a.example\", pages: [x] }", false),
            ("a.example", "{ url: \"https://a.example\", user_agents: ['*'] }", false),
            ("a.example", "{ every: 1m }", false),
            ("a.example", "https://a.example", false),
        ] {
            let found = read(hosts, watch);
            assert_eq!(found.is_ok(), is_read, "{hosts} {watch}: {found:?}");
        }
    }

    #[test]
    fn of_hosts_with_files_of_their_own_the_one_in_the_address_is_watched() {
        let hosts = "a.example, b.example], robots_txt: { source: origin }, robots_tag: [";
        let found = read(hosts, "{ url: \"https://b.example\" }").expect("a policy");
        assert_eq!(found, [("b.example".to_owned(), "https://b.example:443".to_owned())]);
    }
}
