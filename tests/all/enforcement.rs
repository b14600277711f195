//! Actions and records: violations are logged or blocked by the policy, and recorded.

use serde_json::{Value, json};

use crate::support::{
    BROWSER, GROUPS,
    client::{Client, Request},
    origin::Origin,
    program::{Beadle, Setup},
    wait_for,
};

fn start(origin: &Origin, enforcement: &str) -> Beadle {
    Setup::site(origin.port, &format!("{GROUPS}    enforcement: {enforcement}\n")).start()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

// === actions

#[test]
fn a_violation_is_logged_and_forwarded_by_default() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, GROUPS).start();
    let answer = beadle.get("/private/page", "BadBot/1.0");
    assert_eq!((answer.status, answer.text().as_str()), (200, "origin: /private/page"));
    let records = beadle.records(1);
    assert_eq!((&records[0]["action"], &records[0]["status"]), (&json!("log"), &json!(200)));
}

#[test]
fn each_field_of_a_record_has_its_documented_value() {
    let origin = Origin::plain();
    let beadle = start(&origin, "{ mode: log }");
    let etag = Request::get("/robots.txt").send(beadle.port).header("etag").map(str::to_owned);
    let edition = etag.expect("an entity tag").trim_matches('"').to_owned();
    let before = jiff::Timestamp::now();
    Request::new("POST", "/private/page?a=1")
        .host("Site.Example:8080")
        .user_agent("Mozilla/5.0 (compatible; BadBot/2.1; +http://bad.example/bot)")
        .field("Authorization", "Basic c2VjcmV0")
        .field("Cookie", "session=c2VjcmV0")
        .body("c2VjcmV0")
        .send(beadle.port);
    let record = beadle.records(1).remove(0);
    // The fields of a record in their documented order.
    assert_eq!(
        keys(&record),
        [
            "schema",
            "id",
            "time",
            "site",
            "client_ip",
            "method",
            "host",
            "path",
            "user_agent",
            "product_token",
            "product_tokens",
            "operator",
            "purpose",
            "standing",
            "evidence",
            "verdict",
            "reason",
            "action",
            "status",
            "robots",
            "robots_read",
        ]
    );
    assert_eq!(keys(&record["robots"]), ["edition", "line", "directive", "pattern", "group"]);
    assert_eq!(keys(&record["robots_read"]), ["state", "edition", "at"]);
    let time: jiff::Timestamp = record["time"].as_str().expect("text").parse().expect("RFC 3339");
    let slack = jiff::SignedDuration::from_millis(1);
    assert!(before - slack <= time && time <= jiff::Timestamp::now(), "{time}");
    let id: uuid::Uuid = record["id"].as_str().expect("text").parse().expect("a UUID");
    assert_eq!(id.get_version_num(), 7);
    let robots_txt = Request::get("/robots.txt").send(beadle.port).text();
    let line = 1 + robots_txt.lines().position(|line| line == "Disallow: /private/").expect("it");
    let mut rest = record.clone();
    for volatile in ["id", "time"] {
        rest.as_object_mut().expect("an object").remove(volatile);
    }
    assert_eq!(
        rest,
        json!({
            "schema": 1,
            "site": "site.example",
            "client_ip": "127.0.0.1",
            "method": "POST",
            "host": "site.example",
            "path": "/private/page?a=1",
            "user_agent": "Mozilla/5.0 (compatible; BadBot/2.1; +http://bad.example/bot)",
            "product_token": "BadBot",
            "product_tokens": ["BadBot"],
            "operator": null,
            "purpose": null,
            "standing": "unverifiable",
            "evidence": null,
            "verdict": "disallow",
            "reason": "robots.disallow",
            "action": "log",
            "status": 200,
            "robots": {
                "edition": edition,
                "line": line,
                "directive": "disallow",
                "pattern": "/private/",
                "group": ["BadBot"],
            },
            "robots_read": { "state": "never", "edition": null, "at": null },
        })
    );
    assert!(!record.to_string().contains("c2VjcmV0"), "no secret is kept: {record}");
    assert_the_database_has(&beadle, &record);
}

/// The columns of the database equal the fields of the line.
fn assert_the_database_has(beadle: &Beadle, record: &Value) {
    let database =
        rusqlite::Connection::open(beadle.folder().join("beadle.db")).expect("it is there");
    let query = || -> Option<Value> {
        let mut statement =
            database.prepare("SELECT * FROM violations").expect("the table is there");
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([]).expect("it can be read");
        let row = rows.next().expect("it can be read")?;
        let mut object = serde_json::Map::new();
        for (at, name) in names.iter().enumerate() {
            let value = match row.get_ref(at).expect("a column") {
                rusqlite::types::ValueRef::Null => Value::Null,
                rusqlite::types::ValueRef::Integer(number) => json!(number),
                rusqlite::types::ValueRef::Text(text) => json!(String::from_utf8_lossy(text)),
                other => panic!("{name}: {other:?}"),
            };
            object.insert(name.clone(), value);
        }
        Some(Value::Object(object))
    };
    let row = wait_for("a row in the database", query);
    for (field, value) in record.as_object().expect("an object") {
        match value {
            Value::Object(parts) => {
                for (part, value) in parts {
                    assert_same(&row[format!("{field}_{part}")], value, field);
                }
            }
            _ => assert_same(&row[field], value, field),
        }
    }
}

