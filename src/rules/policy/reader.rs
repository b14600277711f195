//! The whole file: its sections in order, then the checks across them.

use std::{io, path::Path, str::FromStr};

use sha2::{Digest, Sha256};

use crate::base::{
    diagnostic::{Diagnostic, Severity},
    escape::hex,
};

use super::{
    alerts,
    catalogue_file::{Open, OtherFile},
    catalogue_source, checks, email,
    evidence::{self, Evidence},
    findings::{Findings, Sink},
    fleet,
    names::Names,
    reports,
    sections::Policy,
    server,
    shape::At,
    sites, test, violations, yaml,
};

/// Reads a policy that names no other file. The findings come in the order of their places; the
/// policy comes only if none of them is an error.
///
/// `file` is the name that findings show.
pub fn read(file: &str, bytes: &[u8]) -> (Option<Policy>, Vec<Diagnostic>) {
    read_with(file, bytes, &mut |other, _| match other {
        OtherFile::Catalogue => Err(io::Error::other("no other file can be read here")),
        OtherFile::Followed => Err(io::ErrorKind::NotFound.into()),
    })
}

/// Reads a policy, and the files that belong to it: its catalogue, and what is kept of the lists that
/// it follows. `open` reads them, each at most once. Findings about the catalogue show its name.
pub fn read_with(
    file: &str,
    bytes: &[u8],
    open: &mut dyn FnMut(OtherFile, &Path) -> io::Result<Vec<u8>>,
) -> (Option<Policy>, Vec<Diagnostic>) {
    let (policy, findings) = read_draft(file, bytes, open);
    let refused = findings.iter().any(|finding| finding.severity == Severity::Error);
    (policy.filter(|_| !refused), findings)
}

/// Reads a policy as [`read_with`] does, and returns what could be read in spite of errors. It is to
/// be looked at, not to be served: what has an error is left out.
pub fn read_draft(
    file: &str,
    bytes: &[u8],
    open: &mut dyn FnMut(OtherFile, &Path) -> io::Result<Vec<u8>>,
) -> (Option<Policy>, Vec<Diagnostic>) {
    let (policy, mut findings) = document(bytes, open);
    findings.sort_by_key(|one| (one.place.file.is_some(), one.place.line, one.place.column));
    let in_file = |one: Diagnostic| if one.place.file.is_some() { one } else { one.in_file(file) };
    (policy, findings.into_iter().map(in_file).collect())
}

/// Reads a policy from its text alone. Warnings are dropped; [`read`] returns them.
impl FromStr for Policy {
    type Err = Findings;

    fn from_str(text: &str) -> Result<Self, Findings> {
        let (policy, findings) = read("policy", text.as_bytes());
        policy.ok_or(Findings(findings))
    }
}

/// Reads the file. What has an error is left out of the policy; the findings are not sorted.
fn document(bytes: &[u8], open: &mut Open<'_>) -> (Option<Policy>, Vec<Diagnostic>) {
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
    let sink = Sink::default();
    let policy = sections(&At::root(&root, &sink), bytes, open);
    (policy, sink.into_findings())
}

fn sections(root: &At<'_>, bytes: &[u8], open: &mut Open<'_>) -> Option<Policy> {
    let fields = root.fields()?;
    let server = server::read(&fields.section("server"));
    let violations = violations::read(&fields);
    let alerts = alerts::read(fields.take("alerts").as_ref());
    let email = email::read(fields.take("email").as_ref());
    // Without the right catalogue, most names in the policy would be findings.
    let known = catalogue_source::read((root, &fields), violations.local_database(), open)?;
    let likeness = || fleet::fingerprint(root.node, &known.bytes);
    let fleet = fleet::read(fields.take("fleet").as_ref(), likeness);
    let fingerprint = fingerprint([bytes, &known.bytes, &known.kept]);
    let catalogue = &*known.catalogue;
    let strict = fields.get("strict");
    let names = Names::read(fields.take("crawler_sets").as_ref(), catalogue, strict);
    let evidence = evidence::read(fields.take("evidence").as_ref(), &names);
    let help = "write 'sites:' with at least one site";
    let sites_at = fields.require("sites", help)?;
    let sites = sites::read(&sites_at, &names, &server.timeouts);
    checks::weigh_certificates(&server, &sites, root);
    for (at, site) in &sites {
        checks::refuse_loop(site, &server, at);
        checks::hint_at_case(site, at);
        checks::hint_at_via(site, at);
        if !evidence.as_ref().is_some_and(Evidence::is_collected) {
            checks::warn_of_unproven_names(site, at);
        }
    }
    let sites = sites::by_file(sites);
    let reports = reports::read(fields.take("reports").as_ref(), &sites);
    reports::check(&fields, (&alerts, &reports), violations.database.is_some());
    let subject = test::Subject { names: &names, catalogue, sites: &sites };
    let tests = test::read(fields.take("tests").as_ref(), &subject);
    Some(Policy {
        server,
        violations,
        evidence,
        fleet,
        alerts,
        reports,
        email,
        catalogue_file: known.file,
        catalogue_version: known.version,
        following: known.following,
        catalogue: known.catalogue,
        sites,
        tests,
        test_failures: fields.get("test_failures"),
        fingerprint,
        bytes: bytes.into(),
    })
}

fn fingerprint(files: [&[u8]; 3]) -> String {
    let mut hash = Sha256::new();
    files.into_iter().for_each(|bytes| hash.update(bytes));
    hex(hash.finalize().iter().take(6))
}
