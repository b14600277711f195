//! E-mail: alerts and reports through a real mail server.

use std::{fs, path::Path, process::Command};

use beadle::{
    records::{
        tally::{Hour, Rollup, Rollups, Series},
        violations::Store,
    },
    rules::policy,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::support::{
    mail::MailServer,
    origin::{After, Origin},
    program::{PROGRAM, Setup},
    valkey::Valkey,
    wait_for,
};

const RULES: &str =
    "    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/private/] }] }\n";
const WEEK: i64 = 7 * 86_400;

/// `beadle alerts test` with these sections, which trusts this certificate.
fn alerts_test(sections: &str, authority: &Path) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let site = "sites: [{ hosts: [a.example], origin: \"http://127.0.0.1:3\" }]\n";
    let alert = "alerts: { email_to: [ops@site.example, b@site.example], digest: 1d }\n";
    let text = format!("violations: {{ database: x.db }}\n{sections}{alert}{site}");
    fs::write(folder.path().join("beadle.yaml"), text).expect("the folder is ours");
    let output = Command::new(PROGRAM)
        .args(["alerts", "test", "--config", "beadle.yaml"])
        .env("SSL_CERT_FILE", authority)
        .env_remove("SSL_CERT_DIR")
        .current_dir(folder.path())
        .output()
        .expect("the program can be started");
    let said = [output.stdout.as_slice(), &output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn a_letter_arrives_encrypted_or_not_at_all() {
    let Some(secure) = MailServer::start("starttls", "") else { return };
    let Some(implicit) = MailServer::start("implicit", "") else { return };
    let Some(open) = MailServer::start("none", "550 5.7.1 not you\u{1b}[2J, T0DAY") else { return };
    let (trusted, other) = (secure.authority(), implicit.authority());
    let wrong = secure.section().replace("username: beadle", "username: other");
    // It never falls back to an open connection.
    let without = open.section().replace("tls: none", "tls: starttls");
    for (section, authority, code, part) in [
        (
            secure.section(),
            &trusted,
            0,
            "ops@site.example, b@site.example: accepted with status 250",
        ),
        (implicit.section(), &other, 0, "accepted with status 250"),
        (open.section(), &trusted, 1, "refused with status 550: 5.7.1 not you\\x1b[2J, T0DAY"),
        (secure.section(), &other, 1, "invalid peer certificate"),
        (without, &trusted, 1, "no answer: "),
        (wrong, &trusted, 1, "refused with status 535"),
        (secure.section().replace("/password'", "/nowhere'"), &trusted, 2, "No such file"),
    ] {
        let (found, said) = alerts_test(&section, authority);
        assert_eq!(found, Some(code), "{section}: {said}");
        assert!(said.contains(part) && !said.contains("T0PSECRET"), "{part}: {said}");
    }
    assert!(open.letters().is_empty() && secure.letters().len() == 1);
    let letter = secure.letter("Beadle test: ");
    assert_eq!(
        (&letter["tls"], &letter["user"], &letter["from"]),
        (&json!(true), &json!("beadle"), &json!("beadle@site.example"))
    );
    assert_eq!(letter["to"], json!(["ops@site.example", "b@site.example"]));
    assert_eq!(letter["fields"]["Auto-Submitted"], "auto-generated");
    let text = letter["text"].as_str().expect("a text");
    assert!(text.contains("nothing happened") && text.contains("event: test"), "{text}");
}

/// The second of the last report, and the policy's sections with it.
fn reports(mail: &MailServer) -> (i64, String) {
    let now = Timestamp::now().as_second();
    // A minute that is not near, so that the next report is not due while the test runs.
    let due = (now - 7_200).div_euclid(60) * 60;
    let time = Timestamp::from_second(due).expect("a time");
    let every = time.strftime("%A %H:%M").to_string().to_lowercase();
    let section = mail.section();
    (
        due,
        format!(
            "{section}reports: {{ every: {every}, to: boss@site.example, sites: site.example }}\n"
        ),
    )
}

/// The key under which the time of the report is kept.
fn key(sections: &str) -> String {
    let text = format!(
        "violations: {{ database: x.db }}\n{sections}sites: [{{ hosts: [site.example], origin: 'http://127.0.0.1:3' }}]"
    );
    let (policy, findings) = policy::read("test.yaml", text.as_bytes());
    policy.unwrap_or_else(|| panic!("{findings:?}")).reports[0].key()
}

/// Writes counts of this time into a new database.
fn count(database: &Path, second: i64) {
    let series = Series {
        site: "site.example".into(),
        class: "crawler".into(),
        product_token: "GPTBot".into(),
        purpose: "".into(),
        standing: "unknown".into(),
        verdict: "disallow".into(),
        action: "block".into(),
        reason: "robots.disallow".into(),
        edition: "".into(),
        line: 1,
        directive: "disallow".into(),
        pattern: "/private/".into(),
        read: None,
    };
    let hour = Hour::of(Timestamp::from_second(second).expect("a time"));
    let rollup = Rollup { hour, series, requests: 4_711, folded: 0, dropped: 0 };
    let mut store = Store::open(database).expect("a new database");
    let rollups = Rollups { series: vec![rollup], ..Rollups::default() };
    store.add_rollups(&rollups).expect("it can be written");
}

#[test]
fn a_report_is_sent_once_and_a_digest_survives_a_restart() {
    let Some(mail) = MailServer::start("starttls", "") else { return };
    let origin = Origin::plain();
    let chat = Origin::playing(|exchange| {
        exchange.read_body();
        exchange.answer("403 No", &[], b"\n invalid <b> T0PSECRET\nmore");
        After::Keep
    });
    let folder = tempfile::tempdir().expect("a folder");
    let database = folder.path().join("beadle.db");
    let (due, sections) = reports(&mail);
    count(&database, due - 86_400);
    let kept = folder.path().join("beadle.db.reports");
    fs::write(&kept, format!("{} {}\n", key(&sections), due - WEEK)).expect("ours");
    let alerts = format!(
        "alerts:\n  - {{ email_to: ops@site.example, digest: 12s, on: [new_offender, reload_refused] }}\n  \
         - {{ url: \"http://127.0.0.1:{}/T0PSECRET\", format: slack, on: new_offender }}\n",
        chat.port
    );
    let beadle = Setup::site(origin.port, RULES)
        .violations(&format!("  database: {}\n", database.display()))
        .sections(&sections)
        .sections(&alerts)
        .environment("SSL_CERT_FILE", mail.authority())
        .start();
    let report = mail.letter("Beadle report for site.example, ");
    assert_eq!(report["to"], json!(["boss@site.example"]));
    assert_eq!(report["type"], "multipart/alternative");
    for part in ["text", "html"] {
        let text = report[part].as_str().expect(part);
        for word in ["site.example", "GPTBot", "4,711", "Requests refused by Beadle"] {
            assert!(text.contains(word), "{part} {word}: {text}");
        }
    }
    assert!(report["html"].as_str().is_some_and(|html| html.contains("<table")));
    wait_for("the time", || {
        fs::read_to_string(&kept).ok()?.contains(&due.to_string()).then_some(())
    });

    // Two events, of which one waits while the program starts anew.
    beadle.get("/private/x", "CCBot/2.0");
    wait_for("the page about health", || {
        let page = beadle.admin_page("/").text();
        assert!(!page.contains("T0PSECRET"), "{page}");
        let part = "refused with status 403: invalid ";
        (page.contains(part) && page.contains("[hidden]") && !page.contains("<b>")).then_some(())
    });
    let waits = || {
        let files = fs::read_dir(folder.path()).expect("ours").flatten();
        let mut names = files.map(|file| file.file_name().to_string_lossy().into_owned());
        names
            .find(|name| name.starts_with("beadle.db.alerts-"))
            .map(|name| folder.path().join(name))
    };
    let file = wait_for("the event that waits", waits);
    assert!(fs::read_to_string(&file).is_ok_and(|text| text.contains("CCBot")));
    let beadle = beadle.restarted();
    let good = beadle.policy_text();
    beadle.replace_policy(&format!("{good}qqq: 1\n"));
    beadle.signal("HUP");
    let digest = mail.letter("Beadle: 2 events");
    let text = digest["text"].as_str().expect("a text");
    assert!(text.contains("CCBot") && text.contains("qqq"), "{text}");
    wait_for("the file to go", || waits().is_none().then_some(()));
    assert_eq!(mail.about("Beadle report").len(), 1, "a restart sends none again");
    assert!(!beadle.stderr().contains("T0PSECRET"));
}

#[test]
fn one_node_of_a_fleet_sends_a_report() {
    let Some(valkey) = Valkey::start() else { return };
    let Some(mail) = MailServer::start("starttls", "") else { return };
    let origin = Origin::plain();
    let (due, sections) = reports(&mail);
    let key = key(&sections);
    valkey.ask(&["HSET", "{beadle}:reports", &key, &(due - WEEK).to_string()]);
    let nodes = ["one", "two"].map(|name| {
        let fleet = format!("fleet: {{ shared: \"{}\", node: {name} }}\n", valkey.url());
        let setup = Setup::site(origin.port, RULES).sections(&fleet).sections(&sections);
        setup.environment("SSL_CERT_FILE", mail.authority()).start()
    });
    nodes.iter().for_each(|node| node.wait_for_metric("beadle_fleet_nodes", 2.0));
    let known = || valkey.ask(&["HGET", "{beadle}:reports", &key]).trim() == due.to_string();
    wait_for("the time at the server", || known().then_some(()));
    let sent: Vec<Value> = mail.about("Beadle report");
    assert_eq!(sent.len(), 1, "{sent:?}");
    let senders = nodes.iter().filter(|node| node.stderr().contains("report sent")).count();
    assert_eq!(senders, 1);
}