fn assert_same(column: &Value, value: &Value, field: &str) {
    let expected = match value {
        Value::Array(_) => json!(value.to_string()),
        Value::String(text) if matches!(field, "time" | "at") => {
            json!(text.parse::<jiff::Timestamp>().expect("RFC 3339").as_millisecond())
        }
        other => other.clone(),
    };
    assert_eq!(*column, expected, "{field}");
}

#[test]
fn a_block_page_names_the_crawler_the_rule_and_its_line() {
    let origin = Origin::plain();
    let beadle = start(&origin, "{ mode: block }");
    let robots_txt = Request::get("/robots.txt").send(beadle.port).text();
    let mut client = Client::connect(beadle.port);
    let request = Request::get("/private/page").host("site.example:8080").user_agent("badbot/1.0");
    let answer = request.send_over(&mut client);
    assert_eq!(answer.status, 403);
    assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("vary"), Some("User-Agent"));
    assert!(answer.keeps_alive());
    let record = beadle.records(1).remove(0);
    let line = 1 + robots_txt.lines().position(|line| line == "Disallow: /private/").expect("it");
    for part in [
        "BadBot",
        "Disallow: /private/",
        &format!("line {line} "),
        "http://site.example:8080/robots.txt",
        record["id"].as_str().expect("text"),
    ] {
        assert!(answer.text().contains(part), "{part}: {}", answer.text());
    }
    // HEAD gets the same without the body, and the connection stays open.
    let head = Request::new("HEAD", "/private/page").user_agent("BadBot").send_over(&mut client);
    assert_eq!((head.status, head.header("vary")), (403, Some("User-Agent")));
    let page = Request::get("/page").user_agent("BadBot").send_over(&mut client);
    assert_eq!((page.status, page.text().as_str()), (200, "origin: /page"));
    assert_eq!(origin.received().len(), 1, "the origin saw the allowed request only");
    let records = beadle.records(2);
    let of = |key: &str| records.iter().map(|record| record[key].clone()).collect::<Vec<_>>();
    assert_eq!(of("method"), ["GET", "HEAD"]);
    assert_eq!((of("action"), of("status")), (vec![json!("block"); 2], vec![json!(403); 2]));
}

#[test]
fn a_block_page_names_a_client_without_a_name_in_words() {
    let origin = Origin::plain();
    let mut beadle = start(&origin, "{ mode: block }");
    let answer = beadle.get("/admin/x", "");
    let text = answer.text();
    assert_eq!(answer.status, 403, "{text}");
    assert!(
        text.starts_with("A client without a name is not allowed to fetch this page.\n"),
        "{text}"
    );
    beadle.stop();
    let records = beadle.log();
    assert_eq!(records.len(), 1, "{records:?}");
    assert_eq!(records[0]["product_token"], json!("-"), "as in access logs");
}

#[test]
fn a_blocked_upload_is_refused_before_it_is_read() {
    let origin = Origin::plain();
    let beadle = start(&origin, "{ mode: block }");
    let mut client = Client::connect(beadle.port);
    let request = Request::new("PUT", "/private/upload")
        .user_agent("BadBot")
        .field("Expect", "100-continue")
        .field("Content-Length", "1000000");
    let answer = request.send_over(&mut client);
    assert_eq!(answer.status, 403);
    assert!(answer.interim.is_empty(), "no 100 Continue: {:?}", answer.interim);
    assert!(origin.received().is_empty());
    beadle.assert_healthy("a blocked upload");
}

