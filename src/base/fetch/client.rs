//! The HTTP client: its limits, its certificate authorities, and one request.

use std::{
    env, ffi::OsStr, fmt::Display, fs::File, io::Read, path::Path, sync::Arc, time::Duration,
};

use reqwest::{Certificate, RequestBuilder, header, redirect};
use rustls::{
    RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};
use url::Url;

use super::{Failure, Reach, Resolver, Response, Validators, reach::Hosts};
use crate::base::version;

/// The most time for one fetch, from the name to the last octet.
pub const DEADLINE: Duration = Duration::from_secs(20);
/// The most redirects in a row.
pub const REDIRECTS: usize = 5;
/// The name and version with which every `User-Agent` of Beadle begins.
pub const PRODUCT: &str = version::PRODUCT;

/// The largest file of certificate authorities, in octets.
const MAX_PEM: u64 = 4 << 20;

const CONNECT: Duration = Duration::from_secs(5);

/// The settings of a client.
#[derive(Debug)]
pub struct Settings<'a> {
    /// The `User-Agent` field.
    pub user_agent: &'a str,
    /// The addresses that it may connect to.
    pub reach: Reach,
    /// The treatment of redirects.
    pub redirects: Redirects,
    /// A PEM file with certificate authorities that it trusts in addition to the system's.
    pub authorities: Option<&'a Path>,
    /// The resolver of host names; `None` is the system's resolver.
    pub resolver: Option<Arc<dyn Resolver>>,
}

/// The treatment of redirects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redirects {
    /// Follows up to [`REDIRECTS`] of them, while they stay within reach.
    Follow,
    /// Returns them as responses.
    Return,
}

/// A GET request.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// An absolute URL.
    pub url: &'a str,
    /// The `Host` field, if it differs from the host of the URL.
    pub host: Option<&'a str>,
    /// The scheme and the host of the client's request, for `X-Forwarded-Proto` and
    /// `X-Forwarded-Host`.
    pub forwarded: Option<(&'a str, &'a str)>,
    /// The validators that make the request conditional.
    pub validators: &'a Validators,
}

/// A POST request.
#[derive(Clone, Copy, Debug)]
pub struct Post<'a> {
    /// An absolute URL.
    pub url: &'a str,
    /// The fields beside `User-Agent`, in lower case.
    pub fields: &'a [(&'static str, &'a str)],
    /// The content.
    pub body: &'a [u8],
    /// The most time for the answer; `None` is [`DEADLINE`].
    pub deadline: Option<Duration>,
}

/// A client that fetches within its limits. Copies share the settings.
#[derive(Clone, Debug)]
pub struct Client {
    client: reqwest::Client,
    reach: Reach,
    has_systems_authorities: bool,
}

impl Settings<'_> {
    /// The settings of a client with Beadle's own `User-Agent`, the system's authorities and its resolver.
    pub const fn new(reach: Reach, redirects: Redirects) -> Self {
        Self { user_agent: PRODUCT, reach, redirects, authorities: None, resolver: None }
    }
}

impl Client {
    /// A client with these settings. It ignores proxies in the environment and keeps no connection.
    ///
    /// # Errors
    /// A sentence: the file of authorities is unreadable or has no certificate, or TLS setup fails.
    pub fn new(settings: Settings<'_>) -> Result<Self, String> {
        Self::build(settings, true)
    }

    /// A client that asks for content without a content coding, and decodes none. So the content is
    /// what the server may have signed.
    ///
    /// # Errors
    /// See [`Self::new`].
    pub fn verbatim(settings: Settings<'_>) -> Result<Self, String> {
        Self::build(settings, false)
    }

    fn build(settings: Settings<'_>, decodes: bool) -> Result<Self, String> {
        let Settings { user_agent, reach, redirects, authorities, resolver } = settings;
        // TLS needs one provider for the whole process; a second installation changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let authorities = authorities.map(certificates).transpose()?.unwrap_or_default();
        let builder = || {
            let redirect = match redirects {
                Redirects::Follow => follow(reach.clone()),
                Redirects::Return => redirect::Policy::none(),
            };
            let builder = reqwest::Client::builder()
                .user_agent(user_agent)
                .timeout(DEADLINE)
                .connect_timeout(CONNECT)
                .pool_max_idle_per_host(0)
                .no_proxy()
                .referer(false)
                .gzip(decodes)
                .redirect(redirect);
            match &resolver {
                None if matches!(reach, Reach::Any | Reach::Secure) => builder,
                resolver => {
                    let hosts = Hosts { reach: reach.clone(), resolver: resolver.clone() };
                    builder.dns_resolver(Arc::new(hosts))
                }
            }
        };
        // A system without authorities is an error to the first. What needs no TLS works without them.
        let with_systems = builder().tls_certs_merge(authorities.clone()).build();
        let has_systems_authorities = with_systems.is_ok();
        let client = with_systems.or_else(|_| builder().tls_certs_only(authorities).build());
        let client = client.map_err(|error| error.to_string())?;
        Ok(Self { client, reach, has_systems_authorities })
    }

    /// Whether it trusts the system's certificate authorities. Without them, only those of the settings
    /// vouch for a server.
    pub fn has_systems_authorities(&self) -> bool {
        self.has_systems_authorities
    }

    /// The response to a request.
    ///
    /// # Errors
    /// There is no response. A response with any status is no error here.
    pub async fn get(&self, request: Request<'_>) -> Result<Response, Failure> {
        self.get_with(request, &[]).await
    }

