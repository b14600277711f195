//! The request to reload the policy, answered when the outcome is known.

use axum::{
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;

use crate::state::publication::{BY_RELOAD, Outcome};

use super::{
    problem::{Kind, Problem},
    view::View,
};

/// Reloads the policy: 200 if the policy in the file is in force now, 422 if it was refused.
pub(super) async fn reload(State(view): State<View>) -> Response {
    let Some(live) = view.live.get() else {
        let why = "the policy has not taken effect yet";
        return Problem::new(Kind::NotReady, why).into_response();
    };
    let (status, outcome, findings) = match live.reloads.outcome(BY_RELOAD).await {
        Some(Outcome::Applied) => (StatusCode::OK, "applied", Vec::new()),
        Some(Outcome::Unchanged) => (StatusCode::OK, "unchanged", Vec::new()),
        Some(Outcome::Refused(findings)) => (StatusCode::UNPROCESSABLE_ENTITY, "refused", findings),
        None => {
            let why = "the policy is not reloaded any more; the log has the error";
            return Problem::new(Kind::Failed, why).into_response();
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
