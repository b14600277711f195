//! The server in a fleet: it joins before it serves.

use std::time::Duration;

use crate::{
    exchange::{self, Exchange, Settings},
    publication::Publisher,
};

/// The most time that a start waits for the fleet. Then this node serves without it.
const PATIENCE: Duration = Duration::from_secs(30);

/// Joins the fleet of these settings, and announces the editions that this node is about to serve.
pub(super) async fn join(
    settings: Option<Settings>,
    publisher: &mut Publisher,
) -> Option<Exchange> {
    let settings = settings?;
    let port = publisher.join_fleet();
    let (exchange, loaded) = exchange::start(settings, publisher.handles(), port);
    if !publisher.meet_fleet(loaded, PATIENCE).await {
        let seconds = PATIENCE.as_secs();
        tracing::error!(
            code = "fleet.start",
            seconds,
            "the fleet is not known: this node serves without it, degraded"
        );
    }
    Some(exchange)
}
