//! The whole file: its sections in order, then the checks across them, and the hosts below wildcards with a
//! file of their own (RFC 9309 §2.3).

use std::{
    io,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
};

use sha2::{Digest, Sha256};

use crate::{
    base::{
        diagnostic::{Diagnostic, Severity},
        escape::hex,
    },
    rules::crawlers::Catalogue,
};

use super::{
    alerts::{self, Alert, Destination, Email},
    catalogue_file::{Open, OtherFile},
    catalogue_source, checks,
    evidence::Evidence,
    findings::{Findings, Sink},
    fleet::{self, Fleet},
    follow::Following,
    host::{self, Host},
    mode::Source,
    names::Names,
    reports::{self, Report},
    server::{self, Acme, CertificateFiles, Server},
    shape::At,
    sites::{self, Site},
    test::{self, Test, TestFailures},
    violations::{self, ClickHouse, Database, Log, Violations},
    yaml,
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
    let email = alerts::email(fields.take("email").as_ref());
    // Without the right catalogue, most names in the policy would be findings.
    let known = catalogue_source::read((root, &fields), violations.local_database(), open)?;
    let likeness = || fleet::fingerprint(root.node, &known.bytes);
    let fleet = fleet::read(fields.take("fleet").as_ref(), likeness);
    let fingerprint = fingerprint([bytes, &known.bytes, &known.kept]);
    let strict = fields.get("strict");
    let names = Names::read(fields.take("crawler_sets").as_ref(), &known.catalogue, strict);
    let evidence = fields.within("evidence", |section| Evidence::read(section, &names));
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
    let tests = test::read(fields.take("tests").as_ref(), &names, &sites);
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

/// A validated policy.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Listeners and their limits. A change needs a restart.
    pub server: Server,
    /// Where and how long records are kept. A change needs a restart.
    pub violations: Violations,
    pub(crate) evidence: Option<Evidence>,
    pub(crate) fleet: Option<Fleet>,
    /// Who gets events (default none).
    pub alerts: Vec<Alert>,
    /// Reports by e-mail (default none).
    pub reports: Vec<Report>,
    pub(crate) email: Option<Email>,
    /// The file that replaces the built-in catalogue; `None` is the built-in one.
    pub(crate) catalogue_file: Option<PathBuf>,
    /// The version of the catalogue: its date.
    pub(crate) catalogue_version: String,
    pub(crate) following: Option<Following>,
    /// The known crawlers: the catalogue, the policy's own, and those of the lists.
    pub(crate) catalogue: Arc<Catalogue>,
    /// The sites, in the policy's order; their hosts are distinct. A site whose hosts have files of
    /// their own is several.
    pub sites: Vec<Site>,
    pub(crate) tests: Vec<Test>,
    pub(crate) test_failures: TestFailures,
    /// The first 12 hexadecimal digits of a SHA-256, over the bytes of the policy, of the
    /// catalogue file and of what is kept of followed lists, if there are any.
    pub fingerprint: String,
    pub(crate) bytes: Arc<[u8]>,
}

impl Policy {
    /// The fingerprint that operators compare: of a fleet, without what may differ from node to node.
    pub(crate) fn shown_fingerprint(&self) -> &str {
        self.fleet.as_ref().map_or(&self.fingerprint, |fleet| &fleet.fingerprint)
    }

    pub(crate) fn sha256(&self) -> String {
        hex(Sha256::digest(&self.bytes).iter())
    }

    /// The sites as the policy has them: of those that it has as one, the first.
    pub(crate) fn written_sites(&self) -> impl Iterator<Item = &Site> {
        self.sites.chunk_by(|one, next| one.at == next.at).filter_map(<[Site]>::first)
    }

