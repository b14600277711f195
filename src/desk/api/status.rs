//! The state of the program.

use std::sync::atomic::Ordering;

use axum::response::Response;
use serde_json::json;

use super::{
    answer::json,
    inquiry::{Inquiry, text_of},
};
use crate::{base::version, desk::admin::problem::Problem, records::violations::Health};

pub(super) fn status(inquiry: &Inquiry) -> Result<Response, Problem> {
    let view = &inquiry.view;
    let counts = view.sink.counts();
    let policy = view.live.get().map(|live| {
        let refused = live.handles.refused.load();
        let refused = refused
            .as_deref()
            .map(|refusal| json!({ "at": text_of(refusal.at), "findings": refusal.findings }));
        let published = live.handles.published.load();
        json!({ "fingerprint": published.rulebook.fingerprint(), "refused": refused })
    });
    let destinations = view.sink.destinations().into_iter().map(|(destination, health)| {
        let trouble = match health {
            Health::Ok => None,
            Health::Degraded(why) => Some(why),
        };
        json!({ "destination": destination, "trouble": trouble })
    });
    json(&json!({
        "version": version::NUMBER,
        "time": text_of(inquiry.now),
        "ready": view.ready.load(Ordering::Acquire),
        "policy": policy,
        "records": {
            "seen": counts.seen,
            "stored": counts.stored,
            "folded": counts.folded,
            "dropped": counts.dropped,
            "queued": counts.queued,
        },
        "destinations": destinations.collect::<Vec<_>>(),
    }))
}
