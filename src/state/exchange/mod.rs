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

mod exchanges; // one exchange after the other
mod hear; // what this node hears
mod load; // registers, read whole
mod member; // this node
mod others; // what this node knows of the fleet
mod round; // one exchange
mod server; // the connection
mod settings; // from the policy, with its secrets
mod tell; // what this node tells

pub use self::{
    exchanges::{Exchange, start},
    load::{Overview, overview},
    server::Failure,
    settings::{Settings, host_name},
};
