//! What this node tells: what its requests changed, the editions that it serves, its report, and events
//! for the operator, which the server keeps until they were sent.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use crate::{
    base::version,
    clients::conduct::Observations,
    outside::alerts::{Event, Handed},
    rules::{
        enforce::{Edition, Moment},
        policy::AlertKind,
    },
    state::{
        fleet::{Notice, Report, Served, Shift, Statement, Told, VERSION, json},
        publication::{Announcement, Spread},
    },
};

use super::member::{Announced, Member};

/// How long an announced edition counts before it is published.
const ANNOUNCED: Duration = Duration::from_secs(30);

impl Member {
    pub(super) fn take_announcement(&mut self, announcement: Announcement) {
        let Announcement { editions, known } = announcement;
        let until = self.moment().steady.saturating_add(ANNOUNCED);
        self.announced.push(Announced { editions, known: Some(known), number: None, until });
        self.answer_announcements();
    }

    /// Answers the announcements that everybody here has read, and all while the server is away. A node
    /// that misses others is alone nevertheless. Forgets those that are published.
    pub(super) fn answer_announcements(&mut self) {
        let moment = self.moment();
        let (is_alone, is_away) = (self.is_alone(), !self.is_heard());
        let now = self.fleet_time(moment).map(|(now, _)| now);
        let published = self.handles.published.load();
        for one in &mut self.announced {
            let position = one.number.and_then(|number| self.progress.positions.get(&number));
            let is_read = position
                .zip(now)
                .is_some_and(|(position, now)| self.state.roster.have_read(*position, now));
            if (is_read || is_alone && is_away)
                && let Some(known) = one.known.take()
            {
                // The publisher waits no longer than it wants.
                let _ = known.send(if is_alone { Spread::Alone } else { Spread::Known });
            }
        }
        let is_served = |(site, edition): &(String, Arc<Edition>)| {
            let mut sites = published.rulebook.sites().iter();
            sites.any(|other| other.name == *site && other.edition().id() == edition.id())
        };
        self.announced.retain(|one| {
            one.until > moment.steady
                && (one.known.is_some() || !one.editions.iter().all(is_served))
        });
    }

    pub(super) fn collect(&mut self, moment: Moment, (now, shift): (i64, Shift)) {
        if self.gossip.has_room() {
            let observations = self.handles.conduct.collect(moment);
            self.kept.keep(&observations);
            self.gossip.collect(Told::of(observations, shift), now);
        }
    }

    /// Tells everything again that registers keep: the server has lost it.
    pub(super) fn tell_again(&mut self, now: i64, shift: Shift) {
        let ledger = &self.handles.conduct.ledger;
        let (fetches, forgotten) = (ledger.all(), ledger.forgotten());
        let all = Observations { fetches, forgotten, ..self.kept.all() };
        self.rewrites = true;
        self.gossip.collect(Told::of(all, shift), now);
        self.written.clear();
        self.statement = Statement::default();
        self.dues.report = Duration::ZERO;
    }

    /// The editions that this node serves or is about to serve, by site and name.
    fn served(&self) -> BTreeMap<(String, String), Arc<Edition>> {
        let published = self.handles.published.load();
        let sites = published.rulebook.sites().iter();
        let current = sites.map(|site| (site.name.clone(), Arc::clone(site.timeline.current())));
        let announced = self.announced.iter().flat_map(|one| one.editions.iter().cloned());
        let all = current.chain(announced);
        all.map(|(site, edition)| ((site, edition.id().to_string()), edition)).collect()
    }

    /// States the editions if they changed. Returns those whose bytes the server lacks.
    pub(super) fn state_editions(&mut self, now: i64) -> Vec<(String, bytes::Bytes)> {
        let served = self.served();
        let stated = self.statement.editions.iter();
        let before: BTreeMap<(&str, &str), i64> =
            stated.map(|one| ((one.site.as_str(), one.edition.as_str()), one.since)).collect();
        let is_same = before.len() == served.len()
            && served.keys().all(|(site, id)| before.contains_key(&(site.as_str(), id.as_str())));
        if !is_same || self.statement.at == 0 {
            let editions = served.keys().map(|(site, edition)| {
                let since = before.get(&(site.as_str(), edition.as_str())).copied();
                let since = since.unwrap_or(now);
                Served { site: site.clone(), edition: edition.clone(), since }
            });
            // A later statement has a later time, also after the server's clock was set back.
            let at = now.max(self.progress.stated_at.saturating_add(1));
            self.progress.stated_at = at;
            let statement = Statement { at, editions: editions.collect() };
            self.progress.stated = self.gossip.state(statement.clone(), now);
            self.statement = statement;
            self.dues.report = Duration::ZERO;
        }
        let stated = self.progress.stated;
        for one in &mut self.announced {
            one.number = one.number.or(Some(stated));
        }
        let new = served.into_iter().filter(|((_, id), _)| !self.written.contains(id));
        new.map(|((_, id), edition)| (id, edition.bytes().clone())).collect()
    }

    /// The report of this node. Trouble with the exchange is not in it: then no report arrives.
    pub(super) fn report(&self, now: i64, shift: Shift) -> Report {
        let published = self.handles.published.load();
        let destinations = self.handles.sink.destinations().into_iter();
        let stores =
            destinations.filter(|(_, health)| *health != crate::records::violations::Health::Ok);
        let stores = stores.map(|(destination, _)| format!("{destination} is not written"));
        Report {
            v: VERSION,
            node: self.gossip.node.clone(),
            run: self.gossip.run.clone(),
            at: now,
            started: self.progress.started.unwrap_or(now),
            version: version::NUMBER.to_owned(),
            policy: published.policy.policy.shown_fingerprint().to_owned(),
            degraded: stores.collect(),
            lag: self.state.roster.lag(now),
            offset: -shift.0,
            serves: self.statement.clone(),
        }
    }
}

const MOST_NOTICES: usize = 256;

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
        let excess = kept.len().saturating_sub(MOST_NOTICES);
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
