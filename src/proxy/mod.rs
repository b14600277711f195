//! The request path on pingora, phase by phase.
//!
//! ```text
//! request_filter           admit, host, site ─▶ own answers ─▶ claim ─▶ decide ─▶ act
//! upstream_peer            an address of the site's origin, every timeout set
//! upstream_request_filter  X-Forwarded-*, Via; the target stays as it was judged
//! response_filter          hop-by-hop fields out, tags merged in
//! logging                  counted; recorded once, with the final status
//! ```
//! Nothing on this path waits for the store, for DNS or for another request.
//!
//! May use: policy, enforce, robots, crawlers, violations, metrics, diagnostic, escape. Must not
//! know: admin, cli.

use std::{
    net::{IpAddr, Ipv4Addr},
    path::PathBuf,
    sync::Arc,
    time::Instant,
};

use arc_swap::ArcSwap;
use async_trait::async_trait;
use http::{HeaderValue, Version, header};
use ipnet::IpNet;
use jiff::Timestamp;
use pingora::{
    Error, ErrorSource, ErrorType,
    http::{RequestHeader, ResponseHeader},
    protocols::ALPN,
    proxy::{FailToProxy, ProxyHttp, Session},
    upstreams::peer::HttpPeer,
};

use crate::{
    crawlers::Class,
    enforce::{self, Action, Rulebook, Site, Standing},
    metrics::{Gauge, Metrics},
    policy,
    robots::Target,
    violations::{Sink, Violation},
};

pub use self::{
    origins::Origins,
    reload::{Outcome, Reloader, read_policy_file},
    server::{Running, bind_check, start},
};

mod client; // who the client is, behind proxies that are trusted
mod fields; // header fields of one hop
mod ledger; // who has read which robots.txt
mod origins; // addresses of the origins, looked up in the background
mod record; // a decision written down
mod reload; // the policy read again, swapped or kept
mod request; // the request as it will be forwarded
mod respond; // answers of our own
mod server; // listeners, start and drain
mod serving; // the rulebook with what belongs to serving it

use self::{
    ledger::Ledger,
    record::Circumstances,
    request::Refusal,
    respond::Answer,
    serving::{Serving, ServingSite},
};

/// The proxy: everything that requests share.
#[derive(Debug)]
pub struct Proxy {
    serving: Arc<ArcSwap<Serving>>,
    ledger: Ledger,
    sink: Arc<Sink>,
    metrics: Arc<Metrics>,
    trusted: Vec<IpNet>,
    timeouts: policy::Timeouts,
    redact_query: Vec<String>,
}

/// What one request carries through the phases.
#[derive(Debug)]
pub struct Exchange {
    _under_way: UnderWay,
    /// The rulebook that the request began with, and its site.
    site: Option<(Arc<Serving>, usize)>,
    class: Class,
    action: Action,
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
    /// A proxy for `policy`, whose robots.txt counts as published at `now`, and what swaps its
    /// rulebook when `file` changes.
    pub fn new(
        policy: policy::Policy,
        file: PathBuf,
        now: Timestamp,
        sink: Arc<Sink>,
        fetches: Vec<crate::violations::Fetch>,
        metrics: Arc<Metrics>,
    ) -> (Self, Reloader) {
        let origins = Arc::new(Origins::default());
        let rulebook = Rulebook::compile(&policy, now, None);
        let serving = Serving::new(rulebook, &origins, &metrics);
        let serving = Arc::new(ArcSwap::from_pointee(serving));
        let proxy = Self {
            serving: Arc::clone(&serving),
            ledger: Ledger::remembering(fetches),
            sink,
            metrics: Arc::clone(&metrics),
            trusted: policy.server.trusted_proxies.clone(),
            timeouts: policy.server.timeouts,
            redact_query: policy.violations.redact_query.clone(),
        };
        (proxy, Reloader::new(file, policy, serving, origins, metrics))
    }

    /// The whole path of a request up to the origin. `true`: it has been answered here.
    async fn receive(
        &self,
        session: &mut Session,
        exchange: &mut Exchange,
    ) -> pingora::Result<bool> {
        if let Err(refusal) = request::admit(session.req_header_mut()) {
            return self.refuse(session, refusal).await;
        }
        let serving = self.serving.load_full();
        let site = request::host(session.req_header())
            .and_then(|host| serving.rulebook.site(host.as_deref()).ok_or(Refusal::UnknownHost));
        let number = match site {
            Ok((number, _)) => number,
            Err(refusal) => return self.refuse(session, refusal).await,
        };
        let answer = self.judge(session, exchange, &serving, number);
        exchange.site = Some((serving, number));
        match answer {
            Some(answer) => answer?.send(session).await.map(|()| true),
            None => Ok(false),
        }
    }

