//! The whole policy: its sections in order, then what only all of them together can show.

use std::{net::IpAddr, sync::Arc};

use sha2::{Digest, Sha256};

use crate::{
    diagnostic::{Diagnostic, Severity},
    policy::{
        Evidence, Mode, Policy, Server, Site,
        catalogue::{self, Open},
        evidence,
        names::Names,
        server,
        shape::{At, Findings},
        sites, yaml,
    },
};

/// Reads a policy; it comes only without errors. The findings are in no particular order.
pub(super) fn read(bytes: &[u8], open: &mut Open<'_>) -> (Option<Policy>, Vec<Diagnostic>) {
    let root = match yaml::read(bytes) {
        Ok(root) => root,
        Err(finding) => return (None, vec![finding]),
    };
    if matches!(root.value, yaml::Value::Null) {
        let finding = Diagnostic::error("policy.empty", "the policy is empty")
            .at(1, 1)
            .help("start from examples/minimal.yaml: 'sites' with 'hosts' and 'origin'");
        return (None, vec![finding]);
    }
    let mut findings = Findings::default();
    let policy = sections(&At::root(&root), bytes, open, &mut findings);
    let refused = findings.0.iter().any(|finding| finding.severity == Severity::Error);
    (policy.filter(|_| !refused), findings.0)
}

fn sections(
    root: &At<'_>,
    bytes: &[u8],
    open: &mut Open<'_>,
    findings: &mut Findings,
) -> Option<Policy> {
    const KEYS: [&str; 8] = [
        "server",
        "violations",
        "evidence",
        "catalogue",
        "crawlers",
        "crawler_sets",
        "strict",
        "sites",
    ];
    let fields = root.fields(&KEYS, findings)?;
    let server = server::server(fields.take("server").as_ref(), findings);
    let violations = server::violations(fields.take("violations").as_ref(), findings);
    let named = match fields.take("catalogue") {
        // Without the crawlers that are meant, most of what follows would be findings about names.
        Some(at) => Some(catalogue::named(&at, open, findings)?),
        None => None,
    };
    let fingerprint = fingerprint([bytes, named.as_ref().map_or(&[], |named| &named.bytes)]);
    let (catalogue_file, known) = match named {
        Some(named) => (Some(named.path), named.file.crawlers),
        None => (None, catalogue::built_in_file().crawlers),
    };
    let own = fields.take("crawlers");
    let catalogue = Arc::new(catalogue::extended(known, own.as_ref(), findings));
    let strict = fields.take("strict").and_then(|at| at.boolean(findings)).unwrap_or(true);
    let names = Names::read(fields.take("crawler_sets").as_ref(), &catalogue, strict, findings);
    let evidence = evidence::read(fields.take("evidence").as_ref(), &names, findings);
    let help = "write 'sites:' with at least one site";
    let sites_at = fields.require("sites", help, findings)?;
    let sites = sites::read(&sites_at, &names, findings);
    for (at, site) in &sites {
        no_loop(site, &server, at, findings);
        if !evidence.as_ref().is_some_and(Evidence::looks_at_anything) {
            names_are_claims(site, at, findings);
        }
    }
    let sites = sites.into_iter().map(|(_, site)| site).collect();
    Some(Policy { server, violations, evidence, catalogue_file, catalogue, sites, fingerprint })
}

/// An origin that is one of our own listeners would make every request run in a circle.
fn no_loop(site: &Site, server: &Server, at: &At<'_>, findings: &mut Findings) {
    let origin = if site.origin.host == "localhost" {
        Some(IpAddr::from([127, 0, 0, 1]))
    } else {
        site.origin.host.parse::<IpAddr>().ok()
    };
    let Some(origin) = origin else { return };
    let is_ours = |listener: std::net::SocketAddr| {
        listener.port() == site.origin.port
            && (listener.ip() == origin || (listener.ip().is_unspecified() && origin.is_loopback()))
    };
    let sockets = server.listen.iter().map(|listener| listener.address).chain(server.admin);
    if let Some(listener) = sockets.into_iter().find(|socket| is_ours(*socket)) {
        findings.refuse_as(
            "policy.loop",
            at,
            format!("the origin of '{}' is this proxy's own listener {listener}", site.name()),
            "name the address of the server behind the proxy",
        );
    }
}

/// Said once for each site that blocks, or asks for a standing, while nothing is looked at: a
/// User-Agent proves nothing.
fn names_are_claims(site: &Site, at: &At<'_>, findings: &mut Findings) {
    let enforcement = &site.enforcement;
    let blocks = enforcement.mode == Mode::Block
        || enforcement.ladder.is_some()
        || enforcement.overrides.iter().any(|one| one.mode == Mode::Block);
    let asks = enforcement.impostors.is_some()
        || enforcement.overrides.iter().any(|one| !one.standings.is_empty());
    if asks {
        let message = "asks who crawlers really are, and nothing is looked at to tell";
        findings.add(
            at,
            Diagnostic::warning("policy.no_evidence", message).help(
                "add an 'evidence' section, for example 'evidence: { folder: data/evidence }'",
            ),
        );
    } else if blocks {
        let message = "blocks go by what a User-Agent claims";
        findings.add(
            at,
            Diagnostic::note("policy.unverified_claims", message).help(
                "add an 'evidence' section to tell crawlers from those who borrow their names",
            ),
        );
    }
}

fn fingerprint(files: [&[u8]; 2]) -> String {
    let mut hash = Sha256::new();
    files.into_iter().for_each(|bytes| hash.update(bytes));
    hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}
