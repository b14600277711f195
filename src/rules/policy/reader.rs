//! The whole file: its sections in order, then the checks across them.

use std::{io, path::Path, str::FromStr, sync::Arc};

use sha2::{Digest, Sha256};

use crate::{
    base::diagnostic::{Diagnostic, Severity},
    rules::keys,
};

use super::{
    alerts, catalogue_file,
    catalogue_source::{self, CatalogueSource},
    checks, crawler_entries, email,
    evidence::{self, Evidence},
    findings::Findings,
    fleet, follow,
    names::Names,
    other_files::{Open, OtherFile},
    reports,
    sections::Policy,
    server,
    shape::At,
    sites,
    test::{self, TestFailures},
    violations, yaml,
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
    let mut findings = Findings::default();
    let policy = sections(&At::root(&root), bytes, open, &mut findings);
    (policy, findings.0)
}

fn sections(
    root: &At<'_>,
    bytes: &[u8],
    open: &mut Open<'_>,
    findings: &mut Findings,
) -> Option<Policy> {
    let fields = root.fields(&keys::POLICY, findings)?;
    let server = server::read(fields.take("server").as_ref(), findings);
    let violations = violations::read(fields.take("violations").as_ref(), findings);
    let alerts = alerts::read(fields.take("alerts").as_ref(), findings);
    let email = email::read(fields.take("email").as_ref(), findings);
    let source = match fields.take("catalogue") {
        // Without the right catalogue, most names in the policy would be findings.
        Some(at) => catalogue_source::read(&at, violations.local_database(), open, findings)?,
        None => CatalogueSource::default(),
    };
    let CatalogueSource { named, following } = source;
    let (catalogue_file, known, catalogue_bytes) = match named {
        Some(named) => (Some(named.path), Some(named.file), named.bytes),
        None => (None, None, Vec::new()),
    };
    let likeness = || fleet::fingerprint(root.node, &catalogue_bytes);
    let fleet = fleet::read(fields.take("fleet").as_ref(), likeness, findings);
    let is_built_in = known.is_none() && following.is_none() && fields.take("crawlers").is_none();
    let (catalogue_version, catalogue, kept) = match is_built_in {
        true => (catalogue_file::built_in_version().into(), catalogue_file::shared(), Vec::new()),
        false => {
            let known = known.unwrap_or_else(catalogue_file::built_in_file);
            let version = known.version.clone();
            let catalogue = crawler_entries::read(known, &fields, findings);
            let (catalogue, kept) = match &following {
                Some(following) => follow::join(catalogue, following, root, open, findings),
                None => (catalogue, Vec::new()),
            };
            (version, Arc::new(catalogue), kept)
        }
    };
    let fingerprint = fingerprint([bytes, &catalogue_bytes, &kept]);
    let strict = fields.is("strict", findings);
    let names = Names::read(fields.take("crawler_sets").as_ref(), &catalogue, strict, findings);
    let evidence = evidence::read(fields.take("evidence").as_ref(), &names, findings);
    let help = "write 'sites:' with at least one site";
    let sites_at = fields.require("sites", help, findings)?;
    let sites = sites::read(&sites_at, &names, &server.timeouts, findings);
    checks::weigh_certificates(&server, &sites, root, findings);
    for (at, site) in &sites {
        checks::refuse_loop(site, &server, at, findings);
        checks::hint_at_case(site, at, findings);
        checks::hint_at_via(site, at, findings);
        if !evidence.as_ref().is_some_and(Evidence::is_collected) {
            checks::warn_of_unproven_names(site, at, findings);
        }
    }
    let sites = sites::by_file(sites);
    let reports = reports::read(fields.take("reports").as_ref(), &sites, findings);
    reports::check(&fields, (&alerts, &reports), violations.database.is_some(), findings);
    let subject = test::Subject { names: &names, catalogue: &catalogue, sites: &sites };
    let tests = test::read(fields.take("tests").as_ref(), &subject, findings);
    let failures = [TestFailures::Warn, TestFailures::Refuse];
    let test_failures = fields.choice("test_failures", failures, findings);
    Some(Policy {
        server,
        violations,
        evidence,
        fleet,
        alerts,
        reports,
        email,
        catalogue_file,
        catalogue_version,
        following,
        catalogue,
        sites,
        tests,
        test_failures: test_failures.unwrap_or_default(),
        fingerprint,
        bytes: bytes.into(),
    })
}

fn fingerprint(files: [&[u8]; 3]) -> String {
    let mut hash = Sha256::new();
    files.into_iter().for_each(|bytes| hash.update(bytes));
    hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}
