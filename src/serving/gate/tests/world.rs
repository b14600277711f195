//! A gate over a policy in memory. Time moves by a millisecond with each event, and as far as the
//! test says.

use std::{cell::Cell, path::Path, sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use jiff::Timestamp;

use crate::{
    base::metrics::Metrics,
    clients::{conduct::Conduct, evidence::Verifier},
    formats::robots::OriginFile,
    records::{
        record::Violation,
        violations::{Settings, Sink, Store},
    },
    rules::{
        enforce::{Edition, Elsewhere, Moment},
        policy::Policy,
    },
    serving::gate::{Gate, Reception, Request},
    state::publication::{
        AddressBook, AskedHosts, Change, Clock, FilesBySite, Handles, InForce, ListTroubles,
        Memory, OriginReports, PolicyInForce, Snapshot, next,
    },
};

/// The start of every world, as seconds since the epoch.
const START: i64 = 1_795_000_000;
const TICK: Duration = Duration::from_millis(1);

/// A gate, what is in force, and the time.
pub(super) struct World {
    /// The sections of the policy beside its sites.
    sections: String,
    pub(super) in_force: InForce,
    pub(super) handles: Handles,
    gate: Gate,
    verifier: Option<Arc<Verifier>>,
    addresses: AddressBook,
    since_start: Cell<Duration>,
    /// The status of the origin's response to a target.
    pub(super) origin: fn(&str) -> u16,
    /// The folder of the database, where there is one.
    folder: Option<Arc<tempfile::TempDir>>,
}

/// A request to send.
pub(super) struct Message {
    method: Method,
    target: String,
    host: &'static str,
    peer: String,
    fields: HeaderMap,
}

/// The response, and the record of the request.
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) body: Bytes,
    pub(super) violation: Option<Box<Violation>>,
    fields: Vec<(HeaderName, HeaderValue)>,
}

impl World {
    /// A world with the site `site.example` and these settings of it.
    pub(super) fn of(site: &str) -> Self {
        Self::with_sections("", site)
    }

    /// The same site in a policy with further sections.
    pub(super) fn with_sections(sections: &str, site: &str) -> Self {
        Self::start(sections.to_owned(), &one_site(site), FilesBySite::new(), Duration::ZERO, None)
    }

    /// A world with these sites.
    pub(super) fn of_sites(sites: &str) -> Self {
        Self::start(String::new(), sites, FilesBySite::new(), Duration::ZERO, None)
    }

    /// The site `site.example`, whose origin has this file.
    pub(super) fn with_origin_file(site: &str, file: OriginFile) -> Self {
        let files = FilesBySite::from([("site.example".to_owned(), file)]);
        Self::start(String::new(), &one_site(site), files, Duration::ZERO, None)
    }

    /// The site `site.example` with a database.
    pub(super) fn with_database(site: &str) -> Self {
        Self::with_store("queue: 8192", site)
    }

    /// The site `site.example` with a database and another setting of records.
    pub(super) fn with_store(setting: &str, site: &str) -> Self {
        let folder = Arc::new(tempfile::tempdir().expect("a folder for temporary files"));
        let database = folder.path().join("beadle.db");
        let sections = format!("violations: {{ database: {}, {setting} }}\n", database.display());
        let files = FilesBySite::new();
        Self::start(sections, &one_site(site), files, Duration::ZERO, Some(folder))
    }

    fn start(
        sections: String,
        sites: &str,
        files: FilesBySite,
        since_start: Duration,
        folder: Option<Arc<tempfile::TempDir>>,
    ) -> Self {
        let policy = policy(&sections, sites);
        let moment = moment(since_start);
        let memory = Memory::read(&policy, moment.now).expect("the database can be read");
        let chronicle = memory.chronicle(moment.now);
        let in_force = InForce::first(Arc::clone(&policy), files, chronicle, moment);
        let (metrics, addresses) = (Arc::new(Metrics::new()), AddressBook::default());
        let verifier = Verifier::at_rest(&policy).map(Arc::new);
        let rulebook = Arc::clone(&in_force.rulebook);
        let at_start = PolicyInForce { policy: Arc::clone(&policy), since: moment.now };
        let kept = verifier.clone();
        let published = Snapshot::new(at_start, rulebook, None, kept, &addresses, &metrics);
        let database = policy.violations.local_database().map(Path::to_owned);
        let detail = policy.violations.detail;
        let sink = Sink::start(Settings { database, detail, ..Settings::default() });
        let handles = Handles {
            published: Arc::new(ArcSwap::from_pointee(published)),
            conduct: Arc::new(Conduct::of(memory.ledger())),
            clock: Arc::new(Clock::default()),
            sink: Arc::new(sink.expect("the folder is ours")),
            metrics,
            refused: Arc::default(),
            certificates: Arc::default(),
            origin_reports: OriginReports::default(),
            fellowship: Arc::default(),
            replaced: Arc::default(),
            asked: AskedHosts::default(),
            own_requests: Arc::default(),
            list_troubles: ListTroubles::default(),
            fronts: Arc::default(),
        };
        handles.publish(&in_force, &in_force, verifier.clone(), &addresses);
        handles.remember(policy.violations.client_ip);
        let (gate, since_start) = (Gate::new(&handles, &policy), Cell::new(since_start));
        let origin = |_: &str| 200;
        Self { sections, in_force, handles, gate, verifier, addresses, since_start, origin, folder }
    }

