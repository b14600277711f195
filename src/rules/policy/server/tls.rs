//! The certificates of a TLS listener.

use std::{net::IpAddr, path::PathBuf};

use crate::{base::escape::shown, rules::keys};

use super::super::{
    email,
    fields::Fields,
    findings::Findings,
    host::{self, Host, split_port},
    places::Spot,
    scalar::path,
    shape::At,
    sites::Site,
    yaml::{self, Value},
};

/// The default authority: Let's Encrypt.
pub const DEFAULT_ACME_DIRECTORY: &str = "https://acme-v02.api.letsencrypt.org/directory";

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
        // Anyone can ask for a host, so it alone orders nothing.
        let sites = sites.into_iter().filter(|site| !site.is_asked);
        let hosts = sites.flat_map(|site| &site.hosts);
        let exact = hosts.filter_map(|host| match host {
            Host::Exact(host) => Some(split_port(host).map_or(host.as_str(), |(host, _)| host)),
            Host::Below(_) => None,
        });
        let mut names: Vec<String> = Vec::new();
        for host in exact.filter(|host| is_provable(host)) {
            if names.iter().all(|name| name != host) {
                names.push(host.to_owned());
            }
        }
        names
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
            Some(Tls { certificates: Vec::new(), acme: fields.read("acme", acme, findings) })
        }
        [] => {
            let help = "write 'certificate' and 'key', or 'certificates', or 'acme'";
            findings.refused(at, "no certificate", help)
        }
        several => {
            let message = format!("{} beside each other", several.join(" and "));
            findings.refused(at, message, "keep one of them; 'certificates' is a list")
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

/// The places of each certificate and of its key in the text of a policy, in the order of the listeners.
pub fn certificate_places(text: &[u8]) -> Vec<(Spot, Spot)> {
    let Ok(root) = yaml::read(text) else { return Vec::new() };
    let listeners = At::root(&root).child("server").child("listen").elements();
    let of_listeners = listeners.iter().filter_map(|listener| {
        let tls = child(listener, "tls")?;
        Some(child(&tls, "certificates").unwrap_or(tls).elements())
    });
    let places = of_listeners.flatten().filter_map(|item| {
        let certificate = child(&item, "certificate")?;
        let key = child(&item, "key").unwrap_or_else(|| certificate.clone());
        Some((Spot::from(&certificate), Spot::from(&key)))
    });
    places.collect()
}

/// The value of a key that is there.
fn child<'n>(at: &At<'n>, key: &str) -> Option<At<'n>> {
    let Value::Map(entries) = &at.node.value else { return None };
    entries.iter().any(|(one, _)| one.text == key).then(|| at.child(key))
}

fn acme(at: &At<'_>, findings: &mut Findings) -> Option<Acme> {
    let fields = at.fields(&keys::ACME, findings)?;
    let directory = fields.read("directory", directory, findings);
    Some(Acme {
        contact: fields.each("contact", address, findings),
        hosts: fields.each("hosts", exact_host, findings),
        directory: directory.unwrap_or_else(|| DEFAULT_ACME_DIRECTORY.to_owned()),
        root: fields.some_file("root", findings),
        folder: fields.file("folder", findings),
    })
}

/// An e-mail address, as a `mailto:` URL (RFC 8555 §7.3).
fn address(at: &At<'_>, findings: &mut Findings) -> Option<String> {
    email::address(at, findings).map(|bare| format!("mailto:{bare}"))
}

/// A host that HTTP-01 can prove (RFC 8555 §8.3).
fn exact_host(at: &At<'_>, findings: &mut Findings) -> Option<String> {
    match host::read(at, findings)? {
        Host::Exact(host) if is_provable(&host) => Some(host),
        Host::Below(_) => {
            let help = "name the hosts one by one, or get a certificate for the star by DNS and \
                        name its files in 'certificates'";
            findings.refused(at, "the proof over HTTP is for exact names only", help)
        }
        Host::Exact(host) => {
            let message = format!("'{}' is no name on the internet", shown(host));
            findings.refused(at, message, "write for example www.example.com")
        }
    }
}

fn directory(at: &At<'_>, findings: &mut Findings) -> Option<String> {
    let parse = |text: &str| {
        let host = text.strip_prefix("https://")?;
        let is_url = !host.is_empty() && !host.starts_with('/');
        (is_url && text.bytes().all(|b| b.is_ascii_graphic())).then(|| text.to_owned())
    };
    let help = format!("write for example {DEFAULT_ACME_DIRECTORY}");
    at.parsed(parse, "is not the URL of an authority", &help, findings)
}

#[cfg(test)]
mod tests;
