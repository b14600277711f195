//! The certificates of a TLS listener.

use std::{net::IpAddr, path::PathBuf};

use crate::{escape::shown, keys};

use super::super::{
    findings::Findings,
    host::{self, Host},
    scalar::path,
    shape::{At, Fields},
    sites::Site,
};

/// The default authority: Let's Encrypt.
pub const DEFAULT_ACME_DIRECTORY: &str = "https://acme-v02.api.letsencrypt.org/directory";
/// The default folder for what ACME writes.
pub const DEFAULT_ACME_FOLDER: &str = "data/acme";

/// The certificates of a TLS listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// Files of the operator, in the policy's order.
    pub certificates: Vec<CertificateFiles>,
    /// Certificates that Beadle orders itself (default none).
    pub acme: Option<Acme>,
}

/// The PEM files of a certificate chain and its private key. Both may be one file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CertificateFiles {
    /// The certificate chain.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// Certificates by ACME (RFC 8555).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acme {
    /// The addresses of the account, as `mailto:` URLs (default none).
    pub contact: Vec<String>,
    /// The hosts to order certificates for; none stands for the exact hosts of the sites.
    pub hosts: Vec<String>,
    /// The directory of the authority.
    pub directory: String,
    /// The PEM file of the certificate that signs the authority's own; `None` trusts the public ones.
    pub root: Option<PathBuf>,
    /// The folder of account, certificates and keys.
    pub folder: PathBuf,
}

impl Acme {
    /// The hosts to order certificates for.
    pub fn hosts_of<'s>(&self, sites: impl IntoIterator<Item = &'s Site>) -> Vec<String> {
        if !self.hosts.is_empty() {
            return self.hosts.clone();
        }
        let hosts = sites.into_iter().flat_map(|site| &site.hosts);
        let exact = hosts.filter_map(|host| match host {
            Host::Exact(host) if is_provable(host) => Some(host.clone()),
            Host::Exact(_) | Host::Below(_) => None,
        });
        exact.collect()
    }

    /// The folder of one authority's account and certificates.
    pub fn state_folder(&self) -> PathBuf {
        let (_, rest) = self.directory.split_once("://").unwrap_or(("", &self.directory));
        let sound = |c: char| c.is_ascii_alphanumeric() || ".-".contains(c);
        let name: String = rest.chars().map(|c| if sound(c) { c } else { '-' }).collect();
        self.folder.join(name.trim_matches(['.', '-']))
    }

    /// The file of a host's certificate, which has chain and key, so that it is replaced in one step.
    pub fn files_of(&self, host: &str) -> CertificateFiles {
        let file = self.state_folder().join(format!("{host}.pem"));
        CertificateFiles { certificate: file.clone(), key: file }
    }
}

/// Whether an authority can ask this host for a proof: a name on the internet.
fn is_provable(host: &str) -> bool {
    host.parse::<IpAddr>().is_err() && host.contains('.') && !host.contains('_')
}

/// One of `certificate` (with `key`), `certificates` and `acme`.
pub(super) fn tls(at: &At<'_>, findings: &mut Findings) -> Option<Tls> {
    let fields = at.fields(&keys::TLS, findings)?;
    let found: Vec<&str> =
        keys::TLS.one_of.iter().copied().filter(|key| fields.take(key).is_some()).collect();
    match found.as_slice() {
        ["certificate"] => {
            let certificates = files(&fields, findings).into_iter().collect();
            Some(Tls { certificates, acme: None })
        }
        ["certificates"] => {
            let at = fields.take("certificates")?;
            let items = at.elements();
            if items.is_empty() {
                findings.refuse(&at, "no certificate", "write '- { certificate: …, key: … }'");
            }
            let files = items.iter().filter_map(|item| {
                let fields = item.fields(&keys::CERTIFICATE, findings)?;
                files(&fields, findings)
            });
            Some(Tls { certificates: files.collect(), acme: None })
        }
        ["acme"] => {
            Some(Tls { certificates: Vec::new(), acme: acme(&fields.take("acme")?, findings) })
        }
        [] => {
            let help = "write 'certificate' and 'key', or 'certificates', or 'acme'";
            findings.refuse(at, "no certificate", help);
            None
        }
        several => {
            let message = format!("{} beside each other", several.join(" and "));
            findings.refuse(at, message, "keep one of them; 'certificates' is a list");
            None
        }
    }
}

