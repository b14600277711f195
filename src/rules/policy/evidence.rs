//! The `evidence` section: the evidence that tells crawlers from impostors.

use std::{
    collections::HashSet,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use ipnet::IpNet;

use crate::{base::product_token::ProductToken, rules::crawlers::Crawler};

use super::{fields::section, names::Names, shape::At};

const DNS_PORT: u16 = 53;

section! {
    /// The `evidence` section: the evidence that tells crawlers from impostors.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Evidence(names: &Names<'_>) {
        /// The crawlers to check; `None` is all (default).
        pub(crate) user_agents: Option<HashSet<ProductToken>> = read(|at| named(at, names)),
        pub(crate) ip_ranges: bool,
        pub(crate) reverse_dns: bool,
        pub(crate) signatures: bool,
        pub(crate) folder: Option<PathBuf>,
        pub(crate) refresh: Duration,
        pub(crate) name_servers: Vec<SocketAddr> = each(name_server),
        pub(crate) certificate_authorities: Option<PathBuf>,
        pub(crate) allow_addresses: Vec<IpNet>,
    }
}

impl Evidence {
    pub(crate) fn is_collected(&self) -> bool {
        (self.ip_ranges || self.reverse_dns || self.signatures)
            && self.user_agents.as_ref().is_none_or(|some| !some.is_empty())
    }

    pub(crate) fn is_about(&self, crawler: &Crawler) -> bool {
        self.user_agents.as_ref().is_none_or(|some| some.contains(crawler.product_token()))
    }
}

fn named(at: &At<'_>, names: &Names<'_>) -> Option<HashSet<ProductToken>> {
    let selected = names.selected(&at.items());
    selected.star.is_none().then(|| selected.tokens())
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
