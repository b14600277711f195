//! The resolver: one look-up of the names of an address, confirmed forward, and the probe of a suffix.

use std::{
    collections::hash_map::RandomState,
    hash::BuildHasher,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    pin::Pin,
    sync::Arc,
    time::{Duration, Instant},
};

use hickory_resolver::{
    TokioResolver,
    config::{ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig},
    net::{DnsError, NetError, runtime::TokioRuntimeProvider},
    proto::{
        op::ResponseCode,
        rr::{Name, RData, RecordType},
    },
};
use parking_lot::Mutex;

use crate::base::{diagnostic::Diagnostic, escape, fetch};

use super::{
    cache::{End, LookUp},
    proofs::is_under,
};

const RESOLV_CONF: &str = "/etc/resolv.conf";
/// The most system servers in use (resolv.conf(5)).
const MOST_SYSTEM_SERVERS: usize = 3;
const DNS_PORT: u16 = 53;
/// The most names of one address to resolve. A crawler's address usually has one name.
const MOST_NAMES: usize = 4;
/// The queries for the names of an address: a name server may fail once.
const ATTEMPTS: usize = 2;

#[derive(Clone, Debug)]
pub(crate) struct Resolver {
    resolver: TokioResolver,
    deadline: Duration,
    answered: Arc<Mutex<Option<Instant>>>,
}

/// A query without an answer. An empty answer is no failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoAnswer {
    Failure,
    /// The name servers say that a whole tree is empty, so they don't ask the zone of the name.
    EmptyTree,
}

impl Resolver {
    /// A resolver that queries `servers`, or without any the system's, for at most `deadline` for
    /// each address.
    pub(crate) fn new(servers: &[SocketAddr], deadline: Duration) -> Result<Self, Diagnostic> {
        let system = if servers.is_empty() { system_servers() } else { Vec::new() };
        let all = servers.iter().chain(&system);
        let config = ResolverConfig::from_name_servers(all.copied().map(name_server).collect());
        let provider = TokioRuntimeProvider::default();
        let mut builder = TokioResolver::builder_with_config(config, provider);
        let options = builder.options_mut();
        // Two attempts of one query, and time left for the next query.
        options.timeout = deadline * 2 / 5;
        options.attempts = 1;
        // The cache of this module has its own lifetimes.
        options.cache_size = 0;
        // The hosts file of this machine is no evidence.
        options.use_hosts_file = ResolveHosts::Never;
        options.preserve_intermediates = false;
        let resolver = builder.build().map_err(|error| {
            Diagnostic::error("evidence.name_servers", error.to_string())
                .help("name servers under evidence.name_servers")
        })?;
        Ok(Self { resolver, deadline, answered: Arc::default() })
    }

    /// The addresses of a host; none if the look-up fails or takes too long.
    async fn find(&self, host: &str) -> Vec<IpAddr> {
        let Ok(name) = Name::from_utf8(host) else { return Vec::new() };
        let both = async {
            tokio::join!(
                self.records(name.clone(), RecordType::A),
                self.records(name.clone(), RecordType::AAAA)
            )
        };
        let found = tokio::time::timeout(self.deadline, both).await;
        let (v4, v6) = found.unwrap_or((Err(NoAnswer::Failure), Err(NoAnswer::Failure)));
        let records = v4.into_iter().chain(v6).flatten();
        records.filter_map(|record| record.ip_addr()).collect()
    }

    /// The confirmed names of `address` under one of `suffixes`. At the deadline, the names so far
    /// count.
    pub(super) async fn look_up(&self, address: IpAddr, suffixes: &[String]) -> LookUp {
        let mut look_up = LookUp::default();
        let confirmation = self.confirm(address, suffixes, &mut look_up);
        let _ = tokio::time::timeout(self.deadline, confirmation).await;
        look_up
    }

