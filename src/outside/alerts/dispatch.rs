//! Which of the events that the fleet's server keeps is sent by this node, and which needs no sending.
//! Pure.

use std::{collections::BTreeMap, time::Duration};

use super::event::Event;

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
            let key = (AlertKind::BreakerOpen, subject.to_owned());
            Event::new(key, Timestamp::UNIX_EPOCH, String::new(), json!({}))
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
