//! The certificates of a TLS listener.

use std::{net::IpAddr, path::PathBuf};

use crate::{base::escape::shown, rules::keys};

use super::super::{
    alerts,
    fields::{Fields, Setting, section},
    findings::Sink,
    host::{self, Host, split_port},
    shape::At,
    sites::Site,
    yaml::{self, Spot},
};

/// The certificates of a TLS listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    pub(crate) certificates: Vec<CertificateFiles>,
    pub(crate) acme: Option<Acme>,
}

/// The PEM files of a certificate chain and its private key. Both may be one file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CertificateFiles {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

section! {
    /// Certificates by ACME (RFC 8555).
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Acme {
        /// The addresses of the account, as `mailto:` URLs (default none).
        pub(crate) contact: Vec<String> = each(address),
        pub(crate) hosts: Vec<String> = each(exact_host),
        pub(crate) directory: String = get_with(directory),
        pub(crate) root: Option<PathBuf>,
        pub(crate) folder: PathBuf,
    }
}

impl Acme {
    pub(crate) fn hosts_of<'s>(&self, sites: impl IntoIterator<Item = &'s Site>) -> Vec<String> {
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

    pub(crate) fn state_folder(&self) -> PathBuf {
        let (_, rest) = self.directory.split_once("://").unwrap_or(("", &self.directory));
        let sound = |c: char| c.is_ascii_alphanumeric() || ".-".contains(c);
        let name: String = rest.chars().map(|c| if sound(c) { c } else { '-' }).collect();
        self.folder.join(name.trim_matches(['.', '-']))
    }

    /// The file of a host's certificate, which has chain and key, so that it is replaced in one step.
    pub(crate) fn files_of(&self, host: &str) -> CertificateFiles {
        let file = self.state_folder().join(format!("{host}.pem"));
        CertificateFiles { certificate: file.clone(), key: file }
    }
}

/// Whether an authority can ask this host for a proof: a name on the internet.
fn is_provable(host: &str) -> bool {
    host.parse::<IpAddr>().is_err() && host.contains('.') && !host.contains('_')
}

pub(super) fn tls(at: &At<'_>) -> Option<Tls> {
    let fields = at.fields()?;
    let found: Vec<&str> =
        keys::TLS.one_of.iter().copied().filter(|key| fields.take(key).is_some()).collect();
    match found.as_slice() {
        ["certificate"] => {
            let certificates = files(&fields).into_iter().collect();
            Some(Tls { certificates, acme: None })
        }
        ["certificates"] => {
            let at = fields.take("certificates")?;
            let items = at.elements();
            if items.is_empty() {
                at.refuse("no certificate", "write '- { certificate: …, key: … }'");
            }
            let files = items.iter().filter_map(|item| files(&item.fields()?));
            Some(Tls { certificates: files.collect(), acme: None })
        }
        ["acme"] => Some(Tls { certificates: Vec::new(), acme: fields.within("acme", Acme::read) }),
        [] => {
            let help = "write 'certificate' and 'key', or 'certificates', or 'acme'";
            at.refused("no certificate", help)
        }
        several => {
            let message = format!("{} beside each other", several.join(" and "));
            at.refused(message, "keep one of them; 'certificates' is a list")
        }
    }
}

/// `certificate` and `key`. Without `key`, the file of the certificate has both.
fn files(fields: &Fields<'_>) -> Option<CertificateFiles> {
    let certificate =
        fields.required("certificate", "name the PEM file of the chain", PathBuf::read);
    let key = match fields.take("key") {
        Some(at) => Some(PathBuf::read(&at)?),
        None => None,
    };
    let certificate = certificate?;
    Some(CertificateFiles { key: key.unwrap_or_else(|| certificate.clone()), certificate })
}

/// The places of each certificate and of its key in the text of a policy, in the order of the listeners.
pub fn certificate_places(text: &[u8]) -> Vec<(Spot, Spot)> {
    let (Ok(root), sink) = (yaml::read(text), Sink::default()) else { return Vec::new() };
    let listeners = At::root(&root, &sink).child("server").child("listen").elements();
    let of_listeners = listeners.iter().filter_map(|listener| {
        let tls = listener.find("tls")?;
        Some(tls.find("certificates").unwrap_or(tls).elements())
    });
    let places = of_listeners.flatten().filter_map(|item| {
        let certificate = item.find("certificate")?;
        let key = item.find("key").unwrap_or_else(|| certificate.clone());
        Some((certificate.node.spot, key.node.spot))
    });
    places.collect()
}

/// An e-mail address, as a `mailto:` URL (RFC 8555 §7.3).
fn address(at: &At<'_>) -> Option<String> {
    alerts::address(at).map(|bare| format!("mailto:{bare}"))
}

/// A host that HTTP-01 can prove (RFC 8555 §8.3).
fn exact_host(at: &At<'_>) -> Option<String> {
    match host::read(at)? {
        Host::Exact(host) if is_provable(&host) => Some(host),
        Host::Below(_) => {
            let help = "name the hosts one by one, or get a certificate for the star by DNS and \
                        name its files in 'certificates'";
            at.refused("the proof over HTTP is for exact names only", help)
        }
        Host::Exact(host) => {
            let message = format!("'{}' is no name on the internet", shown(host));
            at.refused(message, "write for example www.example.com")
        }
    }
}

fn directory(at: &At<'_>) -> Option<String> {
    let parse = |text: &str| {
        let host = text.strip_prefix("https://")?;
        let is_url = !host.is_empty() && !host.starts_with('/');
        (is_url && text.bytes().all(|b| b.is_ascii_graphic())).then(|| text.to_owned())
    };
    let help = "write for example https://acme-v02.api.letsencrypt.org/directory";
    at.parsed(parse, "is not the URL of an authority", help)
}

#[cfg(test)]
mod tests;
