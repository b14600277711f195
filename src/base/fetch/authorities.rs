//! The certificate authorities that the environment names in place of the system's.

use std::{env, ffi::OsStr, fmt::Display, path::Path};

use rustls::{
    RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};

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
    let (file, folder) = (env::var_os(FILE), env::var_os(FOLDER));
    file.as_deref().map_or(Ok(()), check_file)?;
    folder.as_deref().map_or(Ok(()), check_folder)
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

fn check_folder(folder: &OsStr) -> Result<(), String> {
    let name = "a folder of certificates";
    std::fs::read_dir(folder).map_err(|error| refusal(FOLDER, folder, &error, name))?;
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
