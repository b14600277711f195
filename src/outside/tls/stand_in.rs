//! A certificate until the first one is issued.
//!
//! A listener without a certificate can't answer a handshake. Clients don't trust the stand-in, but
//! they reach the server, and so does the check of an operator.

use rcgen::{CertificateParams, DnType, DnValue, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::pair::Pair;

/// The most names; more would not fit into a handshake's first packets.
const MOST_NAMES: usize = 100;

pub(super) fn for_hosts(hosts: &[String]) -> Result<Pair, String> {
    let hosts: Vec<String> = hosts.iter().take(MOST_NAMES).cloned().collect();
    let failed = |error: rcgen::Error| error.to_string();
    let mut certificate = CertificateParams::new(hosts).map_err(failed)?;
    let name = DnValue::Utf8String("Beadle, until a certificate is issued".to_owned());
    certificate.distinguished_name.push(DnType::CommonName, name);
    let key = KeyPair::generate().map_err(failed)?;
    let certificate = certificate.self_signed(&key).map_err(failed)?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    Pair::new(vec![certificate.der().clone()], key)
}
