//! The policy file written, and read again by the running program.

use axum::{
    Form,
    extract::{State, rejection::FormRejection},
    http::StatusCode,
};

use super::{
    change_form::{NotPrepared, Wanted},
    preview::{sentences, unread},
};
use crate::{
    desk::{
        admin::View,
        pages::frame::{Answer, live, notice, work_on},
    },
    state::publication::{Outcome, rewrite},
};

pub(super) async fn write(
    State(view): State<View>,
    form: Result<Form<Wanted>, FormRejection>,
) -> Answer {
    let Ok(Form(wanted)) = form else { return Ok(unread(&view)) };
    let refused = |status, text: &str| notice(&view, status, "Nothing changed", text);
    if !live(&view)?.edits {
        let text = "The desk may not write the policy file: set server.admin.edit, and restart \
                    Beadle. The page of the change shows the lines to write.";
        return Ok(refused(StatusCode::FORBIDDEN, text));
    }
    if wanted.file.is_empty() {
        return Ok(unread(&view));
    }
    let asked = wanted.clone();
    let written = work_on(&view, move |live| {
        let prepared = asked.prepare(live)?;
        rewrite(&live.policy_file, &prepared.before, &prepared.proposal.after)
            .map_err(|why| NotPrepared::Why(format!("The policy file is not written: {why}.")))
    });
    if let Err(why) = written.await? {
        return Ok(refused(StatusCode::CONFLICT, &sentences(why).join(" ")));
    }
    let Wanted { site, crawler, act, section, .. } = &wanted;
    tracing::info!(site, crawler, act, section, "policy file changed on the desk");
    let findings = match live(&view)?.reloads.outcome("desk").await {
        Some(Outcome::Applied | Outcome::Unchanged) => {
            let text = "The policy file is written, and it is in force. What changed stands on the \
                        page /policy/history, with a way back.";
            return Ok(notice(&view, StatusCode::OK, "In force", text));
        }
        Some(Outcome::Refused(findings)) => findings,
        None => Vec::new(),
    };
    let why = sentences(NotPrepared::Findings(findings)).join(" ");
    let text = format!("The file is written, and the policy in force stays as it was. {why}");
    Ok(notice(&view, StatusCode::CONFLICT, "Written, but not in force", &text))
}
