//! The exchange with the other nodes of a fleet through a Valkey or Redis server.
//!
//! ```text
//! requests ─▶ conduct: collected ─┐                       ┌─▶ conduct: learned
//! publisher ─▶ announcements ─────┤  every 200 ms, one    ├─▶ publisher: editions of others
//! clock ──────────────────────────┤  pipeline: round      ├─▶ fleet: beats, horizon, time
//!                                 └─▶ server: Link ───────┘
//! ```
//! A request never waits for anything here. What the server does not take stays where it was
//! collected, bounded. A node that has exchanged nothing for nine seconds is alone, and so is one that
//! misses others at its server, or has a namesake. Registers are read at the start, after a gap in the
//! messages, and when the server has lost its data.
//!
//! May use: fleet, publication, alerts, conduct, enforce, violations, policy, valkey, diagnostic,
//! escape, secret_file, version. Must not know: gate, proxy, admin, cli, service.

mod absence; // who is not where this node is
mod exchanges; // one exchange after the other
mod failure; // why the server does not answer
mod gossip; // messages that wait for the server
mod hear; // what this node hears
mod kept; // the last rungs and openings
mod key_names; // the names of keys
mod load; // registers, read whole
mod member; // this node
mod notices; // alerts on their way to the node that sends them
mod others; // what this node knows of the fleet
mod overview; // all nodes, for operators
mod replies; // the values of an answer
mod round; // one exchange
mod server; // the connection
mod settings; // from the policy, with its secrets
mod tell; // what this node tells

pub use self::{
    exchanges::{Exchange, start},
    failure::Failure,
    overview::{Overview, overview},
    settings::{Settings, host_name},
};