    /// The response to a request with these fields beside its own, in lower case.
    ///
    /// # Errors
    /// See [`Self::get`].
    pub async fn get_with(
        &self,
        request: Request<'_>,
        fields: &[(&'static str, &str)],
    ) -> Result<Response, Failure> {
        let url = Url::parse(request.url).map_err(|_| Failure::Address)?;
        self.reach.check(&url)?;
        let mut builder = self.client.get(url);
        if let Some(host) = request.host {
            builder = builder.header(header::HOST, host);
        }
        if let Some((scheme, host)) = request.forwarded {
            builder = builder.header("X-Forwarded-Proto", scheme);
            builder = builder.header("X-Forwarded-Host", host);
        }
        for (name, value) in request.validators.fields() {
            builder = builder.header(name, value);
        }
        send(builder, fields).await
    }

    /// The response to a POST request.
    ///
    /// # Errors
    /// See [`Self::get`].
    pub async fn post(&self, request: Post<'_>) -> Result<Response, Failure> {
        let url = Url::parse(request.url).map_err(|_| Failure::Address)?;
        self.reach.check(&url)?;
        let mut builder = self.client.post(url).body(request.body.to_vec());
        if let Some(deadline) = request.deadline {
            builder = builder.timeout(deadline);
        }
        send(builder, request.fields).await
    }
}

async fn send(
    mut builder: RequestBuilder,
    fields: &[(&'static str, &str)],
) -> Result<Response, Failure> {
    for (name, value) in fields {
        builder = builder.header(*name, *value);
    }
    Ok(Response::of(builder.send().await?))
}

fn follow(reach: Reach) -> redirect::Policy {
    redirect::Policy::custom(move |attempt| {
        if attempt.previous().len() > REDIRECTS {
            return attempt.error(Failure::Redirects);
        }
        // A redirect from HTTPS to HTTP would let anyone on the path change the content.
        match reach.check_redirect(attempt.previous().last(), attempt.url()) {
            Ok(()) => attempt.follow(),
            Err(failure) => attempt.error(failure),
        }
    })
}

fn certificates(path: &Path) -> Result<Vec<Certificate>, String> {
    let refused = |error: &dyn Display| {
        format!("{}: {error} (name a PEM file of certificates)", path.display())
    };
    // A device may have no end, and a pipe no writer.
    let is_file = std::fs::metadata(path).map_err(|error| refused(&error))?.is_file();
    let file = is_file.then(|| File::open(path)).ok_or_else(|| refused(&"not a regular file"))?;
    let mut pem = Vec::new();
    let read = file.and_then(|file| file.take(MAX_PEM + 1).read_to_end(&mut pem));
    read.map_err(|error| refused(&error))?;
    if pem.len() as u64 > MAX_PEM {
        return Err(refused(&"larger than 4 MiB"));
    }
    let certificates = Certificate::from_pem_bundle(&pem).map_err(|error| refused(&error))?;
    if certificates.is_empty() {
        return Err(refused(&"no certificate"));
    }
    Ok(certificates)
}

/// The variables that OpenSSL made usual.
const FILE: &str = "SSL_CERT_FILE";
const FOLDER: &str = "SSL_CERT_DIR";

/// Checks the file and the folder that the environment names. The library that connects to origins
/// panics over a wrong one.
///
/// # Errors
/// A sentence with the repair: the file or the folder can't be read, or the file has a certificate that
/// is none. An empty one is fine.
pub fn check_authorities() -> Result<(), String> {
    env::var_os(FILE).as_deref().map_or(Ok(()), check_file)?;
    env::var_os(FOLDER).as_deref().map_or(Ok(()), check_folder)
}

fn check_folder(folder: &OsStr) -> Result<(), String> {
    let read = std::fs::read_dir(folder).map(drop);
    read.map_err(|error| refusal(FOLDER, folder, &error, "a folder of certificates"))
}

fn check_file(file: &OsStr) -> Result<(), String> {
    let name = "a PEM file of certificates";
    let certificates =
        CertificateDer::pem_file_iter(file).map_err(|error| refusal(FILE, file, &error, name))?;
    let mut store = RootCertStore::empty();
    for certificate in certificates {
        let certificate = certificate.map_err(|error| refusal(FILE, file, &error, name))?;
        store.add(certificate).map_err(|error| refusal(FILE, file, &error, name))?;
    }
    Ok(())
}

fn refusal(variable: &str, value: &OsStr, error: &dyn Display, name: &str) -> String {
    let value = Path::new(value).display();
    format!("{variable}: '{value}': {error} (name {name}, or unset the variable)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_authorities_can_be_read_and_has_certificates_only() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, content: &str| {
            let file = folder.path().join(name);
            std::fs::write(&file, content).unwrap();
            file
        };
        let pem = include_str!("../../../tests/data/tls/certificate.pem");
        let no_certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        for (file, is_fine) in [
            (write("one.pem", pem), true),
            (write("two.pem", &format!("# two\n{pem}\n{pem}")), true),
            (write("empty.pem", ""), true),
            (write("wrong.pem", no_certificate), false),
            (write("cut.pem", &pem[..pem.len() / 2]), false),
            (folder.path().join("missing.pem"), false),
            (folder.path().to_owned(), false),
            ("".into(), false),
        ] {
            let checked = check_file(file.as_os_str());
            assert_eq!(checked.is_ok(), is_fine, "{}: {checked:?}", file.display());
        }
        assert!(check_folder(folder.path().as_os_str()).is_ok());
        let says = check_folder(folder.path().join("missing").as_os_str()).unwrap_err();
        assert!(says.starts_with("SSL_CERT_DIR: '") && says.contains("or unset"), "{says}");
    }
}
