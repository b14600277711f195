//! Checks across the sections of a policy.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
};

use crate::{diagnostic::Diagnostic, escape::shown};

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

/// Hints at rules that spell one path in two cases: the origin may serve every other case, too.
pub(super) fn hint_at_case(site: &Site, at: &At<'_>, findings: &mut Findings) {
    if site.reading.case_insensitive {
        return;
    }
    let mut spellings: HashMap<String, &str> = HashMap::new();
    let groups = site.robots_txt.file.groups.iter();
    let found = groups.flat_map(|group| &group.rules).find_map(|rule| {
        let spelling = spellings.entry(rule.pattern.to_lowercase()).or_insert(&rule.pattern);
        (*spelling != rule.pattern).then_some((*spelling, rule.pattern.as_str()))
    });
    if let Some((one, other)) = found {
        let message = format!(
            "the rules name '{}' and '{}': paths are compared with regard to case",
            shown(one),
            shown(other)
        );
        findings.add(
            at,
            Diagnostic::note("policy.case", message).help(
                "if the origin serves both alike, write 'origin: { url: …, case_insensitive: true }'",
            ),
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
