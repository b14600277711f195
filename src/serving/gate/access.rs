//! The line of a request in the access log.

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use http::header;
use jiff::Timestamp;

use crate::{
    formats::access_log::{Line, REFUSE},
    rules::policy::AccessFormat,
};

use super::{
    Gate, Request, client,
    passage::Passage,
    request::{Refusal, joined},
};

/// The response to a request, as the edge sent it.
#[derive(Clone, Copy, Debug)]
pub struct Served {
    /// The time of its end.
    pub now: Timestamp,
    /// The time since the request's head.
    pub duration: Duration,
    /// The protocol of the client.
    pub protocol: &'static str,
    /// The status; 0 is no response.
    pub status: u16,
    /// The octets of the body.
    pub bytes: u64,
    /// The address of the origin that was asked.
    pub origin: Option<SocketAddr>,
}

impl Gate {
    /// Appends the line of a request to `out`, if there is an access log. Call it before
    /// [`Self::finish`].
    pub fn log_access(
        &self,
        passage: &Passage,
        request: &Request<'_>,
        served: &Served,
        out: &mut Vec<u8>,
    ) {
        let Some(format) = self.access_log.filter(|_| !passage.is_own) else { return };
        let account = passage.account.as_deref();
        let started = || served.now.checked_sub(served.duration).unwrap_or(served.now);
        let time = account.map_or_else(started, |account| account.time);
        let client = match account {
            Some(account) => account.client,
            None => client::address(request.peer, request.fields, &self.trusted),
        };
        let client_ip = self.recorder.privacy.shown(client, time);
        // An invalid host is logged as it came.
        let host = request.host();
        let host = match &host {
            Ok(host) => host.as_deref().map(str::as_bytes),
            Err(_) => request.authority,
        };
        let target = self.recorder.redact(request.target);
        let user_agents = request.user_agent();
        let referer = joined(request.fields, &header::REFERER);
        let referer = referer.as_deref().map(|referer| self.recorder.redact(referer));
        let site = passage.site().map(|(site, _)| site.name.as_str());
        let line = Line {
            time,
            site,
            client_ip: &client_ip,
            method: Some(request.method.as_str()),
            host,
            target: Some(&target),
            protocol: Some(served.protocol),
            tls: request.is_tls,
            user_agent: user_agents.as_deref(),
            referer: referer.as_deref(),
            status: served.status,
            bytes: served.bytes,
            duration: served.duration,
            class: account.map(|_| passage.class.as_str()),
            product_token: account.and_then(|account| account.product_token.as_deref()),
            standing: account.map(|account| account.standing),
            verdict: account.map(|account| account.verdict),
            reason: match account {
                Some(account) => Some(account.reason),
                None => passage.refusal.map(Refusal::code),
            },
            action: match passage.refusal {
                Some(_) => REFUSE,
                None => passage.action.as_str(),
            },
            violation: passage.record.as_ref().map(|record| record.violation.id.as_str()),
            origin: served.origin,
        };
        push(&line, format, out);
    }

    /// Appends the line of a head that never became a request to `out`, if there is an access log: with its
    /// peer, and the status and the code of its refusal.
    pub fn log_broken_head(
        &self,
        now: Timestamp,
        (peer, is_tls): (IpAddr, bool),
        (status, code): (u16, &'static str),
        out: &mut Vec<u8>,
    ) {
        let Some(format) = self.access_log else { return };
        let client_ip = self.recorder.privacy.shown(peer.to_canonical(), now);
        let line = Line {
            time: now,
            client_ip: &client_ip,
            tls: is_tls,
            status,
            reason: Some(code),
            action: REFUSE,
            ..Line::default()
        };
        push(&line, format, out);
    }
}

fn push(line: &Line<'_>, format: AccessFormat, out: &mut Vec<u8>) {
    match format {
        AccessFormat::Json => line.push_json(out),
        AccessFormat::Combined => line.push_combined(out),
    }
}
