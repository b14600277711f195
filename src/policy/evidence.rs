//! The `evidence` section: what is looked at to tell crawlers from those who borrow their names.

use std::{
    collections::HashSet,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use ipnet::IpNet;

use crate::{
    crawlers::Crawler,
    policy::{
        DEFAULT_EVIDENCE_REFRESH,
        names::{Names, Selection},
        server::{network, path},
        shape::{At, Findings, shown},
    },
    product_token::ProductToken,
};

const HOUR: Duration = Duration::from_secs(3_600);
/// Where name servers listen.
const DNS_PORT: u16 = 53;

/// The `evidence` section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The crawlers it is looked at for; `None` is all.
    pub user_agents: Option<HashSet<ProductToken>>,
    /// Whether published lists of addresses are fetched and looked at.
    pub ip_ranges: bool,
    /// Whether addresses are resolved to names and back.
    pub reverse_dns: bool,
    /// Whether signatures of requests are verified, with keys that are fetched.
    pub signatures: bool,
    /// Where the last good copies are kept; `None` is in memory only.
    pub folder: Option<PathBuf>,
    /// After how long lists are fetched again.
    pub refresh: Duration,
    /// Who resolves names; empty is whom the system asks.
    pub name_servers: Vec<SocketAddr>,
    /// A PEM file of authorities that are trusted beside the public ones.
    pub certificate_authorities: Option<PathBuf>,
    /// Networks that may be fetched from although they are not public.
    pub allow_addresses: Vec<IpNet>,
}

impl Evidence {
    /// Whether any evidence about any crawler is looked at.
    pub fn looks_at_anything(&self) -> bool {
        (self.ip_ranges || self.reverse_dns || self.signatures)
            && self.user_agents.as_ref().is_none_or(|some| !some.is_empty())
    }

    /// Whether evidence about a crawler is looked at.
    pub fn is_about(&self, crawler: &Crawler) -> bool {
        self.user_agents.as_ref().is_none_or(|some| some.contains(crawler.product_token()))
    }
}

/// Reads the section; without one, nothing is fetched and nothing looked up.
pub(super) fn read(
    at: Option<&At<'_>>,
    names: &Names<'_>,
    findings: &mut Findings,
) -> Option<Evidence> {
    const KEYS: [&str; 9] = [
        "user_agents",
        "ip_ranges",
        "reverse_dns",
        "signatures",
        "folder",
        "refresh",
        "name_servers",
        "certificate_authorities",
        "allow_addresses",
    ];
    let fields = at?.fields(&KEYS, findings)?;
    let user_agents = fields.take("user_agents").and_then(|at| crawlers(&at, names, findings));
    let mut switch =
        |key: &str| fields.take(key).and_then(|at| at.boolean(findings)).unwrap_or(true);
    let (ip_ranges, reverse_dns) = (switch("ip_ranges"), switch("reverse_dns"));
    let signatures = switch("signatures");
    let mut file = |key: &str| fields.take(key).and_then(|at| path(&at, findings));
    let (folder, certificate_authorities) = (file("folder"), file("certificate_authorities"));
    let refresh = fields.take("refresh").and_then(|at| at.duration(HOUR..=7 * 24 * HOUR, findings));
    let name_servers = fields.list("name_servers", findings);
    let name_servers = name_servers.iter().filter_map(|at| name_server(at, findings)).collect();
    let networks = fields.list("allow_addresses", findings);
    let allow_addresses = networks.iter().filter_map(|at| network(at, findings)).collect();
    Some(Evidence {
        user_agents,
        ip_ranges,
        reverse_dns,
        signatures,
        folder,
        refresh: refresh.unwrap_or(DEFAULT_EVIDENCE_REFRESH),
        name_servers,
        certificate_authorities,
        allow_addresses,
    })
}

/// Some crawlers; `None` is all.
fn crawlers(
    at: &At<'_>,
    names: &Names<'_>,
    findings: &mut Findings,
) -> Option<HashSet<ProductToken>> {
    let mut tokens = HashSet::new();
    for item in at.items(findings) {
        match names.select(&item, findings) {
            Some(Selection::Star) => return None,
            Some(Selection::Tokens(selected)) => tokens.extend(selected),
            None => {}
        }
    }
    Some(tokens)
}

/// An address, with a port where it isn't the usual one.
fn name_server(at: &At<'_>, findings: &mut Findings) -> Option<SocketAddr> {
    let text = at.text(findings)?;
    let parsed = text
        .parse()
        .ok()
        .or_else(|| text.parse::<IpAddr>().ok().map(|address| (address, DNS_PORT).into()));
    if parsed.is_none() {
        let message = format!("'{}' is not an address", shown(text));
        findings.refuse(at, message, "write for example 192.0.2.53 or 127.0.0.1:5353");
    }
    parsed
}
