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

/// How often to see which checks are due.
const TICK: Duration = Duration::from_millis(250);
/// The most checks at the same time.
const AT_ONCE: usize = 64;

/// What the checks are about.
pub(in crate::state::publication) trait Checked: Send {
    /// Calls `each` with the origins of every site that has checks.
    fn each(&self, each: &mut dyn FnMut(&Arc<Servers>));
    /// The time of the steady clock.
    fn now(&self) -> Duration;
}

/// A check that is due.
struct Due {
    servers: Arc<Servers>,
    place: usize,
    check: HealthCheck,
}

/// Checks every origin at its interval, for ever.
pub(in crate::state::publication) async fn repeat(
    checked: impl Checked,
    client: Client,
    metrics: Arc<Metrics>,
) {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut running = JoinSet::new();
    loop {
        tokio::select! {
            _ = ticks.tick() => {
                for due in due(&checked) {
                    if running.len() >= AT_ONCE {
                        let done = running.join_next().await;
                        settle(done.and_then(Result::ok), &checked, &metrics);
                    }
                    running.spawn(run(due, client.clone()));
                }
            }
            Some(done) = running.join_next(), if !running.is_empty() => {
                settle(done.ok(), &checked, &metrics);
            }
        }
    }
}

/// The checks that are due; the next ones are due after their interval.
fn due(checked: &impl Checked) -> Vec<Due> {
    let (now, mut all) = (checked.now(), Vec::new());
    checked.each(&mut |servers| {
        let Some(check) = &servers.backend.health.check else { return };
        for (place, server) in servers.all.iter().enumerate() {
            if server.health.claim_check(now, check.interval) {
                let (servers, check) = (Arc::clone(servers), check.clone());
                all.push(Due { servers, place, check });
            }
        }
    });
    all
}

async fn run(due: Due, client: Client) -> (Due, bool) {
    let Due { servers, place, check } = &due;
    let Some(server) = servers.all.get(*place) else { return (due, false) };
    let url = format!("{}{}", server.origin, check.path);
    let unconditional = Validators::default();
    let request = Request {
        url: &url,
        host: Some(&servers.backend.host),
        forwarded: None,
        validators: &unconditional,
    };
    let response = timeout(check.timeout, client.get(request)).await;
    let is_good = matches!(response, Ok(Ok(response)) if matches!(response.status(), 200..=399));
    (due, is_good)
}

fn settle(done: Option<(Due, bool)>, checked: &impl Checked, metrics: &Metrics) {
    match done {
        Some((Due { servers, place, .. }, true)) => {
            servers.succeeded(place, Success::Check, metrics);
        }
        Some((Due { servers, place, .. }, false)) => {
            servers.failed(place, Fault::Check, checked.now(), metrics);
        }
        None => {}
    }
}
