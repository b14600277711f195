//! The connections of clients, before pingora's parser reads them.
//!
//! ```text
//! socket ─▶ place and share ─▶ PROXY protocol, TLS ─▶ Connection ─▶ pingora ─▶ the proxy's hooks
//! listen    guests             opening                 Reader        │
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
//! May use: gate, publication, policy, framing, lines, metrics, escape. Must not know: proxy, admin,
//! cli.

pub(crate) use self::{
    access_lines::{AccessLog, Course},
    door::Edge,
    drain::Connections,
    guests::{Guest, Guests},
    listen::listen,
    opening::Opening,
    phase::phase,
    received_target::admit,
    timer::Timer,
    wait::Wait,
};

mod access_lines; // the access log
mod client_limits; // what one client may take
mod connection; // the stream between the socket and pingora
mod door; // from a connection to its application
mod drain; // all connections, and their end
mod guests; // what each client network has at a time
mod head_answer; // answers to heads that are refused
mod http1; // messages of HTTP/1 on their way to pingora
mod http2; // connections of HTTP/2
mod listen; // sockets
mod opening; // PROXY protocol and TLS handshake
mod phase; // from the hooks to the connection
mod received_target; // the target as the gate gets it
mod socket; // a TCP connection
mod stream; // a request of HTTP/2
mod timer; // the timer of a connection
mod tunnel; // a connection that has switched to another protocol
mod wait; // a wait with an end, as for the head of the origin's response
mod windows; // what clients of HTTP/2 may send ahead
