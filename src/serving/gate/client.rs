//! The client of a request: its address, its host and its scheme.
//!
//! The address is the peer, or the right-most untrusted address in the report of a trusted proxy.
//! Clients can write these fields, so Beadle accepts them only from the peers in `trusted_proxies`.
//! The first entry without an address ends the chain, because entries to its left are unreliable.

use std::{
    borrow::Cow,
    net::{IpAddr, SocketAddr},
};

use http::{HeaderMap, Method, header};
use ipnet::IpNet;

use crate::rules::{crawlers::Catalogue, enforce::Rulebook};

use super::request::{Refusal, Request};

/// The longest chain of hops. A longer chain is cut on its left, the untrusted side.
const MAX_HOPS: usize = 64;

/// The client of a request, as Beadle or a trusted proxy sees it.
#[derive(Debug)]
pub(super) struct Client<'a> {
    /// The requested host; `None` for HTTP/1.0 without one.
    pub(super) host: Option<Cow<'a, str>>,
    pub(super) address: IpAddr,
    /// Whether the address belongs to the client. A trusted proxy without a report hides its
    /// client.
    pub(super) is_own_address: bool,
    pub(super) is_https: bool,
}

impl<'a> Client<'a> {
    /// The client of a request, behind trusted proxies.
    ///
    /// # Errors
    /// The request has no valid host.
    pub(super) fn of(request: &Request<'a>, trusted: &[IpNet]) -> Result<Self, Refusal> {
        let address = address(request.peer, request.fields, trusted);
        // Most peers are clients, whose field is not looked for.
        let reported = is_trusted(request.peer, trusted)
            .then(|| request.fields.get("x-forwarded-proto").map(|value| value.as_bytes()))
            .flatten()
            .filter(|value| !value.is_empty());
        Ok(Self {
            host: request.host()?,
            address,
            is_own_address: !is_trusted(address, trusted),
            is_https: reported
                .map_or(request.is_tls, |scheme| scheme.eq_ignore_ascii_case(b"https")),
        })
    }
}

impl Client<'_> {
    /// Gives the host its port, if the policy names both. Without a port in the request, the port is
    /// that of its scheme.
    pub(super) fn with_port(mut self, request: &Request<'_>, rulebook: &Rulebook) -> Self {
        let port = request.port().unwrap_or(if self.is_https { 443 } else { 80 });
        let named = self.host.as_deref().and_then(|host| rulebook.named_with_port(host, port));
        self.host = named.map(Cow::Owned).or(self.host);
        self
    }
}

/// Whether `address` belongs to a trusted proxy.
pub fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    let address = address.to_canonical();
    trusted.iter().any(|network| network.contains(&address))
}

/// The client's address, by `X-Forwarded-For`, else `Forwarded` (RFC 7239), of a trusted peer.
pub(super) fn address(peer: IpAddr, fields: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let peer = peer.to_canonical();
    if !is_trusted(peer, trusted) {
        return peer;
    }
    let lines =
        |name: &str| fields.get_all(name).iter().map(|value| value.as_bytes()).collect::<Vec<_>>();
    let x_forwarded_for = lines("x-forwarded-for");
    if x_forwarded_for.is_empty() {
        walk(peer, &lines("forwarded"), forwarded_for, trusted)
    } else {
        walk(peer, &x_forwarded_for, host_of, trusted)
    }
}

/// The first untrusted address, from right to left over the entries of all lines.
fn walk(
    peer: IpAddr,
    lines: &[&[u8]],
    read: impl Fn(&[u8]) -> Option<IpAddr>,
    trusted: &[IpNet],
) -> IpAddr {
    let entries = lines.iter().rev().flat_map(|line| line.rsplit(|&b| b == b','));
    let mut client = peer;
    for entry in entries.take(MAX_HOPS) {
        let Some(hop) = read(entry.trim_ascii()) else { break };
        client = hop;
        if !is_trusted(hop, trusted) {
            break;
        }
    }
    client
}

/// The `for` of one element of `Forwarded`: `for=192.0.2.60;proto=http`,
/// `for="[2001:db8::1]:4711"`.
fn forwarded_for(element: &[u8]) -> Option<IpAddr> {
    element.split(|&b| b == b';').find_map(|pair| {
        let at = pair.iter().position(|&b| b == b'=')?;
        let (name, value) = (pair[..at].trim_ascii(), pair[at + 1..].trim_ascii());
        name.eq_ignore_ascii_case(b"for").then(|| host_of(value)).flatten()
    })
}

/// `192.0.2.7`, `192.0.2.7:4711`, `2001:db8::1`, `[2001:db8::1]:4711`, each also in quotes.
fn host_of(entry: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(entry).ok()?;
    let text = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(text);
    let parsed = text
        .parse::<IpAddr>()
        .or_else(|_| text.parse::<SocketAddr>().map(|socket| socket.ip()))
        .or_else(|_| text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>());
    parsed.ok().map(|address| address.to_canonical())
}