    /// Identifies, decides and acts; an answer where the request does not go on.
    fn judge(
        &self,
        session: &Session,
        exchange: &mut Exchange,
        serving: &Serving,
        number: usize,
    ) -> Option<pingora::Result<Answer>> {
        let request = session.req_header();
        let started = Instant::now();
        let site = serving.rulebook.sites().get(number)?;
        let user_agents = || request.headers.get_all(header::USER_AGENT).iter();
        let claim = serving
            .rulebook
            .catalogue()
            .identify_all(user_agents().map(HeaderValue::as_bytes), &site.names);
        let is_nameless = user_agents().all(|value| enforce::is_blank(value.as_bytes()));
        let target = Target::new(request.raw_path());
        let decision = enforce::decide(site, &claim, is_nameless, &target);
        self.metrics.decision_seconds.observe(started.elapsed().as_secs_f64());
        exchange.class = claim.class();
        exchange.action = decision.action;
        if decision.reason == enforce::Reason::RobotsTxt {
            let answer = Answer::robots_txt(request, &site.edition)
                .and_then(|answer| answer.tagged(site, target.letter()));
            if request.method == http::Method::GET {
                for name in claim.tokens() {
                    let edition = site.edition.id();
                    let fetch =
                        self.ledger.note(&site.name, name.as_str(), edition, Timestamp::now());
                    self.sink.fetched(fetch);
                }
            }
            return Some(answer);
        }
        if decision.action == Action::Pass {
            return None;
        }
        let judgement = decision.judgement?;
        let host = request::host(request).ok().flatten();
        let id = uuid::Uuid::now_v7().to_string();
        let lines: Vec<&[u8]> = user_agents().map(HeaderValue::as_bytes).collect();
        let circumstances = Circumstances {
            id: &id,
            time: Timestamp::now(),
            client_ip: self.client_ip(session),
            method: request.method.as_str(),
            host: host.as_deref().unwrap_or(&site.name),
            authority: session
                .req_header()
                .headers
                .get(header::HOST)
                .and_then(|value| value.to_str().ok())
                .unwrap_or(&site.name),
            target: request.raw_path(),
            user_agent: &lines.join(&b", "[..]),
            redact_query: &self.redact_query,
            standing: Standing::Unknown.as_str(),
        };
        let read = self.ledger.read_by(&site.name, record::name(&judgement), site.edition.id());
        exchange.violation =
            record::violation(site, &claim, &decision, read, &circumstances).map(Box::new);
        self.metrics.violation(
            &site.name,
            serving::label(&judgement),
            decision.reason.as_str(),
            decision.action.as_str(),
        );
        (decision.action == Action::Block).then(|| {
            let block = &site.enforcement.block;
            let scheme = self.scheme(session);
            let body = record::block_body(
                &block.body,
                &block.content_type,
                &judgement,
                scheme,
                &circumstances,
            );
            Answer::block(block, body)?.tagged(site, target.letter())
        })
    }

    async fn refuse(&self, session: &mut Session, refusal: Refusal) -> pingora::Result<bool> {
        self.metrics.refusal(refusal.code());
        session.set_keepalive(None);
        Answer::refusal(refusal)?.send(session).await.map(|()| true)
    }

