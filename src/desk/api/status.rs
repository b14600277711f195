//! The state of the program.

use std::sync::atomic::Ordering;

use axum::response::Response;
use serde::Serialize;

use super::{
    answer::json,
    inquiry::{Inquiry, text_of},
};
use crate::{base::version, desk::admin::problem::Problem, records::violations::Health};

#[derive(Serialize)]
struct Status {
    version: &'static str,
    time: String,
    ready: bool,
    policy: Option<Policy>,
    records: Records,
    destinations: Vec<Destination>,
}

/// The policy in force.
#[derive(Serialize)]
struct Policy {
    fingerprint: String,
    refused: Option<Refused>,
}

/// The refusal of the policy file as it is now.
#[derive(Serialize)]
struct Refused {
    at: String,
    findings: Vec<String>,
}

/// Violations since the start.
#[derive(Serialize)]
struct Records {
    seen: u64,
    stored: u64,
    folded: u64,
    dropped: u64,
    queued: u64,
}

/// Where records go.
#[derive(Serialize)]
struct Destination {
    destination: &'static str,
    trouble: Option<String>,
}

/// The state of the program.
pub(super) fn status(inquiry: &Inquiry) -> Result<Response, Problem> {
    let view = &inquiry.view;
    let counts = view.sink.counts();
    let policy =
        view.live.get().map(|live| Policy {
            fingerprint: live.handles.published.load().rulebook.fingerprint().to_owned(),
            refused: live.handles.refused.load().as_deref().map(|refusal| Refused {
                at: text_of(refusal.at),
                findings: refusal.findings.clone(),
            }),
        });
    let destinations = view.sink.destinations().into_iter().map(|(destination, health)| {
        let trouble = match health {
            Health::Ok => None,
            Health::Degraded(why) => Some(why),
        };
        Destination { destination, trouble }
    });
    json(&Status {
        version: version::NUMBER,
        time: text_of(inquiry.now),
        ready: view.ready.load(Ordering::Acquire),
        policy,
        records: Records {
            seen: counts.seen,
            stored: counts.stored,
            folded: counts.folded,
            dropped: counts.dropped,
            queued: counts.queued,
        },
        destinations: destinations.collect(),
    })
}
