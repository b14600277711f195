//! The certificates of the listeners: read from files, chosen by name, taken anew when they change.
//!
//! ```text
//! files ─▶ Pair: chain, key, names, validity ─▶ Table of a listener: name ─▶ certificate
//!   a changed file, SIGHUP: read again; a bad one leaves the last good one in place
//!   a file of ACME that is not there yet: a stand-in that Beadle signs itself
//! acme ─▶ Challenges ─▶ the answer to an authority's question
//! ```
//! Nothing here waits for a network. A handshake reads one table, which is swapped whole.
//!
//! May use: policy, diagnostic, escape, metrics, stamp. Must not know: acme, publication, gate, proxy,
//! admin, cli, pingora, sockets, any clock.

pub use self::{
    certificates::{Certificates, Presented, Trouble, Wanted},
    challenges::{Challenges, Open},
    pair::{Pair, findings},
    table::Resolver,
};

mod certificates; // the certificates of all listeners
mod challenges; // the open tokens of ACME orders
mod pair; // one certificate with its key
mod stand_in; // a certificate until the first one is issued
mod table; // certificates by name
