use boon::{Compiler, Schemas};
use jiff::Timestamp;

use super::*;
use crate::rules::policy::{self, AlertKind, Destination};

/// What means something in at least one of the formats.
const HOSTILE: &str = "<!channel> <@U1> @everyone <https://e.example|x> [x](https://e.example) *b* _i_ \
                       `c` ~s~ ||s|| # h\n> q & {{DATE(2026-01-01T00:00:00Z)}} \u{202e}\\";

fn url(format: &str) -> (WebhookUrl, Format) {
    let text = format!(
        "alerts: {{ url: 'https://h.example/a/topic', format: {format} }}\n\
         sites: [{{ hosts: [a.example], origin: 'http://127.0.0.1:3' }}]"
    );
    let policy = policy::read("test.yaml", text.as_bytes()).0.expect("a policy");
    match policy.alerts.into_iter().next().expect("an alert").to {
        Destination::Web { url, format, .. } => (url, format),
        Destination::Email { .. } => panic!("no e-mail"),
    }
}

fn events() -> [Event; 3] {
    let event = |summary: String, details: Value| {
        Event::new(AlertKind::NewOffender, "", Timestamp::UNIX_EPOCH, summary, details)
    };
    let many: serde_json::Map<_, _> = (0..30)
        .map(|number| (format!("k_{number}"), json!([HOSTILE.repeat(9), { "a": HOSTILE }])))
        .collect();
    [
        Event::test(Timestamp::UNIX_EPOCH),
        event(HOSTILE.to_owned(), json!({ "site": HOSTILE, "empty": [], "null": null })),
        event("\u{1f4a5}&".repeat(4_000), Value::Object(many)),
    ]
}

#[test]
fn each_format_keeps_to_its_rules_whatever_the_event_says() {
    for (name, schema, target) in [
        ("slack", include_str!("../../../../tests/data/alerts/slack.schema.json"), "/a/topic"),
        ("teams", include_str!("../../../../tests/data/alerts/teams.schema.json"), "/a/topic"),
        ("discord", include_str!("../../../../tests/data/alerts/discord.schema.json"), "/a/topic"),
        ("ntfy", include_str!("../../../../tests/data/alerts/ntfy.schema.json"), "/a/"),
    ] {
        let (url, format) = url(name);
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        let schema = serde_json::from_str(schema).expect("JSON");
        compiler.add_resource("it.json", schema).expect("it is the first one");
        let schema = compiler.compile("it.json", &mut schemas).expect("a schema");
        for event in events() {
            let (found, body) = request(format, &url, &event);
            assert_eq!(found, format!("https://h.example{target}"));
            let value: Value = serde_json::from_str(&body).expect("JSON");
            let fault = schemas.validate(&value, schema).err().map(|error| format!("{error:#}"));
            assert_eq!(fault, None, "{name}: {body}");
            // Teams takes 28 KB, ntfy 4,096 octets of text.
            assert!(body.len() < 28_000, "{name}: {}", body.len());
            let text = value["message"].as_str().unwrap_or_default();
            assert!(text.len() <= 4_096 && !body.contains('\u{202e}'), "{name}");
        }
    }
}

#[test]
fn a_fact_is_a_line() {
    let details = json!({
        "site": "a.example", "count": 2, "none": [],
        "offenders": [{ "site": "a", "product_token": "GPTBot" }, { "site": "b", "count": 3 }],
    });
    let (kind, summary) = (AlertKind::NewOffender, "two new".to_owned());
    let event = Event::new(kind, "", Timestamp::UNIX_EPOCH, summary, details);
    let lines: Vec<_> = lines(&event).collect();
    assert_eq!(lines, ["two new", "site: a.example", "count: 2", "offenders: a GPTBot; b 3"]);
}
