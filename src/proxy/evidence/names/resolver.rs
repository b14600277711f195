//! One look-up: the names of an address, and whether they lead back to it.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
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

use crate::{diagnostic::Diagnostic, escape};

use super::{cache::Found, suffixes::Suffixes};

const RESOLV_CONF: &str = "/etc/resolv.conf";
/// resolv.conf(5): servers beyond the third are not asked.
const MOST_SYSTEM_SERVERS: usize = 3;
const DNS_PORT: u16 = 53;
/// Names of one address that are resolved. A crawler's has one.
const MOST_NAMES: usize = 4;

/// Asks name servers.
#[derive(Clone, Debug)]
pub(in crate::proxy::evidence) struct Resolver {
    resolver: TokioResolver,
    deadline: Duration,
}

/// A question had no answer, as opposed to the answer that there is nothing.
struct Failed;

impl Resolver {
    /// Asks `servers`, or the system's if there are none, and gives up on an address after
    /// `deadline`.
    pub(in crate::proxy::evidence) fn new(
        servers: &[SocketAddr],
        deadline: Duration,
    ) -> Result<Self, Diagnostic> {
        let system = if servers.is_empty() { system_servers() } else { Vec::new() };
        let all = servers.iter().chain(&system);
        let config = ResolverConfig::from_name_servers(all.copied().map(name_server).collect());
        let provider = TokioRuntimeProvider::default();
        let mut builder = TokioResolver::builder_with_config(config, provider);
        let options = builder.options_mut();
        // Two tries of a question, and time left for the next one.
        options.timeout = deadline * 2 / 5;
        options.attempts = 1;
        // What was found is kept here, under other rules than a record's TTL.
        options.cache_size = 0;
        // What this machine calls an address is no evidence.
        options.use_hosts_file = ResolveHosts::Never;
        options.preserve_intermediates = false;
        let resolver = builder.build().map_err(|error| {
            Diagnostic::error("evidence.name_servers", error.to_string())
                .help("name servers under evidence.name_servers")
        })?;
        Ok(Self { resolver, deadline })
    }

    /// The addresses of a host; none where that can't be found out in time.
    pub(in crate::proxy::evidence) async fn addresses(&self, host: &str) -> Vec<IpAddr> {
        let Ok(name) = Name::from_utf8(host) else { return Vec::new() };
        let both = async {
            tokio::join!(
                self.records(name.clone(), RecordType::A),
                self.records(name.clone(), RecordType::AAAA)
            )
        };
        let found = tokio::time::timeout(self.deadline, both).await;
        let (v4, v6) = found.unwrap_or((Err(Failed), Err(Failed)));
        let records = v4.into_iter().chain(v6).flatten();
        records.filter_map(|record| record.ip_addr()).collect()
    }

    /// The names of `address` under one of `suffixes` that lead back to it. What was found when
    /// the time is over counts.
    pub(super) async fn look_up(&self, address: IpAddr, suffixes: &Suffixes) -> Found {
        let mut found = Found::default();
        let looking = self.confirm(address, suffixes, &mut found.names);
        let ended = tokio::time::timeout(self.deadline, looking).await;
        found.complete = matches!(ended, Ok(Ok(())));
        found
    }

    async fn confirm(
        &self,
        address: IpAddr,
        suffixes: &Suffixes,
        confirmed: &mut Vec<String>,
    ) -> Result<(), Failed> {
        let mut names: Vec<(String, Name)> = Vec::new();
        for record in self.records(Name::from(address), RecordType::PTR).await? {
            let RData::PTR(name) = record else { continue };
            // Names of others are dropped before they are counted, so that they hide nothing.
            let text = host_name(&name).filter(|text| suffixes.match_name(text));
            let text = text.filter(|text| names.iter().all(|(other, _)| other != text));
            if let Some(text) = text.filter(|_| names.len() < MOST_NAMES) {
                names.push((text, name.0));
            }
        }
        let mut ended = Ok(());
        for (text, name) in names {
            match self.leads_to(name, address).await {
                Ok(true) => confirmed.push(text),
                Ok(false) => {}
                Err(failed) => ended = Err(failed),
            }
        }
        ended
    }

    async fn leads_to(&self, name: Name, address: IpAddr) -> Result<bool, Failed> {
        let kind = if address.is_ipv4() { RecordType::A } else { RecordType::AAAA };
        let records = self.records(name, kind).await?;
        Ok(records.iter().any(|record| record.ip_addr() == Some(address)))
    }

    /// The records of one type; none where the name servers say that there are none.
    async fn records(&self, mut name: Name, kind: RecordType) -> Result<Vec<RData>, Failed> {
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
            match none.response_code {
                ResponseCode::NXDomain => return Ok(Vec::new()),
                // RFC 2308 §2.2: other servers are named instead of an answer; this one is lame.
                ResponseCode::NoError if none.soa.is_none() && none.ns.is_some() => {}
                // An alias that leads in a circle looks like this too, and is a failure.
                ResponseCode::NoError if none.soa.is_some() || !self.is_alias(name).await => {
                    return Ok(Vec::new());
                }
                _ => {}
            }
        }
        let error = escape::bounded(error.to_string().as_bytes(), 200);
        tracing::debug!(error, "a question to a name server had no answer");
        Err(Failed)
    }

    async fn is_alias(&self, name: Name) -> bool {
        self.resolver.lookup(name, RecordType::CNAME).await.is_ok()
    }
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

/// The `nameserver` lines of a resolv.conf(5); without any, this machine is asked.
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
/// hold any octet, a dot too, which would then look like a border between labels.
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
    fn ours_a_name_is_read_label_by_label() {
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
    fn ours_the_systems_name_servers_are_those_of_resolv_conf() {
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
