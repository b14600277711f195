//! The connections of clients, before pingora's parser reads them.
//!
//! ```text
//! socket ─▶ place and share ─▶ PROXY protocol, TLS ─▶ Connection ─▶ pingora ─▶ the proxy's hooks
//! listen    client_limits      opening                 Reader        │
//!                                                      head ─▶ body … Phase: what the hooks tell
//! ```
//!
//! pingora's parser takes some messages that two servers read differently: lines that end with a
//! bare LF, a chunk without a size. It refuses some targets that clients do send: `/?f={"a":1}`,
//! `/caf\xe9`. So each request head and each chunk size passes a strict reader first. The reader
//! follows the framing itself, and thus knows where a head begins. It percent-encodes in a target
//! what the parser does not take. All other octets pass unchanged, and without a copy.
//!
//! Frames of HTTP/2 pass unchanged. Limits and deadlines of a connection belong here, too: those of
//! the client, the wait for the head of the origin's response, and the drain.
//!
//! May use: conduct, gate, publication, policy, framing, lines, metrics, escape. Must not know: proxy, admin,
//! cli.

pub(crate) use self::{
    access_lines::{AccessLog, Course},
    client_limits::{Guest, Guests},
    listen::{Edge, listen},
    opening::Opening,
    phase::{Connections, phase},
    received_target::admit,
    wait::{Timer, Wait},
};

mod access_lines; // the access log
mod client_limits; // what one client may take
mod connection; // the stream between the socket and pingora
mod http1; // messages of HTTP/1 on their way to pingora, and answers to refused heads
mod http2; // connections of HTTP/2
mod listen; // sockets
mod opening; // PROXY protocol and TLS handshake
mod phase; // from the hooks to the connection, and the drain
mod received_target; // the target as the gate gets it
mod stream; // a request of HTTP/2
mod wait; // waits with an end: for the head of the origin's response, and for an idle tunnel
