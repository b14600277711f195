//! The events of all nodes, which the server keeps until they were sent.

use crate::{
    outside::alerts::{Event, Handed},
    rules::policy::AlertKind,
    state::fleet::{Notice, Shift, VERSION, json},
};

use super::member::Member;

const MOST: usize = 256;

impl Member {
    /// The events that the server does not have, by their ids.
    pub(super) fn notices(&self, handed: &[Handed], shift: Shift) -> Vec<(String, String)> {
        let notice = |Handed { id, webhook, event, .. }: &Handed| {
            let notice = Notice {
                v: VERSION,
                node: self.gossip.node.clone(),
                run: self.gossip.run.clone(),
                kind: event.kind.to_owned(),
                subject: event.subject.clone(),
                at: shift.told(event.at),
                summary: event.summary.clone(),
                details: event.details.clone(),
                webhook: webhook.clone(),
            };
            (id.clone(), json(&notice))
        };
        handed.iter().map(notice).collect()
    }

    /// Takes what the server keeps, if this node sends the events of all.
    pub(super) fn take_notices(&self, mut kept: Vec<(String, Vec<u8>)>, shift: Shift) {
        let alerts = &self.handles.fellowship.alerts;
        if !self.progress.has_lease {
            alerts.keep(Vec::new());
            return;
        }
        // Ids grow with time.
        kept.sort();
        let excess = kept.len().saturating_sub(MOST);
        if excess > 0 {
            tracing::error!(count = excess, "alerts dropped: too many wait at the fleet's server");
        }
        for (id, _) in kept.drain(..excess) {
            alerts.settle(id);
        }
        // A node of a newer version reads the others.
        let known =
            kept.into_iter().filter_map(|(id, text)| self.handed(id, Notice::read(&text)?, shift));
        alerts.keep(known.collect());
    }

    fn handed(&self, id: String, notice: Notice, shift: Shift) -> Option<Handed> {
        let Notice { node, run, kind, subject, at, summary, mut details, webhook, .. } = notice;
        let alert = AlertKind::from_word(&kind)?;
        // Two nodes may have the same trouble, and each has to be repaired.
        let is_of_the_node = alert == AlertKind::StoreTrouble;
        let subject = if is_of_the_node { format!("{subject} {node}") } else { subject };
        details.insert("node".to_owned(), node.into());
        let event = Event { kind: alert.as_str(), subject, at: shift.own(at), summary, details };
        Some(Handed { id, webhook, is_own: run == self.gossip.run, event })
    }
}
