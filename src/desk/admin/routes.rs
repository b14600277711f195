//! The pages of the admin listener: metrics, health, and the request to reload the policy.

use std::sync::atomic::Ordering;

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    middleware,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::json;

use crate::{
    base::metrics::{Put, RecordFamilies},
    records::violations::{Health, Sink},
    state::publication::{BY_RELOAD, Outcome},
};

use super::{
    login::{self, CHECKS, LOGIN, RELOAD},
    problem::{Kind, Problem},
    view::View,
};

/// These pages beside those of `others`, all behind the login.
pub(super) fn router(view: View, others: Router<View>) -> Router {
    let [healthz, readyz] = CHECKS;
    others
        .route("/metrics", get(metrics))
        .route(healthz, get(health))
        .route(readyz, get(ready))
        .route(LOGIN, get(login::form).post(login::enter))
        .route("/logout", post(login::leave))
        .route(RELOAD, post(reload))
        .layer(middleware::from_fn_with_state(view.clone(), login::check))
        .with_state(view)
}

async fn metrics(State(view): State<View>) -> impl IntoResponse {
    let content_type = "text/plain; version=0.0.4; charset=utf-8";
    if let Some(live) = view.live.get() {
        live.handles.show_loads();
    }
    let page = view.metrics.exposition(|of| count_records(&view.sink, of));
    ([(header::CONTENT_TYPE, content_type)], page)
}

fn count_records(sink: &Sink, of: &RecordFamilies) {
    let (counts, lost, removed) = (sink.counts(), sink.lost(), sink.removed());
    of.seen.put(&[], counts.seen);
    of.stored.put(&[], counts.stored);
    of.folded.put(&[], counts.folded);
    of.dropped.put(&[], counts.dropped);
    of.queued.put(&[], counts.queued);
    let removed_there = sink.forwarded().map_or(0, |status| status.removed);
    of.removed.put(&["age"], removed.by_age + removed_there);
    of.removed.put(&["size"], removed.by_size);
    of.removed.put(&["loss"], removed.by_loss);
    if let Some(bytes) = sink.database_bytes() {
        of.database_bytes.put(&[], bytes);
    }
    if let Some(bytes) = sink.database_max_bytes() {
        of.database_max_bytes.put(&[], bytes);
    }
    for one in sink.drops() {
        of.drops.put(&[one.destination, one.cause], one.count);
    }
    for (name, health) in sink.destinations() {
        of.degraded.put(&[name], u64::from(health != Health::Ok));
    }
    for (kind, count) in [
        ("edition", lost.editions),
        ("fetch", lost.fetches),
        ("hosts", lost.hosts),
        ("clock_leap", lost.clock_leaps),
        ("quarantine", lost.quarantine),
        ("request_counts", sink.lost_requests()),
    ] {
        of.history_lost.put(&[kind], count);
    }
    let Some(status) = sink.forwarded() else { return };
    of.spool_bytes.put(&[], status.bytes);
    of.spool_max_bytes.put(&[], status.limit);
    of.spool_records.put(&[], status.waiting);
    of.spool_age.put(&[], status.age.as_secs());
    of.sent.put(&[], status.sent);
    of.inserts.put(&[], status.inserts);
    of.refused.put(&[], status.refused);
    of.lost.put(&[], status.lost);
    for (code, count) in status.failures {
        of.failures.put(&[code], count);
    }
}

/// 200 while requests are served, because unwritten records are no reason for a restart.
async fn health(State(view): State<View>) -> String {
    let records = match view.sink.health() {
        Health::Ok => None,
        Health::Degraded(why) => Some(why),
    };
    let logs = view.metrics.unwritten_logs().into_iter().map(|(log, why)| format!("{log}: {why}"));
    let full = view.metrics.are_connections_full();
    let full = full.then(|| "all connections are taken: further clients get 503".to_owned());
    let troubles = records.into_iter().chain(logs).chain(full);
    let troubles = troubles.map(|why| format!("degraded: {why}\n"));
    let text: String = troubles.collect();
    if text.is_empty() { "ok\n".to_owned() } else { text }
}

/// Without ClickHouse a node serves as well as with it, so this is no reason to send requests elsewhere. In
/// a fleet, the page also says which policy is in force, and why the node is degraded.
async fn ready(State(view): State<View>) -> (StatusCode, String) {
    if !view.ready.load(Ordering::Acquire) {
        return (StatusCode::SERVICE_UNAVAILABLE, "not ready\n".to_owned());
    }
    let mut text = "ready\n".to_owned();
    let mut troubles: Vec<_> =
        view.sink.forwarded().and_then(|status| status.trouble).into_iter().collect();
    if let Some(live) = view.live.get().filter(|live| live.handles.fellowship.is_member()) {
        let published = live.handles.published.load();
        text.push_str(&format!("policy: {}\n", published.policy.policy.shown_fingerprint()));
        troubles.extend(live.handles.fellowship.degraded());
    }
    for trouble in troubles {
        text.push_str(&format!("degraded: {trouble}\n"));
    }
    (StatusCode::OK, text)
}

/// Reloads the policy, and answers when the outcome is known: 200 if the policy in the file is in force now, 422 if it was refused.
async fn reload(State(view): State<View>) -> Response {
    let Some(live) = view.live.get() else {
        let why = "the policy has not taken effect yet";
        return Problem::new(Kind::NOT_READY, why).into_response();
    };
    let (status, outcome, findings) = match live.reloads.outcome(BY_RELOAD).await {
        Some(Outcome::Applied) => (StatusCode::OK, "applied", Vec::new()),
        Some(Outcome::Unchanged) => (StatusCode::OK, "unchanged", Vec::new()),
        Some(Outcome::Refused(findings)) => (StatusCode::UNPROCESSABLE_ENTITY, "refused", findings),
        None => {
            let why = "the policy is not reloaded any more; the log has the error";
            return Problem::new(Kind::FAILED, why).into_response();
        }
    };
    let answer = json!({
        "outcome": outcome,
        // The fingerprint of the policy that is in force now.
        "policy": live.handles.published.load().rulebook.fingerprint(),
        "file": live.policy_file.display().to_string(),
        // The reasons of a refusal.
        "findings": findings,
    });
    (status, [(header::CONTENT_TYPE, "application/json")], answer.to_string()).into_response()
}
