//! Evidence for claims: signatures of requests, checked against keys that an earlier run saved.

use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD, Engine as _};
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::standing::{ENFORCEMENT, GOOD, crawler, list, setup, standing};
use crate::support::{client::Request, origin::Origin, program::Setup};

/// Signs requests for Web Bot Auth with a generated key.
struct Signer {
    key: Ed25519KeyPair,
    thumbprint: String,
    directory: String,
}

impl Signer {
    fn new() -> Self {
        let random = ring::rand::SystemRandom::new();
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&random).expect("randomness");
        let key = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).expect("a key");
        let x = BASE64_URL_SAFE_NO_PAD.encode(key.public_key());
        let members = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#);
        let thumbprint = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(&members));
        Self { key, thumbprint, directory: format!(r#"{{"keys":[{members}]}}"#) }
    }

    /// `Signature-Agent`, `Signature-Input` and `Signature` of a request to this host.
    fn fields(&self, agent: &str, authority: &str) -> [(&'static str, String); 3] {
        let now = jiff::Timestamp::now().as_second();
        let input = format!(
            "(\"@authority\" \"signature-agent\";key=\"s\");created={};expires={};keyid=\"{}\";\
             tag=\"web-bot-auth\"",
            now - 5,
            now + 300,
            self.thumbprint
        );
        let base = format!(
            "\"@authority\": {authority}\n\"signature-agent\";key=\"s\": \"{agent}\"\n\
             \"@signature-params\": {input}"
        );
        let signature = BASE64_STANDARD.encode(self.key.sign(base.as_bytes()));
        [
            ("Signature-Agent", format!("s=\"{agent}\"")),
            ("Signature-Input", format!("s={input}")),
            ("Signature", format!("s=:{signature}:")),
        ]
    }
}

/// Writes the copy of a directory as an earlier run would.
fn keep_keys(folder: &std::path::Path, agent: &str, signer: &Signer) {
    let url = format!("{agent}/.well-known/http-message-signatures-directory");
    let hash: String =
        Sha256::digest(url).iter().take(8).map(|octet| format!("{octet:02x}")).collect();
    std::fs::write(folder.join(format!("keys-{hash}")), &signer.directory)
        .expect("the folder is ours");
}

#[test]
fn a_signature_of_the_operator_confirms_and_another_contradicts() {
    const OWN: &str = "https://lists.invalid";
    const OTHER: &str = "https://others.invalid";
    const ABSENT: &str = "https://absent.invalid";
    let (own, other) = (Signer::new(), Signer::new());
    let folder = tempfile::tempdir().expect("a folder");
    // Copies of an earlier run: tests cannot reach these hosts.
    keep_keys(folder.path(), OWN, &own);
    keep_keys(folder.path(), OTHER, &other);
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, ENFORCEMENT)
        .sections(&format!(
            "crawlers:\n  \
             - {{ product_token: ListBot, operator: Lists, signature_agent: \"{OWN}\" }}\n  \
             - {{ product_token: SisterBot, operator: Lists }}\n  \
             - {{ product_token: SoleBot, operator: Sole }}\n  \
             - {{ product_token: OtherBot, operator: Others, signature_agent: \"{OTHER}\" }}\n  \
             - {{ product_token: AbsentBot, operator: Absent, signature_agent: \"{ABSENT}\" }}\n\
             evidence:\n  user_agents: [ListBot, SisterBot, SoleBot, OtherBot, AbsentBot]\n  folder: {}\n",
            folder.path().display()
        ))
        .start();
    let host = "site.example";
    let none = || Vec::new();
    let tampered = || {
        let mut fields = own.fields(OWN, host).to_vec();
        fields[1].1 = fields[1].1.replace("web-bot-auth\"", "web-bot-auth\";nonce=\"x\"");
        fields
    };
    for (user_agent, fields, standing, evidence) in [
        ("ListBot/1.0", own.fields(OWN, host).to_vec(), "confirmed", Some("signature")),
        ("SisterBot/1.0", own.fields(OWN, host).to_vec(), "confirmed", Some("signature")),
        ("ListBot/1.0", other.fields(OTHER, host).to_vec(), "contradicted", Some("signature")),
        // A crawler without published keys may use a platform that signs.
        ("SoleBot/1.0", other.fields(OTHER, host).to_vec(), "unverifiable", None),
        ("ListBot/1.0", none(), "unverifiable", None),
        ("ListBot/1.0", tampered(), "unverifiable", None),
        ("ListBot/1.0", own.fields(OWN, "elsewhere.example").to_vec(), "unverifiable", None),
        // The directory may have a new key.
        ("ListBot/1.0", other.fields(OWN, host).to_vec(), "unknown", None),
        ("ListBot/1.0", own.fields("https://third.invalid", host).to_vec(), "unverifiable", None),
        // Missing keys leave open whose signature it is, but prove no other.
        ("AbsentBot/1.0", own.fields(ABSENT, host).to_vec(), "unknown", None),
        ("ListBot/1.0", own.fields(ABSENT, host).to_vec(), "unverifiable", None),
    ] {
        let before = beadle.metric("beadle_records_seen_total") as usize;
        let mut request = Request::get("/private/x").host(host).user_agent(user_agent);
        for (name, value) in &fields {
            request = request.field(name, value);
        }
        assert_eq!(request.send(beadle.port).status, 200);
        let record = beadle.records(before + 1).pop().expect("it is recorded");
        assert_eq!(record["standing"], standing, "{fields:?}");
        assert_eq!(record["evidence"], json!(evidence), "{fields:?}");
    }
    let text = Request::get("/metrics").host("localhost").send(beadle.admin).text();
    for outcome in ["verified", "bad-signature", "unknown-key", "unknown-signer"] {
        let series = format!("beadle_signatures_total{{outcome=\"{outcome}\"}}");
        assert!(text.contains(&series), "{series} is missing in\n{text}");
    }
}

