//! Alerts: events for the operator, signed, sent again until a webhook accepts them.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Output},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use base64::{Engine, engine::general_purpose::STANDARD};
use beadle::records::{
    tally::{Hour, Rollup, Rollups, Series},
    violations::Store,
};
use ring::hmac;
use serde_json::{Value, json};

use crate::support::{
    BROWSER,
    client::Request,
    free_port,
    origin::{After, Origin, Received},
    program::{Beadle, PROGRAM, Setup, json_lines},
    tls,
    valkey::Valkey,
    wait_for,
};

const SECRET: &str = "a secret that signs the events of this test";

/// A receiver of events that answers the first ones with 500.
fn receiver(failures: usize) -> Origin {
    let answered = AtomicUsize::new(0);
    Origin::playing(move |exchange| {
        exchange.read_body();
        let fails = answered.fetch_add(1, Ordering::Relaxed) < failures;
        exchange.answer(if fails { "500 No" } else { "204 No Content" }, &[], b"");
        After::Keep
    })
}

/// Writes the file of the secret, readable by its owner alone.
fn write_secret(file: &Path) {
    fs::write(file, format!("{SECRET}\n")).expect("the folder is ours");
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).expect("the file is ours");
}

/// The body of a request, after a check of its signature.
fn verified(request: &Received) -> Value {
    assert_eq!(request.method, "POST");
    assert_eq!(request.header("content-type"), Some("application/json"));
    let field = |name: &str| request.header(name).unwrap_or_else(|| panic!("no {name}"));
    let (id, time) = (field("webhook-id"), field("webhook-timestamp"));
    assert!(time.parse::<i64>().is_ok_and(|second| second > 1_700_000_000), "{time}");
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
    let signed = [format!("{id}.{time}.").as_bytes(), &request.body].concat();
    let signature = field("webhook-signature").strip_prefix("v1,").expect("version 1");
    let signature = STANDARD.decode(signature).expect("base64");
    hmac::verify(&key, &signed, &signature).expect("the signature is valid");
    serde_json::from_slice(&request.body).expect("JSON")
}

/// The events in the order of their first arrival, by id, each with its number of attempts.
fn events(receiver: &Origin) -> Vec<(Value, usize)> {
    let mut events: Vec<(String, Value, usize)> = Vec::new();
    // The receiver notes a request before it has read its body.
    let is_whole = |request: &Received| !request.body.is_empty();
    for request in receiver.received().into_iter().filter(is_whole) {
        let (id, body) = (request.header("webhook-id").unwrap_or_default(), verified(&request));
        match events.iter_mut().find(|(known, _, _)| known == id) {
            Some((_, known, attempts)) => {
                assert_eq!(*known, body, "each attempt has the same body");
                *attempts += 1;
            }
            None => events.push((id.to_owned(), body, 1)),
        }
    }
    events.into_iter().map(|(_, body, attempts)| (body, attempts)).collect()
}

fn of_type(receiver: &Origin, kind: &str) -> Vec<Value> {
    let events = events(receiver).into_iter().map(|(event, _)| event);
    events.filter(|event| event["type"] == kind).collect()
}

fn wait_for_event(receiver: &Origin, kind: &str) -> Value {
    wait_for(kind, || of_type(receiver, kind).into_iter().next())
}

