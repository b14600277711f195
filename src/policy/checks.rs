//! Checks across the sections of a policy.

use std::net::{IpAddr, SocketAddr};

use crate::diagnostic::Diagnostic;

use super::{findings::Findings, mode::Mode, server::Server, shape::At, sites::Site};

/// Refuses an origin that is one of Beadle's own listeners: every request would run in a circle.
pub(super) fn refuse_loop(site: &Site, server: &Server, at: &At<'_>, findings: &mut Findings) {
    let origin = if site.origin.host == "localhost" {
        Some(IpAddr::from([127, 0, 0, 1]))
    } else {
        site.origin.host.parse::<IpAddr>().ok()
    };
    let Some(origin) = origin else { return };
    let is_ours = |listener: SocketAddr| {
        listener.port() == site.origin.port
            && (listener.ip() == origin || (listener.ip().is_unspecified() && origin.is_loopback()))
    };
    if let Some(listener) = server.addresses().find(|address| is_ours(*address)) {
        findings.refuse_as(
            "policy.loop",
            at,
            format!("the origin of '{}' is this proxy's own listener {listener}", site.name()),
            "name the address of the server behind the proxy",
        );
    }
}

/// Warns of a site that blocks, or requires a standing, without any evidence: a User-Agent proves
/// nothing.
pub(super) fn warn_of_unproven_names(site: &Site, at: &At<'_>, findings: &mut Findings) {
    let enforcement = &site.enforcement;
    let blocks = enforcement.mode == Mode::Block
        || enforcement.ladder.is_some()
        || enforcement.overrides.iter().any(|one| one.mode == Mode::Block);
    let needs_evidence = enforcement.impostors.is_some()
        || enforcement.overrides.iter().any(|one| !one.standings.is_empty());
    if needs_evidence {
        let message = "depends on who crawlers really are, but no evidence is collected";
        findings.add(
            at,
            Diagnostic::warning("policy.no_evidence", message).help(
                "add an 'evidence' section, for example 'evidence: { folder: data/evidence }'",
            ),
        );
    } else if blocks {
        let message = "blocks by User-Agent, which any client can fake";
        findings.add(
            at,
            Diagnostic::note("policy.unverified_claims", message)
                .help("add an 'evidence' section to tell crawlers from impostors"),
        );
    }
}
