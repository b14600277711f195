//! The `evidence` section: the evidence that tells crawlers from impostors.

use std::{
    collections::HashSet,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use ipnet::IpNet;

use crate::{base::product_token::ProductToken, rules::crawlers::Crawler};

use super::{names::Names, shape::At};

/// The port of name servers.
const DNS_PORT: u16 = 53;

/// The `evidence` section: the evidence that tells crawlers from impostors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The crawlers to check; `None` is all (default).
    pub user_agents: Option<HashSet<ProductToken>>,
    /// Whether to fetch and check published lists of addresses (default true).
    pub ip_ranges: bool,
    /// Whether to resolve addresses to names and back (default true).
    pub reverse_dns: bool,
    /// Whether to fetch keys and verify signatures of requests (default true).
    pub signatures: bool,
    /// The folder for the last good copies; `None` keeps them in memory only (default).
    pub folder: Option<PathBuf>,
    /// How often lists are fetched (default every 24 h).
    pub refresh: Duration,
    /// The name servers; empty is those of the system (default).
    pub name_servers: Vec<SocketAddr>,
    /// A PEM file of certificate authorities to trust beside the public ones (default none).
    pub certificate_authorities: Option<PathBuf>,
    /// Networks that Beadle may fetch from although they are not public (default none).
    pub allow_addresses: Vec<IpNet>,
}

impl Evidence {
    /// Whether any evidence about any crawler is collected.
    pub fn is_collected(&self) -> bool {
        (self.ip_ranges || self.reverse_dns || self.signatures)
            && self.user_agents.as_ref().is_none_or(|some| !some.is_empty())
    }

    /// Whether evidence about this crawler is collected.
    pub fn is_about(&self, crawler: &Crawler) -> bool {
        self.user_agents.as_ref().is_none_or(|some| some.contains(crawler.product_token()))
    }
}

/// Reads the section; without one, nothing is fetched or resolved.
pub(super) fn read(at: Option<&At<'_>>, names: &Names<'_>) -> Option<Evidence> {
    let fields = at?.fields()?;
    let selected = fields.take("user_agents").map(|at| names.selected(&at.items()));
    Some(Evidence {
        user_agents: selected.filter(|one| one.star.is_none()).map(|one| one.tokens()),
        ip_ranges: fields.get("ip_ranges"),
        reverse_dns: fields.get("reverse_dns"),
        signatures: fields.get("signatures"),
        folder: fields.find("folder"),
        refresh: fields.get("refresh"),
        name_servers: fields.each("name_servers", name_server),
        certificate_authorities: fields.find("certificate_authorities"),
        allow_addresses: fields.all("allow_addresses"),
    })
}

/// Reads an address, with a port unless it is [`DNS_PORT`].
fn name_server(at: &At<'_>) -> Option<SocketAddr> {
    let parse = |text: &str| {
        let alone = || Some((text.parse::<IpAddr>().ok()?, DNS_PORT).into());
        text.parse().ok().or_else(alone)
    };
    let help = "write for example 192.0.2.53 or 127.0.0.1:5353";
    at.parsed(parse, "is not an address", help)
}
