//! Tests of the key directories, without a network.

use std::time::Duration;

use http::HeaderValue;

use super::*;

const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// A directory with these keys, each named by the first letter of its octets.
fn directory_of(keys: &str) -> String {
    let key = |letter| {
        let rest = "A".repeat(42);
        format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{letter}{rest}"}}"#)
    };
    let keys: Vec<String> = keys.chars().map(key).collect();
    format!(r#"{{"keys":[{}]}}"#, keys.join(","))
}

fn ids(keys: &str) -> Vec<String> {
    let keys = KeySet::read(directory_of(keys).as_bytes()).unwrap();
    keys.thumbprints().map(str::to_owned).collect()
}

fn policy(evidence: &str) -> Policy {
    let text = format!(
        "crawlers: [{{ product_token: ListBot, signature_agent: \"https://keys.example\" }}]\n\
         evidence: {{ user_agents: [ListBot]{evidence} }}\n\
         sites: [{{ hosts: [a.example], origin: \"http://127.0.0.1:1\" }}]\n"
    );
    text.parse().unwrap()
}

fn keeper(evidence: &str) -> KeyKeeper {
    let policy = policy(evidence);
    let settings = policy.evidence.as_ref().unwrap();
    KeyKeeper::new(Arc::new(Keys::new(&policy, settings)), settings)
}

/// The code of the refusal, or nothing.
fn code(keeper: &mut KeyKeeper, text: &str) -> &'static str {
    keeper.take(0, &Content::from(text)).err().map_or("", |refusal| refusal.code)
}

/// Which of these keys are in use.
fn in_use(keeper: &KeyKeeper, keys: &str) -> String {
    let known = keeper.keys.directories[0].keys.load();
    let has = |id: &String| Option::as_ref(&known).is_some_and(|known| known.has(id));
    keys.chars().zip(ids(keys)).filter(|(_, id)| has(id)).map(|(letter, _)| letter).collect()
}

#[test]
fn a_directory_that_lost_keys_takes_none_out_of_use_at_once() {
    let mut keeper = keeper("");
    for (keys, after, refusal, used) in [
        ("", Duration::ZERO, "directory-empty", ""),
        ("BCD", Duration::ZERO, "", "BCD"),
        ("", DAY, "directory-empty", "BCD"),
        ("B", DAY, "directory-shrunk", "BCD"),
        // A new key counts at once.
        ("E", DAY / 2, "directory-shrunk", "BCDE"),
        ("BCD", DAY, "", "BCD"),
        ("CD", DAY, "", "CD"),
        ("EF", DAY, "directory-replaced", "CDEF"),
        ("EF", HOUR / 2, "directory-replaced", "CDEF"),
        ("EF", HOUR / 2, "", "EF"),
        ("", DAY, "directory-empty", "EF"),
        ("", 3 * DAY, "", ""),
    ] {
        keeper.accepted[0].suspect.pass(after);
        assert_eq!(code(&mut keeper, &directory_of(keys)), refusal, "{keys} {after:?}");
        assert_eq!(in_use(&keeper, "BCDEF"), used, "{keys} {after:?}");
    }
    assert_eq!(code(&mut keeper, "{}"), "directory-malformed");
}

#[test]
fn an_unchanged_directory_ends_the_suspicion() {
    let mut keeper = keeper("");
    assert_eq!(code(&mut keeper, &directory_of("BC")), "");
    assert_eq!(code(&mut keeper, &directory_of("D")), "directory-replaced");
    keeper.renew(0);
    assert_eq!(in_use(&keeper, "BCD"), "BC");
    keeper.accepted[0].suspect.pass(DAY);
    assert_eq!(code(&mut keeper, &directory_of("D")), "directory-replaced");
}

#[test]
fn a_directory_with_a_wrong_signature_is_refused() {
    let now = Timestamp::now().as_second();
    let [id] = &ids("B")[..] else { panic!("one key has one id") };
    let signed = |key_id: &str, covered: &str| {
        let input = format!(
            "d=({covered});created={};expires={};keyid=\"{key_id}\";\
             tag=\"http-message-signatures-directory\"",
            now - 5,
            now + 300
        );
        let mut content = Content::from(directory_of("B").as_str());
        let value = format!("d=:{}==:", "A".repeat(86));
        for (name, value) in [("signature-input", input), ("signature", value)] {
            content.fields.insert(name, HeaderValue::from_str(&value).unwrap());
        }
        content
    };
    let host = "\"@authority\";req";
    for (content, refusal) in [
        (signed(id, host), "bad-signature"),
        (signed(id, ""), "target-not-covered"),
        (signed(id, "\"@authority\";req \"content-digest\""), "component-absent"),
        // It may be signed with a key that has another name.
        (signed("1", host), ""),
    ] {
        let mut keeper = keeper("");
        let code = keeper.take(0, &content).err().map_or("", |refusal| refusal.code);
        assert_eq!(code, refusal, "{content:?}");
        assert_eq!(keeper.has_copy(0), refusal.is_empty());
    }
}

