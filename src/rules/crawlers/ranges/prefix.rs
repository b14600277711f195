//! One entry of a list: an address, a prefix or a range, and whether it counts.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv4Subnets, Ipv6Net, Ipv6Subnets};

use super::refusal::{WIDEST_V4, WIDEST_V6};

/// The treatment of a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Worth {
    Use,
    /// Ignore the prefix: no Internet client has such an address.
    Ignore,
    /// Ignore the prefix: it contains special addresses beside those of clients.
    IgnoreMixed,
    /// Refuse the whole list: it is implausible.
    Refuse,
}

/// The prefixes of an entry, host bits still set: one for `192.0.2.1` and `192.0.2.0/24`, several for
/// the range `192.0.2.1-192.0.2.9`. `None` for any other text. IPv4 addresses in IPv6 form
/// (RFC 4291 §2.5.5.2) become IPv4.
pub(super) fn parse(text: &str) -> Option<Vec<IpNet>> {
    let text = text.trim();
    if let Some((first, last)) = text.split_once('-') {
        return range(address(first)?, address(last)?);
    }
    let (written, length) = match text.split_once('/') {
        None => (text, None),
        Some((written, length)) => (written, Some(length)),
    };
    let address: IpAddr = written.trim().parse().ok()?;
    let widest = if address.is_ipv4() { 32 } else { 128 };
    let length = match length {
        None => widest,
        Some(length) => prefix_length(length)?,
    };
    let prefix = IpNet::new(address, length).ok()?;
    Some(vec![unmapped(prefix)])
}

/// The treatment of a prefix. RFC 6890's special-purpose addresses do not count, nor a prefix that
/// contains some of them. In IPv6 only 2000::/3 is in use (RFC 4291 §2.4).
pub(super) fn worth(prefix: IpNet) -> Worth {
    match prefix {
        IpNet::V4(prefix) => {
            let special = SPECIAL_V4.map(|(octets, length)| v4(octets, length));
            if special.iter().any(|special| special.contains(&prefix)) {
                Worth::Ignore
            } else if prefix.prefix_len() < WIDEST_V4 {
                Worth::Refuse
            } else if special.iter().any(|special| prefix.contains(special)) {
                Worth::IgnoreMixed
            } else {
                Worth::Use
            }
        }
        IpNet::V6(prefix) => {
            let special = SPECIAL_V6.map(|(segments, length)| v6(segments, length));
            let in_use = v6([0x2000, 0, 0], 3);
            let is_outside = !in_use.contains(&prefix) && !prefix.contains(&in_use);
            if is_outside || special.iter().any(|special| special.contains(&prefix)) {
                Worth::Ignore
            } else if prefix.prefix_len() < WIDEST_V6 {
                Worth::Refuse
            } else if special.iter().any(|special| prefix.contains(special)) {
                Worth::IgnoreMixed
            } else {
                Worth::Use
            }
        }
    }
}

/// Whether an Internet client can have this address: it has no special purpose.
pub fn is_public(address: IpAddr) -> bool {
    worth(IpNet::from(address.to_canonical())) == Worth::Use
}

/// Whether a text that is not an entry was probably meant as one: digits with two dots or colons.
pub(super) fn looks_meant(text: &str) -> bool {
    let is_of_addresses = |c: char| c.is_ascii_hexdigit() || ".:/- ".contains(c);
    let count = |wanted: char| text.matches(wanted).count();
    text.chars().all(is_of_addresses) && (count('.') >= 2 || count(':') >= 2)
}

const SPECIAL_V4: [([u8; 4], u8); 15] = [
    ([0, 0, 0, 0], 8),       // this network
    ([10, 0, 0, 0], 8),      // private
    ([100, 64, 0, 0], 10),   // shared, behind a carrier's NAT
    ([127, 0, 0, 0], 8),     // loopback
    ([169, 254, 0, 0], 16),  // link-local
    ([172, 16, 0, 0], 12),   // private
    ([192, 0, 0, 0], 24),    // protocol assignments
    ([192, 0, 2, 0], 24),    // documentation
    ([192, 88, 99, 0], 24),  // 6to4 relays, gone
    ([192, 168, 0, 0], 16),  // private
    ([198, 18, 0, 0], 15),   // benchmarks
    ([198, 51, 100, 0], 24), // documentation
    ([203, 0, 113, 0], 24),  // documentation
    ([224, 0, 0, 0], 4),     // multicast
    ([240, 0, 0, 0], 4),     // reserved, broadcast
];

const SPECIAL_V6: [([u16; 3], u8); 4] = [
    ([0x2001, 0, 0], 23),     // protocol assignments, Teredo
    ([0x2001, 0xdb8, 0], 32), // documentation
    ([0x2002, 0, 0], 16),     // 6to4
    ([0x3fff, 0, 0], 20),     // documentation (RFC 9637)
];

fn v4(octets: [u8; 4], length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::from(octets), length)
}

fn v6([a, b, c]: [u16; 3], length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), length)
}

fn address(text: &str) -> Option<IpAddr> {
    text.trim().parse().ok().map(|address: IpAddr| address.to_canonical())
}

/// A length as written: digits only, no leading zero.
fn prefix_length(text: &str) -> Option<u8> {
    let text = text.trim();
    let is_plain = text == "0" || !text.starts_with('0');
    (is_plain && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

fn range(first: IpAddr, last: IpAddr) -> Option<Vec<IpNet>> {
    match (first, last) {
        (IpAddr::V4(first), IpAddr::V4(last)) if first <= last => {
            Some(Ipv4Subnets::new(first, last, 0).map(IpNet::V4).collect())
        }
        (IpAddr::V6(first), IpAddr::V6(last)) if first <= last => {
            Some(Ipv6Subnets::new(first, last, 0).map(IpNet::V6).collect())
        }
        _ => None,
    }
}

/// The IPv4 prefix of an IPv6 form: `192.0.2.0/24` of `::ffff:192.0.2.0/120`.
fn unmapped(prefix: IpNet) -> IpNet {
    let IpNet::V6(mapped) = prefix else { return prefix };
    let address = mapped.addr().to_ipv4_mapped();
    let length = mapped.prefix_len().checked_sub(96);
    match address.zip(length).and_then(|(address, length)| Ipv4Net::new(address, length).ok()) {
        Some(prefix) => IpNet::V4(prefix),
        None => prefix,
    }
}
