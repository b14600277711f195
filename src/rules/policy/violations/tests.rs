use super::*;
use crate::rules::policy;

const SITE: &str = "sites: [{ hosts: [a.example], origin: \"http://127.0.0.1:3\" }]\n";

/// The database, or the refusals.
fn database(violations: &str) -> Result<Option<Database>, Vec<String>> {
    let text = format!("violations: {{ {violations} }}\n{SITE}");
    let (policy, findings) = policy::read("test.yaml", text.as_bytes());
    policy.map(|policy| policy.violations.database).ok_or_else(|| {
        let refusals = findings.into_iter().filter(|one| one.code.starts_with("policy.bad"));
        refusals.map(|one| one.message).collect()
    })
}

#[test]
fn a_database_is_a_file_or_a_clickhouse_server() {
    for (written, shown) in [
        ("clickhouse://beadle@db.example:9000/logs", "clickhouse://beadle@db.example:9000/logs"),
        ("clickhouse://db.example/logs", "clickhouse://default@db.example:8123/logs"),
        ("clickhouses://u-1@10.0.0.7/logs/", "clickhouses://u-1@10.0.0.7:8443/logs"),
        ("clickhouse://[::1]/logs", "clickhouse://default@[::1]:8123/logs"),
        ("clickhouse://a@[::1]:81/logs", "clickhouse://a@[::1]:81/logs"),
    ] {
        let found = database(&format!("database: '{written}'")).expect("it is valid");
        let clickhouse = found.as_ref().and_then(Database::clickhouse).expect("ClickHouse");
        assert_eq!(clickhouse.server.to_string(), shown);
        assert_eq!(clickhouse.local, Path::new("data/beadle.db"));
        assert_eq!(clickhouse.spool_size, 1 << 30);
    }
    let file = Database::Sqlite("data/a.db".into());
    assert_eq!(database("database: data/a.db"), Ok(Some(file)));
}

#[test]
fn the_section_names_what_stays_on_the_machine() {
    let found = database(
        "database: 'clickhouses://h/d', clickhouse: { password_file: pw, ca_file: ca.pem, \
         local: l.db, spool: s, spool_size: 64MiB }",
    );
    let expected = ClickHouse {
        server: ClickHouseServer {
            tls: true,
            host: "h".to_owned(),
            port: 8443,
            user: "default".to_owned(),
            database: "d".to_owned(),
        },
        password_file: Some("pw".into()),
        ca_file: Some("ca.pem".into()),
        local: "l.db".into(),
        spool: "s".into(),
        spool_size: 64 << 20,
    };
    assert_eq!(found, Ok(Some(Database::ClickHouse(expected))));
}

#[test]
fn a_wrong_database_is_refused_and_no_password_is_shown() {
    for (written, message) in [
        ("database: 'clickhouse://u:secret@h/d'", "'h/d': a password does not belong"),
        ("database: 'clickhouse://u:secret@'", "'': no database is named"),
        ("database: 'clickhouse://h'", "'h': no database is named"),
        ("database: 'clickhouse://h/'", "'h/': not the name of a database"),
        ("database: 'clickhouse://h/a/b'", "'h/a/b': not the name of a database"),
        ("database: 'clickhouse://@h/a'", "'h/a': not the name of a user"),
        ("database: 'clickhouse://h:0/a'", "'h:0/a': not a port"),
        ("database: 'clickhouse://h:x/a'", "'h:x/a': not a port"),
        ("database: 'clickhouse://[::g]/a'", "'[::g]/a': not a host"),
        ("database: 'clickhouse:///a'", "'/a': not a host"),
        ("database: 'clickhouse://h/a?x=1'", "no parameters"),
        ("database: 'postgres://h/a'", "neither a file nor a ClickHouse database"),
        ("database: a.db, clickhouse: {}", "violations.clickhouse: the database is not"),
        ("clickhouse: { spool: s }", "violations.clickhouse: the database is not"),
        (
            "database: 'clickhouse://h/a', clickhouse: { ca_file: a }",
            "violations.clickhouse.ca_file: clickhouse:// has no certificates",
        ),
        (
            "database: 'clickhouse://h/a', clickhouse: { spool_size: 1MiB }",
            "violations.clickhouse.spool_size: '1MiB' is out of range",
        ),
    ] {
        let refusals = database(written).expect_err(written);
        assert!(refusals.iter().any(|one| one.contains(message)), "{written}: {refusals:?}");
        assert!(!refusals.iter().any(|one| one.contains("secret")), "{refusals:?}");
    }
}
