//! TLS for the raw client, and the certificates of the test listeners.

use std::{
    net::TcpStream,
    path::{Path, PathBuf},
    sync::Arc,
};

use rcgen::{CertificateParams, KeyPair};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned,
    SupportedProtocolVersion,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::ring,
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};

/// A TLS connection of a client.
pub(crate) type TlsStream = StreamOwned<ClientConnection, TcpStream>;

/// A PEM file of the test certificate.
pub(crate) fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls").join(name)
}

/// A certificate with its key, as PEM texts.
#[derive(Debug)]
pub(crate) struct Issued {
    pub(crate) certificate: String,
    pub(crate) key: String,
    /// The certificate as a handshake presents it.
    pub(crate) der: Vec<u8>,
}

/// A certificate for these names that signs itself.
pub(crate) fn issue(names: &[&str]) -> Issued {
    issue_with(&KeyPair::generate().expect("a key"), names)
}

/// A certificate of this key for these names.
pub(crate) fn issue_with(key: &KeyPair, names: &[&str]) -> Issued {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let mut parameters = CertificateParams::new(names).expect("names");
    // Each one is another certificate.
    let serial = uuid::Uuid::now_v7().as_bytes().to_vec();
    parameters.serial_number = Some(serial.into());
    let certificate = parameters.self_signed(key).expect("a certificate");
    Issued {
        certificate: certificate.pem(),
        key: key.serialize_pem(),
        der: certificate.der().to_vec(),
    }
}

impl Issued {
    /// Writes both files into a folder: `NAME.pem` and `NAME.key`.
    pub(crate) fn write(&self, folder: &Path, name: &str) {
        for (ending, text) in [("key", &self.key), ("pem", &self.certificate)] {
            replace(&folder.join(format!("{name}.{ending}")), text);
        }
    }
}

/// Replaces a file in one step.
pub(crate) fn replace(file: &Path, text: &str) {
    let new = file.with_extension("new");
    std::fs::write(&new, text).expect("the folder is ours");
    std::fs::rename(new, file).expect("the folder is ours");
}

/// The first certificate of a PEM file.
pub(crate) fn certificate_in(file: &Path) -> Vec<u8> {
    CertificateDer::from_pem_file(file).expect("a certificate").to_vec()
}

/// A TLS connection over a connected socket.
pub(crate) fn over(stream: TcpStream) -> TlsStream {
    over_as(stream, Some("site.example"), rustls::DEFAULT_VERSIONS)
}

/// A TLS connection of a client that agrees on HTTP/2 (ALPN).
pub(crate) fn over_http_2(stream: TcpStream) -> TlsStream {
    started(stream, Some("site.example"), rustls::DEFAULT_VERSIONS, vec![b"h2".to_vec()])
}

/// A TLS connection of a client that asks for this name, in one of these versions.
pub(crate) fn over_as(
    stream: TcpStream,
    name: Option<&str>,
    versions: &[&'static SupportedProtocolVersion],
) -> TlsStream {
    started(stream, name, versions, Vec::new())
}

fn started(
    stream: TcpStream,
    name: Option<&str>,
    versions: &[&'static SupportedProtocolVersion],
    protocols: Vec<Vec<u8>>,
) -> TlsStream {
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(versions)
        .expect("the provider has these")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate))
        .with_no_client_auth();
    config.alpn_protocols = protocols;
    config.enable_sni = name.is_some();
    let name = name.unwrap_or("site.example").to_owned();
    let name = ServerName::try_from(name).expect("a name");
    let connection = ClientConnection::new(Arc::new(config), name).expect("a configuration");
    StreamOwned::new(connection, stream)
}

/// Takes every certificate: who the server is matters in no test.
#[derive(Debug)]
struct AnyCertificate;

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}
