use super::*;

fn policy(sections: &str) -> (Policy, String) {
    let text =
        format!("{sections}sites:\n  - hosts: [a.example]\n    origin: http://127.0.0.1:1\n");
    (text.parse().expect("a policy"), text)
}

#[test]
fn the_settings_of_clickhouse_need_a_restart() {
    let base = "violations:\n  database: clickhouse://h/d\n  clickhouse: { spool: a }\n";
    let (next, text) = policy(&base.replace("spool: a", "spool: b"));
    let findings = restart_findings(&policy(base).0, &next, text.as_bytes());
    let found: Vec<_> = findings.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(found, ["violations.clickhouse: a change of this key needs a restart"]);
}

#[test]
fn each_changed_key_is_named_with_its_line() {
    let base = "server:\n  threads: 2\nviolations:\n  database: a.db\n";
    for (changed, expected) in [
        (base.to_owned(), &[][..]),
        // Another way to write the same.
        (base.replace("2", "2\n  timeouts: { drain: 30000ms }"), &[]),
        (base.replace("threads: 2", "threads: 3"), &[("server.threads", Some(2))]),
        (
            base.replace("  threads: 2", "  timeouts:\n    drain: 3s\n    client_read: 1s"),
            &[
                ("server.threads", Some(1)),
                ("server.timeouts.client_read", Some(4)),
                ("server.timeouts.drain", Some(3)),
            ],
        ),
        (
            "server: { threads: 2, listen: [127.0.0.1:2] }\n".to_owned(),
            &[("server.listen", Some(1)), ("violations.database", None), ("violations.log", None)],
        ),
        (format!("{base}fleet: {{ shared: redis://a }}\n"), &[("fleet", Some(5))]),
        (
            base.replace("a.db", "'clickhouse://h/d'\n  clickhouse: { spool: s }"),
            &[("violations.database", Some(4))],
        ),
        (
            base.replace("a.db", "b.db\n  retention: 1d\n  client_ip: hash"),
            &[
                ("violations.database", Some(4)),
                ("violations.retention", Some(5)),
                ("violations.client_ip", Some(6)),
            ],
        ),
    ] {
        let (next, text) = policy(&changed);
        let findings = restart_findings(&policy(base).0, &next, text.as_bytes());
        let found: Vec<_> = findings
            .iter()
            .map(|one| (one.message.split(':').next().unwrap_or_default(), one.place.line))
            .collect();
        assert_eq!(found, expected, "{changed}");
    }
}
