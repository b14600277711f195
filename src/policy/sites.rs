//! The `sites` section.

use std::sync::Arc;

use crate::{
    keys,
    robots::{Reading, Steps},
};

use super::{
    backend::{self, Backend},
    enforcement::{self, Enforcement},
    findings::Findings,
    host::{self, Host},
    names::Names,
    places::Spot,
    robots_txt::{self, RobotsTxt},
    shape::{At, Fields, duplicate},
    source::Source,
    tag_rules::{self, TagRule},
    timeouts::Timeouts,
};

/// Hosts that share origins, robots rules, tag rules and enforcement.
#[derive(Clone, Debug)]
pub struct Site {
    /// Its place in the policy.
    pub at: Spot,
    /// The hosts, lower case; the first names the site.
    pub hosts: Vec<Host>,
    /// Whether the site takes requests for hosts that no site has (default false).
    pub default: bool,
    /// The servers that get its requests, and how they get them.
    pub backend: Arc<Backend>,
    /// How these servers read a path.
    pub reading: Reading,
    /// The robots.txt to publish.
    pub robots_txt: RobotsTxt,
    /// The tags to set, in the policy's order.
    pub robots_tag: Vec<TagRule>,
    /// Whether tags are sent in `X-Robots-Tag` too (default true).
    pub robots_tag_legacy: bool,
    /// The treatment of violations.
    pub enforcement: Enforcement,
}

impl Site {
    /// The site's name in records and metrics: its first host.
    pub fn name(&self) -> &str {
        self.hosts.first().map_or("default", Host::as_str)
    }

    /// Whether hosts of the site share the robots.txt that its origin has for one of them.
    pub fn shares_origin_file(&self) -> bool {
        let has_one_host = matches!(self.hosts.as_slice(), [Host::Exact(_)]);
        self.robots_txt.source != Source::Policy && !has_one_host
    }

    /// The value of `origin.forms`.
    pub fn forms(&self) -> String {
        match (self.backend.is_probed, self.reading.steps) {
            (true, _) => "probe".to_owned(),
            (false, Steps::ALL) => "all".to_owned(),
            (false, steps) => steps.names(),
        }
    }
}

/// Reads all sites. A site with an error is left out; its findings stay.
pub(super) fn read<'n>(
    at: &At<'n>,
    names: &Names<'_>,
    timeouts: &Timeouts,
    findings: &mut Findings,
) -> Vec<(At<'n>, Site)> {
    let items = at.items(findings);
    if items.is_empty() {
        findings.refuse(at, "no site", "write at least one with 'hosts' and 'origin'");
    }
    let sites: Vec<(At<'n>, Site)> = items
        .into_iter()
        .filter_map(|item| site(&item, names, timeouts, findings).map(|site| (item, site)))
        .collect();
    refuse_duplicate_hosts(&sites, findings);
    sites
}

fn site(
    at: &At<'_>,
    names: &Names<'_>,
    timeouts: &Timeouts,
    findings: &mut Findings,
) -> Option<Site> {
    let fields = at.fields(&keys::SITE, findings)?;
    let hosts = hosts(&fields, findings);
    let default = fields.take("default").and_then(|at| at.boolean(findings)).unwrap_or(false);
    let backend = backend::read(&fields, timeouts, findings);
    let host = hosts.as_deref().map(own_host).unwrap_or_default().to_owned();
    let robots_txt = match fields.take("robots_txt") {
        Some(at) => robots_txt::read(&at, &host, names, findings),
        None => {
            robots_txt::warn_without_rules(at, findings);
            RobotsTxt::default()
        }
    };
    let robots_tag = tag_rules::read(&fields, names, findings);
    let robots_tag_legacy =
        fields.take("robots_tag_legacy").and_then(|at| at.boolean(findings)).unwrap_or(true);
    let enforcement =
        enforcement::read(fields.take("enforcement").as_ref(), &robots_txt, names, findings);
    let ((mut backend, reading), hosts) = (backend?, hosts?);
    backend.host = host;
    Some(Site {
        at: Spot::from(at),
        hosts,
        default,
        backend: Arc::new(backend),
        reading,
        robots_txt,
        robots_tag,
        robots_tag_legacy,
        enforcement,
    })
}

/// The first host without a wildcard, else the first one.
fn own_host(hosts: &[Host]) -> &str {
    let exact = hosts.iter().find(|host| matches!(host, Host::Exact(_)));
    exact.or_else(|| hosts.first()).map(Host::as_str).unwrap_or_default()
}

/// At least one host.
fn hosts(fields: &Fields<'_>, findings: &mut Findings) -> Option<Vec<Host>> {
    let at = fields.require("hosts", "write 'hosts: [www.example.com]'", findings)?;
    let items = at.items(findings);
    if items.is_empty() {
        findings.refuse(&at, "no host", "write for example [www.example.com]");
    }
    let hosts: Vec<Host> =
        items.iter().filter_map(|item| host::read_with_port(item, findings)).collect();
    (hosts.len() == items.len() && !hosts.is_empty()).then_some(hosts)
}

/// Refuses a host on two sites: which rules bind it would depend on their order.
fn refuse_duplicate_hosts(sites: &[(At<'_>, Site)], findings: &mut Findings) {
    let all: Vec<(At<'_>, &Host)> = sites
        .iter()
        .flat_map(|(at, site)| at.child("hosts").elements().into_iter().zip(&site.hosts))
        .collect();
    if let Some((at, host)) = duplicate(&all, |(_, host)| *host) {
        let first = all.iter().find(|(_, other)| other == host);
        let line = first.map_or(0, |(at, _)| at.node.line);
        findings.refuse_as(
            "policy.duplicate_host",
            at,
            format!("host '{}' stands in the policy already, in line {line}", host.as_str()),
            "give each host to one site",
        );
    }
    if let Some((at, _)) = sites.iter().filter(|(_, site)| site.default).nth(1) {
        let at = at.child("default");
        findings.refuse(&at, "a second default site", "set 'default: true' on one site");
    }
}
