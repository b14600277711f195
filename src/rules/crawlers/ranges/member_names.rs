//! The names of members and columns that contain addresses.
//!
//! Names count in any case, with or without underscores and hyphens.

/// Names that only lists of prefixes use.
const OF_PREFIXES: [&str; 4] = ["ipprefix", "ipv4prefix", "ipv6prefix", "iprange"];
/// Generic names. A response about something else uses them too: an error with the client's address.
const GENERIC: [&str; 13] = [
    "address",
    "addresses",
    "cidr",
    "ip",
    "ipaddress",
    "ips",
    "ipv4",
    "ipv4address",
    "ipv6",
    "ipv6address",
    "network",
    "prefix",
    "subnet",
];

/// Whether only lists of prefixes use this name.
pub(super) fn is_of_prefixes(name: &str) -> bool {
    OF_PREFIXES.iter().any(|known| is(name, known))
}

/// Whether this is any name for addresses.
pub(super) fn is_of_addresses(name: &str) -> bool {
    is_of_prefixes(name) || GENERIC.iter().any(|known| is(name, known))
}

fn is(name: &str, known: &str) -> bool {
    let letters = name.bytes().filter(|b| !b"_-".contains(b)).map(|b| b.to_ascii_lowercase());
    letters.eq(known.bytes())
}