/// `certificate` and `key`. Without `key`, the file of the certificate has both.
fn files(fields: &Fields<'_>, findings: &mut Findings) -> Option<CertificateFiles> {
    let certificate = fields.require("certificate", "name the PEM file of the chain", findings);
    let key = match fields.take("key") {
        Some(at) => Some(path(&at, findings)?),
        None => None,
    };
    let certificate = path(&certificate?, findings)?;
    Some(CertificateFiles { key: key.unwrap_or_else(|| certificate.clone()), certificate })
}

fn acme(at: &At<'_>, findings: &mut Findings) -> Option<Acme> {
    let fields = at.fields(&keys::ACME, findings)?;
    let contact = fields.list("contact", findings);
    let hosts = fields.list("hosts", findings);
    let directory = fields.take("directory").and_then(|at| directory(&at, findings));
    let folder = fields.take("folder").and_then(|at| path(&at, findings));
    Some(Acme {
        contact: contact.iter().filter_map(|at| address(at, findings)).collect(),
        hosts: hosts.iter().filter_map(|at| exact_host(at, findings)).collect(),
        directory: directory.unwrap_or_else(|| DEFAULT_ACME_DIRECTORY.to_owned()),
        root: fields.take("root").and_then(|at| path(&at, findings)),
        folder: folder.unwrap_or_else(|| DEFAULT_ACME_FOLDER.into()),
    })
}

/// `admin@example.com`, as a `mailto:` URL (RFC 8555 §7.3).
fn address(at: &At<'_>, findings: &mut Findings) -> Option<String> {
    let text = at.text(findings)?;
    let bare = text.strip_prefix("mailto:").unwrap_or(text);
    let is_address = bare.split_once('@').is_some_and(|(user, host)| {
        let is_word = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic());
        is_word(user) && is_word(host) && !bare.contains([',', '?', ':'])
    });
    if !is_address {
        let message = format!("'{}' is not an e-mail address", shown(text));
        findings.refuse(at, message, "write for example admin@example.com");
        return None;
    }
    Some(format!("mailto:{bare}"))
}

/// A host that HTTP-01 can prove (RFC 8555 §8.3).
fn exact_host(at: &At<'_>, findings: &mut Findings) -> Option<String> {
    match host::read(at, findings)? {
        Host::Exact(host) if is_provable(&host) => Some(host),
        Host::Below(_) => {
            let help = "name the hosts one by one, or get a certificate for the star by DNS and \
                        name its files in 'certificates'";
            findings.refuse(at, "the proof over HTTP is for exact names only", help);
            None
        }
        Host::Exact(host) => {
            let message = format!("'{}' is no name on the internet", shown(host));
            findings.refuse(at, message, "write for example www.example.com");
            None
        }
    }
}