/// The fields of a signature that no key has made.
fn fields(key_id: &str, value: &str) -> HeaderMap {
    let now = Timestamp::now().as_second();
    let input = format!(
        "s=(\"@authority\" \"signature-agent\";key=\"s\");created={};expires={};\
         keyid=\"{key_id}\";tag=\"web-bot-auth\"",
        now - 5,
        now + 300
    );
    [
        ("signature-agent", "s=\"https://keys.example\"".to_owned()),
        ("signature-input", input),
        ("signature", format!("s=:{value}:")),
    ]
    .into_iter()
    .map(|(name, text)| (name.parse().unwrap(), HeaderValue::from_str(&text).unwrap()))
    .collect()
}

fn testimony(keeper: &KeyKeeper, fields: &HeaderMap) -> Testimony {
    let message = Message {
        method: "GET",
        scheme: Scheme::Https,
        authority: b"a.example",
        target: b"/",
        fields,
    };
    let policy = policy("");
    let mut crawlers = policy.catalogue.iter();
    let crawler = crawlers.find(|one| one.product_token().as_str() == "ListBot").unwrap();
    let signers = keeper.keys.signers(&message, Timestamp::now(), &Metrics::new());
    keeper.keys.answer(crawler, &signers)
}

#[test]
fn an_unknown_key_leaves_the_claim_open_until_the_next_fetch() {
    let value = format!("{}==", "A".repeat(86));
    let mut keeper = keeper("");
    assert_eq!(code(&mut keeper, &directory_of("B")), "");
    let asks = |keeper: &KeyKeeper, keys: &str| -> Vec<Testimony> {
        ids(keys).iter().map(|id| testimony(keeper, &fields(id, &value))).collect()
    };
    assert_eq!(asks(&keeper, "B"), [Testimony::Nothing], "the signature is wrong");
    assert_eq!(asks(&keeper, "CD"), [Testimony::NotYet; 2]);
    // A fetch that the source does not answer well decides nothing.
    assert_eq!(code(&mut keeper, &directory_of("")), "directory-empty");
    assert_eq!(asks(&keeper, "CD"), [Testimony::NotYet; 2]);
    keeper.renew(0);
    assert_eq!(asks(&keeper, "CD"), [Testimony::Nothing; 2]);
    assert_eq!(code(&mut keeper, &directory_of("BE")), "");
    assert_eq!(asks(&keeper, "CD"), [Testimony::Nothing; 2], "once is enough");
    let (open, none) = (Testimony::NotYet, Testimony::Nothing);
    assert_eq!(asks(&keeper, "FGHIJK"), [open, open, open, open, none, none], "few at a time");
}

#[test]
fn a_signature_that_no_key_can_verify_leaves_nothing_open() {
    let value = format!("{}==", "A".repeat(86));
    let rsa = "AAAA".repeat(86);
    let [id] = &ids("B")[..] else { panic!("one key has one id") };
    for evidence in ["", ", signatures: false"] {
        // Its directory was never fetched.
        let keeper = keeper(evidence);
        for (key_id, value, expected) in [
            (id.as_str(), value.as_str(), Testimony::NotYet),
            (id, &rsa, Testimony::NotYet),
            (id, "AAAA", Testimony::Nothing),
            (id, "", Testimony::Nothing),
            ("x", &value, Testimony::Nothing),
            ("", &value, Testimony::Nothing),
        ] {
            let answer = testimony(&keeper, &fields(key_id, value));
            assert_eq!(answer, expected, "{key_id} {value} {evidence}");
        }
        let mut junk = fields(id, &value);
        junk.insert("signature-input", HeaderValue::from_static("x"));
        assert_eq!(testimony(&keeper, &junk), Testimony::Nothing);
    }
}