    /// The files and folders that the policy names, each with its key. A relative name starts at
    /// the folder of the policy file, which only the caller knows.
    pub(crate) fn files_mut<'p>(&'p mut self) -> Vec<(&'static str, &'p mut PathBuf)> {
        let Self { server, violations, evidence, fleet, alerts, email, .. } = self;
        let mut files = Vec::new();
        let mut add =
            |key, file: Option<&'p mut PathBuf>| files.extend(file.map(|file| (key, file)));
        for tls in server.listen.iter_mut().filter_map(|one| one.tls.as_mut()) {
            for CertificateFiles { certificate, key } in &mut tls.certificates {
                add("server.listen.tls.certificate", Some(certificate));
                add("server.listen.tls.key", Some(key));
            }
            if let Some(Acme { root, folder, .. }) = &mut tls.acme {
                add("server.listen.tls.acme.root", root.as_mut());
                add("server.listen.tls.acme.folder", Some(folder));
            }
        }
        add("server.access_log", server.access_log.as_mut().and_then(|one| one.log.file_mut()));
        let token_file = server.admin.as_mut().and_then(|admin| admin.token_file.as_mut());
        add("server.admin.token_file", token_file);
        match &mut violations.database {
            None => {}
            Some(Database::Sqlite(file)) => add("violations.database", Some(file)),
            Some(Database::ClickHouse(ClickHouse {
                password_file, ca_file, local, spool, ..
            })) => {
                add("violations.clickhouse.password_file", password_file.as_mut());
                add("violations.clickhouse.ca_file", ca_file.as_mut());
                add("violations.clickhouse.local", Some(local));
                add("violations.clickhouse.spool", Some(spool));
            }
        }
        add("violations.log", violations.log.as_mut().and_then(Log::file_mut));
        if let Some(Evidence { folder, certificate_authorities, .. }) = evidence {
            add("evidence.folder", folder.as_mut());
            add("evidence.certificate_authorities", certificate_authorities.as_mut());
        }
        if let Some(Fleet { password_file, ca_file, .. }) = fleet {
            add("fleet.password_file", password_file.as_mut());
            add("fleet.ca_file", ca_file.as_mut());
        }
        for Alert { to, .. } in alerts {
            if let Destination::Web { secret_file, .. } = to {
                add("alerts.secret_file", secret_file.as_mut());
            }
        }
        let login = email.as_mut().and_then(|email| email.login.as_mut());
        add("email.password_file", login.map(|(_, file)| file));
        add("catalogue", self.catalogue_file.as_mut());
        add("catalogue.folder", self.following.as_mut().map(|one| &mut one.folder));
        files
    }

    /// The most hosts below wildcards that have a site of their own.
    const MOST: usize = 64;

    /// The site of a host below a wildcard, as if the policy named the host, and the number of the site
    /// that has the wildcard. `None` if a site names the host, if the wildcard's file is the policy's,
    /// or in a fleet, whose other nodes would not know the site.
    pub(crate) fn below_wildcard(&self, host: &str) -> Option<(usize, Site)> {
        if self.fleet.is_some() {
            return None;
        }
        let covers = |named: &Host| match named {
            Host::Exact(known) if known == host => Some(usize::MAX),
            Host::Below(suffix) if host.ends_with(suffix.as_str()) => Some(suffix.len()),
            _ => None,
        };
        let length = |site: &Site| site.hosts.iter().filter_map(covers).max();
        let covering = self.sites.iter().enumerate();
        let covering = covering.filter_map(|(number, site)| Some((length(site)?, number)));
        let (length, number) = covering.max()?;
        let site = self.sites.get(number)?;
        let is_followed = length < usize::MAX && site.robots_txt.source != Source::Policy;
        let host =
            host::parsed(host).filter(|host| is_followed && matches!(host, Host::Exact(_)))?;
        Some((number, Site { is_asked: true, watch: None, ..site.part(host) }))
    }

    /// Gives hosts below wildcards sites of their own. Returns whether there is a new one: 64 are the
    /// most.
    pub(crate) fn add_hosts<'h>(&mut self, hosts: impl IntoIterator<Item = &'h str>) -> bool {
        let before = self.sites.len();
        for host in hosts {
            let is_full = self.sites.iter().filter(|site| site.is_asked).count() >= Self::MOST;
            if let Some((number, part)) = self.below_wildcard(host).filter(|_| !is_full) {
                self.sites.insert(number + 1, part);
            }
        }
        self.sites.len() > before
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::policy::Policy;

    #[test]
    fn a_host_below_a_wildcard_can_have_a_site_of_its_own() {
        let text = r#"
sites:
  - hosts: [a.example, "*.a.example", named.a.example]
    origin: http://127.0.0.1:1
    robots_txt: { source: merge, sitemaps: ["https://{host}/s.xml"] }
  - { hosts: ["*.own.a.example"], origin: "http://127.0.0.1:1" }
"#;
        let names = |policy: &Policy| {
            let sites = policy.sites.iter().map(|site| site.name().to_owned());
            sites.collect::<Vec<_>>().join(" ")
        };
        let mut policy: Policy = text.parse().expect("a policy");
        assert_eq!(names(&policy), "a.example named.a.example own.a.example");
        for host in ["a.example", "named.a.example", "x.own.a.example", "b.example", "*.a.example"]
        {
            assert!(!policy.add_hosts([host]), "{host}");
        }
        assert!(policy.add_hosts(["x.a.example"]));
        assert!(!policy.add_hosts(["x.a.example"]));
        assert_eq!(names(&policy), "a.example x.a.example named.a.example own.a.example");
        let part = &policy.sites[1];
        assert_eq!((part.is_asked, &*part.backend.host), (true, "x.a.example"));
        let file = part.robots_txt.file.to_string();
        assert!(file.contains("Sitemap: https://x.a.example/s.xml\n"), "{file}");
        assert_eq!(policy.written_sites().count(), 2);
        let many: Vec<String> = (0..100).map(|number| format!("{number}.a.example")).collect();
        assert!(policy.add_hosts(many.iter().map(String::as_str)));
        assert_eq!(policy.sites.len(), 3 + 64);
    }
}
