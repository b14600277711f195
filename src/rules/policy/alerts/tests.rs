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
    assert_eq!(all[0].url.reveal(), url);
    assert_eq!(format!("{:?}", all[0].url), "https://hooks.example.com:8443");
    assert_eq!(all[0].violations_per_minute, DEFAULT_VIOLATIONS_PER_MINUTE);
    let some = "{ url: http://127.0.0.1:9, secret_file: key, on: [breaker_open, impostors], \
                impostors_per_minute: 5 }";
    let some = alerts(some).unwrap();
    assert_eq!(some[0].on, [AlertKind::BreakerOpen, AlertKind::Impostors]);
    assert_eq!(some[0].impostors_per_minute, 5);
    assert_eq!(alerts("[]"), Ok(Vec::new()));
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
