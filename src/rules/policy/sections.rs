//! A validated policy: its sections.

use std::{path::PathBuf, sync::Arc};

use sha2::{Digest, Sha256};

use crate::{base::escape::hex, rules::crawlers::Catalogue};

use super::{
    alerts::{Alert, Destination},
    database::{ClickHouse, Database},
    email::Email,
    evidence::Evidence,
    fleet::Fleet,
    follow::Following,
    reports::Report,
    server::{AccessLog, Acme, Admin, CertificateFiles, Listener, Server, Tls},
    sites::Site,
    test::{Test, TestFailures},
    violations::{Log, Violations},
};

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
    pub(crate) fn files_mut(&mut self) -> Vec<(&'static str, &mut PathBuf)> {
        let Self { server, violations, evidence, fleet, alerts, email, .. } = self;
        let (catalogue_file, following) = (&mut self.catalogue_file, &mut self.following);
        let mut files = Vec::new();
        for Listener { tls, .. } in &mut server.listen {
            let Some(Tls { certificates, acme }) = tls else { continue };
            for CertificateFiles { certificate, key } in certificates {
                files.push(("server.listen.tls.certificate", certificate));
                files.push(("server.listen.tls.key", key));
            }
            if let Some(Acme { root, folder, .. }) = acme {
                files.extend(root.as_mut().map(|root| ("server.listen.tls.acme.root", root)));
                files.push(("server.listen.tls.acme.folder", folder));
            }
        }
        if let Some(AccessLog { log: Log::File(file), .. }) = &mut server.access_log {
            files.push(("server.access_log", file));
        }
        if let Some(Admin { token_file: Some(file), .. }) = &mut server.admin {
            files.push(("server.admin.token_file", file));
        }
        match &mut violations.database {
            None => {}
            Some(Database::Sqlite(file)) => files.push(("violations.database", file)),
            Some(Database::ClickHouse(clickhouse)) => {
                let ClickHouse { password_file, ca_file, local, spool, .. } = clickhouse;
                let file = password_file.as_mut();
                files.extend(file.map(|file| ("violations.clickhouse.password_file", file)));
                let file = ca_file.as_mut();
                files.extend(file.map(|file| ("violations.clickhouse.ca_file", file)));
                files.push(("violations.clickhouse.local", local));
                files.push(("violations.clickhouse.spool", spool));
            }
        }
        if let Some(Log::File(file)) = &mut violations.log {
            files.push(("violations.log", file));
        }
        if let Some(Evidence { folder, certificate_authorities, .. }) = evidence {
            files.extend(folder.as_mut().map(|folder| ("evidence.folder", folder)));
            let file = certificate_authorities.as_mut();
            files.extend(file.map(|file| ("evidence.certificate_authorities", file)));
        }
        if let Some(Fleet { password_file, ca_file, .. }) = fleet {
            files.extend(password_file.as_mut().map(|file| ("fleet.password_file", file)));
            files.extend(ca_file.as_mut().map(|file| ("fleet.ca_file", file)));
        }
        files.extend(alerts.iter_mut().filter_map(|alert| match &mut alert.to {
            Destination::Web { secret_file, .. } => {
                secret_file.as_mut().map(|file| ("alerts.secret_file", file))
            }
            Destination::Email { .. } => None,
        }));
        let login = email.as_mut().and_then(|email| email.login.as_mut());
        files.extend(login.map(|(_, file)| ("email.password_file", file)));
        files.extend(catalogue_file.as_mut().map(|file| ("catalogue", file)));
        files.extend(following.as_mut().map(|one| ("catalogue.folder", &mut one.folder)));
        files
    }
}
