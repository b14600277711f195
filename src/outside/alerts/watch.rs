//! The task that reads the state every few seconds and hands new events to the webhooks.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use tokio::{sync::watch, time::interval};

use crate::base::metrics::Metrics;

use super::{
    conditions::Watcher,
    event::Event,
    offenders::Offender,
    relay::{Handed, Relay},
    sender::Sender,
    state::State,
    webhook::{Message, Webhook},
};

/// How often the state is read.
pub const EVERY: Duration = Duration::from_secs(2);

/// A webhook with its conditions and its queue.
struct Alarm {
    webhook: Webhook,
    watcher: Watcher,
    sender: Sender,
    /// The events of the fleet that wait for the sender, or that it has finished.
    taken: BTreeSet<String>,
}

/// Watches until `webhooks` ends. A change of the webhooks keeps those that stay as they are.
/// `read` reads the state; `known` are the offenders of earlier runs. In a fleet, the events go through
/// `relay` to the node that sends them.
pub async fn run(
    mut webhooks: watch::Receiver<Vec<Webhook>>,
    known: BTreeSet<Offender>,
    read: impl Fn() -> State,
    relay: &Relay,
    metrics: &Arc<Metrics>,
) {
    let start = Instant::now();
    let mut alarms: Vec<Alarm> = Vec::new();
    let present = webhooks.borrow_and_update().clone();
    // At the start nothing has happened, even if requests came since.
    follow(&mut alarms, present, &known, (&State::default(), start.elapsed()), metrics);
    let mut ticks = interval(EVERY);
    loop {
        tokio::select! {
            changed = webhooks.changed() => {
                if changed.is_err() {
                    return;
                }
                let present = webhooks.borrow_and_update().clone();
                follow(&mut alarms, present, &known, (&read(), start.elapsed()), metrics);
            }
            _ = ticks.tick(), if !alarms.is_empty() => {
                let (state, since_start) = (read(), start.elapsed());
                send_kept(&mut alarms, relay, since_start, metrics);
                let is_shared = relay.is_shared();
                for (webhook, alarm) in alarms.iter_mut().enumerate() {
                    for event in alarm.look(&state, since_start) {
                        let id = Message::new_id();
                        match is_shared {
                            true => relay.hand_over(Handed { id, webhook, is_own: true, event }),
                            false => alarm.send(id, &event, metrics),
                        }
                    }
                }
                if !is_shared {
                    for Handed { id, webhook, event, .. } in relay.take_back() {
                        if let Some(alarm) = alarms.get(webhook) {
                            alarm.send(id, &event, metrics);
                        }
                    }
                }
            }
        }
    }
}

/// Sends what the fleet's server keeps for the webhooks, and settles what needs no more sending.
fn send_kept(alarms: &mut [Alarm], relay: &Relay, since_start: Duration, metrics: &Metrics) {
    for alarm in alarms.iter_mut() {
        while let Some(id) = alarm.sender.next_finished() {
            if alarm.taken.contains(&id) {
                relay.settle(id);
            }
        }
    }
    let kept = relay.kept();
    for alarm in alarms.iter_mut() {
        alarm.taken.retain(|id| kept.iter().any(|one| one.id == *id));
    }
    for Handed { id, webhook, is_own, event } in kept {
        let Some(alarm) = alarms.get_mut(webhook) else {
            relay.settle(id);
            continue;
        };
        // Without room it waits at the server.
        if alarm.taken.contains(&id) || !alarm.sender.has_room() {
            continue;
        }
        if is_own || alarm.watcher.hears(&event, since_start) {
            alarm.send(id.clone(), &event, metrics);
            alarm.taken.insert(id);
        } else {
            relay.settle(id);
        }
    }
}

/// Replaces the webhooks. One with the same settings and secret keeps its conditions and queue. What
/// `state` has counted is no event for a new one.
fn follow(
    alarms: &mut Vec<Alarm>,
    webhooks: Vec<Webhook>,
    known: &BTreeSet<Offender>,
    (state, since_start): (&State, Duration),
    metrics: &Arc<Metrics>,
) {
    let mut before = std::mem::take(alarms);
    for webhook in webhooks {
        let same = before.iter().position(|alarm| alarm.webhook.is_same(&webhook));
        alarms.push(match same {
            Some(at) => before.swap_remove(at),
            None => {
                let watcher = Watcher::new(&webhook.alert, known.clone());
                let sender = Sender::start(webhook.clone(), Arc::clone(metrics));
                let mut alarm = Alarm { webhook, watcher, sender, taken: BTreeSet::new() };
                for event in alarm.look(state, since_start) {
                    alarm.send(Message::new_id(), &event, metrics);
                }
                alarm
            }
        });
    }
}

impl Alarm {
    fn look(&mut self, state: &State, since_start: Duration) -> Vec<Event> {
        self.watcher.look(state, Timestamp::now(), since_start)
    }

    /// Sends an event.
    fn send(&self, id: String, event: &Event, metrics: &Metrics) {
        if !self.sender.send(Message::new(id, event)) {
            let (webhook, event) = (self.webhook.alert.url.shown(), event.kind);
            tracing::error!(webhook, event, "alert dropped: too many wait for this webhook");
            metrics.alert_lost(webhook);
        }
    }
}
