//! Records for the store: violations and fetches of robots.txt.

use std::{borrow::Cow, net::IpAddr};

use jiff::Timestamp;
use parking_lot::Mutex;
use uuid::{ContextV7, Uuid};

use crate::{
    base::text::Text,
    clients::conduct::{Fetches, Network, Reading, Weighed},
    records::{
        record::{self, Fetch, Robots, RobotsRead, Violation},
        tally::{Places, ReadState},
    },
    rules::{
        crawlers::{Crawler, Name},
        enforce::{Judgement, Site},
        policy,
    },
};

use super::{broken::Broken, page, privacy::Privacy, visit::Visit};

/// The maker of records, with the privacy settings of the policy.
#[derive(Debug)]
pub(super) struct Recorder {
    privacy: Privacy,
    redact_query: Vec<String>,
    ids: Mutex<ContextV7>,
}

impl Recorder {
    pub(super) fn new(settings: &policy::Violations) -> Self {
        Self {
            privacy: Privacy::new(settings.client_ip),
            redact_query: settings.redact_query.clone(),
            ids: Mutex::new(ContextV7::new()),
        }
    }

    /// The record of a decision against a request, without the status.
    pub(super) fn violation(
        &self,
        id: Text,
        visit: &Visit<'_>,
        weighed: &Weighed<'_>,
        judgement: &Judgement<'_>,
        broken: &Broken<'_>,
    ) -> Violation {
        let (decision, site) = (&weighed.decision, visit.site);
        let known = judgement.name.and_then(Name::known);
        let path = self.redact(visit.request.target);
        let user_agent = visit.request.user_agent().unwrap_or_default();
        let readings = judgement.name.map(|name| visit.readings(name, decision.standing.outcome));
        Violation {
            schema: record::SCHEMA,
            id,
            time: visit.now(),
            site: site.name.as_str().into(),
            client_ip: self.client_ip(visit.client.address, visit.now()),
            method: visit.request.method.as_str().into(),
            host: visit.host().into(),
            path: Text::path(&path),
            user_agent: Text::user_agent(&user_agent),
            product_token: page::name(judgement).into(),
            product_tokens: Text::list(visit.claim.tokens().map(Name::as_str)),
            operator: known.and_then(Crawler::operator).map(Text::from),
            purpose: known.map(|crawler| Text::word(crawler.purpose().as_str())),
            standing: Text::word(decision.standing.outcome.as_str()),
            evidence: decision.standing.evidence.map(|evidence| Text::word(evidence.as_str())),
            verdict: Text::word(decision.access.as_str()),
            reason: Text::word(decision.reason.as_str()),
            action: Text::word(decision.action.as_str()),
            status: 0,
            robots: robots(site, judgement, broken),
            robots_read: robots_read(site, readings.and_then(|readings| readings.last())),
        }
    }

    /// An address as the policy wants it recorded.
    pub(super) fn client_ip(&self, address: IpAddr, now: Timestamp) -> Text {
        self.privacy.shown(address, now)
    }

    /// A target or a URL without the values that the policy wants hidden.
    pub(super) fn redact<'t>(&self, target: &'t [u8]) -> Cow<'t, [u8]> {
        record::redact_query(target, &self.redact_query)
    }

    /// The places of a violation in the counts by hour.
    pub(super) fn places(&self, visit: &Visit<'_>) -> Places {
        let path = visit.request.target.split(|octet| *octet == b'?').next().unwrap_or_default();
        let network = self.privacy.place(Network::of(visit.client.address));
        Places { path: Text::field(path), network }
    }

    /// The row of fetches of robots.txt.
    pub(super) fn fetch(&self, fetches: Fetches, now: Timestamp) -> Fetch {
        Fetch {
            site: fetches.site.as_str().into(),
            product_token: fetches.product_token.as_str().into(),
            network: self.privacy.network(fetches.network, now),
            standing: Text::word(fetches.outcome.as_str()),
            edition: fetches.edition.to_string().into(),
            first: fetches.first,
            last: fetches.last,
            count: u64::from(fetches.count),
            interval: fetches.interval,
        }
    }

    /// A UUIDv7 (RFC 9562 §5.7): ids sort by time, and within one millisecond by their order.
    pub(super) fn id(&self, now: Timestamp) -> Text {
        let seconds = u64::try_from(now.as_second()).unwrap_or_default();
        let nanoseconds = u32::try_from(now.subsec_nanosecond()).unwrap_or_default();
        let context = self.ids.lock();
        let id = Uuid::new_v7(uuid::Timestamp::from_unix(&*context, seconds, nanoseconds));
        drop(context);
        id.to_string().into()
    }
}

/// The last fetch of robots.txt by the client.
pub fn robots_read(site: &Site, last: Option<Reading>) -> RobotsRead {
    match last {
        None => RobotsRead { state: ReadState::Never, edition: None, at: None },
        Some(reading) => RobotsRead {
            state: read_state(site, reading),
            edition: Some(reading.edition.to_string().into()),
            at: reading.at(),
        },
    }
}

/// How the edition of the last fetch relates to the one in force.
pub(super) fn read_state(site: &Site, last: Reading) -> ReadState {
    match site.timeline.is_current(last.edition) {
        true => ReadState::Current,
        false => ReadState::Older,
    }
}

fn robots(site: &Site, judgement: &Judgement<'_>, broken: &Broken<'_>) -> Robots {
    let matcher = site.edition().matcher();
    let group = judgement.group.map(|group| matcher.tokens(group)).unwrap_or_default();
    Robots {
        edition: broken.edition.as_ref().into(),
        line: broken.line,
        directive: broken.directive.as_ref().into(),
        pattern: Text::path(broken.pattern.as_bytes()),
        group: Text::list(group),
    }
}
