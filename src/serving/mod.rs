//! The way of a request.
//!
//! Look here for what happens between a client's octets and the origin's.
//!
//! ```text
//! gate ─▶ edge ─▶ proxy
//! gate ─▶ decide
//! ```

pub mod decide; // other servers ask and answer themselves
mod edge; // connections before they are requests: handshakes, limits, HTTP/1 and HTTP/2
pub mod gate; // the request as data: site, client, decision, the answer, tags, record
pub mod proxy; // requests and responses on pingora: forwarding, header fields, upgrades
