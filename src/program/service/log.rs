//! The first log lines, and those that are dropped because standard error is not read.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use crate::{
    base::{metrics::Metrics, version},
    program::console::LineCounts,
    rules::policy::{self, Policy},
};

const EVERY: Duration = Duration::from_secs(1);

/// Logs one line for each listener and site, and the policy's fingerprint.
pub(super) fn announce(policy: &Policy) {
    tracing::info!(
        version = version::NUMBER,
        policy = policy.shown_fingerprint(),
        crawlers = policy.catalogue.iter().len(),
        "beadle"
    );
    for listener in &policy.server.listen {
        tracing::info!(address = %listener.address, tls = listener.tls.is_some(), "listening");
    }
    if let Some(admin) = &policy.server.admin {
        tracing::info!(address = %admin.address, "admin listening");
    }
    if let Some(decide) = &policy.server.decide {
        tracing::info!(address = %decide.address, "deciding for other servers");
    }
    for site in &policy.sites {
        let origin = site.backend.urls();
        let mode = site.enforcement.ladder.map_or(site.enforcement.mode.as_str(), |_| "ladder");
        let overrides: Vec<String> = site.enforcement.overrides.iter().map(summary).collect();
        let overrides = Some(overrides.join(", ")).filter(|text| !text.is_empty());
        let impostors = site.enforcement.impostors.map(policy::Mode::as_str);
        tracing::info!(site = site.name(), origin, mode, overrides, impostors, "serving");
    }
}

/// An override in short: `block for 97 crawlers`, `log for all (unknown)`.
fn summary(one: &policy::Override) -> String {
    let mode = one.mode.as_str();
    let crawlers = match one.tokens.len() {
        _ if one.all => "all".to_owned(),
        1 => "1 crawler".to_owned(),
        several => format!("{several} crawlers"),
    };
    let standings: Vec<&str> = one.standings.iter().map(|outcome| outcome.as_str()).collect();
    match standings.as_slice() {
        [] => format!("{mode} for {crawlers}"),
        some => format!("{mode} for {crawlers} ({})", some.join(", ")),
    }
}

/// Counts the lines that are dropped. One line says so afterwards.
pub(super) async fn watch(lines: LineCounts, metrics: Arc<Metrics>) {
    let (mut dropped, mut written, mut unread) = (0, 0, 0);
    loop {
        tokio::time::sleep(EVERY).await;
        let new = lines.dropped.dropped_lines() as u64 - dropped;
        let now = lines.written.load(Ordering::Relaxed);
        let is_stuck = now == std::mem::replace(&mut written, now);
        dropped += new;
        unread += new;
        // Without new lines, the writer still waits until it has written one.
        let is_blocked = unread > 0 && (new > 0 || is_stuck);
        metrics.log_dropped(new, is_blocked);
        if unread > 0 && !is_blocked {
            tracing::warn!(lines = unread, "log lines were dropped: standard error was not read");
            unread = 0;
        }
    }
}