    fn peer(session: &Session) -> IpAddr {
        session
            .client_addr()
            .and_then(|address| address.as_inet())
            .map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), std::net::SocketAddr::ip)
    }

    fn client_ip(&self, session: &Session) -> IpAddr {
        client::address(Self::peer(session), session.req_header(), &self.trusted)
    }

    /// The scheme that the client used, as far as we or a trusted proxy know.
    fn scheme(&self, session: &Session) -> &'static str {
        let reported = session.get_header_bytes("x-forwarded-proto");
        let is_https =
            if client::is_trusted(Self::peer(session), &self.trusted) && !reported.is_empty() {
                reported.eq_ignore_ascii_case(b"https")
            } else {
                is_tls(session)
            };
        if is_https { "https" } else { "http" }
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
            violation: None,
        }
    }

    async fn request_filter(
        &self,
        session: &mut Session,
        exchange: &mut Exchange,
    ) -> pingora::Result<bool> {
        // Only where the request left the connection open: one whose framing is in doubt
        // (Content-Length beside Transfer-Encoding) or that is HTTP/1.0 must stay closed.
        if session.get_keepalive().is_some() {
            session.set_keepalive(Some(self.timeouts.client_keepalive.as_secs()));
        }
        session.set_read_timeout(Some(self.timeouts.client_read));
        session.set_write_timeout(Some(self.timeouts.client_write));
        self.receive(session, exchange).await
    }

    async fn upstream_peer(
        &self,
        _session: &mut Session,
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
        Ok(Box::new(peer))
    }

    async fn upstream_request_filter(
        &self,
        session: &mut Session,
        upstream_request: &mut RequestHeader,
        _exchange: &mut Exchange,
    ) -> pingora::Result<()> {
        let peer = Self::peer(session);
        let via = if session.req_header().version == Version::HTTP_10 {
            "1.0 beadle"
        } else {
            "1.1 beadle"
        };
        let client = fields::ClientSide {
            peer,
            trusted: client::is_trusted(peer, &self.trusted),
            tls: is_tls(session),
            host: session.req_header().headers.get(header::HOST),
            via,
        };
        fields::forward(upstream_request, &client)
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
        let Some((serving, number)) = &exchange.site else { return Ok(()) };
        let Some(site) = serving.rulebook.sites().get(*number) else { return Ok(()) };
        self.tag(session.req_header().raw_path(), site, response)
    }

    async fn fail_to_proxy(
        &self,
        session: &mut Session,
        error: &Error,
        _exchange: &mut Exchange,
    ) -> FailToProxy {
        let status = failure_status(error);
        let is_origins = matches!(status, 502..=504);
        if is_origins {
            self.metrics.origin_failures.inc();
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

impl Proxy {
    /// Merges the site's tags with the origin's; the usual case, where the origin sent none, copies
    /// prepared values.
    fn tag(
        &self,
        target: &[u8],
        site: &Site,
        response: &mut ResponseHeader,
    ) -> pingora::Result<()> {
        let from_origin = response.headers.contains_key("robots-tag")
            || response.headers.contains_key("x-robots-tag");
        if site.tags.is_empty() && !from_origin {
            return Ok(());
        }
        let target = Target::new(target);
        let status = response.status.as_u16();
        let content_type = response.headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
        if !from_origin {
            if let Some(tags) = site.tags.select(target.letter(), status, content_type) {
                respond::set_tags(response, &tags)?;
            }
            return Ok(());
        }
        let lines = |name: &str| {
            let values = response.headers.get_all(name).iter();
            values.map(HeaderValue::as_bytes).collect::<Vec<_>>()
        };
        let merged = site.tags.merge(
            target.letter(),
            status,
            content_type,
            &lines("robots-tag"),
            &lines("x-robots-tag"),
        );
        if merged.invalid_lines > 0 {
            self.metrics.invalid_tag_lines(&site.name, merged.invalid_lines);
            tracing::debug!(
                site = site.name,
                lines = merged.invalid_lines,
                "the origin sent robots tags that are not valid; what was understood was kept"
            );
        }
        if merged.truncated {
            tracing::warn!(
                site = site.name,
                "the origin's robots tags exceed 8 KiB; the rest was cut"
            );
        }
        respond::set_tags(response, &merged.fields)
    }
}

fn is_tls(session: &Session) -> bool {
    session.digest().is_some_and(|digest| digest.ssl_digest.is_some())
}

/// The status that tells a client what went wrong; 0 where there is nobody left to tell.
fn failure_status(error: &Error) -> u16 {
    match (error.etype(), error.esource()) {
        (ErrorType::HTTPStatus(status), _) => *status,
        (
            ErrorType::ConnectTimedout
            | ErrorType::ReadTimedout
            | ErrorType::WriteTimedout
            | ErrorType::TLSHandshakeTimedout,
            ErrorSource::Upstream,
        ) => 504,
        (_, ErrorSource::Upstream) => 502,
        (
            ErrorType::WriteError | ErrorType::ReadError | ErrorType::ConnectionClosed,
            ErrorSource::Downstream,
        ) => 0,
        (ErrorType::ReadTimedout, ErrorSource::Downstream) => 408,
        (_, ErrorSource::Downstream) => 400,
        (_, ErrorSource::Internal | ErrorSource::Unset) => 500,
    }
}
