//! Who the client is: the peer, or the right-most address that a trusted proxy reports and that is
//! not itself a trusted proxy.
//!
//! A field that anybody can write is believed only from the peers in `trusted_proxies`; the first
//! entry that is no address ends the walk, because nothing to its left can be relied on.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;
use pingora::http::RequestHeader;

/// The longest chain that is followed; a longer one is cut on its left, the untrusted side.
const MAX_HOPS: usize = 64;

/// Whether `address` is a proxy whose fields are believed.
pub(super) fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    let address = address.to_canonical();
    trusted.iter().any(|network| network.contains(&address))
}

/// The client's address, by `X-Forwarded-For` or else `Forwarded` (RFC 7239) from trusted peers.
pub(super) fn address(peer: IpAddr, request: &RequestHeader, trusted: &[IpNet]) -> IpAddr {
    let peer = peer.to_canonical();
    if !is_trusted(peer, trusted) {
        return peer;
    }
    let lines = |name: &str| {
        request.headers.get_all(name).iter().map(|value| value.as_bytes()).collect::<Vec<_>>()
    };
    let x_forwarded_for = lines("x-forwarded-for");
    if x_forwarded_for.is_empty() {
        walk(peer, &lines("forwarded"), forwarded_for, trusted)
    } else {
        walk(peer, &x_forwarded_for, host_of, trusted)
    }
}

/// From right to left over the entries of all lines, as long as each reporter is trusted.
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

/// The `for` of one element of `Forwarded`: `for=192.0.2.60;proto=http`, `for="[2001:db8::1]:4711"`.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn client(peer: &str, fields: &[(&'static str, &str)]) -> String {
        let trusted: Vec<IpNet> =
            ["10.0.0.0/8", "fd00::/8"].iter().map(|net| net.parse().unwrap()).collect();
        let mut request = RequestHeader::build("GET", b"/", None).unwrap();
        for (name, value) in fields {
            request.append_header(*name, *value).unwrap();
        }
        address(peer.parse().unwrap(), &request, &trusted).to_string()
    }

    #[test]
    fn a_field_is_believed_from_trusted_proxies_only() {
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
}
