//! Addresses of sockets: the defaults, and those that exclude each other.

use std::net::SocketAddr;

/// The default address of the proxy.
pub const DEFAULT_LISTEN: &str = "0.0.0.0:8080";
/// The default address of the admin listener.
pub const DEFAULT_ADMIN: &str = "127.0.0.1:9090";

/// The first socket that needs the port of an earlier one. An unspecified address needs it on all
/// addresses.
pub(super) fn clash(sockets: &[SocketAddr]) -> Option<SocketAddr> {
    let same = |a: &SocketAddr, b: &SocketAddr| {
        let overlap = a.ip() == b.ip() || a.ip().is_unspecified() || b.ip().is_unspecified();
        a.port() == b.port() && a.port() != 0 && overlap && a.is_ipv4() == b.is_ipv4()
    };
    let clashes =
        |(at, one): &(usize, &SocketAddr)| sockets.iter().take(*at).any(|other| same(one, other));
    sockets.iter().enumerate().find(clashes).map(|(_, socket)| *socket)
}

/// A default address.
pub(super) fn known(address: &str) -> SocketAddr {
    address.parse().expect("the default addresses are well-formed")
}
