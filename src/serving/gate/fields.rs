//! The request fields that go on to the origin.
//!
//! An origin believes some fields about the client or the target. A client can write them itself,
//! so only a trusted proxy may send them. CGI, WSGI and PHP turn every character besides letters
//! and digits into `_`: the names `X-Real-IP`, `X_Real_IP` and `X.Real.IP` are the same to them.

use http::{HeaderMap, HeaderName, HeaderValue, header};

/// The rules for the fields of one request.
#[derive(Clone, Copy, Debug)]
pub struct Forwarding {
    /// Whether the peer is one of `trusted_proxies`.
    pub is_trusted: bool,
    /// Whether the site keeps names with an underscore.
    pub underscore_fields: bool,
}

/// Fields that replace the request target on some servers. The origin would serve another path than
/// the judged one. Trusted proxies may pass them on from clients, so Beadle always removes them.
const TARGET_OVERRIDES: [&str; 2] = ["x-original-url", "x-rewrite-url"];

/// The beginnings of the fields with which proxies report about clients and their requests.
const REPORTS: [&str; 4] = ["forwarded", "x-forwarded", "x-original-", "x-rewrite-"];

/// The last words of the fields with which proxies and content delivery networks report a client's
/// address, for example `CF-Connecting-IP`.
const CLIENT_ADDRESSES: [&str; 16] = [
    "client-ip",
    "clientip",
    "real-ip",
    "connecting-ip",
    "connecting-ipv6",
    "connection-ip",
    "originating-ip",
    "remote-ip",
    "source-ip",
    "src-ip",
    "user-ip",
    "proxyuser-ip",
    "socketip",
    "pseudo-ipv4",
    "remote-addr",
    "external-address",
];

/// The last words of the fields that name another host.
const HOSTS: [&str; 2] = ["x-host", "host-override"];

/// The other fields that Beadle judges, sets or frames a message with.
const OWN: [&str; 8] = [
    "host",
    "user-agent",
    "content-length",
    "transfer-encoding",
    "via",
    "signature",
    "signature-input",
    "signature-agent",
];

/// The longest name that can be the double of another field.
const LONGEST_DOUBLE: usize = 64;

impl Forwarding {
    /// Removes the fields that the origin may take for something else. Usually there are none, and
    /// one pass over the names shows that.
    pub fn apply(self, fields: &mut HeaderMap) {
        if fields.keys().any(|name| self.drops(name.as_str())) {
            let dropped = fields.keys().filter(|name| self.drops(name.as_str()));
            let names: Vec<HeaderName> = dropped.cloned().collect();
            for name in names {
                fields.remove(name);
            }
        }
        protect_from_connection(fields);
    }

    /// Whether a field with this name, in lower case, stays away from the origin.
    fn drops(self, name: &str) -> bool {
        if name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            return TARGET_OVERRIDES.contains(&name) || (!self.is_trusted && is_report(name));
        }
        (!self.underscore_fields && name.contains('_')) || is_double(name)
    }
}

/// Whether CGI gives a name with odd characters the same variable as a field that Beadle judges,
/// sets or removes.
fn is_double(name: &str) -> bool {
    is_ours(name.as_bytes(), |octet| if octet.is_ascii_alphanumeric() { octet } else { b'-' })
}

/// Whether Beadle judges, sets or removes the field with this name, of which each octet stands for another.
fn is_ours(name: &[u8], octet: impl Fn(u8) -> u8) -> bool {
    let mut plain = [0; LONGEST_DOUBLE];
    let Some(plain) = plain.get_mut(..name.len()) else { return false };
    plain.iter_mut().zip(name).for_each(|(to, from)| *to = octet(*from));
    std::str::from_utf8(plain).is_ok_and(|plain| OWN.contains(&plain) || is_report(plain))
}

/// Whether proxies report about a client with this field.
fn is_report(name: &str) -> bool {
    let is_last = |words: &&str| {
        let before = name.strip_suffix(words);
        before.is_some_and(|before| before.is_empty() || before.ends_with('-'))
    };
    // Most names end with another letter than all of these.
    match name.as_bytes() {
        [b'f' | b'x', ..] if REPORTS.iter().any(|start| name.starts_with(start)) => true,
        [.., b'p' | b'r' | b's' | b'4' | b'6'] => CLIENT_ADDRESSES.iter().any(is_last),
        [.., b't' | b'e'] => HOSTS.iter().any(is_last),
        _ => false,
    }
}