#[test]
fn each_kind_of_event_arrives_signed_and_once() {
    let (all, some) = (receiver(2), receiver(0));
    let closes = Arc::new(AtomicBool::new(false));
    let is_closed = Arc::clone(&closes);
    let origin = Origin::playing(move |exchange| {
        exchange.read_body();
        let rules = match is_closed.load(Ordering::Relaxed) {
            true => "User-agent: *\nDisallow: /\n",
            false => "User-agent: *\nDisallow: /x/\n",
        };
        exchange.answer("200 OK", &["Content-Type: text/plain"], rules.as_bytes());
        After::Keep
    });
    let list = Origin::answering(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 46\r\n\
         Connection: close\r\n\r\n{\"prefixes\":[{\"ipv4Prefix\":\"66.249.64.0/19\"}]}",
    );
    let secrets = tempfile::tempdir().expect("a folder");
    let secret = secrets.path().join("secret");
    write_secret(&secret);
    let alert = |port: u16, on: &str| {
        format!(
            "  - {{ url: \"http://127.0.0.1:{port}/hook\", secret_file: {}, {on} \
             violations_per_minute: 30, impostors_per_minute: 5 }}\n",
            secret.display()
        )
    };
    let sections = format!(
        "alerts:\n{}{}crawlers:\n  - {{ product_token: ListBot, operator: Lists, purpose: search, \
         ip_ranges: [\"http://127.0.0.1:{}/list.json\"] }}\n\
         evidence: {{ user_agents: [ListBot], allow_addresses: [127.0.0.0/8] }}\n",
        alert(all.port, ""),
        alert(some.port, "on: [breaker_open],"),
        list.port
    );
    let sites = format!(
        "  - hosts: [site.example]\n    origin: http://127.0.0.1:{0}\n    \
         robots_txt: {{ groups: [{{ user_agents: [\"*\"], disallow: [/private/] }}] }}\n    \
         enforcement: {{ mode: block, breaker: {{ share: 50%, min_requests: 10, pause: 1h }}, \
         quiet: [{{ user_agents: [CCBot] }}] }}\n  \
         - hosts: [closing.example]\n    origin: http://127.0.0.1:{0}\n    \
         robots_txt: {{ source: origin }}\n",
        origin.port
    );
    let beadle =
        Setup::sites(&sites).sections(&sections).server("  trusted_proxies: [127.0.0.1]\n").start();
    let get = |user_agent: &str, address: &str| {
        let request = Request::get("/private/x").user_agent(user_agent);
        request.field("X-Forwarded-For", address).send(beadle.port).status
    };

    // A crawler violates the rules for the first time. The webhook fails twice. Another one is quiet.
    get("CCBot/2.0", "203.0.113.2");
    get("GPTBot/1.2", "203.0.113.1");
    let event = wait_for_event(&all, "new_offender");
    assert_eq!(
        event["data"]["offenders"],
        json!([{ "site": "site.example", "product_token": "GPTBot" }])
    );
    assert!(event["data"]["summary"].as_str().is_some_and(|text| text.contains("GPTBot")));
    wait_for("the third attempt", || (events(&all)[0].1 == 3).then_some(()));
    beadle.wait_for_stderr("alert sent");

    // A wave of impostors, as soon as the list is there.
    wait_for("a contradicted claim", || {
        get("ListBot/1.0", "9.9.9.9");
        let page = beadle.admin_page("/metrics").text();
        let line = "beadle_claims_total{evidence=\"ip-range\",site=\"site.example\",\
                    standing=\"contradicted\"} ";
        let count = page.lines().find_map(|one| one.strip_prefix(line))?.parse::<f64>().ok()?;
        (count > 6.0).then_some(())
    });
    let event = wait_for_event(&all, "impostors");
    assert_eq!(event["data"]["site"], "site.example");
    assert_eq!(event["data"]["crawlers"][0]["product_token"], "ListBot");
    assert_eq!(event["data"]["crawlers"][0]["standing"], "contradicted");

    // Many violations, and a breaker that opens because of many crawlers.
    for _ in 0..40 {
        get("GPTBot/1.2", "203.0.113.1");
    }
    let event = wait_for_event(&all, "violation_rate");
    assert_eq!(event["data"]["threshold"], 30);
    let of_gptbot = event["data"]["crawlers"].as_array().into_iter().flatten();
    let of_gptbot = of_gptbot.filter(|one| one["product_token"] == "GPTBot");
    assert!(
        of_gptbot.clone().count() == 1
            && of_gptbot.clone().all(|one| one.get("standing").is_none())
    );
    for number in 0..60 {
        get(&format!("Wild{number}Bot/1.0"), &format!("198.51.{number}.7"));
    }
    assert_eq!(wait_for_event(&all, "breaker_open")["data"]["site"], "site.example");
    wait_for_event(&some, "breaker_open");

    // The origin closes its site.
    closes.store(true, Ordering::Relaxed);
    beadle.signal("HUP");
    let event = wait_for_event(&all, "robots_quarantined");
    assert_eq!(event["data"]["site"], "closing.example");

    // A change of the policy is refused.
    let good = beadle.policy_text();
    beadle.replace_policy(&format!("{good}qqq: 1\n"));
    let event = wait_for_event(&all, "reload_refused");
    assert!(event["data"]["findings"].to_string().contains("qqq"), "{event}");
    beadle.replace_policy(&good);

    // Another process locks the database.
    let lock = rusqlite::Connection::open(beadle.folder().join("beadle.db")).expect("it is there");
    lock.execute_batch("BEGIN IMMEDIATE").expect("it can be locked");
    get("GPTBot/1.2", "203.0.113.1");
    let event = wait_for_event(&all, "store_trouble");
    assert_eq!(event["data"]["destination"], "database");
    drop(lock);

    // Each is told once, and the second webhook gets only what it is for.
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (event, attempts) in events(&all) {
        let kind = event["type"].as_str().expect("a text").to_owned();
        assert_eq!(attempts, if counts.is_empty() { 3 } else { 1 }, "{kind}");
        *counts.entry(kind).or_default() += 1;
    }
    // Crawlers that came later wait for the next event about new ones.
    let kinds: Vec<(&str, usize)> = counts.iter().map(|(kind, n)| (kind.as_str(), *n)).collect();
    let once = [
        "breaker_open",
        "impostors",
        "new_offender",
        "reload_refused",
        "robots_quarantined",
        "store_trouble",
        "violation_rate",
    ];
    assert_eq!(kinds, once.map(|kind| (kind, 1)));
    let only = events(&some);
    assert!(only.iter().all(|(event, _)| event["type"] == "breaker_open"), "{only:?}");
    assert_eq!(beadle.get("/healthy", BROWSER).status, 200);
}

#[test]
fn a_certificate_that_ends_is_told_of_at_once() {
    let (webhook, origin) = (receiver(0), Origin::plain());
    let folder = tempfile::tempdir().expect("a folder");
    let secret = folder.path().join("secret");
    write_secret(&secret);
    let (port, certificate, key) = (free_port(), tls::file("ends.pem"), tls::file("key.pem"));
    let listener = format!(
        "{{ address: \"127.0.0.1:{port}\", tls: {{ certificate: {}, key: {} }} }}",
        certificate.display(),
        key.display()
    );
    let alerts = format!(
        "alerts: [{{ url: \"http://127.0.0.1:{}\", secret_file: {} }}]\n",
        webhook.port,
        secret.display()
    );
    let beadle = Setup::site(origin.port, "    robots_txt: { groups: [] }\n")
        .sections(&alerts)
        .listener(&listener)
        .start();
    let event = wait_for_event(&webhook, "certificate_expiring");
    assert_eq!(event["data"]["file"], certificate.display().to_string());
    assert!(event["data"]["summary"].as_str().is_some_and(|text| text.contains("renew it")));
    // The first page says it, too.
    let page = beadle.admin_page("/").text();
    assert!(page.contains("ends.pem end"), "{page}");
}

#[test]
fn an_offender_of_an_earlier_run_is_not_new() {
    let folder = tempfile::tempdir().expect("a folder");
    write_secret(&folder.path().join("secret"));
    let database = folder.path().join("beadle.db");
    let now = jiff::Timestamp::now();
    let series = Series {
        site: "site.example".into(),
        class: "crawler".into(),
        product_token: "GPTBot".into(),
        purpose: "".into(),
        standing: "unknown".into(),
        verdict: "disallow".into(),
        action: "log".into(),
        reason: "robots.disallow".into(),
        edition: "".into(),
        line: 1,
        directive: "disallow".into(),
        pattern: "/private/".into(),
        read: None,
    };
    let rollup = Rollup { hour: Hour::of(now), series, requests: 1, folded: 0, dropped: 0 };
    let mut store = Store::open(&database).expect("a new database");
    store
        .add_rollups(&Rollups { series: vec![rollup], ..Rollups::default() })
        .expect("it can be written");
    drop(store);
    let (origin, hook) = (Origin::plain(), receiver(0));
    let rules = "    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/private/] }] }\n";
    let beadle = Setup::site(origin.port, rules)
        .violations(&format!("  database: {}\n", database.display()))
        .sections(&format!(
            "alerts: {{ url: \"http://127.0.0.1:{}/\", secret_file: {} }}\n",
            hook.port,
            folder.path().join("secret").display()
        ))
        .start();
    beadle.get("/private/x", "GPTBot/1.2");
    beadle.get("/private/x", "CCBot/2.0");
    let event = wait_for_event(&hook, "new_offender");
    assert_eq!(
        event["data"]["offenders"],
        json!([{ "site": "site.example", "product_token": "CCBot" }])
    );
}

#[test]
fn a_reload_changes_the_webhooks() {
    let (origin, hook) = (Origin::plain(), receiver(0));
    let rules = "    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/private/] }] }\n";
    let without = Setup::site(origin.port, rules);
    let alert = format!(
        "alerts: {{ url: \"http://127.0.0.1:{}/\", secret_file: secret, on: [new_offender] }}\n",
        hook.port
    );
    let with = without.clone().sections(&alert);
    let beadle = without.clone().start();
    beadle.get("/private/x", "GPTBot/1.2");
    // Without a usable secret the policy is refused.
    let secret = beadle.folder().join("secret");
    for (write, part) in [(false, "No such file"), (true, "every user of this machine can read it")]
    {
        if write {
            write_secret(&secret);
            fs::set_permissions(&secret, fs::Permissions::from_mode(0o644)).expect("ours");
        }
        beadle.replace_policy(&beadle.text_of(&with));
        beadle.wait_for_stderr(part);
        beadle.replace_policy(&beadle.text_of(&without));
        beadle.wait_for_metric("beadle_policy_last_reload_successful", 1.0);
    }
    write_secret(&secret);
    beadle.reload(&with);
    beadle.get("/private/x", "CCBot/2.0");
    let event = wait_for_event(&hook, "new_offender");
    assert_eq!(event["data"]["offenders"][0]["product_token"], "CCBot", "GPTBot came before");
    beadle.reload(&without);
    beadle.get("/private/x", "Bytespider");
}

/// `beadle alerts test` with this section.
fn alerts_test(folder: &Path, section: &str, args: &[&str]) -> Output {
    let site = "sites: [{ hosts: [a.example], origin: \"http://127.0.0.1:3\" }]\n";
    fs::write(folder.join("beadle.yaml"), format!("{section}{site}")).expect("the folder is ours");
    Command::new(PROGRAM)
        .args(["alerts", "test", "--config", "beadle.yaml"])
        .args(args)
        .current_dir(folder)
        .output()
        .expect("the program can be started")
}

#[test]
fn the_verb_sends_a_test_and_says_what_came_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let secret = folder.path().join("secret");
    write_secret(&secret);
    let (good, bad, absent) = (receiver(0), receiver(9), Origin::absent());
    let entry = |port: u16| {
        format!("  - {{ url: \"http://127.0.0.1:{port}/T0PSECRET\", secret_file: secret }}\n")
    };
    let run = |section: &str, args: &[&str]| alerts_test(folder.path(), section, args);
    let output = run(&format!("alerts:\n{}", entry(good.port)), &[]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    let line = format!("http://127.0.0.1:{}: accepted with status 204, after ", good.port);
    assert!(text.starts_with(&line) && text.lines().count() == 1, "{text}");
    let event = verified(&good.last());
    assert_eq!(
        (&event["type"], good.last().target.as_slice()),
        (&json!("test"), &b"/T0PSECRET"[..])
    );

    let all = format!("alerts:\n{}{}{}", entry(good.port), entry(bad.port), entry(absent));
    let output = run(&all, &["--format", "json"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let rows = json_lines(&output);
    let outcomes: Vec<(&Value, &Value)> =
        rows.iter().map(|row| (&row["outcome"], &row["status"])).collect();
    assert_eq!(
        outcomes,
        [
            (&json!("accepted"), &json!(204)),
            (&json!("refused"), &json!(500)),
            (&json!("failed"), &Value::Null),
        ]
    );
    assert!(rows[2]["error"].is_string() && !format!("{rows:?}").contains("T0PSECRET"), "{rows:?}");

    let weak = |bytes: &str, mode: u32| {
        fs::write(&secret, bytes).expect("ours");
        fs::set_permissions(&secret, fs::Permissions::from_mode(mode)).expect("ours");
        run(&all, &[])
    };
    for (output, part) in [
        (run("", &[]), "no alerts"),
        (run("alerts: [{ url: \"ftp://a\", secret_file: secret }]\n", &[]), "https://"),
        (weak("too short", 0o600), "16 bytes"),
        (weak(SECRET, 0o604), "every user of this machine can read it"),
    ] {
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{part}: {stderr}");
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
}

#[test]
fn each_format_goes_to_its_receiver_and_no_secret_comes_back() {
    let folder = tempfile::tempdir().expect("a folder");
    for (format, target, part) in [
        ("slack", "/services/T0PSECRET", "\"blocks\""),
        ("teams", "/services/T0PSECRET", "application/vnd.microsoft.card.adaptive"),
        ("discord", "/services/T0PSECRET", "\"allowed_mentions\":{\"parse\":[]}"),
        ("ntfy", "/services/", "\"topic\":\"T0PSECRET\""),
    ] {
        let hook = receiver(0);
        let (port, refusing) = (
            hook.port,
            Origin::playing(|exchange| {
                exchange.read_body();
                exchange.answer("404 No", &[], b"\r\nno_service /services/T0PSECRET <b>\r\nmore");
                After::Keep
            }),
        );
        let entry = |port: u16| {
            format!(
                "  - {{ url: \"http://127.0.0.1:{port}/services/T0PSECRET\", format: {format} }}\n"
            )
        };
        let section = format!("alerts:\n{}{}", entry(port), entry(refusing.port));
        let output = alerts_test(folder.path(), &section, &[]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.starts_with(&format!("http://127.0.0.1:{port}: accepted with status 204")));
        assert!(
            text.contains("refused with status 404: no_service /[hidden]/[hidden] <b>, after"),
            "{text}"
        );
        let request = hook.last();
        assert_eq!(request.target, target.as_bytes());
        assert_eq!(request.header("content-type"), Some("application/json"));
        assert_eq!(request.header("webhook-signature"), None);
        let body = String::from_utf8_lossy(&request.body);
        assert!(body.contains(part) && body.contains("nothing happened"), "{body}");
    }
}

#[test]
fn a_server_with_a_missing_secret_does_not_start() {
    let origin = Origin::plain();
    let alert = "alerts: { url: \"http://127.0.0.1:1/\", secret_file: nowhere }\n";
    let mut beadle: Beadle = Setup::site(origin.port, "").sections(alert).spawn();
    let (status, _) = beadle.wait();
    assert_eq!(status.code(), Some(2));
    beadle.wait_for_stderr("alerts[0].secret_file");
}

/// Three nodes of a fleet with one webhook.
fn three_nodes(valkey: &Valkey, receiver: &Origin, origin: &Origin, secrets: &Path) -> [Beadle; 3] {
    let secret = secrets.join("secret");
    write_secret(&secret);
    let nodes = ["one", "two", "three"].map(|name| {
        let sections = format!(
            "fleet: {{ shared: \"{}\", node: {name} }}\n\
             alerts: {{ url: \"http://127.0.0.1:{}/hook\", secret_file: {}, on: [new_offender, \
             reload_refused] }}\n",
            valkey.url(),
            receiver.port,
            secret.display()
        );
        let rules =
            "    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/private/] }] }\n";
        Setup::site(origin.port, rules).sections(&sections).start()
    });
    nodes.iter().for_each(|node| node.wait_for_metric("beadle_fleet_nodes", 3.0));
    nodes
}

/// Gives each node a trouble of its own.
fn break_policies(nodes: &[Beadle]) {
    for (number, beadle) in nodes.iter().enumerate() {
        let text = beadle.policy_text();
        beadle.replace_policy(&format!("{text}no_such_section_{number}: 1\n"));
        beadle.signal("HUP");
    }
}

#[test]
fn one_node_of_a_fleet_sends_the_alerts_of_all() {
    let Some(valkey) = Valkey::start() else { return };
    let (receiver, origin) = (receiver(0), Origin::plain());
    let secrets = tempfile::tempdir().expect("a folder");
    let nodes = three_nodes(&valkey, &receiver, &origin, secrets.path());
    // A crawler violates the rules at each node.
    let offenders = || {
        let events = of_type(&receiver, "new_offender").into_iter();
        let named =
            events.flat_map(|event| event["data"]["offenders"].as_array().expect("a list").clone());
        let mut named: Vec<_> = named.map(|one| one["product_token"].to_string()).collect();
        named.sort();
        named
    };
    for beadle in &nodes {
        beadle.get("/private/x", "GPTBot/1.2");
    }
    wait_for("the offender", || (!offenders().is_empty()).then_some(()));
    break_policies(&nodes);
    let refused = || of_type(&receiver, "reload_refused");
    wait_for("the refusals of all nodes", || (refused().len() == 3).then_some(()));
    let mut named: Vec<_> = refused().iter().map(|event| event["data"]["node"].clone()).collect();
    named.sort_by_key(Value::to_string);
    assert_eq!(named, ["one", "three", "two"], "{:?}", refused());
    assert_eq!(offenders(), ["\"GPTBot\""], "three nodes saw it");
}

#[test]
fn neither_the_end_of_the_node_that_sends_nor_a_pause_of_the_server_loses_an_alert() {
    let Some(valkey) = Valkey::start() else { return };
    let is_open = Arc::new(AtomicBool::new(false));
    let opens = Arc::clone(&is_open);
    let receiver = Origin::playing(move |exchange| {
        exchange.read_body();
        let status = if opens.load(Ordering::Relaxed) { "204 No Content" } else { "503 Later" };
        exchange.answer(status, &[], b"");
        After::Keep
    });
    let origin = Origin::plain();
    let secrets = tempfile::tempdir().expect("a folder");
    let mut nodes = three_nodes(&valkey, &receiver, &origin, secrets.path());
    valkey.signal("STOP");
    break_policies(&nodes);
    nodes.iter().for_each(|node| {
        wait_for("the refusal", || node.stderr().contains("no_such_section").then_some(()))
    });
    valkey.signal("CONT");
    let series = format!(
        "beadle_alert_attempts_total{{outcome=\"refused\",webhook=\"http://127.0.0.1:{}\"}}",
        receiver.port
    );
    let sender =
        wait_for("an attempt", || nodes.iter().position(|node| node.metric(&series) > 0.0));
    // The events of all nodes have to be at the server.
    let kept = || valkey.ask(&["HLEN", "{beadle}:alerts:waiting"]).trim().to_owned();
    wait_for("the events of all nodes", || (kept() == "3").then_some(()));
    nodes[sender].signal("KILL");
    nodes[sender].wait();
    is_open.store(true, Ordering::Relaxed);
    let told = || {
        let nodes = of_type(&receiver, "reload_refused").into_iter();
        let mut nodes: Vec<_> = nodes.map(|event| event["data"]["node"].to_string()).collect();
        nodes.sort();
        nodes
    };
    wait_for("the events", || (kept() == "0").then_some(()));
    assert_eq!(told(), ["\"one\"", "\"three\"", "\"two\""]);
}
