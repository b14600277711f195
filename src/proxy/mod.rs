//! The request path on pingora, phase by phase.
//!
//! ```text
//! request_filter    admit, host, site ─▶ claim, standing ─▶ decide, weigh ─▶ own answers, act ─▶ forward
//! upstream_peer     an address of the site's origin, every timeout set
//! response_filter   hop-by-hop fields out, tags merged in
//! logging           counted; recorded once, with the final status
//! ```
//! Nothing on this path waits for the store, for DNS or for another request.
//!
//! May use: policy, enforce, robots, crawlers, violations, metrics, diagnostic, escape,
//! product_token. Must not know: admin, cli.

use std::{
    net::{IpAddr, Ipv4Addr},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Instant,
};

use arc_swap::ArcSwap;
use async_trait::async_trait;
use ipnet::IpNet;
use jiff::Timestamp;
use pingora::{
    Error, ErrorType,
    http::ResponseHeader,
    protocols::ALPN,
    proxy::{FailToProxy, ProxyHttp, Session},
    upstreams::peer::HttpPeer,
};
use tokio::sync::mpsc;

use crate::{
    crawlers::Class,
    diagnostic::Diagnostic,
    enforce::{Action, History},
    escape,
    metrics::{Gauge, Metrics},
    policy,
    violations::{Sink, Violation},
};

pub use self::{
    evidence::{Verifier, fetch_once},
    files::{PolicyRead, read_catalogue_file, read_policy, read_policy_with},
    knowledge::{Records, RecordsOf},
    ledger::{Ledger, Reader},
    network::Network,
    origins::Origins,
    reload::{Outcome, Reloader},
    remembered::Remembered,
    server::{Running, bind_check, start},
};

mod client; // who the client is, behind proxies that are trusted
mod clock; // the time by which requests are judged
mod conduct; // what follows from how a client behaves
mod evidence; // who is really asking
mod fetching; // what fetches of our own share
mod fields; // header fields of one hop
mod files; // the policy and its catalogue on disk
mod identified; // what a User-Agent claims, remembered
mod knowledge; // what is known of a client beside what it says
mod ledger; // who has read which robots.txt
mod network; // the network of a client
mod origin_rules; // the robots.txt of the origins themselves
mod origins; // addresses of the origins, looked up in the background
mod pace; // how fast each crawler comes, over all its addresses
mod privacy; // how much of a client's address is recorded
mod publishing; // what the origins say, put in force
mod receive; // a request admitted, judged, answered here or sent on
mod record; // a decision written down
mod redirects; // requests that are owed to crawlers after a redirect
mod reload; // the policy read again, swapped or kept
mod remembered; // what was written down before the start
mod request; // the request as it will be forwarded
mod respond; // answers of our own
mod server; // listeners, start and drain
mod serving; // the rulebook with what belongs to serving it
mod tagging; // the tags of an answer on its way out
mod upgrade; // connections on which another protocol is asked for

use self::{
    clock::Clock,
    pace::{Key, Limiter},
    privacy::Privacy,
    redirects::Redirects,
    reload::{InForce, Shared},
    respond::Answer,
    serving::{Serving, ServingSite},
};

/// The proxy: everything that requests share.
#[derive(Debug)]
pub struct Proxy {
    serving: Arc<ArcSwap<Serving>>,
    ledger: Arc<Ledger>,
    limiter: Limiter,
    redirects: Redirects,
    clock: Arc<Clock>,
    sink: Arc<Sink>,
    metrics: Arc<Metrics>,
    trusted: Vec<IpNet>,
    timeouts: policy::Timeouts,
    redact_query: Vec<String>,
    privacy: Privacy,
    /// The second in which a failing origin was last spoken of.
    warned_at: AtomicI64,
}

/// What one request carries through the phases.
#[derive(Debug)]
pub struct Exchange {
    _under_way: UnderWay,
    /// The rulebook that the request began with, and its site.
    site: Option<(Arc<Serving>, usize)>,
    class: Class,
    action: Action,
    /// Whose pace it was charged to.
    charged: Option<Key>,
    violation: Option<Box<Violation>>,
}

