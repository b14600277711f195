//! Alerts: events that an operator wants to know, sent to webhooks, chats and mailboxes.
//!
//! ```text
//! State ─▶ conditions: which events begin ─▶ queue of one receiver ─▶ digest ─▶ sender: chats, retries
//! ```
//! A caller reads the [`State`] every few seconds, from counts that exist anyway: no request ever
//! waits for an alert. The conditions are pure. Each receiver has its own conditions, queue and task,
//! so that a dead one delays no other.
//!
//! May use: policy, fronts, fetch, diagnostic, escape, secret_file, metrics, mail, tls. Must not know:
//! violations, publication, gate, proxy, admin, cli.

pub use self::{
    conditions::{ListTrouble, Offender, Refusal, State, Tally, Watcher},
    event::Event,
    receiver::{Receiver, Tested},
    relay::{Handed, REPORT, Relay, Unsent},
    watch::{EVERY, run},
};

mod chats; // events as the services of others and people read them
mod conditions; // a state -> the events that begin; the crawlers that violated the rules before
mod event; // one event, as JSON
mod receiver; // one receiver: its secrets, one signed attempt, events that wait for one mail
mod relay; // events between the nodes of a fleet; what receivers answered
mod sender; // the queue of a receiver, and the retries
mod watch; // the task that reads the state, and sends the events of a fleet
