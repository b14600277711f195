//! One certificate with its key, as a listener presents it.

use std::{
    fs::File,
    io::{ErrorKind, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use derive_more::Display;
use jiff::Timestamp;
use rustls::{
    crypto,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    sign::CertifiedKey,
};
use x509_parser::{certificate::X509Certificate, extensions::GeneralName};

use crate::{
    base::{diagnostic::Diagnostic, escape},
    rules::policy::{self, CertificateFiles, Policy, Spot},
};

const MAX_PEM: u64 = 4 << 20;

/// The most names in a folder among which a misspelt one is looked for.
const MOST_NAMES: usize = 1_000;

/// A certificate chain with its key.
#[derive(Debug)]
pub struct Pair {
    /// What a handshake presents and signs with.
    pub(super) key: Arc<CertifiedKey>,
    /// The names that it is good for: lower case; `*.example.com` is `.example.com`.
    pub(super) names: Vec<String>,
    pub(crate) begins: Timestamp,
    pub(crate) ends: Timestamp,
}

#[derive(Clone, Debug, Display, PartialEq, Eq)]
#[display("{}: {reason}", file.display())]
pub(super) struct Fault {
    file: PathBuf,
    is_of_key: bool,
    /// Why the file can't be read; `None` if its content is wrong.
    unread: Option<ErrorKind>,
    reason: String,
}

/// The reason against a key that belongs to another certificate.
const MISMATCH: &str = "the key is not of this certificate";

/// The findings about the certificate files of a policy with this text, as `beadle check` shows them.
/// A missing file is a warning, and so is a folder that has another name by a few letters. Where not
/// even its folder is there, it is a note: the policy may be checked on another machine.
pub fn findings(policy: &Policy, text: &[u8]) -> Vec<Diagnostic> {
    let files = policy.server.listen.iter().filter_map(|one| one.tls.as_ref());
    let files = files.flat_map(|tls| &tls.certificates);
    let findings = files.zip(policy::certificate_places(text)).filter_map(|(files, at)| {
        let fault = Pair::read(files).err()?;
        let is_of_key = fault.is_of_key || fault.reason == MISMATCH;
        let Spot { line, column } = if is_of_key { at.1 } else { at.0 };
        Some(fault.finding_of_check().at(line, column))
    });
    findings.collect()
}

impl Pair {
    /// A pair from PEM texts. Both texts may be the same one.
    ///
    /// # Errors
    /// A sentence: one of them lacks its part, or they don't belong together.
    pub fn from_pem(certificate: &[u8], key: &[u8]) -> Result<Self, String> {
        Self::new(chain(certificate)?, private_key(key)?)
    }

    /// A pair from its parts. The first certificate of the chain is the listener's own.
    pub(super) fn new(
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
    ) -> Result<Self, String> {
        let own = chain.first().ok_or("no certificate")?.clone();
        let (_, parsed) = x509_parser::parse_x509_certificate(&own).map_err(|e| e.to_string())?;
        let second = |seconds| Timestamp::from_second(seconds).map_err(|e| e.to_string());
        let begins = second(parsed.validity().not_before.timestamp())?;
        let ends = second(parsed.validity().not_after.timestamp())?;
        let names = names(&parsed);
        let key = CertifiedKey::from_der(chain, key, &crypto::ring::default_provider());
        let key = key.map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => MISMATCH.to_owned(),
            other => other.to_string(),
        })?;
        Ok(Self { key: Arc::new(key), names, begins, ends })
    }

    pub(super) fn read(files: &CertificateFiles) -> Result<Self, Fault> {
        let CertificateFiles { certificate, key } = files;
        let fault = |is_of_key: bool, reason: String| Fault {
            file: if is_of_key { key } else { certificate }.clone(),
            is_of_key,
            unread: None,
            reason,
        };
        let of = |file: &Path, is_of_key| {
            pem(file).map_err(|error| Fault {
                unread: Some(error.kind()),
                ..fault(is_of_key, error.to_string())
            })
        };
        let texts = (of(certificate, false)?, of(key, true)?);
        let key_of = private_key(&texts.1).map_err(|reason| {
            let is_swapped = chain(&texts.1).is_ok() && private_key(&texts.0).is_ok();
            let other = escape::path(certificate);
            let swapped = || format!("{reason}: it is in '{other}', so the two names are swapped");
            fault(true, if is_swapped { swapped() } else { reason.clone() })
        })?;
        chain(&texts.0)
            .and_then(|chain| Self::new(chain, key_of))
            .map_err(|reason| fault(false, reason))
    }

    pub(crate) fn chain(&self) -> &[CertificateDer<'static>] {
        &self.key.cert
    }

    pub(crate) fn covers(&self, host: &str) -> bool {
        let below = host.find('.').map(|at| &host[at..]);
        self.names.iter().any(|name| name == host || below == Some(name.as_str()))
    }
}

impl Fault {
    const REPAIR: &str = "name PEM files of a certificate chain and its private key";

    pub(super) fn is_absent(&self) -> bool {
        self.unread == Some(ErrorKind::NotFound)
    }

