//! The way of a request.
//!
//! Look here for what happens between a client's octets and the origin's.
//!
//! ```text
//! gate ─▶ edge ─▶ proxy
//! gate ─▶ decide
//! ```

pub mod decide; // other servers ask and answer themselves
mod edge; // connections of clients, before they are requests
pub mod gate; // the path of every request
pub mod proxy; // the edge on pingora
