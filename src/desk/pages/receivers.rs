//! A test event to each receiver of alerts, and the answers.

use std::time::Duration;

use axum::{extract::State, http::StatusCode};
use tokio::{sync::Mutex, time::timeout};

use super::frame::{Answer, live, notice, work};
use crate::{desk::admin::View, outside::alerts::Receiver};

/// The time for an answer. The browser's connection lasts no more than a minute.
const MOST: Duration = Duration::from_secs(30);

/// One test runs at a time.
static ONE: Mutex<()> = Mutex::const_new(());

/// Sends the event, and shows what `beadle alerts test` prints.
pub(super) async fn test(State(view): State<View>) -> Answer {
    let unsent = |text: &str| Ok(notice(&view, StatusCode::CONFLICT, "Nothing sent", text));
    let Ok(turn) = ONE.try_lock() else {
        return unsent("Another test waits for its answers. Try again in half a minute.");
    };
    let published = live(&view)?.handles.published.load_full();
    let receivers = match work(move || Receiver::of(&published.policy.policy)).await? {
        Ok(receivers) if receivers.is_empty() => return unsent("The policy has no alerts."),
        Ok(receivers) => receivers,
        Err(finding) => return unsent(&format!("{finding:#}")),
    };
    tracing::info!(receivers = receivers.len(), "test of the alerts from the desk");
    let tests: Vec<_> = receivers
        .into_iter()
        .map(|one| {
            let late = format!("{}: no answer within {} s", one.alert.shown(), MOST.as_secs());
            let test =
                async move { timeout(MOST, one.test()).await.map(|tested| tested.to_string()) };
            (tokio::spawn(test), late)
        })
        .collect();
    // The turn lasts as long as the tests, also for a browser that left.
    let answers = tokio::spawn(async move {
        let _turn = turn;
        let mut answers = Vec::new();
        for (test, late) in tests {
            answers.push(test.await.ok().and_then(Result::ok).unwrap_or(late));
        }
        answers.join("\n")
    });
    let answers = answers.await.unwrap_or_default();
    Ok(notice(&view, StatusCode::OK, "Test event", &answers))
}