    /// The names. At any time, the end of the look-up is that of a query that never ends.
    async fn confirm(&self, address: IpAddr, suffixes: &[String], look_up: &mut LookUp) {
        look_up.end = End::Withheld;
        let mut pointers = Err(NoAnswer::Failure);
        for _ in 0..ATTEMPTS {
            pointers = self.records(Name::from(address), RecordType::PTR).await;
            if pointers != Err(NoAnswer::Failure) {
                break;
            }
        }
        if pointers != Err(NoAnswer::Failure) {
            look_up.end = End::Failed;
        }
        let Ok(pointers) = pointers else { return };
        let mut names: Vec<(String, Name)> = Vec::new();
        let mut are_all = true;
        for record in pointers {
            let RData::PTR(name) = record else { continue };
            // Other names don't count towards the limit, so they can't hide a crawler's name.
            let text = host_name(&name).filter(|text| is_under(text, suffixes));
            let text = text.filter(|text| names.iter().all(|(other, _)| other != text));
            let Some(text) = text else { continue };
            if names.len() < MOST_NAMES {
                names.push((text, name.0));
            } else {
                are_all = false;
            }
        }
        let mut are_answered = true;
        for (text, name) in names {
            match self.addresses(name, address.is_ipv4()).await {
                Ok(addresses) if addresses.contains(&address) => look_up.names.push(text),
                Ok(addresses) if addresses.is_empty() => look_up.unresolved.push(text),
                Ok(_) => {}
                Err(_) => are_answered = false,
            }
        }
        look_up.end = match (are_answered, are_all) {
            (false, _) => End::Failed,
            (true, false) => End::Withheld,
            (true, true) => End::Complete,
        };
    }

    /// Whether the name servers find the domain of a suffix, and no domain that does not exist. Some
    /// answer every question with their own address.
    pub(super) async fn resolves(&self, suffix: &str) -> bool {
        let domain = suffix.strip_prefix('.').unwrap_or(suffix);
        let probe = async {
            if self.knows_an_absent_name(domain).await == Ok(true) {
                return false;
            }
            let mut domains = vec![domain, parent(domain)];
            domains.dedup();
            for kind in [RecordType::NS, RecordType::SOA, RecordType::A, RecordType::AAAA] {
                for domain in &domains {
                    let Ok(name) = Name::from_utf8(domain) else { return false };
                    if self.records(name, kind).await.is_ok_and(|records| !records.is_empty()) {
                        return true;
                    }
                }
            }
            false
        };
        tokio::time::timeout(self.deadline, probe).await.unwrap_or(false)
    }

    /// Whether the name servers answered anything since `start`, or do so now.
    pub(super) async fn has_answered_since(&self, start: Instant, suffix: &str) -> bool {
        if self.answered.lock().is_some_and(|answered| answered > start) {
            return true;
        }
        let probe = tokio::time::timeout(self.deadline, self.knows_an_absent_name(suffix)).await;
        matches!(probe, Ok(Ok(_)))
    }

    /// Whether there is an address for a name beside `domain` that nobody can have registered.
    async fn knows_an_absent_name(&self, domain: &str) -> Result<bool, NoAnswer> {
        let top = domain.rsplit('.').next().unwrap_or_default();
        let random = || RandomState::new().hash_one(top);
        let name = format!("{:016x}{:016x}.{top}", random(), random());
        let name = Name::from_utf8(name).map_err(|_| NoAnswer::Failure)?;
        Ok(!self.addresses(name, true).await?.is_empty())
    }

    async fn addresses(&self, name: Name, are_v4: bool) -> Result<Vec<IpAddr>, NoAnswer> {
        let kind = if are_v4 { RecordType::A } else { RecordType::AAAA };
        let records = self.records(name, kind).await?;
        Ok(records.iter().filter_map(RData::ip_addr).collect())
    }

    /// The records of one type; none if the name servers say so.
    async fn records(&self, name: Name, kind: RecordType) -> Result<Vec<RData>, NoAnswer> {
        let records = self.query(name, kind).await?;
        *self.answered.lock() = Some(Instant::now());
        Ok(records)
    }

    async fn query(&self, mut name: Name, kind: RecordType) -> Result<Vec<RData>, NoAnswer> {
        name.set_fqdn(true);
        let error = match self.resolver.lookup(name.clone(), kind).await {
            Ok(lookup) => {
                let records = lookup.answers().iter();
                let records = records.filter(|record| record.record_type() == kind);
                return Ok(records.map(|record| record.data.clone()).collect());
            }
            Err(error) => error,
        };
        if let NetError::Dns(DnsError::NoRecordsFound(none)) = &error {
            if none.soa.as_ref().is_some_and(|soa| is_whole_tree(&soa.name)) {
                return Err(NoAnswer::EmptyTree);
            }
            match none.response_code {
                ResponseCode::NXDomain => return Ok(Vec::new()),
                // RFC 2308 §2.2: a referral instead of an answer. The server is lame.
                ResponseCode::NoError if none.soa.is_none() && none.ns.is_some() => {}
                // A circular alias gives the same response, but is a failure.
                ResponseCode::NoError if none.soa.is_some() || !self.is_alias(name).await => {
                    return Ok(Vec::new());
                }
                _ => {}
            }
        }
        let error = escape::shown(error.to_string());
        tracing::debug!(error, "DNS query failed");
        Err(NoAnswer::Failure)
    }

