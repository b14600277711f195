//! The first log lines: listeners, sites, the policy's fingerprint.

use crate::{
    base::version,
    rules::policy::{self, Policy},
};

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
