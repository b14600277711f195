//! Alerts: events that an operator wants to know at once, sent to webhooks.
//!
//! ```text
//! State ─▶ conditions: which events begin ─▶ queue of one webhook ─▶ sender: signed, retried
//! ```
//! A caller reads the [`State`] every few seconds, from counts that exist anyway: no request ever
//! waits for an alert. The conditions are pure. Each webhook has its own conditions, queue and task,
//! so that a dead one delays no other.
//!
//! May use: policy, fronts, fetch, diagnostic, metrics. Must not know: violations, publication, gate, proxy,
//! admin, cli.

pub use self::{
    conditions::Watcher,
    event::Event,
    observation::{
        Certificate, ListTrouble, NotRenewed, Quarantined, Refusal, State, Tally, Trouble,
    },
    offenders::Offender,
    relay::{Handed, Relay},
    watch::{EVERY, run},
    webhook::{Answer, Webhook},
};

mod conditions; // a state -> the events that begin
mod dispatch; // which events of a fleet this node sends
mod event; // one event, as JSON
mod observation; // the state that the conditions look at
mod offenders; // the crawlers that violated the rules before
mod rates; // counts of the last minute
mod relay; // events between the nodes of a fleet
mod sender; // the queue of a webhook, and the retries
mod watch; // the task that reads the state
mod webhook; // one webhook: its secret, one attempt
mod webhook_signature; // the signature of an event
