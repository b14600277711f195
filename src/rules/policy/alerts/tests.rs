use super::*;
use crate::rules::policy;

const SITE: &str = "sites: [{ hosts: [a.example], origin: \"http://127.0.0.1:3\" }]";

/// The alerts, or the message and the repair of the first refusal.
fn alerts(section: &str) -> Result<Vec<Alert>, String> {
    let text = format!("alerts: {section}\n{SITE}\n");
    let (policy, findings) = policy::read("test.yaml", text.as_bytes());
    policy.map(|policy| policy.alerts).ok_or_else(|| {
        let first = findings.first().expect("a refused policy has findings");
        format!("{} ({})", first.message, first.help.as_deref().unwrap_or_default())
    })
}

#[test]
fn an_alert_gets_all_events_unless_it_names_some() {
    let url = "https://hooks.example.com:8443/T0/B0?x=1";
    let all = alerts(&format!("[{{ url: \"{url}\", secret_file: key }}]")).unwrap();
    assert_eq!(all[0].on.len(), AlertKind::ALL.len());
    let Destination::Web { url: found, secret_file, .. } = &all[0].to else { panic!("{all:?}") };
    assert_eq!((found.reveal(), all[0].format()), (url, "json"));
    assert_eq!(secret_file.as_deref(), Some("key".as_ref()));
    assert_eq!(format!("{found:?}"), "https://hooks.example.com:8443");
    assert_eq!(all[0].shown(), "https://hooks.example.com:8443");
    assert_eq!(all[0].violations_per_minute, 600);
    let some = "{ url: http://127.0.0.1:9, secret_file: key, on: [breaker_open, impostors], \
                impostors_per_minute: 5 }";
    let some = alerts(some).unwrap();
    assert_eq!(some[0].on, [AlertKind::BreakerOpen, AlertKind::Impostors]);
    assert_eq!(some[0].impostors_per_minute, 5);
    assert_eq!(alerts("[]"), Ok(Vec::new()));
}

#[test]
fn each_format_has_its_own_receivers() {
    for (format, is_fine) in [
        ("slack", true),
        ("teams", true),
        ("discord", true),
        ("ntfy", true),
        ("json", false),
        ("jsonn", false),
        ("slack, secret_file: k", false),
        ("slack, digest: 1h", false),
    ] {
        let alert = format!("{{ url: 'https://h.example/a/b/topic-1?auth=x', format: {format} }}");
        let found = alerts(&alert);
        assert_eq!(found.is_ok(), is_fine, "{format}: {found:?}");
        if let Ok(found) = found {
            assert_eq!(found[0].format(), format);
        }
    }
    for (url, topic) in [
        ("https://h.example/topic", Some(("https://h.example/", "topic", ""))),
        ("https://h.example/a/t?auth=x", Some(("https://h.example/a/", "t", "?auth=x"))),
        ("https://h.example/a/", None),
        ("https://topic", None),
        ("https://h.example/a%20b", None),
    ] {
        assert_eq!(WebhookUrl(url.to_owned()).topic(), topic, "{url}");
        let alert = alerts(&format!("{{ url: '{url}', format: ntfy }}"));
        assert_eq!(alert.is_ok(), topic.is_some(), "{url}");
    }
}

#[test]
fn an_e_mail_goes_to_addresses_at_once_or_as_a_digest() {
    const SERVER: &str = "violations: { database: x.db }\n\
                          email: { server: smtp.example.com, from: b@a.example }";
    let read = |alert: &str| alerts(&format!("{{ {alert} }}\n{SERVER}"));
    for (alert, digest) in [
        ("email_to: a@a.example", None),
        ("email_to: [a@a.example, 'mailto:b@a.example'], digest: 1d", Some(86_400)),
    ] {
        let digest = digest.map(Duration::from_secs);
        let found = read(alert).expect(alert);
        let Destination::Email { to, digest: of } = &found[0].to else { panic!("{found:?}") };
        assert_eq!((to[0].as_str(), *of), ("a@a.example", digest));
        assert!(to.get(1).is_none_or(|one| one == "b@a.example"));
    }
    for (alert, part) in [
        ("email_to: [a], on: [stale]", "not an e-mail address"),
        ("email_to: [\"a@a.example\\nBcc: b@a.example\"]", "not an e-mail address"),
        ("email_to: []", "no address"),
        ("email_to: a@a.example, digest: 2d", "out of range"),
        ("email_to: a@a.example, format: slack", "no key of such a receiver"),
        ("email_to: a@a.example, url: 'https://a.example/'", "two receivers"),
    ] {
        assert!(read(alert).expect_err(alert).contains(part), "{alert}");
    }
    let digest = "{ email_to: a@a.example, digest: 1d }\nemail: { server: a, from: b@a.example }";
    assert!(alerts(digest).expect_err("no database").contains("no database"));
    let without = alerts("{ email_to: a@a.example }").expect_err("no server");
    assert!(without.contains("no mail server"), "{without}");
}

#[test]
fn a_broken_alert_is_refused_with_the_repair() {
    for (alert, part) in [
        ("url: hooks.example.com, secret_file: k", "begin with https://"),
        ("url: \"https://u:T0PSECRET@a.example/T0PSECRET\", secret_file: k", "without user"),
        ("url: \"https:///T0PSECRET\", secret_file: k", "https://hooks.example.com"),
        ("url: \"https://a.example/x y\", secret_file: k", "without spaces"),
        ("url: \"https://a.example/x\"", "'alerts[0].secret_file' is missing"),
        ("secret_file: k", "'alerts[0].url' is missing"),
        ("url: \"https://a.example\", secret_file: k, on: [braker_open]", "breaker_open"),
        ("url: \"https://a.example\", secret_file: k, on: []", "no event"),
        ("url: \"https://a.example\", secret_file: k, onn: []", "onn"),
        ("url: \"https://a.example\", secret_file: k, violations_per_minute: 0", "range"),
    ] {
        let refusal = alerts(&format!("[{{ {alert} }}]")).expect_err(alert);
        assert!(refusal.contains(part), "{alert}: {refusal}");
        assert!(!refusal.contains("T0PSECRET"), "{refusal}");
    }
}
