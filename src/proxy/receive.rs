//! A request received: admitted, judged, and answered here where it does not go on.

use std::{net::IpAddr, time::Instant};

use http::{HeaderValue, Method, header};
use jiff::Timestamp;
use pingora::{http::RequestHeader, proxy::Session};

use crate::{
    crawlers::{
        Claim,
        signature::{Message, Scheme},
    },
    enforce::{self, Action, Case, Decision, Rulebook, Site},
    robots::Target,
};

use super::{
    Exchange, Proxy, client, conduct,
    conduct::{Early, Weighed},
    evidence::Asker,
    identified, is_tls,
    knowledge::Client,
    peer, record,
    record::Circumstances,
    request,
    request::Refusal,
    respond::Answer,
    serving,
    serving::Serving,
};

impl Proxy {
    /// The path of a request up to the origin; an answer where it ends here.
    pub(super) fn receive(
        &self,
        session: &mut Session,
        exchange: &mut Exchange,
    ) -> pingora::Result<Option<Answer>> {
        let serving = self.serving.load_full();
        let admitted = request::admit(session.req_header_mut())
            .and_then(|()| site_of(session.req_header(), &serving.rulebook));
        match admitted {
            Err(refusal) => self.refuse(session, refusal).map(Some),
            Ok((number, site)) => {
                let answer = self.judge(session, exchange, &serving, (number, site))?;
                exchange.site = Some((serving, number));
                Ok(answer)
            }
        }
    }

    /// Identifies, decides and acts.
    fn judge(
        &self,
        session: &Session,
        exchange: &mut Exchange,
        serving: &Serving,
        (number, site): (usize, &Site),
    ) -> pingora::Result<Option<Answer>> {
        let request = session.req_header();
        if request.raw_path() == b"*" {
            return Ok(None); // about the server, not about a page (RFC 9112 §3.2.4)
        }
        let started = Instant::now();
        let user_agents = request.headers.get_all(header::USER_AGENT);
        let values = || user_agents.iter().map(HeaderValue::as_bytes);
        let claim = identified::claim(&serving.rulebook, site, &request.headers);
        let target = Target::new(request.raw_path());
        let is_nameless = values().all(enforce::is_blank);
        let client = Client::new(self, session, serving, (number, site));
        let case = Case { claim: &claim, is_nameless, target: &target };
        let decision = enforce::decide(site, case, &client);
        if decision.reason == enforce::Reason::Grace {
            self.count_grace(site, &decision);
        }
        let Weighed { decision, early, charged } = conduct::weigh(&client, decision);
        self.metrics.decision_seconds.observe(started.elapsed().as_secs_f64());
        if claim.primary().is_some_and(|name| name.known().is_some()) {
            serving.site(number).inspect(|site| site.count_claim(decision.standing));
        }
        exchange.class = claim.class();
        exchange.action = decision.action;
        exchange.charged = charged;
        match (decision.reason, decision.action) {
            (enforce::Reason::RobotsTxt, _) => self.publish(&client, &claim).map(Some),
            (_, Action::Pass) => Ok(None),
            _ => self.act(&client, exchange, &claim, (&decision, early.as_ref()), &target),
        }
    }

    /// robots.txt, and the note that these crawlers have read it; who only borrows a name has not
    /// read it for the one it belongs to.
    fn publish(&self, client: &Client<'_>, claim: &Claim<'_>) -> pingora::Result<Answer> {
        let (request, site) = (client.session.req_header(), client.site);
        if request.method == Method::GET {
            site.edition().was_given();
            let now = Timestamp::now();
            let names = claim.tokens().chain(claim.programs());
            for (name, standing) in names.filter_map(|name| client.read_for(claim, name)) {
                let reader = client.reader(standing);
                let shown = self.privacy.network(reader.network, now);
                let fetch = self.ledger.note(site, name, reader, shown, now);
                fetch.into_iter().for_each(|fetch| self.sink.fetched(fetch));
            }
        }
        Answer::robots_txt(request, site)?.tagged(site, b"/robots.txt")
    }

    /// Counts what the edition in force disallows, and the crawler may not know yet.
    fn count_grace(&self, site: &Site, decision: &Decision<'_>) {
        if let Some(judgement) = &decision.judgement {
            self.metrics.grace(&site.name, serving::label(judgement));
        }
    }

