//! Certificates by ACME (RFC 8555): ordered, proven by HTTP-01, stored, and renewed in time.
//!
//! ```text
//! tls: the wanted certificates ─▶ schedule: due? ─▶ account ─▶ order: challenges open ─▶ state: one file
//!                                    ▲                                                     │
//!               ARI (RFC 9773): when the authority suggests a renewal      tls: the file is taken
//! ```
//! Each host has its own certificate. So a host that can't be proven costs the others nothing.
//! A failure changes nothing that a listener presents. It is logged, counted, and tried again after a
//! pause that grows.
//!
//! May use: tls, policy, escape, metrics, whole_file. Must not know: publication, gate, proxy, admin, cli, sockets.

pub use self::task::run;

mod account; // the account at an authority
mod order; // one order
mod schedule; // when to renew and when to try again: pure
mod task; // the task that keeps all certificates young
