//! Certificates as a policy writes them.

use crate::rules::policy::{Policy, read};

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
    assert_eq!(acme.directory, "https://acme-v02.api.letsencrypt.org/directory");
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