    /// Moves the time to this long after the start.
    pub(super) fn at(&self, since_start: Duration) {
        self.since_start.set(since_start);
    }

    /// Lets time go by.
    pub(super) fn pass(&self, time: Duration) {
        self.since_start.set(self.since_start.get() + time);
    }

    /// Puts another policy in force, with these settings of `site.example`.
    pub(super) fn reload(&mut self, site: &str) {
        let policy = policy(&self.sections, &one_site(site));
        self.change(Change::Policy(policy, FilesBySite::new()));
    }

    /// The origin of `site.example` has another file.
    pub(super) fn fetch_from_origin(&mut self, file: OriginFile) {
        self.change(Change::Origin(FilesBySite::from([("site.example".to_owned(), file)])));
    }

    /// The file of the origin of `site.example` was unknown for too long.
    pub(super) fn give_up(&mut self) {
        self.change(Change::Origin(FilesBySite::new()));
    }

    /// Another node of the fleet serves this file of `site.example`, or served it until now.
    pub(super) fn learn(&mut self, file: &'static str, is_in_force: bool) {
        let edition = Edition::of_bytes(file.into());
        let until = (!is_in_force).then(|| self.now());
        let (site, from) = ("site.example".to_owned(), moment(Duration::ZERO).now);
        let elsewhere = Elsewhere { site, edition: Arc::new(edition), from, until };
        self.change(Change::Learned(vec![elsewhere]));
    }

    /// The node hears of the others until this time.
    pub(super) fn keep_contact(&self, until: Duration, excuses: bool) {
        self.handles.conduct.keep_contact(until, excuses);
    }

    fn change(&mut self, change: Change) {
        self.pass(TICK);
        let after = next(&self.in_force, change, moment(self.since_start.get()));
        self.handles.publish(&self.in_force, &after, self.verifier.clone(), &self.addresses);
        self.in_force = after;
    }

    /// The database, after the end.
    pub(super) fn store(self) -> (Store, Option<Arc<tempfile::TempDir>>) {
        self.handles.sink.close(Duration::from_secs(20));
        let file = self.in_force.policy.violations.local_database().expect("a database");
        (Store::open_read_only(file).expect("it can be read"), self.folder)
    }

    pub(super) fn now(&self) -> Timestamp {
        moment(self.since_start.get()).now
    }

    /// What the database keeps, after the end.
    pub(super) fn memory(self) -> Memory {
        self.handles.sink.close(Duration::from_secs(20));
        let now = moment(self.since_start.get()).now;
        Memory::read(&self.in_force.policy, now).expect("the database can be read")
    }

