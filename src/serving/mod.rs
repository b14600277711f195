//! The way of a request.
//!
//! Look here for what happens between a client's octets and the origin's.
//!
//! ```text
//! gate ─▶ edge ─▶ proxy
//! gate ─▶ decide
//! ```

pub mod decide; // questions of nginx, Caddy and others about a request that they serve themselves
mod edge; // connections before they are requests: handshakes, limits, HTTP/1 and HTTP/2
pub mod gate; // the request as data: site, client, decision, the text of a refusal, tags, record
pub mod proxy; // requests and responses on pingora: forwarding, header fields, upgrades