#[test]
fn a_signature_for_an_unknown_host_proves_nothing() {
    const OWN: &str = "https://lists.invalid";
    let own = Signer::new();
    let folder = tempfile::tempdir().expect("a folder");
    keep_keys(folder.path(), OWN, &own);
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, &format!("    default: true\n{ENFORCEMENT}"))
        .sections(&format!(
            "crawlers:\n  - {{ product_token: ListBot, signature_agent: \"{OWN}\" }}\n\
             evidence:\n  user_agents: [ListBot]\n  folder: {}\n",
            folder.path().display()
        ))
        .start();
    // That host could replay the request to a proxy that serves every host.
    for (host, standing) in [("site.example", "confirmed"), ("liar.example", "unverifiable")] {
        let before = beadle.metric("beadle_records_seen_total") as usize;
        let mut request = Request::get("/private/x").host(host).user_agent("ListBot/1.0");
        let fields = own.fields(OWN, host);
        for (name, value) in &fields {
            request = request.field(name, value);
        }
        assert_eq!(request.send(beadle.port).status, 200);
        let record = beadle.records(before + 1).pop().expect("it is recorded");
        assert_eq!(record["standing"], standing, "{host}");
    }
}

#[test]
fn evidence_that_the_policy_turns_off_contradicts_no_claim() {
    let (origin, list, own) = (Origin::plain(), list(GOOD), Signer::new());
    let crawler = format!("{}, signature_agent: \"https://lists.invalid\"", crawler(&list));
    let beadle = setup(&origin, &crawler, "  signatures: false\n").start();
    assert_eq!(standing(&beadle, "8.8.8.8"), json!(["contradicted", "ip-range"]));
    // The request carries a signature, perhaps the operator's.
    let before = beadle.metric("beadle_records_seen_total") as usize;
    let mut request = Request::get("/private/x").host("site.example").user_agent("ListBot/1.0");
    for (name, value) in own.fields("https://lists.invalid", "site.example") {
        request = request.field(name, &value);
    }
    request.field("X-Forwarded-For", "8.8.8.8").send(beadle.port);
    let record = beadle.records(before + 1).pop().expect("it is recorded");
    assert_eq!((&record["standing"], &record["evidence"]), (&json!("unknown"), &Value::Null));
}

#[test]
fn a_signature_that_is_none_keeps_no_list_from_its_decision() {
    const AGENT: &str = "https://lists.invalid";
    for evidence in ["", "  signatures: false\n"] {
        let (origin, list, own) = (Origin::plain(), list(GOOD), Signer::new());
        // The key directory of the crawler can't be fetched.
        let crawler = format!("{}, signature_agent: \"{AGENT}\"", crawler(&list));
        let beadle = setup(&origin, &crawler, evidence).start();
        assert_eq!(standing(&beadle, "8.8.8.8"), json!(["contradicted", "ip-range"]));
        let with = |at: usize, value: &str| {
            let mut fields = own.fields(AGENT, "site.example").to_vec();
            fields[at].1 = value.to_owned();
            fields
        };
        for (fields, standing) in [
            (vec![("Signature", "x".to_owned())], "contradicted"),
            (with(2, "s=:AAAA:"), "contradicted"),
            (with(1, "s=()"), "contradicted"),
            // No key verifies it, but only the directory of the operator could tell.
            (own.fields(AGENT, "site.example").to_vec(), "unknown"),
        ] {
            let before = beadle.metric("beadle_records_seen_total") as usize;
            let mut request =
                Request::get("/private/x").host("site.example").user_agent("ListBot/1.0");
            for (name, value) in &fields {
                request = request.field(name, value);
            }
            request.field("X-Forwarded-For", "8.8.8.8").send(beadle.port);
            let record = beadle.records(before + 1).pop().expect("it is recorded");
            assert_eq!(record["standing"], standing, "{evidence} {fields:?}");
        }
    }
}