    /// Deletes the database while it is in use, and waits for the new one.
    pub(super) fn lose_database(&self) {
        let settings = &self.in_force.policy.violations;
        let database = settings.local_database().expect("the world has one");
        std::fs::remove_file(database).expect("it is there");
        let deadline = std::time::Instant::now() + Duration::from_secs(90);
        let is_there = || {
            Store::open_read_only(database)
                .is_ok_and(|store| store.hosts(Timestamp::MIN).is_ok_and(|hosts| !hosts.is_empty()))
        };
        while !is_there() {
            assert!(std::time::Instant::now() < deadline, "waited in vain");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Ends, and starts again with these settings of `site.example` and what the database keeps.
    pub(super) fn restarted(self, site: &str) -> Self {
        let Self { sections, handles, since_start, folder, .. } = self;
        let counts = handles.sink.close(Duration::from_secs(20));
        assert_eq!(counts.dropped, 0);
        let since_start = since_start.get() + TICK;
        Self::start(sections, &one_site(site), FilesBySite::new(), since_start, folder)
    }

    /// The reception of a request, whose response may come later.
    pub(super) fn receive(&self, message: &Message) -> (Reception, Moment) {
        self.pass(TICK);
        let Message { method, target, host, peer, fields } = message;
        let moment = moment(self.since_start.get());
        let request = Request {
            method,
            target: target.as_bytes(),
            authority: Some(host.as_bytes()),
            is_http_1_0: false,
            fields,
            peer: peer.parse().expect("an address"),
            is_tls: false,
        };
        (self.gate.receive(&request, moment), moment)
    }

    /// The response of the gate, or of the origin where the gate lets the request pass.
    pub(super) fn send(&self, message: &Message) -> Response {
        let (Reception { answer, mut passage, .. }, moment) = self.receive(message);
        let target = &message.target;
        let (status, fields, body) = match answer {
            Some(answer) => (answer.status.as_u16(), answer.fields, answer.body),
            None => {
                let status = (self.origin)(target);
                let (target, fields) = (target.as_bytes(), HeaderMap::new());
                self.gate.response(&mut passage, target, status, &fields, || moment);
                (status, Vec::new(), Bytes::new())
            }
        };
        let violation = passage.record.as_ref().map(|record| Box::new(record.violation.clone()));
        self.gate.finish(passage, status);
        Response { status, body, violation, fields }
    }

    pub(super) fn get(&self, target: &str, user_agent: &str) -> Response {
        self.send(&Message::get(target).user_agent(user_agent))
    }

    /// The status of a GET request.
    pub(super) fn status(&self, target: &str, user_agent: &str) -> u16 {
        self.get(target, user_agent).status
    }

    /// The status of a GET request from an address.
    pub(super) fn status_from(&self, address: &str, target: &str, user_agent: &str) -> u16 {
        self.send(&Message::get(target).user_agent(user_agent).from(address)).status
    }

    /// The statuses of some equal requests in a row.
    pub(super) fn statuses(&self, target: &str, user_agent: &str, count: usize) -> Vec<u16> {
        (0..count).map(|_| self.status(target, user_agent)).collect()
    }

    /// The record of a request that is refused.
    pub(super) fn violation_of(&self, message: &Message) -> Box<Violation> {
        let response = self.send(message);
        assert_eq!(response.status, 403, "{}", message.target);
        response.violation.expect("a refusal has a record")
    }

    /// Fetches robots.txt; returns the name of its edition.
    pub(super) fn fetch_robots_txt(&self, user_agent: &str, address: &str) -> String {
        let message = Message::get("/robots.txt").user_agent(user_agent).from(address);
        let response = self.send(&message);
        assert_eq!(response.status, 200);
        response.field("etag").trim_matches('"').to_owned()
    }

    /// The published robots.txt.
    pub(super) fn robots_txt(&self) -> String {
        let response = self.get("/robots.txt", super::BROWSER);
        assert_eq!(response.status, 200);
        String::from_utf8(response.body.to_vec()).expect("UTF-8")
    }

    /// The value of a metric, written as in the exposition; 0 if it is absent.
    pub(super) fn metric(&self, series: &str) -> f64 {
        let page = self.handles.metrics.exposition(|_| ());
        let mut lines = page.lines().filter_map(|line| line.rsplit_once(' '));
        let found = lines.find(|(name, _)| *name == series);
        found.map_or(0.0, |(_, value)| value.parse().expect("a metric is a number"))
    }

    /// The requests of this product token that were excused.
    pub(super) fn grace(&self, product_token: &str) -> f64 {
        let labels = format!("product_token=\"{product_token}\",site=\"site.example\"");
        self.metric(&format!("beadle_grace_total{{{labels}}}"))
    }

    /// The number of violations recorded.
    pub(super) fn violations(&self) -> u64 {
        self.handles.sink.counts().seen
    }
}

impl Message {
    pub(super) fn get(target: &str) -> Self {
        Self {
            method: Method::GET,
            target: target.to_owned(),
            host: "site.example",
            peer: "127.0.0.1".to_owned(),
            fields: HeaderMap::new(),
        }
    }

    pub(super) fn user_agent(self, user_agent: &str) -> Self {
        self.field(header::USER_AGENT, user_agent)
    }

    pub(super) fn field(mut self, name: HeaderName, value: &str) -> Self {
        self.fields.append(name, value.parse().expect("a field value"));
        self
    }

    pub(super) fn from(self, address: &str) -> Self {
        Self { peer: address.to_owned(), ..self }
    }

    pub(super) fn host(self, host: &'static str) -> Self {
        Self { host, ..self }
    }

    pub(super) fn method(self, method: Method) -> Self {
        Self { method, ..self }
    }
}

impl Response {
    /// The value of a field that the response has.
    pub(super) fn field(&self, name: &str) -> &str {
        let field = self.fields.iter().find(|(one, _)| one.as_str() == name);
        field.and_then(|(_, value)| value.to_str().ok()).expect("it has this field")
    }
}

fn moment(since_start: Duration) -> Moment {
    Moment::at(Timestamp::from_second(START).expect("a time") + since_start)
}

/// The start of every world.
pub(super) fn start() -> Timestamp {
    moment(Duration::ZERO).now
}

fn one_site(settings: &str) -> String {
    format!("  - hosts: [site.example]\n    origin: http://127.0.0.1:1\n{settings}")
}

/// Test crawlers are in no catalogue, and some names are close to one that is.
fn policy(sections: &str, sites: &str) -> Arc<Policy> {
    let text = format!("strict: false\n{sections}sites:\n{sites}");
    Arc::new(text.parse::<Policy>().unwrap())
}
