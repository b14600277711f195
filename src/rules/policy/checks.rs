//! Checks across the sections of a policy.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
};

use crate::{
    base::{diagnostic::Diagnostic, escape::shown},
    formats::robots::{Directive, Rule},
};

use super::{
    mode::Mode,
    server::{Acme, Listener, Server},
    shape::At,
    sites::Site,
    yaml::Value,
};

/// Refuses an origin that is one of Beadle's own listeners: every request would run in a circle.
pub(super) fn refuse_loop(site: &Site, server: &Server, at: &At<'_>) {
    let is_ours = |listener: &SocketAddr| {
        site.backend.origins.iter().any(|origin| {
            let ip = match origin.host.as_str() {
                "localhost" => Some(IpAddr::from([127, 0, 0, 1])),
                host => host.parse::<IpAddr>().ok(),
            };
            let is_same = |ip: IpAddr| {
                listener.ip() == ip || (listener.ip().is_unspecified() && ip.is_loopback())
            };
            listener.port() == origin.port && ip.is_some_and(is_same)
        })
    };
    if let Some(listener) = server.addresses().find(is_ours) {
        let name = site.name();
        let message = format!("the origin of '{name}' is this proxy's own listener {listener}");
        let help = "name the address of the server behind the proxy";
        at.refuse_as("policy.loop", message, help);
    }
}

/// Hints at rules that spell one path in two cases: the origin may serve every other case, too. The
/// place is the second spelling.
pub(super) fn hint_at_case(site: &Site, at: &At<'_>) {
    if site.reading.case_insensitive || !has_two_cases(site) {
        return;
    }
    // Each path with its first spelling, and whether it is found.
    let mut spellings: HashMap<String, (String, bool)> = HashMap::new();
    let mut first: Option<(At<'_>, String, String)> = None;
    let mut count = 0_usize;
    for (at, pattern) in patterns(at) {
        let known = spellings.entry(pattern.to_lowercase());
        let (spelling, is_found) = known.or_insert_with(|| (pattern.clone(), false));
        if *spelling != pattern && !*is_found {
            *is_found = true;
            count += 1;
            first.get_or_insert_with(|| (at, spelling.clone(), pattern));
        }
    }
    let Some((at, one, other)) = first else { return };
    let more = match count - 1 {
        0 => String::new(),
        more => format!(", and {more} more {}", if more == 1 { "pair" } else { "pairs" }),
    };
    let message = format!(
        "the rules name '{}' and '{}'{more}: paths are compared with regard to case",
        shown(one),
        shown(other)
    );
    let help =
        "if the origin serves both alike, write 'origin: { url: …, case_insensitive: true }'";
    at.note("policy.case", message, help);
}

/// Hints at `Via` where a setting speaks of nginx as the origin. nginx compresses nothing for requests
/// with that field, unless it is told to.
pub(super) fn hint_at_via(site: &Site, at: &At<'_>) {
    let Value::Map(entries) = &at.node.value else { return };
    let is_chosen = entries.iter().any(|(key, _)| key.text == "via");
    if is_chosen || site.reading.decode_depth < 2 {
        return;
    }
    let message = "nginx as the origin compresses nothing for requests with 'Via', which are sent";
    let help = "if it should, write 'via: false', or 'gzip_proxied any;' in nginx and 'via: true'";
    at.note("policy.via", message, help);
}

/// Whether two rules differ in case alone. Nearly every file is done with this.
fn has_two_cases(site: &Site) -> bool {
    let mut spellings: HashMap<String, &str> = HashMap::new();
    let mut rules = site.robots_txt.file.groups.iter().flat_map(|group| &group.rules);
    rules.any(|rule| {
        *spellings.entry(rule.pattern.to_lowercase()).or_insert(&rule.pattern) != rule.pattern
    })
}

/// The path patterns of a site's rules as they are published, in the order of the file, with their
/// places.
fn patterns<'n>(site: &At<'n>) -> Vec<(At<'n>, String)> {
    let groups = site.child("robots_txt").child("groups").elements();
    let lists = groups.iter().flat_map(|group| ["disallow", "allow"].map(|key| group.child(key)));
    let mut patterns: Vec<(At<'n>, String)> = lists
        .flat_map(|list| list.elements())
        .filter_map(|at| {
            let Value::Text(text) = &at.node.value else { return None };
            let rule = Rule::new(Directive::Disallow, text).ok()?;
            Some((at, rule.pattern))
        })
        .collect();
    patterns.sort_by_key(|(at, _)| at.node.spot);
    patterns
}

/// Warns of a site that blocks, or requires a standing, without any evidence: a User-Agent proves
/// nothing.
pub(super) fn warn_of_unproven_names(site: &Site, at: &At<'_>) {
    let enforcement = &site.enforcement;
    let blocks = enforcement.mode == Mode::Block
        || enforcement.ladder.is_some()
        || enforcement.overrides.iter().any(|one| one.mode == Mode::Block);
    let needs_evidence = enforcement.impostors.is_some()
        || enforcement.overrides.iter().any(|one| !one.standings.is_empty());
    if needs_evidence {
        let message = "depends on who crawlers really are, but no evidence is collected";
        let help = "add an 'evidence' section, for example 'evidence: { folder: data/evidence }'";
        at.warn("policy.no_evidence", message, help);
    } else if blocks {
        let message = "blocks by User-Agent, which any client can fake";
        let help = "add an 'evidence' section to tell crawlers from impostors";
        at.note("policy.unverified_claims", message, help);
    }
}

/// Refuses certificates that can't be ordered, and warns of doors that are not there.
pub(super) fn weigh_certificates(server: &Server, sites: &[(At<'_>, Site)], root: &At<'_>) {
    let at = root.child("server").child("listen");
    let has_tls = server.listen.iter().any(|listener| listener.tls.is_some());
    if server.listen.iter().any(|listener| listener.is_redirect) && !has_tls {
        let message = "redirects to HTTPS, but no listener has TLS";
        let help = "add a listener with 'tls', unless another server has it";
        at.warn("policy.no_https", message, help);
    }
    let with_acme = server.listen.iter().filter_map(|one| one.tls.as_ref()?.acme.as_ref());
    let mut folders: HashMap<PathBuf, &Acme> = HashMap::new();
    for acme in with_acme {
        let sites = sites.iter().map(|(_, site)| site);
        if acme.hosts.is_empty() && acme.hosts_of(sites).is_empty() {
            let help = "name them in 'hosts' of 'acme'; the hosts of the sites are wildcards, or no \
                        names on the internet";
            at.refuse("no host to order a certificate for", help);
        }
        let other = folders.entry(acme.state_folder()).or_insert(acme);
        if (&other.contact, &other.root) != (&acme.contact, &acme.root) {
            let message = "one account with two contacts or two roots";
            at.refuse(message, "write the same in both, or choose another folder");
        }
    }
    let is_asked = |listener: &Listener| listener.tls.is_none() && listener.address.port() == 80;
    if !folders.is_empty() && !server.listen.iter().any(is_asked) {
        let message = "no plain listener on port 80, where the authority asks for the proof";
        let help = "add '- { address: 0.0.0.0:80, redirect: https }', or forward port 80 of the hosts \
                    to another listener";
        at.add(Diagnostic::warning("policy.no_port_80", message).help(help));
    }
}
