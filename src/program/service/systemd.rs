//! What the program tells systemd about itself (sd_notify). Without `NOTIFY_SOCKET`, nothing.

use sd_notify::NotifyState;

use crate::state::publication::{Outcome, Stage};

pub(super) fn ready() {
    tell(&[NotifyState::Ready, NotifyState::Status("serving")]);
}

pub(super) fn succeeded_by(process: u32) {
    tell(&[NotifyState::MainPid(process), NotifyState::Ready, NotifyState::Status("serving")]);
}

pub(super) fn stopping() {
    tell(&[NotifyState::Stopping, NotifyState::Status("completing requests in progress")]);
}

/// A reload begins or ends, whatever requested it.
pub(super) fn on_reload(stage: Stage<'_>) {
    let Stage::End(outcome) = stage else {
        // Without the time, systemd would not know to which request of its own this belongs.
        let now = NotifyState::monotonic_usec_now().into_iter();
        let states: Vec<_> = [NotifyState::Reloading].into_iter().chain(now).collect();
        return tell(&states);
    };
    let status = match outcome {
        Outcome::Applied | Outcome::Unchanged => "serving".to_owned(),
        Outcome::Refused(findings) => {
            let first = findings.first().map(|finding| format!(": {finding:#}"));
            format!("policy refused, the last good one is in force{}", first.unwrap_or_default())
        }
    };
    tell(&[NotifyState::Ready, NotifyState::Status(&status)]);
}

fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "systemd does not take notice");
    }
}