/// Counts a request as under way as long as it lives.
#[derive(Debug)]
struct UnderWay(Gauge);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Exchange {
    fn site(&self) -> Option<&ServingSite> {
        self.site.as_ref().and_then(|(serving, number)| serving.site(*number))
    }
}

impl Proxy {
    /// A proxy for `policy`, whose robots.txt counts as published `since` then where nothing else is
    /// remembered, and what swaps its rulebook when `file` or an origin's robots.txt changes. Asks
    /// the origins that are to be asked first.
    ///
    /// # Errors
    /// Where the origins can't be asked.
    pub async fn start(
        policy: policy::Policy,
        file: PathBuf,
        since: Timestamp,
        sink: Arc<Sink>,
        remembered: Remembered,
        verifier: Option<Arc<Verifier>>,
        metrics: Arc<Metrics>,
    ) -> Result<(Self, Reloader), Diagnostic> {
        let origins = Arc::new(Origins::default());
        let clock = Arc::new(Clock::new());
        let (news, inbox) = mpsc::unbounded_channel();
        let before = |site: &str| (remembered.origin(site), false);
        let asking = publishing::ask_origins(&policy, before, &news, &metrics).await?;
        let told = publishing::told(&policy, asking.as_ref());
        let history = History {
            periods: remembered.periods(),
            origins: told.clone(),
            since,
            ..History::after(None, clock.moment().now)
        };
        let rulebook = publishing::compile(&policy, history);
        remembered::publish(&sink, &rulebook);
        publishing::idle(&policy, &remembered.held)
            .for_each(|held| sink.released(held.site.clone()));
        let serving = Serving::new(rulebook, None, verifier, &origins, &metrics);
        let serving = Arc::new(ArcSwap::from_pointee(serving));
        let ledger = Arc::new(Ledger::remembering(remembered.fetches));
        ledger.set_back(clock.moment().now);
        let proxy = Self {
            serving: Arc::clone(&serving),
            ledger: Arc::clone(&ledger),
            limiter: Limiter::default(),
            redirects: Redirects::default(),
            clock: Arc::clone(&clock),
            sink: Arc::clone(&sink),
            metrics: Arc::clone(&metrics),
            trusted: policy.server.trusted_proxies.clone(),
            timeouts: policy.server.timeouts,
            redact_query: policy.violations.redact_query.clone(),
            privacy: Privacy::new(policy.violations.client_ip),
            warned_at: AtomicI64::new(0),
        };
        let in_force = InForce::new(policy, asking, told);
        let shared = Shared { serving, origins, metrics, sink, clock, ledger };
        Ok((proxy, Reloader::new(file, in_force, shared, (news, inbox))))
    }

    /// Says once a second at most that an origin fails; the metric counts each time.
    fn warn_of_origin(&self, exchange: &Exchange, status: u16, error: &Error) {
        let now = Timestamp::now().as_second();
        if self.warned_at.swap(now, Ordering::Relaxed) != now {
            let origin = exchange.site().map(|site| site.origin.to_string());
            let error = escape::bounded(error.to_string().as_bytes(), 300);
            tracing::warn!(origin, status, error, "the origin gave no answer");
        }
    }

    /// Makes the request ready for the origin; its target stays as it was judged.
    fn forward(&self, session: &mut Session) -> pingora::Result<()> {
        let peer = peer(session);
        let trusted = client::is_trusted(peer, &self.trusted);
        let client = fields::ClientSide { peer, trusted, tls: is_tls(session) };
        fields::forward(session.req_header_mut(), &client)
    }

    /// Sets what pingora leaves open: how long a silent client is waited for.
    fn set_limits(&self, session: &mut Session) {
        // Only where the request left the connection open: one whose framing is in doubt
        // (Content-Length beside Transfer-Encoding) or that is HTTP/1.0 must stay closed.
        if session.get_keepalive().is_some() {
            session.set_keepalive(Some(self.timeouts.client_keepalive.as_secs()));
        }
        session.set_read_timeout(Some(self.timeouts.client_read));
        session.set_write_timeout(Some(self.timeouts.client_write));
    }
}

#[async_trait]
impl ProxyHttp for Proxy {
    type CTX = Exchange;

