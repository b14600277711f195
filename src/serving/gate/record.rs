//! Records for the store: violations and fetches of robots.txt.

use std::{borrow::Cow, net::IpAddr};

use jiff::Timestamp;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use uuid::{ContextV7, Uuid};

use crate::{
    base::{escape::hex, text::Text},
    clients::conduct::{Early, Fetches, Network, Reading, Weighed},
    formats::robots::Access,
    records::{
        record::{self, Fetch, Robots, RobotsRead, Violation},
        tally::{Places, ReadState},
    },
    rules::{
        crawlers::{Crawler, Name},
        enforce::{Judgement, Reason, Site},
        policy::{self, ClientIp},
    },
    state::publication::fetch_row,
};

use super::{page, visit::Visit};

/// The violated part of robots.txt, borrowed where that is possible.
pub(super) struct Broken<'a> {
    pub(super) edition: Cow<'a, str>,
    pub(super) line: Option<u32>,
    pub(super) directive: Cow<'a, str>,
    pub(super) pattern: &'a str,
}

impl<'a> Broken<'a> {
    /// The rule that disallows, or the record of a pace.
    pub(super) fn of(site: &'a Site, judgement: &Judgement<'a>, weighed: &Weighed<'a>) -> Self {
        let is_pace =
            weighed.decision.access == Access::Allow && weighed.decision.reason != Reason::Form;
        match weighed.early.as_ref().filter(|_| is_pace).and_then(record_of_pace) {
            Some(pace) => pace,
            None => Self::rule(site, judgement),
        }
    }

    pub(super) fn rule(site: &'a Site, judgement: &Judgement<'a>) -> Self {
        Self {
            edition: site.edition().id_text().into(),
            line: judgement.rule.map(|rule| rule.line),
            directive: judgement.rule.map_or("", |rule| rule.directive.as_str()).into(),
            pattern: judgement.rule.map_or("", |rule| &rule.pattern),
        }
    }
}

fn record_of_pace<'a>(early: &Early<'a>) -> Option<Broken<'a>> {
    let record = early.pace.record?;
    Some(Broken {
        edition: early.pace.edition.to_string().into(),
        line: Some(record.line),
        directive: record.name.to_ascii_lowercase().into(),
        pattern: &record.value,
    })
}

/// The maker of records, with the privacy settings of the policy.
#[derive(Debug)]
pub(super) struct Recorder {
    pub(super) privacy: Privacy,
    redact_query: Vec<String>,
    ids: Mutex<ContextV7>,
}