/// Removes the names of fields from `Connection` that it can't remove: those that Beadle judges or
/// adds, and the reports of trusted proxies. A client may name only fields of its own connection
/// (RFC 9110 §7.6.1).
fn protect_from_connection(fields: &mut HeaderMap) {
    if !options(fields).any(is_protected) {
        return;
    }
    let kept = options(fields).filter(|option| !option.is_empty() && !is_protected(option));
    let kept = kept.collect::<Vec<_>>().join(&b", "[..]);
    match HeaderValue::from_bytes(&kept) {
        Ok(kept) if !kept.is_empty() => drop(fields.insert(header::CONNECTION, kept)),
        _ => drop(fields.remove(header::CONNECTION)),
    }
}

/// The options of all lines of `Connection`.
fn options(fields: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    let lines = fields.get_all(header::CONNECTION).into_iter();
    lines.flat_map(|line| line.as_bytes().split(|&b| b == b',')).map(<[u8]>::trim_ascii)
}

/// Whether `Connection` can't remove the field with this name. `Transfer-Encoding` belongs to the
/// connection.
fn is_protected(name: &[u8]) -> bool {
    let is_transfer_encoding = name.eq_ignore_ascii_case(b"transfer-encoding");
    !is_transfer_encoding && is_ours(name, |octet| octet.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forwarded(is_trusted: bool, underscore_fields: bool, name: &str) -> bool {
        let mut fields = HeaderMap::new();
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        fields.append(&name, HeaderValue::from_static("x"));
        fields.append(&name, HeaderValue::from_static("y"));
        Forwarding { is_trusted, underscore_fields }.apply(&mut fields);
        !fields.is_empty()
    }

    #[test]
    fn a_field_goes_on_unless_the_origin_may_take_it_for_something_else() {
        // From anybody, from a trusted proxy, and from one to a site that keeps underscores.
        for (names, goes_on) in [
            (&["accept", "cookie", "x-requested-with", "x-camera-ip", "x-ghost"][..], [true; 3]),
            (&["x-shipping-address", "x-friendship", "tulip", "x.y", "override"], [true; 3]),
            (
                &["x-real-ip", "cf-connecting-ip", "client-ip", "acme-client-ip"],
                [false, true, true],
            ),
            (&["forwarded", "x-forwarded", "x-forwarded-server"], [false, true, true]),
            (&["x-host", "x-http-host-override", "remote-addr"], [false, true, true]),
            (&["x-original-url", "x-rewrite-url"], [false; 3]),
            (&["script_name", "x_", "_"], [false, false, true]),
            (&["user_agent", "content_length", "x_real_ip", "x_original_url"], [false; 3]),
            (&["x.real.ip", "user.agent", "x.rewrite-url"], [false; 3]),
        ] {
            for name in names {
                let found = [(false, false), (true, false), (true, true)]
                    .map(|(is_trusted, keeps)| forwarded(is_trusted, keeps, name));
                assert_eq!(found, goes_on, "{name}");
            }
        }
    }

    #[test]
    fn rfc9110_7_6_1_connection_names_only_fields_that_it_may_remove() {
        for (lines, kept) in [
            (&["keep-alive"][..], &["keep-alive"][..]),
            (&["close, X-Hop", "TE"], &["close, X-Hop", "TE"]),
            (&["Transfer-Encoding, Upgrade"], &["Transfer-Encoding, Upgrade"]),
            (&["Via"], &[]),
            (&["close,,VIA , X-Hop", "user-agent", "Upgrade"], &["close, X-Hop, Upgrade"]),
            (&["X-Forwarded-For, CF-Connecting-IP, \"via\""], &["\"via\""]),
        ] {
            let mut fields = HeaderMap::new();
            for line in lines {
                fields.append(header::CONNECTION, HeaderValue::from_static(line));
            }
            protect_from_connection(&mut fields);
            let found: Vec<_> = fields.get_all(header::CONNECTION).iter().collect();
            assert_eq!(found, kept, "{lines:?}");
        }
    }
}
