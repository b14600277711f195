//! One entry of a list: an address, a prefix or a range, and whether it counts.

use std::{net::IpAddr, sync::LazyLock};

use ipnet::{IpNet, Ipv4Net, Ipv4Subnets, Ipv6Subnets};

/// The widest IPv4 prefix that is accepted. One operator has published a whole /8 of its own.
pub(super) const WIDEST_V4: u8 = 8;
/// The widest IPv6 prefix that is accepted; registries allocate nothing wider.
pub(super) const WIDEST_V6: u8 = 16;

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
    let [v6_in_use, special @ ..] = &*BLOCKS;
    let has = |outer: &IpNet, inner: &IpNet| outer.contains(inner);
    let (widest, is_outside) = match prefix {
        IpNet::V4(_) => (WIDEST_V4, false),
        IpNet::V6(_) => (WIDEST_V6, !has(v6_in_use, &prefix) && !has(&prefix, v6_in_use)),
    };
    if is_outside || special.iter().any(|block| has(block, &prefix)) {
        Worth::Ignore
    } else if prefix.prefix_len() < widest {
        Worth::Refuse
    } else if special.iter().any(|block| has(&prefix, block)) {
        Worth::IgnoreMixed
    } else {
        Worth::Use
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

/// The IPv6 addresses in use, then those of a special purpose.
static BLOCKS: LazyLock<[IpNet; 20]> = LazyLock::new(|| {
    [
        "2000::/3",        // in use
        "0.0.0.0/8",       // this network
        "10.0.0.0/8",      // private
        "100.64.0.0/10",   // shared, behind a carrier's NAT
        "127.0.0.0/8",     // loopback
        "169.254.0.0/16",  // link-local
        "172.16.0.0/12",   // private
        "192.0.0.0/24",    // protocol assignments
        "192.0.2.0/24",    // documentation
        "192.88.99.0/24",  // 6to4 relays, gone
        "192.168.0.0/16",  // private
        "198.18.0.0/15",   // benchmarks
        "198.51.100.0/24", // documentation
        "203.0.113.0/24",  // documentation
        "224.0.0.0/4",     // multicast
        "240.0.0.0/4",     // reserved, broadcast
        "2001::/23",       // protocol assignments, Teredo
        "2001:db8::/32",   // documentation
        "2002::/16",       // 6to4
        "3fff::/20",       // documentation (RFC 9637)
    ]
    .map(|block| block.parse().expect("each is a prefix"))
});

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
