//! The task that reads the state every few seconds and hands new events to the webhooks.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use tokio::{sync::watch, time::interval};

use super::{
    conditions::Watcher,
    event::Event,
    offenders::Offender,
    relay::{Handed, Relay},
    sender::Sender,
    state::State,
    webhook::Webhook,
};

/// How often the state is read.
pub const EVERY: Duration = Duration::from_secs(2);

/// A webhook with its conditions and its queue.
struct Alarm {
    webhook: Webhook,
    watcher: Watcher,
    sender: Sender,
}

/// Watches until `webhooks` ends. A change of the webhooks keeps those that stay as they are.
/// `read` reads the state; `known` are the offenders of earlier runs. In a fleet, `relay` takes the
/// events to the node that sends them.
pub async fn run(
    mut webhooks: watch::Receiver<Vec<Webhook>>,
    known: BTreeSet<Offender>,
    read: impl Fn() -> State,
    relay: &Relay,
) {
    let start = Instant::now();
    let mut alarms: Vec<Alarm> = Vec::new();
    let present = webhooks.borrow_and_update().clone();
    // At the start nothing has happened, even if requests came since.
    follow(&mut alarms, present, &known, &State::default(), start.elapsed());
    let mut ticks = interval(EVERY);
    loop {
        tokio::select! {
            changed = webhooks.changed() => {
                if changed.is_err() {
                    return;
                }
                let present = webhooks.borrow_and_update().clone();
                follow(&mut alarms, present, &known, &read(), start.elapsed());
            }
            _ = ticks.tick(), if !alarms.is_empty() => {
                let (state, since_start) = (read(), start.elapsed());
                for Handed { webhook, event } in relay.take_received() {
                    if let Some(alarm) = alarms.get_mut(webhook)
                        && alarm.watcher.hears(&event, since_start)
                    {
                        alarm.sender.send(&event);
                    }
                }
                for (webhook, alarm) in alarms.iter_mut().enumerate() {
                    for event in alarm.look(&state, since_start) {
                        match relay.is_sent_elsewhere() {
                            true => relay.hand_over(Handed { webhook, event }),
                            false => alarm.sender.send(&event),
                        }
                    }
                }
            }
        }
    }
}

/// Replaces the webhooks. One with the same settings and secret keeps its conditions and queue. What
/// `state` has counted is no event for a new one.
fn follow(
    alarms: &mut Vec<Alarm>,
    webhooks: Vec<Webhook>,
    known: &BTreeSet<Offender>,
    state: &State,
    since_start: Duration,
) {
    let mut before = std::mem::take(alarms);
    for webhook in webhooks {
        let same = before.iter().position(|alarm| alarm.webhook.is_same(&webhook));
        alarms.push(match same {
            Some(at) => before.swap_remove(at),
            None => {
                let watcher = Watcher::new(&webhook.alert, known.clone());
                let sender = Sender::start(webhook.clone());
                let mut alarm = Alarm { webhook, watcher, sender };
                for event in alarm.look(state, since_start) {
                    alarm.sender.send(&event);
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
}