#[test]
fn status_and_text_of_a_block_come_from_the_policy() {
    let origin = Origin::plain();
    for status in [403, 404, 410, 429, 451] {
        let block = format!(
            "{{ mode: block, block: {{ status: {status}, content_type: text/html, \
             body: \"<p>{{product_token}} {{rule}} {{host}} {{path}}</p>\" }} }}"
        );
        let beadle = start(&origin, &block);
        let answer = beadle.get("/private/<script>'&", "BadBot/1.0");
        assert_eq!(answer.status, status);
        assert_eq!(answer.header("content-type"), Some("text/html"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("retry-after").is_some(), status == 429);
        let text = answer.text();
        assert!(text.starts_with("<p>BadBot Disallow: /private/ site.example /private/"), "{text}");
        assert!(!text.contains('\'') && text.contains("%3Cscript%3E&#39;&amp;"), "{text}");
        assert_eq!(beadle.records(1)[0]["status"], json!(status));
    }
}

#[test]
fn a_refusal_can_ask_for_payment_or_a_licence_but_robots_txt_never_does() {
    let origin = Origin::plain();
    let fields = "{ Link: '<https://site.example/license.xml>; rel=\"license\"', \
                  WWW-Authenticate: 'License realm=\"site.example\"', crawler-price: USD 0.01, \
                  Retry-After: 3600 }";
    for status in [401, 402, 429, 451] {
        let block = format!("{{ mode: block, block: {{ status: {status}, fields: {fields} }} }}");
        let beadle = start(&origin, &block);
        for method in ["GET", "HEAD"] {
            let answer =
                Request::new(method, "/private/x").user_agent("BadBot/1.0").send(beadle.port);
            assert_eq!(answer.status, status);
            for (name, value) in [
                ("link", "<https://site.example/license.xml>; rel=\"license\""),
                ("www-authenticate", "License realm=\"site.example\""),
                ("crawler-price", "USD 0.01"),
                ("retry-after", "3600"),
                ("cache-control", "no-store"),
                ("vary", "User-Agent"),
            ] {
                let found = answer.all(name);
                assert_eq!(found, [value], "{method} {status} {name}");
            }
        }
        // A token is not checked: it changes nothing.
        let paid = Request::get("/private/x")
            .user_agent("BadBot/1.0")
            .field("Authorization", "License abc")
            .send(beadle.port);
        assert_eq!(paid.status, status);
        let rules = beadle.get("/robots.txt", "BadBot/1.0");
        assert_eq!((rules.status, rules.header("crawler-price")), (200, None));
        let person = beadle.get("/private/x", BROWSER);
        assert_eq!((person.status, person.header("link")), (200, None));
        assert_eq!(beadle.records(3)[0]["status"], json!(status));
    }
}

// === records

#[test]
fn a_record_says_whether_the_crawler_had_read_the_rule() {
    let origin = Origin::plain();
    let beadle = start(&origin, "{ mode: log }");
    let state = |beadle: &Beadle, user_agent: &str| {
        let before = beadle.log().len();
        beadle.get("/private/x", user_agent);
        beadle.records(before + 1)[before]["robots_read"].clone()
    };
    assert_eq!(state(&beadle, "BadBot/1.0")["state"], "never");
    let etag = beadle.get("/robots.txt", "BadBot/1.0").header("etag").map(str::to_owned);
    let first = etag.expect("an entity tag").trim_matches('"').to_owned();
    let read = state(&beadle, "badbot/2.0");
    assert_eq!((&read["state"], &read["edition"]), (&json!("current"), &json!(first)));
    let read_at = read["at"].clone();
    let changed = beadle.policy_text().replace("disallow: [/admin/]", "disallow: [/admin/, /new/]");
    beadle.replace_policy(&changed);
    beadle.wait_for_stderr("policy reloaded");
    let read = state(&beadle, "BadBot/1.0");
    assert_eq!(read, json!({ "state": "older", "edition": first, "at": read_at }));
    let record = beadle.log().pop().expect("a record");
    assert_ne!(record["robots"]["edition"], json!(first), "the rule is that of the new edition");
    // Fetches survive a restart.
    wait_for("the fetch in the database", || {
        let database = rusqlite::Connection::open(beadle.folder().join("beadle.db")).ok()?;
        database.query_row("SELECT last FROM fetches", [], |row| row.get::<_, i64>(0)).ok()
    });
    let beadle = beadle.restarted();
    assert_eq!(state(&beadle, "BadBot/1.0")["state"], "current", "the first edition is back");
    assert_eq!(beadle.log().pop().expect("a record")["robots_read"]["at"], read_at);
}

#[test]
fn a_request_is_recorded_once_with_its_final_status() {
    let absent = Origin::absent();
    let mut beadle =
        Setup::site(absent, &format!("{GROUPS}    enforcement: {{ mode: log }}\n")).start();
    assert_eq!(beadle.get("/private/x", "BadBot/1.0").status, 502);
    beadle.stop();
    let records = beadle.log();
    assert_eq!(records.len(), 1, "{records:?}");
    assert_eq!(records[0]["status"], json!(502));
}

#[test]
fn allowed_requests_are_not_recorded() {
    let origin = Origin::plain();
    let mut beadle = start(&origin, "{ mode: block }");
    for (target, user_agent) in
        [("/", "BadBot"), ("/private/help/", "BadBot"), ("/robots.txt", "GPTBot"), ("/x", BROWSER)]
    {
        assert_eq!(beadle.get(target, user_agent).status, 200);
    }
    beadle.stop();
    assert_eq!(beadle.log(), Vec::<Value>::new());
}

#[test]
fn mode_off_judges_no_request() {
    let origin = Origin::plain();
    let mut beadle = start(&origin, "{ mode: off }");
    assert_eq!(beadle.get("/private/x", "BadBot").status, 200);
    beadle.stop();
    assert_eq!(beadle.log(), Vec::<Value>::new());
}
