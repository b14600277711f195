//! When the certificates of the listeners end.

use std::path::Path;

use jiff::Timestamp;
use rustls::pki_types::{CertificateDer, pem::PemObject};

use crate::{alerts::Certificate, escape, policy::Server};

/// The certificates that the listeners present, each file once. A start refuses unusable files; one
/// whose end can't be told is left out, with a warning.
pub(super) fn of(server: &Server) -> Vec<Certificate> {
    let all = server.listen.iter().filter_map(|listener| listener.tls.as_ref());
    in_files(all.map(|tls| tls.certificate.as_path()).collect())
}

fn in_files(mut files: Vec<&Path>) -> Vec<Certificate> {
    files.sort_unstable();
    files.dedup();
    let certificate = |file: &Path| {
        let shown = escape::path(file);
        match end(file) {
            Ok(ends) => Some(Certificate { file: shown, ends }),
            Err(error) => {
                tracing::warn!(
                    code = "tls.end_unknown",
                    file = shown,
                    error,
                    "the end of a certificate is unknown"
                );
                None
            }
        }
    };
    files.into_iter().filter_map(certificate).collect()
}

/// The end of the first certificate of a PEM file: those behind it belong to its issuers.
fn end(file: &Path) -> Result<Timestamp, String> {
    let certificate = CertificateDer::from_pem_file(file).map_err(|error| error.to_string())?;
    let (_, certificate) =
        x509_parser::parse_x509_certificate(&certificate).map_err(|error| error.to_string())?;
    let end = certificate.validity().not_after.timestamp();
    Timestamp::from_second(end).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_each_certificate_is_known_once() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls");
        let files = ["ends.pem", "key.pem", "ends.pem", "absent.pem"].map(|name| folder.join(name));
        let found = in_files(files.iter().map(|file| file.as_path()).collect());
        let [Certificate { file, ends }] = found.as_slice() else { panic!("{found:?}") };
        assert!(file.ends_with("ends.pem"), "{file}");
        assert_eq!(ends.to_string(), "2026-11-23T17:32:30Z");
    }
}