    pub(super) fn finding(&self) -> Diagnostic {
        Diagnostic::error("server.tls", self.to_string()).help(Self::REPAIR)
    }

    fn finding_of_check(&self) -> Diagnostic {
        let code = "policy.certificate";
        let has_folder = self.file.parent().is_some_and(Path::is_dir);
        if let Some(meant) = self.is_absent().then(|| meant(&self.file)).flatten() {
            let help = format!("did you mean '{}'?", escape::path(&meant));
            return Diagnostic::warning(code, self.to_string()).help(help);
        }
        let finding = match self.unread {
            Some(ErrorKind::NotFound) if has_folder => Diagnostic::warning(code, self.to_string()),
            // The program may run on another machine, or for a user that may read the file.
            Some(ErrorKind::NotFound | ErrorKind::PermissionDenied) => {
                Diagnostic::note(code, self.to_string())
            }
            _ => Diagnostic::error(code, self.to_string()),
        };
        finding.help(Self::REPAIR)
    }
}

/// The file or folder that a name most likely misspells: of the first part of the path that is not
/// there, the nearest name beside it.
fn meant(file: &Path) -> Option<PathBuf> {
    let absent = file.ancestors().take_while(|part| !part.exists()).last()?;
    let (name, folder) = (absent.file_name()?.to_str()?, absent.parent()?);
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let names = std::fs::read_dir(folder).ok()?.take(MOST_NAMES);
    let names = names.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    let near = policy::closest(name, names.iter().map(String::as_str))?;
    Some(absent.with_file_name(near))
}

/// The text of a PEM file. A device may have no end, and a pipe no writer.
fn pem(file: &Path) -> std::io::Result<Vec<u8>> {
    let found = std::fs::metadata(file)?;
    if !found.is_file() || found.len() > MAX_PEM {
        return Err(std::io::Error::other("not a regular file of 4 MiB at most"));
    }
    let mut text = Vec::new();
    File::open(file)?.take(MAX_PEM).read_to_end(&mut text)?;
    Ok(text)
}

fn chain(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let chain = chain.map_err(|error| error.to_string())?;
    if chain.is_empty() { Err("no certificate".to_owned()) } else { Ok(chain) }
}

fn private_key(pem: &[u8]) -> Result<PrivateKeyDer<'static>, String> {
    PrivateKeyDer::from_pem_slice(pem).map_err(|error| match error {
        rustls::pki_types::pem::Error::NoItemsFound => "no private key".to_owned(),
        other => other.to_string(),
    })
}

/// The DNS names of a certificate (RFC 5280 §4.2.1.6). Clients ignore the common name.
fn names(certificate: &X509Certificate<'_>) -> Vec<String> {
    let Ok(Some(names)) = certificate.subject_alternative_name() else { return Vec::new() };
    let dns = names.value.general_names.iter().filter_map(|name| match name {
        GeneralName::DNSName(name) => Some(name.to_ascii_lowercase()),
        _ => None,
    });
    dns.map(|name| name.strip_prefix('*').map(str::to_owned).unwrap_or(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls").join(name)
    }

    fn read(certificate: &str, key: &str) -> Result<Pair, Fault> {
        Pair::read(&CertificateFiles { certificate: file(certificate), key: file(key) })
    }

    #[test]
    fn a_pair_knows_its_validity() {
        let pair = read("ends.pem", "key.pem").expect("a pair");
        assert_eq!(pair.ends.to_string(), "2026-10-30T00:00:00Z");
        assert!(pair.begins < pair.ends);
    }

    #[test]
    fn an_unusable_file_is_named_with_the_reason() {
        for (certificate, key, at, reason) in [
            ("absent.pem", "key.pem", "absent.pem", "No such file"),
            ("certificate.pem", "absent.pem", "absent.pem", "No such file"),
            ("certificate.pem", "certificate.pem", "certificate.pem", "no private key"),
            ("key.pem", "key.pem", "key.pem", "no certificate"),
        ] {
            let fault = read(certificate, key).expect_err("a fault");
            assert!(fault.file.ends_with(at), "{fault}");
            assert!(fault.reason.contains(reason), "{fault}");
            assert_eq!(fault.is_absent(), at == "absent.pem", "{fault}");
        }
    }

    #[test]
    fn a_key_of_another_certificate_is_refused() {
        let pem = std::fs::read(file("certificate.pem")).expect("a file");
        let other = rcgen::KeyPair::generate().expect("a key").serialize_pem();
        let reason = Pair::from_pem(&pem, other.as_bytes()).expect_err("two keys");
        assert_eq!(reason, "the key is not of this certificate");
    }

    #[test]
    fn a_star_stands_for_one_label() {
        let pair =
            super::super::stand_in::for_hosts(&["a.example", "*.b.example"].map(str::to_owned));
        let pair = pair.expect("a pair");
        for (host, covered) in [
            ("a.example", true),
            ("x.a.example", false),
            ("x.b.example", true),
            ("b.example", false),
            ("y.x.b.example", false),
        ] {
            assert_eq!(pair.covers(host), covered, "{host}");
        }
    }
}
