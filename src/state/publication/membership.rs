//! The publisher in a fleet: it waits for the other nodes before it serves a new edition.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::sync::oneshot;

use crate::{
    base::diagnostic::Diagnostic,
    rules::{enforce::Edition, policy::Alone},
};

use super::{
    change::{Change, InForce, next},
    fellowship::{self, FleetPort, Learned, Spread},
    publisher::Publisher,
};

/// The least time between two attempts to serve what was held.
const RETRY: Duration = Duration::from_secs(5);

impl Publisher {
    /// Joins a fleet. From now on, new editions are announced to the returned port.
    pub fn join_fleet(&mut self) -> FleetPort {
        let (ends, port) = fellowship::channel();
        self.fleet = Some(ends);
        self.handles.clock.hold();
        self.handles.fellowship.is_member.store(true, Ordering::Relaxed);
        port
    }

    /// Waits at the start for `loaded`, which says that the exchange knows what the others serve or that
    /// it can't, for at most `limit`. Then announces the editions in force. Nothing may be served before.
    pub async fn meet_fleet(&mut self, loaded: oneshot::Receiver<()>, limit: Duration) -> bool {
        let Some(mut ends) = self.fleet.take() else { return true };
        let loaded = ends.wait(loaded, limit, |learned| self.take_learned(learned)).await;
        let is_loaded = loaded.is_some();
        if is_loaded {
            let sites = self.in_force.rulebook.sites().iter();
            let editions =
                sites.map(|site| (site.name.clone(), Arc::clone(site.timeline.current())));
            ends.announce(editions.collect(), |learned| self.take_learned(learned)).await;
        }
        self.fleet = Some(ends);
        is_loaded
    }

    /// Publishes a change of the origins' files. In a fleet, the others hear of new editions first.
    pub(super) async fn announce_and_publish(&mut self, change: Change) {
        match self.announce(&change).await {
            Ok(()) => self.publish(change),
            Err(finding) => tracing::warn!(code = "fleet.holds", "{}", finding.message),
        }
    }

    /// Tells the other nodes of a fleet about the new editions of a change, and waits until they know
    /// them.
    ///
    /// # Errors
    /// This node is alone. If it served other rules, the others would record
    /// crawlers that obey them. They wait until it hears of the others.
    pub(super) async fn announce(&mut self, change: &Change) -> Result<(), Diagnostic> {
        let Some(mut ends) = self.fleet.take() else { return Ok(()) };
        let after = next(&self.in_force, change.clone(), self.handles.clock.moment());
        let editions = new_editions(&self.in_force, &after);
        let sites = editions.len();
        let mut spread = Spread::Known;
        if sites > 0 {
            tracing::debug!(sites, "new editions are announced to the fleet");
            spread = ends.announce(editions, |learned| self.take_learned(learned)).await;
        }
        self.fleet = Some(ends);
        let fleet = self.in_force.policy.fleet.as_ref();
        let waits = fleet.is_some_and(|fleet| fleet.alone == Alone::Excuse);
        match spread {
            Spread::Known => {}
            Spread::Alone if waits => {
                self.handles.fellowship.holds.store(true, Ordering::Relaxed);
                let message = "new robots rules wait: this node hears nothing of its fleet";
                return Err(Diagnostic::error("fleet.holds", message).help(
                    "restore the connection to 'fleet.shared'; then they are served by themselves",
                ));
            }
            Spread::Alone | Spread::Unknown => tracing::warn!(
                code = "fleet.unannounced",
                sites,
                "new editions are served although not every node has heard of them"
            ),
        }
        Ok(())
    }

    /// Whether editions waited for the fleet, and are to be tried again: at once, and then once in
    /// [`RETRY`] where the contact comes and goes.
    pub(super) fn stops_holding(&mut self) -> bool {
        let (fellowship, steady) = (&self.handles.fellowship, self.handles.clock.moment().steady);
        !fellowship.is_alone() && is_due(&mut self.next_retry, &fellowship.holds, steady)
    }

    /// Judges by the editions of other nodes from now on.
    pub(super) fn take_learned(&mut self, learned: Learned) {
        let Learned { editions, taken } = learned;
        self.publish(Change::Learned(editions));
        // The exchange may have ended.
        let _ = taken.send(());
    }
}

/// Whether something is held, and to be tried now. Then nothing is held, and the next attempt is due in
/// [`RETRY`].
fn is_due(next: &mut Duration, holds: &AtomicBool, steady: Duration) -> bool {
    let is_due = steady >= *next && holds.swap(false, Ordering::Relaxed);
    if is_due {
        *next = steady.saturating_add(RETRY);
    }
    is_due
}

fn new_editions(before: &InForce, after: &InForce) -> Vec<(String, Arc<Edition>)> {
    let was_served = |name: &str, edition: &Edition| {
        let mut sites = before.rulebook.sites().iter();
        sites.any(|site| site.name == name && site.edition().id() == edition.id())
    };
    let sites = after.rulebook.sites().iter();
    let new = sites.filter(|site| !was_served(&site.name, site.edition()));
    new.map(|site| (site.name.clone(), Arc::clone(site.timeline.current()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_tried_at_once_and_then_once_in_five_seconds() {
        let (mut next, holds) = (Duration::ZERO, AtomicBool::new(false));
        let mut tried = Vec::new();
        // Each attempt fails, and so does each reload between two of them: both hold again.
        for tick in 0..80 {
            holds.store(tick >= 6, Ordering::Relaxed);
            let steady = Duration::from_millis(250 * tick);
            if is_due(&mut next, &holds, steady) {
                tried.push(tick);
            }
        }
        assert_eq!(tried, [6, 26, 46, 66]);
        holds.store(false, Ordering::Relaxed);
        assert!(!is_due(&mut next, &holds, Duration::from_secs(60)), "nothing is held");
        holds.store(true, Ordering::Relaxed);
        assert!(is_due(&mut next, &holds, Duration::from_secs(60)), "the pause is over");
    }
}