    fn new_ctx(&self) -> Exchange {
        self.metrics.in_flight.inc();
        Exchange {
            _under_way: UnderWay(self.metrics.in_flight.clone()),
            site: None,
            class: Class::None,
            action: Action::Pass,
            charged: None,
            violation: None,
        }
    }

    async fn request_filter(
        &self,
        session: &mut Session,
        exchange: &mut Exchange,
    ) -> pingora::Result<bool> {
        self.set_limits(session);
        match self.receive(session, exchange)? {
            Some(answer) => answer.send(session).await.map(|()| true),
            None => self.forward(session).map(|()| false),
        }
    }

    async fn upstream_peer(
        &self,
        session: &mut Session,
        exchange: &mut Exchange,
    ) -> pingora::Result<Box<HttpPeer>> {
        let site = exchange
            .site()
            .ok_or_else(|| Error::explain(ErrorType::InternalError, "a request without a site"))?;
        let address = site.addresses.pick().ok_or_else(|| {
            Error::explain(ErrorType::HTTPStatus(503), "the origin's name is not resolved")
        })?;
        let origin = &site.origin;
        let mut peer = HttpPeer::new(address, origin.tls, origin.host.clone());
        let options = &mut peer.options;
        options.alpn = ALPN::H1;
        options.connection_timeout = Some(self.timeouts.origin_connect);
        options.total_connection_timeout = Some(self.timeouts.origin_connect);
        options.read_timeout = Some(self.timeouts.origin_read);
        options.write_timeout = Some(self.timeouts.origin_write);
        options.idle_timeout = Some(self.timeouts.origin_keepalive);
        if upgrade::is_asked_for(session.req_header()) {
            peer.group_key = upgrade::POOL;
            peer.options.custom_l4 = Some(Arc::new(upgrade::Connector));
        }
        Ok(Box::new(peer))
    }

    async fn response_filter(
        &self,
        session: &mut Session,
        response: &mut ResponseHeader,
        exchange: &mut Exchange,
    ) -> pingora::Result<()> {
        if response.status.is_informational() {
            return Ok(());
        }
        fields::remove_hop_by_hop(response);
        if redirects::is_redirect(response.status)
            && let Some(key) = exchange.charged.take()
        {
            self.redirects.owe(key, Instant::now());
        }
        let Some((serving, number)) = &exchange.site else { return Ok(()) };
        let Some(site) = serving.rulebook.sites().get(*number) else { return Ok(()) };
        self.tag(session.req_header().raw_path(), site, response)
    }

    async fn fail_to_proxy(
        &self,
        session: &mut Session,
        error: &Error,
        exchange: &mut Exchange,
    ) -> FailToProxy {
        let status = respond::failure_status(error);
        let is_origins = matches!(status, 502..=504);
        if is_origins {
            self.metrics.origin_failures.inc();
            self.warn_of_origin(exchange, status, error);
        }
        if status > 0 && session.response_written().is_none() {
            session.set_keepalive(None);
            let sent = match status {
                _ if is_origins => match Answer::origin_failure(status) {
                    Ok(answer) => answer.send(session).await,
                    Err(error) => Err(error),
                },
                _ => session.respond_error(status).await,
            };
            if let Err(error) = sent {
                tracing::debug!(%error, "the answer to a failed request could not be sent");
            }
        }
        FailToProxy { error_code: status, can_reuse_downstream: false }
    }

    async fn logging(
        &self,
        session: &mut Session,
        _error: Option<&Error>,
        exchange: &mut Exchange,
    ) {
        let Some(site) = exchange.site() else { return };
        site.count(exchange.class, exchange.action);
        if let Some(mut violation) = exchange.violation.take() {
            violation.status =
                session.response_written().map_or(0, |response| response.status.as_u16());
            self.sink.record(*violation);
        }
    }
}

/// The address at the other end of the connection.
fn peer(session: &Session) -> IpAddr {
    session
        .client_addr()
        .and_then(|address| address.as_inet())
        .map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), std::net::SocketAddr::ip)
}

fn is_tls(session: &Session) -> bool {
    session.digest().is_some_and(|digest| digest.ssl_digest.is_some())
}