/// The operator of crawlers whose page led to this request, by its `Referer` (RFC 9110 §10.1.3).
pub(super) fn referring_operator<'c>(
    catalogue: &'c Catalogue,
    method: &Method,
    fields: &HeaderMap,
    is_own: impl FnOnce(&str) -> bool,
) -> Option<&'c str> {
    let referer = fields.get(header::REFERER).filter(|_| method == Method::GET)?;
    let host = host_of_page(referer.as_bytes())?;
    let operator = catalogue.operator_of(host)?;
    (!is_own(host)).then_some(operator)
}

/// The host of an absolute URL: `https://host:port/path`. Browsers write it in lower case.
fn host_of_page(url: &[u8]) -> Option<&str> {
    let rest = url.strip_prefix(b"https://").or_else(|| url.strip_prefix(b"http://"))?;
    let end = rest.iter().position(|octet| b"/?#".contains(octet)).unwrap_or(rest.len());
    let authority = str::from_utf8(rest.get(..end)?).ok()?;
    authority.split(':').next().filter(|host| !host.contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(peer: &str, fields: &[(&'static str, &str)]) -> String {
        let trusted: Vec<IpNet> =
            ["10.0.0.0/8", "fd00::/8"].iter().map(|net| net.parse().unwrap()).collect();
        let mut map = HeaderMap::new();
        for (name, value) in fields {
            map.append(*name, value.parse().unwrap());
        }
        address(peer.parse().unwrap(), &map, &trusted).to_string()
    }

    #[test]
    fn a_report_counts_from_trusted_proxies_only() {
        let spoof = [("x-forwarded-for", "66.249.66.1")];
        assert_eq!(client("192.0.2.9", &spoof), "192.0.2.9");
        assert_eq!(client("10.1.1.1", &spoof), "66.249.66.1");
        assert_eq!(client("::ffff:10.1.1.1", &spoof), "66.249.66.1");
        assert_eq!(client("10.1.1.1", &[]), "10.1.1.1");
    }

    #[test]
    fn the_right_most_untrusted_hop_is_the_client() {
        for (chain, expected) in [
            ("1.1.1.1, 192.0.2.7, 10.0.0.2", "192.0.2.7"),
            ("192.0.2.7,10.0.0.2,10.0.0.3", "192.0.2.7"),
            ("10.0.0.4, 10.0.0.2", "10.0.0.4"),
            ("192.0.2.7:4711", "192.0.2.7"),
            ("2001:db8::1", "2001:db8::1"),
            ("[2001:db8::1]:4711", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("192.0.2.7, unknown, 10.0.0.2", "10.0.0.2"),
            ("garbage", "10.1.1.1"),
            ("", "10.1.1.1"),
            ("fe80::1%eth0", "10.1.1.1"),
        ] {
            assert_eq!(client("10.1.1.1", &[("x-forwarded-for", chain)]), expected, "{chain}");
        }
        let lines = [("x-forwarded-for", "9.9.9.9"), ("x-forwarded-for", "192.0.2.7, 10.0.0.2")];
        assert_eq!(client("10.1.1.1", &lines), "192.0.2.7");
    }

    #[test]
    fn rfc7239_forwarded_is_read_where_x_forwarded_for_is_absent() {
        for (field, expected) in [
            ("for=192.0.2.60;proto=http;by=203.0.113.43", "192.0.2.60"),
            ("For=\"[2001:db8:cafe::17]:4711\"", "2001:db8:cafe::17"),
            ("for=1.1.1.1, for=192.0.2.60, for=10.0.0.2", "192.0.2.60"),
            ("for=_hidden", "10.1.1.1"),
            ("proto=https", "10.1.1.1"),
        ] {
            assert_eq!(client("10.1.1.1", &[("forwarded", field)]), expected, "{field}");
        }
    }

    #[test]
    fn a_chain_of_any_length_is_bounded() {
        let chain = vec!["10.0.0.2"; 10_000].join(",");
        assert_eq!(client("10.1.1.1", &[("x-forwarded-for", &chain)]), "10.0.0.2");
    }

    #[test]
    fn the_host_of_a_referer() {
        for (url, host) in [
            ("https://www.google.com/", Some("www.google.com")),
            ("http://chatgpt.com", Some("chatgpt.com")),
            ("https://bing.com:443/search?q=a", Some("bing.com")),
            ("https://bing.com?q=a/b", Some("bing.com")),
            ("https://bing.com@evil.example/", None),
            ("android-app://com.google.android", None),
            ("/relative", None),
            ("about:client", None),
            ("", None),
        ] {
            assert_eq!(host_of_page(url.as_bytes()), host, "{url}");
        }
    }
}