impl Recorder {
    pub(super) fn new(settings: &policy::Violations) -> Self {
        let (privacy, ids) = (Privacy::new(settings.client_ip), Mutex::new(ContextV7::new()));
        Self { privacy, redact_query: settings.redact_query.clone(), ids }
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
            client_ip: self.privacy.shown(visit.client.address, visit.now()),
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

    /// A target or a URL without the values that the policy wants hidden.
    pub(super) fn redact<'t>(&self, target: &'t [u8]) -> Cow<'t, [u8]> {
        record::redact_query(target, &self.redact_query)
    }

    pub(super) fn places(&self, visit: &Visit<'_>) -> Places {
        let path = visit.request.target.split(|octet| *octet == b'?').next().unwrap_or_default();
        let network = self.privacy.place(Network::of(visit.client.address));
        Places { path: Text::field(path), network }
    }

    pub(super) fn fetch(&self, fetches: Fetches, now: Timestamp) -> Fetch {
        let network = self.privacy.network(fetches.network, now);
        fetch_row(fetches, network)
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

const SECONDS_A_DAY: i64 = 86_400;
/// The octets of a hash in a record.
const HASH_OCTETS: usize = 8;

/// The form of addresses in records (`violations.client_ip`). A hash links the records of one client on one
/// day, but does not identify the client. Its key is random, changes each day (UTC) and at each start, and
/// is never stored.
#[derive(Debug)]
pub(super) struct Privacy {
    client_ip: ClientIp,
    key: Mutex<Key>,
}

#[derive(Debug, Default)]
struct Key {
    day: i64,
    octets: Option<[u8; 32]>,
}

impl Privacy {
    pub(super) fn new(client_ip: ClientIp) -> Self {
        Self { client_ip, key: Mutex::default() }
    }

    /// An address as it appears in a record.
    pub(super) fn shown(&self, address: IpAddr, now: Timestamp) -> Text {
        match self.client_ip {
            ClientIp::Full => address.to_string().as_str().into(),
            ClientIp::Network => Network::of(address).to_string().into(),
            ClientIp::Hash => self.hash(address, now).as_str().into(),
        }
    }

    /// A network as it appears in a record: hashed if addresses are, and never one address if the
    /// policy wants networks.
    pub(super) fn network(&self, network: Network, now: Timestamp) -> Text {
        match (self.client_ip, network.address()) {
            (ClientIp::Hash, Some(address)) => self.hash(address, now).into(),
            (ClientIp::Network, _) => network.widened().to_string().into(),
            _ => network.to_string().into(),
        }
    }

    /// A network as the counts by hour have it: none if addresses are hashed.
    pub(super) fn place(&self, network: Network) -> Text {
        match self.client_ip {
            ClientIp::Hash => Text::word("-"),
            ClientIp::Full | ClientIp::Network => network.to_string().into(),
        }
    }

    fn hash(&self, address: IpAddr, now: Timestamp) -> String {
        let day = now.as_second().div_euclid(SECONDS_A_DAY);
        let mut key = self.key.lock();
        if key.octets.is_none() || key.day != day {
            let mut octets = [0; 32];
            // Without a key there is no hash, and the record has no address.
            key.octets = getrandom::fill(&mut octets).is_ok().then_some(octets);
            key.day = day;
        }
        let Some(octets) = &key.octets else { return "-".to_owned() };
        // Key and address have fixed lengths, so no other pair gives the same input.
        let address = match address {
            IpAddr::V4(address) => address.to_ipv6_mapped(),
            IpAddr::V6(address) => address,
        };
        let digest = Sha256::new().chain_update(octets).chain_update(address.octets()).finalize();
        hex(digest.iter().take(HASH_OCTETS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(client_ip: ClientIp, address: &str) -> String {
        let address = address.parse().expect("an address");
        Privacy::new(client_ip).shown(address, Timestamp::UNIX_EPOCH).to_string()
    }

    #[test]
    fn a_network_is_the_usual_size_for_one_customer() {
        for (address, network) in
            [("192.0.2.77", "192.0.2.0/24"), ("2001:db8:1:2:3::4", "2001:db8:1::/48")]
        {
            assert_eq!(shown(ClientIp::Network, address), network);
            assert_eq!(shown(ClientIp::Full, address), address);
            let of_program = Network::Address(address.parse().expect("an address"));
            let stored = Privacy::new(ClientIp::Network).network(of_program, Timestamp::UNIX_EPOCH);
            assert_eq!(&*stored, network);
        }
    }

    #[test]
    fn a_hash_stays_the_same_for_one_day_and_one_process() {
        let privacy = Privacy::new(ClientIp::Hash);
        let hash = |address: &str, second: i64| {
            let now = Timestamp::from_second(second).expect("a time");
            privacy.shown(address.parse().expect("an address"), now).to_string()
        };
        let first = hash("192.0.2.77", 0);
        assert_eq!(first.len(), 2 * HASH_OCTETS);
        assert_eq!(first, hash("192.0.2.77", SECONDS_A_DAY - 1));
        assert_ne!(first, hash("192.0.2.78", SECONDS_A_DAY - 1));
        assert_ne!(first, hash("192.0.2.77", SECONDS_A_DAY));
        assert_ne!(first, shown(ClientIp::Hash, "192.0.2.77"), "another process has another key");
    }
}