fn directory(at: &At<'_>, findings: &mut Findings) -> Option<String> {
    let text = at.text(findings)?;
    let host = text.strip_prefix("https://").unwrap_or_default();
    if host.is_empty() || host.starts_with('/') || !text.bytes().all(|b| b.is_ascii_graphic()) {
        let message = format!("'{}' is not the URL of an authority", shown(text));
        findings.refuse(at, message, format!("write for example {DEFAULT_ACME_DIRECTORY}"));
        return None;
    }
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use crate::policy::{Policy, read};

    use super::*;

    fn text(tls: &str) -> String {
        format!(
            "server:\n  listen:\n    - 0.0.0.0:80\n    - {{ address: '0.0.0.0:443', tls: {tls} }}\n\
             sites:\n  - hosts: [www.a.example, '*.a.example', 127.0.0.1, localhost]\n\
            \x20   origin: http://127.0.0.1:1\n"
        )
    }

    fn tls(tls: &str) -> (Tls, Policy) {
        let policy: Policy = text(tls).parse().unwrap_or_else(|error| panic!("{tls}: {error}"));
        (policy.server.listen[1].tls.clone().expect("TLS"), policy)
    }

    fn files(certificate: &str, key: &str) -> CertificateFiles {
        CertificateFiles { certificate: certificate.into(), key: key.into() }
    }

    #[test]
    fn one_certificate_or_several() {
        let (one, _) = tls("{ certificate: a.pem, key: a.key }");
        assert_eq!(one.certificates, [files("a.pem", "a.key")]);
        let list = "{ certificates: [{ certificate: a.pem, key: a.key }, \
                    { certificate: b.pem, key: b.key }] }";
        let (several, _) = tls(list);
        assert_eq!(several.certificates, [files("a.pem", "a.key"), files("b.pem", "b.key")]);
        assert_eq!(several.acme, None);
        let (both, _) = tls("{ certificate: both.pem }");
        assert_eq!(both.certificates, [files("both.pem", "both.pem")]);
    }

    #[test]
    fn acme_has_defaults() {
        let (found, policy) = tls("{ acme: {} }");
        let acme = found.acme.expect("ACME");
        assert_eq!(acme.directory, DEFAULT_ACME_DIRECTORY);
        assert_eq!(acme.hosts_of(&policy.sites), ["www.a.example"]);
        let folder = "data/acme/acme-v02.api.letsencrypt.org-directory";
        assert_eq!(acme.state_folder(), PathBuf::from(folder));
        let file = format!("{folder}/www.a.example.pem");
        assert_eq!(acme.files_of("www.a.example"), files(&file, &file));

        let (found, policy) = tls(
            "{ acme: { contact: admin@a.example, hosts: [b.example], folder: /var/x, root: r.pem, \
             directory: 'https://127.0.0.1:14000/../dir?x' } }",
        );
        let acme = found.acme.expect("ACME");
        assert_eq!(acme.contact, ["mailto:admin@a.example"]);
        assert_eq!(acme.hosts_of(&policy.sites), ["b.example"]);
        assert_eq!(acme.state_folder(), PathBuf::from("/var/x/127.0.0.1-14000-..-dir-x"));
    }

    #[test]
    fn a_door_that_is_not_there_is_a_warning() {
        let code = |listen: &str| {
            let text = text("{ acme: {} }").replace("    - 0.0.0.0:80\n", listen);
            let (policy, findings) = read("policy", text.as_bytes());
            assert!(policy.is_some(), "{findings:?}");
            let codes = ["policy.no_port_80", "policy.no_https"];
            findings.iter().map(|one| one.code).find(|code| codes.contains(code))
        };
        assert_eq!(code("    - 0.0.0.0:80\n"), None);
        assert_eq!(code("    - { address: '[::]:80', redirect: https }\n"), None);
        assert_eq!(code("    - 0.0.0.0:8080\n"), Some("policy.no_port_80"));
        let text = "server: { listen: [{ address: '0.0.0.0:80', redirect: https }] }\n\
                    sites: [{ hosts: [a.example], origin: 'http://127.0.0.1:1' }]\n";
        let (_, findings) = read("policy", text.as_bytes());
        assert!(findings.iter().any(|one| one.code == "policy.no_https"), "{findings:?}");
    }

    #[test]
    fn what_can_not_work_is_refused() {
        for (tls, message) in [
            ("{}", "no certificate"),
            ("{ key: a.pem }", "no certificate"),
            ("{ certificate: a.pem, acme: {} }", "acme and certificate beside each other"),
            ("{ certificates: [] }", "no certificate"),
            ("{ certificates: [{ key: a.pem }] }", "certificates[0].certificate' is missing"),
            (
                "{ certificate: a, key: b, certificates: [{ certificate: c, key: d }] }",
                "certificates and certificate beside each other",
            ),
            ("{ acme: { contact: me } }", "'me' is not an e-mail address"),
            ("{ acme: { hosts: ['*.a.example'] } }", "exact names only"),
            ("{ acme: { hosts: [127.0.0.1] } }", "no name on the internet"),
            ("{ acme: { hosts: [localhost] } }", "no name on the internet"),
            ("{ acme: { directory: 'http://a.example' } }", "not the URL of an authority"),
        ] {
            let (_, findings) = read("policy", text(tls).as_bytes());
            let messages: Vec<&str> = findings.iter().map(|one| one.message.as_str()).collect();
            assert!(messages.iter().any(|found| found.contains(message)), "{tls}: {messages:?}");
        }
    }
}
