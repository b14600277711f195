//! The server in a fleet: it joins before it serves.

use std::time::Duration;

use crate::state::{
    exchange::{self, Exchange, Settings},
    publication::Publisher,
};

/// The most time that a start waits for the fleet. It is for a server that answers late: without one, this
/// node serves at once.
const PATIENCE: Duration = Duration::from_secs(5);

/// Joins the fleet of these settings, and announces the editions that this node is about to serve.
/// `None` if `signal` ended it before.
pub(super) async fn join(
    settings: Settings,
    publisher: &mut Publisher,
    signal: impl Future<Output = &'static str>,
) -> Option<Exchange> {
    let port = publisher.join_fleet();
    let (exchange, loaded) = exchange::start(settings, publisher.handles(), port);
    let is_met = tokio::select! {
        is_met = publisher.meet_fleet(loaded, PATIENCE) => is_met,
        signal = signal => {
            tracing::info!(signal, "stopped before the first request");
            exchange.leave().await;
            return None;
        }
    };
    if !is_met {
        tracing::error!(
            code = "fleet.start",
            "the fleet is not known: this node serves without it, degraded"
        );
    }
    Some(exchange)
}
