//! Regular requests to each origin that find out whether it is up.

use std::{sync::Arc, time::Duration};

use tokio::{
    task::JoinSet,
    time::{MissedTickBehavior, interval, timeout},
};

use crate::{
    base::{
        fetch::{Client, Request, Validators},
        metrics::Metrics,
    },
    rules::policy::HealthCheck,
};

use super::{
    Servers,
    health::{Fault, Success},
};

const TICK: Duration = Duration::from_millis(250);
const AT_ONCE: usize = 64;

struct Due {
    servers: Arc<Servers>,
    place: usize,
    check: HealthCheck,
}

/// Checks every origin of the sites that `checked` returns at its interval, for ever. `now` is the time of
/// the steady clock.
pub(crate) async fn repeat(
    checked: impl Fn() -> Vec<Arc<Servers>>,
    now: impl Fn() -> Duration,
    client: Client,
    metrics: Arc<Metrics>,
) {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut running = JoinSet::new();
    loop {
        tokio::select! {
            _ = ticks.tick() => {
                for due in due(checked(), now()) {
                    if running.len() >= AT_ONCE {
                        let done = running.join_next().await;
                        settle(done.and_then(Result::ok), now(), &metrics);
                    }
                    running.spawn(run(due, client.clone()));
                }
            }
            Some(done) = running.join_next(), if !running.is_empty() => {
                settle(done.ok(), now(), &metrics);
            }
        }
    }
}

/// The checks that are due; the next ones are due after their interval.
fn due(checked: Vec<Arc<Servers>>, now: Duration) -> Vec<Due> {
    let mut all = Vec::new();
    for servers in checked {
        let Some(check) = &servers.backend.health.check else { continue };
        for (place, server) in servers.all.iter().enumerate() {
            if server.health.claim_check(now, check.interval) {
                let (servers, check) = (Arc::clone(&servers), check.clone());
                all.push(Due { servers, place, check });
            }
        }
    }
    all
}

async fn run(due: Due, client: Client) -> (Due, bool) {
    let Due { servers, place, check } = &due;
    let Some(server) = servers.all.get(*place) else { return (due, false) };
    let url = &format!("{}{}", server.origin, check.path);
    let validators = &Validators::default();
    let request = Request { url, host: Some(&servers.backend.host), forwarded: None, validators };
    let response = timeout(check.timeout, client.get(request)).await;
    let is_good = matches!(response, Ok(Ok(response)) if matches!(response.status(), 200..=399));
    (due, is_good)
}

fn settle(done: Option<(Due, bool)>, now: Duration, metrics: &Metrics) {
    let Some((Due { servers, place, .. }, is_good)) = done else { return };
    match is_good {
        true => servers.succeeded(place, Success::Check, metrics),
        false => servers.failed(place, Fault::Check, now, metrics),
    }
}
