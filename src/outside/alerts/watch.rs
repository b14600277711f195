//! The task that reads the state every few seconds and hands new events to the receivers, and which of the
//! events that the fleet's server keeps are sent by this node.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use jiff::Timestamp;
use tokio::{sync::watch, time::interval};

use super::{
    conditions::{Offender, State, Watcher},
    event::{Event, Message},
    receiver::Receiver,
    relay::{Handed, REPORT, Relay},
    sender::{News, Sender},
};
use crate::{base::metrics::Metrics, rules::policy::AlertKind};

/// How often the state is read.
pub const EVERY: Duration = Duration::from_secs(2);

struct Alarm {
    receiver: Receiver,
    key: String,
    watcher: Watcher,
    sender: Sender,
    dispatch: Dispatch,
}

/// Watches until `receivers` ends. A change of the receivers keeps those that stay as they are.
/// `read` reads the state; `known` are the offenders of earlier runs. In a fleet, the events go through
/// `relay` to the node that sends them.
pub async fn run(
    mut receivers: watch::Receiver<Vec<Receiver>>,
    known: BTreeSet<Offender>,
    read: impl Fn() -> State,
    relay: &Relay,
    metrics: &Arc<Metrics>,
) {
    let start = Instant::now();
    let mut alarms: Vec<Alarm> = Vec::new();
    let present = receivers.borrow_and_update().clone();
    // At the start nothing has happened, even if requests came since.
    let exits = (relay, metrics);
    follow(&mut alarms, present, &known, (&State::default(), start.elapsed()), exits);
    let mut ticks = interval(EVERY);
    loop {
        tokio::select! {
            changed = receivers.changed() => {
                if changed.is_err() {
                    return;
                }
                let present = receivers.borrow_and_update().clone();
                follow(&mut alarms, present, &known, (&read(), start.elapsed()), exits);
            }
            _ = ticks.tick(), if !alarms.is_empty() => {
                let (state, since_start) = (read(), start.elapsed());
                send_kept(&mut alarms, relay, since_start, metrics);
                for alarm in &mut alarms {
                    alarm.look(&state, since_start, exits);
                }
                if !relay.is_shared.load(Ordering::Relaxed) {
                    for Handed { id, webhook, event, .. } in relay.take_back() {
                        if let Some(alarm) = alarms.iter().find(|alarm| alarm.key == webhook) {
                            alarm.send(id, event, metrics);
                        }
                    }
                }
            }
        }
    }
}

/// Sends what the fleet's server keeps for the receivers, and settles what needs no more sending. What is
/// for a receiver that this node does not have stays at the server.
fn send_kept(alarms: &mut [Alarm], relay: &Relay, since_start: Duration, metrics: &Metrics) {
    for alarm in alarms.iter_mut() {
        while let Ok(news) = alarm.sender.news.try_recv() {
            match news {
                News::Answered(answer) => {
                    let to = format!("alerts to {}", alarm.receiver.alert.shown());
                    relay.note(&alarm.key, to, answer);
                }
                News::Finished(id) if alarm.dispatch.finish(&id) => relay.settle(id),
                News::Finished(_) => {}
            }
        }
    }
    for Handed { id, webhook, is_own, mut event } in relay.kept() {
        let alarm = alarms.iter_mut().find(|alarm| alarm.key == webhook);
        // Without room it waits at the server.
        let Some(alarm) = alarm.filter(|alarm| alarm.sender.queue.capacity() > 0) else { continue };
        if event.kind == AlertKind::NewOffender.as_str() {
            if !is_own {
                // An own event tells of them, unless one did.
                if alarm.watcher.has_told(&event) {
                    relay.settle(id);
                }
                continue;
            }
            // Each names others.
            event.subject.clone_from(&id);
        }
        match alarm.dispatch.step(&id, &event, since_start) {
            Step::Send => alarm.send(id, event, metrics),
            Step::Keep => {}
            Step::Settle => relay.settle(id),
        }
    }
}

/// Replaces the receivers. One with the same settings and secret keeps its conditions and queue. What
/// `state` has counted is no event for a new one.
fn follow(
    alarms: &mut Vec<Alarm>,
    receivers: Vec<Receiver>,
    known: &BTreeSet<Offender>,
    (state, since_start): (&State, Duration),
    (relay, metrics): (&Relay, &Arc<Metrics>),
) {
    let mut before = std::mem::take(alarms);
    for receiver in receivers {
        let same = before.iter().position(|alarm| alarm.receiver.is_same(&receiver));
        alarms.push(match same {
            Some(at) => before.swap_remove(at),
            None => {
                let watcher = Watcher::new(&receiver.alert, known.clone());
                let sender = Sender::start(receiver.clone(), Arc::clone(metrics));
                let (key, dispatch) = (receiver.key(), Dispatch::default());
                let mut alarm = Alarm { receiver, key, watcher, sender, dispatch };
                alarm.look(state, since_start, (relay, metrics));
                alarm
            }
        });
    }
    let is_here = |key: &str| alarms.iter().any(|alarm| alarm.key == key);
    relay.retain(|key| key.starts_with(REPORT) || is_here(key));
}