    /// Writes the violation down, to be recorded with its final status, and answers the request
    /// where it is refused or came too soon.
    fn act(
        &self,
        client: &Client<'_>,
        exchange: &mut Exchange,
        claim: &Claim<'_>,
        (decision, early): (&Decision<'_>, Option<&Early<'_>>),
        target: &Target<'_>,
    ) -> pingora::Result<Option<Answer>> {
        let (session, site) = (client.session, client.site);
        let Some(judgement) = &decision.judgement else { return Ok(None) };
        let request = session.req_header();
        let host = request::host(request).ok().flatten();
        let authority = request.headers.get(header::HOST).and_then(|value| value.to_str().ok());
        let lines: Vec<&[u8]> =
            request.headers.get_all(header::USER_AGENT).iter().map(HeaderValue::as_bytes).collect();
        let time = Timestamp::now();
        let circumstances = Circumstances {
            id: &uuid::Uuid::now_v7().to_string(),
            time,
            client_ip: self.privacy.shown(self.client_ip(session), time),
            method: request.method.as_str(),
            host: host.as_deref().unwrap_or(&site.name),
            authority: authority.unwrap_or(&site.name),
            target: request.raw_path(),
            user_agent: &lines.join(&b", "[..]),
            redact_query: &self.redact_query,
            early,
        };
        let (reason, action) = (decision.reason.as_str(), decision.action.as_str());
        self.metrics.violation(&site.name, serving::label(judgement), reason, action);
        let reader = client.reader(decision.standing);
        let read = self.ledger.read_by(site, judgement.name, reader);
        exchange.violation =
            record::violation(site, claim, decision, read, &circumstances).map(Box::new);
        let scheme = self.scheme(session);
        let answer = match (decision.action, early) {
            (Action::Block, _) => {
                let (block, reason) = (&site.enforcement.block, decision.reason);
                let body = record::block_body(block, judgement, reason, scheme, &circumstances);
                Answer::block(block, body)?
            }
            (Action::Throttle, Some(early)) => {
                let body = record::notice(site, judgement, early, scheme, &circumstances);
                Answer::throttle(body, early.too_soon.retry_after)?
            }
            _ => return Ok(None),
        };
        answer.tagged(site, target.letter()).map(Some)
    }

    fn refuse(&self, session: &mut Session, refusal: Refusal) -> pingora::Result<Answer> {
        self.metrics.refusal(refusal.code());
        session.set_keepalive(None);
        Answer::refusal(refusal)
    }

    /// What the request tells of its sender, as it was received.
    pub(super) fn asker<'a>(&self, session: &'a Session, serving: &Serving) -> Asker<'a> {
        let request = session.req_header();
        // A signature is good for the host that it covers. One made for a host that the policy does
        // not name was received by somebody else, who may have sent it on to the default site.
        let host = request::host(request).ok().flatten();
        let is_ours = host.is_some_and(|host| serving.rulebook.site_of_host(&host).is_some());
        let authority = request.headers.get(header::HOST).map_or(&b""[..], HeaderValue::as_bytes);
        let scheme = match self.scheme(session) {
            "https" => Scheme::Https,
            _ => Scheme::Http,
        };
        let message = Message {
            method: request.method.as_str(),
            scheme,
            authority,
            target: request.raw_path(),
            fields: &request.headers,
        };
        // A proxy that is trusted and tells nobody else's address asks for somebody.
        let address = self.client_ip(session);
        let is_clients = !client::is_trusted(address, &self.trusted);
        Asker::new(is_clients.then_some(address), is_ours.then_some(message))
    }

    pub(super) fn client_ip(&self, session: &Session) -> IpAddr {
        client::address(peer(session), session.req_header(), &self.trusted)
    }

    /// The scheme that the client used, as far as we or a trusted proxy know.
    fn scheme(&self, session: &Session) -> &'static str {
        let reported = session.get_header_bytes("x-forwarded-proto");
        let is_https = if client::is_trusted(peer(session), &self.trusted) && !reported.is_empty() {
            reported.eq_ignore_ascii_case(b"https")
        } else {
            is_tls(session)
        };
        if is_https { "https" } else { "http" }
    }
}

/// The site that a request is for. A host spelled as the policy spells it needs no parsing.
fn site_of<'r>(
    request: &RequestHeader,
    rulebook: &'r Rulebook,
) -> Result<(usize, &'r Site), Refusal> {
    let written = request.headers.get(header::HOST).and_then(|value| value.to_str().ok());
    if let Some(known) = written.and_then(|host| rulebook.exact_site(host)) {
        return Ok(known);
    }
    let host = request::host(request)?;
    rulebook.site(host.as_deref()).ok_or(Refusal::UnknownHost)
}