    async fn is_alias(&self, name: Name) -> bool {
        self.resolver.lookup(name, RecordType::CNAME).await.is_ok()
    }
}

impl fetch::Resolver for Resolver {
    fn addresses<'a>(
        &'a self,
        host: &'a str,
    ) -> Pin<Box<dyn Future<Output = Vec<IpAddr>> + Send + 'a>> {
        Box::pin(self.find(host))
    }
}

/// Whether a zone is one of those above the zones of all addresses. They delegate every network that
/// clients have, so an answer from them is made up, as in a closed network.
fn is_whole_tree(zone: &Name) -> bool {
    let zone = zone.to_ascii();
    [".", "arpa.", "in-addr.arpa.", "ip6.arpa."].iter().any(|tree| zone.eq_ignore_ascii_case(tree))
}

/// The two last labels of a domain. A suffix such as `.search.msn.com` may be no domain of its own.
fn parent(domain: &str) -> &str {
    let mut dots = domain.rmatch_indices('.');
    dots.nth(1).map_or(domain, |(at, _)| &domain[at + 1..])
}

fn name_server(address: SocketAddr) -> NameServerConfig {
    let mut connections = vec![ConnectionConfig::udp(), ConnectionConfig::tcp()];
    for connection in &mut connections {
        connection.port = address.port();
    }
    NameServerConfig::new(address.ip(), true, connections)
}

fn system_servers() -> Vec<SocketAddr> {
    let text = std::fs::read(RESOLV_CONF).unwrap_or_default();
    name_servers(&String::from_utf8_lossy(&text))
}

/// The `nameserver` lines of a resolv.conf(5); without any, this machine.
fn name_servers(text: &str) -> Vec<SocketAddr> {
    let addresses = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        words.next().filter(|word| *word == "nameserver")?;
        words.next()?.parse::<IpAddr>().ok()
    });
    let mut servers: Vec<SocketAddr> =
        addresses.take(MOST_SYSTEM_SERVERS).map(|address| (address, DNS_PORT).into()).collect();
    if servers.is_empty() {
        servers.push((Ipv4Addr::LOCALHOST, DNS_PORT).into());
    }
    servers
}

/// A name as text in lower case, without a final dot; `None` if it is no host name. A label may
/// contain any octet. A dot inside a label would look like a boundary between labels.
fn host_name(name: &Name) -> Option<String> {
    let mut text = String::new();
    for label in name.iter() {
        if !text.is_empty() {
            text.push('.');
        }
        for &octet in label {
            let is_plain = octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'_');
            text.push(is_plain.then_some(char::from(octet.to_ascii_lowercase()))?);
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_label_by_label() {
        let read = |labels: &[&[u8]]| host_name(&Name::from_labels(labels.to_vec()).unwrap());
        assert_eq!(
            read(&[b"Crawl-1", b"GoogleBot", b"com"]).as_deref(),
            Some("crawl-1.googlebot.com")
        );
        assert_eq!(read(&[b"a_b", b"example"]).as_deref(), Some("a_b.example"));
        for labels in [
            &[b"a.googlebot".as_slice(), b"com"],
            &[b"a.googlebot.com".as_slice(), b"b"],
            &[b"a\0".as_slice(), b"example"],
            &[b"a b".as_slice(), b"example"],
            &["ä".as_bytes(), b"example"],
        ] {
            assert_eq!(read(labels), None);
        }
        assert_eq!(host_name(&Name::root()).as_deref(), Some(""));
    }

    #[test]
    fn the_system_servers_come_from_resolv_conf() {
        let servers =
            |text| name_servers(text).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        for (text, expected) in [
            ("", "127.0.0.1:53"),
            ("search example\noptions ndots:5\n", "127.0.0.1:53"),
            ("nameserver 192.0.2.53\n", "192.0.2.53:53"),
            ("# nameserver 192.0.2.1\n;nameserver 192.0.2.2\nnameserver\n", "127.0.0.1:53"),
            ("  nameserver\t2001:db8::53 # near\nnameserver x\n", "[2001:db8::53]:53"),
            (
                "nameserver 192.0.2.1\nnameserver 192.0.2.2\nnameserver 192.0.2.3\nnameserver 192.0.2.4",
                "192.0.2.1:53 192.0.2.2:53 192.0.2.3:53",
            ),
        ] {
            assert_eq!(servers(text), expected, "{text:?}");
        }
    }
}
