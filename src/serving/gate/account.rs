//! The decision about a request, kept for the access log.

use std::net::IpAddr;

use jiff::Timestamp;

use crate::{clients::conduct::Weighed, rules::crawlers::Name};

use super::visit::Visit;

/// The part of a decision that is logged.
#[derive(Debug)]
pub(super) struct Account {
    pub(super) time: Timestamp,
    pub(super) client: IpAddr,
    pub(super) product_token: Option<Box<str>>,
    pub(super) standing: &'static str,
    pub(super) verdict: &'static str,
    pub(super) reason: &'static str,
}

impl Account {
    pub(super) fn of(visit: &Visit<'_>, weighed: &Weighed<'_>) -> Self {
        let decision = &weighed.decision;
        let judged = decision.judgement.and_then(|judgement| judgement.name);
        let name = judged.or_else(|| visit.claim.primary());
        Self {
            time: visit.now(),
            client: visit.client.address,
            product_token: name.map(Name::as_str).map(Box::from),
            standing: decision.standing.outcome.as_str(),
            verdict: decision.access.as_str(),
            reason: decision.reason.as_str(),
        }
    }
}
