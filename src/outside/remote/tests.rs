use base64::{Engine, engine::general_purpose::STANDARD};
use ring::signature::{Ed25519KeyPair, KeyPair};

use super::{document::Signature, *};

const SECRET: [u8; 32] = [7; 32];

fn pair() -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&SECRET).unwrap()
}

fn key() -> PublicKey {
    PublicKey::read(pair().public_key().as_ref()).unwrap()
}

fn document(text: &str, is_signed: bool) -> Document {
    let signature = Signature::read(pair().sign(text.as_bytes()).as_ref());
    Document { bytes: text.into(), signature: signature.filter(|_| is_signed) }
}

#[test]
fn an_address_shows_no_secret() {
    for (text, shown, signature) in [
        ("https://p.example/a.yaml", "https://p.example/a.yaml", "https://p.example/a.yaml.sig"),
        (
            "https://me:secret@p.example:8443/a.yaml?token=secret#x",
            "https://p.example:8443/a.yaml",
            "https://me:secret@p.example:8443/a.yaml.sig?token=secret",
        ),
        ("http://127.0.0.1", "http://127.0.0.1/", "http://127.0.0.1/.sig"),
    ] {
        let address = Address::parse(text).unwrap();
        assert_eq!(address.shown(), shown);
        assert_eq!(address.signature_url(), signature);
        assert!(!format!("{address:?}").contains("secret"));
    }
    let long = format!("https://p.example/{}", "a".repeat(2_000));
    for text in ["https://", "https://me:secret@", "beadle.yaml", long.as_str()] {
        assert_eq!(Address::parse(text).err(), Some(Failure::Address), "{text}");
    }
}

#[test]
fn a_key_is_pem_base64_or_raw() {
    let raw = pair().public_key().as_ref().to_vec();
    let mut der = b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00".to_vec();
    der.extend(&raw);
    let pem = |label: &str, der: &[u8]| {
        let body = STANDARD.encode(der);
        format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n").into_bytes()
    };
    let cut = &raw[..31];
    for (file, is_key) in [
        (raw.clone(), true),
        (STANDARD.encode(&raw).into_bytes(), true),
        (format!("{}\n", STANDARD.encode(&raw)).into_bytes(), true),
        (pem("PUBLIC KEY", &der), true),
        (pem("PRIVATE KEY", &der), false),
        (pem("PUBLIC KEY", &raw[1..]), false),
        (STANDARD.encode(cut).into_bytes(), false),
        (cut.to_vec(), false),
        (b"-----BEGIN PUBLIC KEY-----\n".to_vec(), false),
        (Vec::new(), false),
    ] {
        let read = PublicKey::read(&file);
        assert_eq!(read == Some(key()), is_key, "{}", String::from_utf8_lossy(&file));
    }
}

#[test]
fn a_signature_is_base64_or_raw_and_of_these_bytes() {
    let signature = pair().sign(b"policy").as_ref().to_vec();
    let text = STANDARD.encode(&signature);
    let (first, second) = text.split_at(64);
    for (file, bytes, is_valid) in [
        (signature.clone(), "policy", Some(true)),
        (text.clone().into_bytes(), "policy", Some(true)),
        (format!("{first}\r\n{second}\r\n").into_bytes(), "policy", Some(true)),
        (signature.clone(), "policy\n", Some(false)),
        (vec![0; 64], "policy", Some(false)),
        (signature[1..].to_vec(), "policy", None),
        (b"untrusted comment: x".to_vec(), "policy", None),
        (Vec::new(), "policy", None),
    ] {
        let read = Signature::read(&file).map(|one| key().verifies(bytes.as_bytes(), &one));
        assert_eq!(read, is_valid, "{bytes} {}", String::from_utf8_lossy(&file));
    }
}

#[test]
fn a_copy_is_the_document_of_its_address_with_its_signature() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("copy.yaml");
    let copy = |of: &str, key| KeptCopy::new(file.clone(), of.to_owned(), key);
    let (here, there) = ("https://p.example/a.yaml", "https://p.example/b.yaml");
    for (text, is_signed, of, with_key, expected) in [
        ("sites: []\n", false, here, false, Ok(())),
        ("no line end", false, here, false, Ok(())),
        ("", false, here, false, Ok(())),
        ("\n\n", true, here, true, Ok(())),
        ("\r\n# beadle: copy of x\n", true, here, true, Ok(())),
        ("a", true, here, false, Ok(())),
        ("a", false, here, true, Err("a copy without a valid signature")),
        ("a", false, there, false, Err("a copy of https://p.example/a.yaml, another address")),
    ] {
        let kept = document(text, is_signed);
        copy(here, None).keep(&kept).unwrap();
        let read = copy(of, with_key.then(key)).last_good();
        let expected = expected.map(|()| kept.clone()).map_err(str::to_owned);
        assert_eq!(read, expected, "{text:?}");
        let content = std::fs::read(&file).unwrap();
        assert!(content.starts_with(text.as_bytes()) && content.len() > text.len());
        assert_eq!(without_mark(content), text.as_bytes(), "{text:?}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no half of a copy stays");
}

#[test]
fn a_serial_is_a_number_in_a_comment() {
    for (text, serial) in [
        ("# serial: 7\nsites: []\n", Some(7)),
        ("sites: []\n# serial:8\r\n# serial: 9", Some(8)),
        ("sites: []\n", Some(0)),
        ("x: '# serial: 7'\n # serial: 7", Some(0)),
        ("# serial:\n# serial: 7\n", None),
        ("# serial: -1", None),
        ("# serial: 2026-11-24", None),
        ("# serial: 18446744073709551616", None),
    ] {
        assert_eq!(document(text, true).serial(), serial, "{text}");
    }
}

#[test]
fn what_is_no_copy_or_is_changed_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let copy = |name: &str| {
        KeptCopy::new(folder.path().join(name), "https://p.example/".to_owned(), Some(key()))
    };
    copy("signed").keep(&document("sites: []\n", true)).unwrap();
    let changed = std::fs::read_to_string(folder.path().join("signed")).unwrap();
    let changed = changed.replace("sites", "wites");
    for (name, content) in [("policy", "sites: []\n"), ("empty", ""), ("changed", &changed)] {
        std::fs::write(folder.path().join(name), content).unwrap();
        assert!(copy(name).last_good().is_err(), "{name}");
    }
    assert!(copy("missing").last_good().is_err_and(|why| why.contains("No such file")));
    assert!(copy("no/folder").keep(&document("", true)).is_err());
    // A policy file stays as it is.
    for text in ["", "\n", "sites: []", "# beadle: copy of x\n", "a\n# beadle: copy of x"] {
        assert_eq!(without_mark(text.into()), text.as_bytes());
    }
}

#[test]
fn every_failure_has_a_code_and_a_repair() {
    let fetch = crate::base::fetch::Failure::Status(503);
    let failures = [
        Failure::Address,
        Failure::Client("x".to_owned()),
        Failure::Insecure,
        Failure::Fetch(fetch.clone()),
        Failure::TooLarge,
        Failure::Encoded,
        Failure::NoSignature(fetch),
        Failure::UnreadableSignature,
        Failure::Older { found: None, last: 0 },
        Failure::WrongSignature,
    ];
    for failure in failures {
        let finding = failure.finding("https://p.example/a.yaml");
        assert!(finding.code.starts_with("policy.") && finding.help.is_some(), "{finding}");
    }
}