impl Alarm {
    /// Sends what begins, or hands it over to the fleet's server.
    fn look(
        &mut self,
        state: &State,
        since_start: Duration,
        (relay, metrics): (&Relay, &Arc<Metrics>),
    ) {
        for event in self.watcher.look(state, Timestamp::now(), since_start) {
            let (id, webhook) = (Message::new_id(), self.key.clone());
            match relay.is_shared.load(Ordering::Relaxed) {
                true => relay.hand_over(Handed { id, webhook, is_own: true, event }),
                false => self.send(id, event, metrics),
            }
        }
    }

    fn send(&self, id: String, event: Event, metrics: &Metrics) {
        let kind = event.kind;
        if self.sender.queue.try_send(Message { id, event }).is_err() {
            let to = self.receiver.alert.shown();
            let (webhook, event) = (to.as_ref(), kind);
            tracing::error!(webhook, event, "alert dropped: too many wait for this receiver");
            metrics.alert_lost(webhook);
        }
    }
}

/// How long an event stands for others about the same thing. Nodes raise them at least ten minutes apart,
/// but look every two seconds.
const QUIET: Duration = Duration::from_secs(590);

#[derive(Debug, Default)]
pub(super) struct Dispatch {
    /// The last one about each thing, by kind and subject.
    last: BTreeMap<(&'static str, String), Last>,
}

#[derive(Debug)]
struct Last {
    id: String,
    at: Duration,
    is_finished: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It is for the sender.
    Send,
    /// It stays at the server: it is on its way, or one about the same thing is.
    Keep,
    /// One about the same thing was sent.
    Settle,
}

impl Dispatch {
    /// What to do with an event that the server keeps. One to send counts as given to the sender.
    pub(super) fn step(&mut self, id: &str, event: &Event, since_start: Duration) -> Step {
        let is_quiet = |last: &Last| since_start.saturating_sub(last.at) < QUIET;
        self.last.retain(|_, last| !last.is_finished || is_quiet(last));
        let key = (event.kind, event.subject.clone());
        match self.last.get(&key) {
            Some(last) if last.is_finished && last.id != id => Step::Settle,
            Some(_) => Step::Keep,
            None => {
                let last = Last { id: id.to_owned(), at: since_start, is_finished: false };
                self.last.insert(key, last);
                Step::Send
            }
        }
    }

    /// Notes that the sender is done with an event. Whether it was one of the fleet's.
    pub(super) fn finish(&mut self, id: &str) -> bool {
        let last = self.last.values_mut().find(|last| last.id == id && !last.is_finished);
        last.map(|last| last.is_finished = true).is_some()
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::rules::policy::AlertKind;

    #[test]
    fn of_events_about_one_thing_one_is_sent_and_the_others_wait_until_it_is_accepted() {
        let event = |subject: &str| {
            let kind = AlertKind::BreakerOpen;
            Event::new(kind, subject, Timestamp::UNIX_EPOCH, String::new(), json!({}))
        };
        let mut dispatch = Dispatch::default();
        let step = |dispatch: &mut Dispatch, id: &str, subject: &str, second: u64| {
            dispatch.step(id, &event(subject), Duration::from_secs(second))
        };
        assert_eq!(step(&mut dispatch, "a", "x", 0), Step::Send);
        assert_eq!(step(&mut dispatch, "a", "x", 2), Step::Keep);
        assert_eq!(step(&mut dispatch, "b", "x", 2), Step::Keep, "its twin was not accepted");
        assert_eq!(step(&mut dispatch, "c", "y", 2), Step::Send);
        // The next node that sends knows nothing of the first one's.
        assert_eq!(step(&mut Dispatch::default(), "b", "x", 3), Step::Send);
        assert!(dispatch.finish("a") && !dispatch.finish("a") && !dispatch.finish("elsewhere"));
        assert_eq!(step(&mut dispatch, "a", "x", 4), Step::Keep, "the server removes it");
        assert_eq!(step(&mut dispatch, "b", "x", 4), Step::Settle);
        // The same node raises it again.
        assert_eq!(step(&mut dispatch, "d", "x", 599), Step::Send);
        // One that takes long to be accepted is sent once.
        assert_eq!(step(&mut dispatch, "c", "y", 1_300), Step::Keep);
    }
}
