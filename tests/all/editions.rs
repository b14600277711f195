//! Fairness in time: a crawler is judged by an edition of robots.txt that it can know (RFC 9309
//! §2.4), across reloads and restarts, and the operator can see why.

use serde_json::{Value, json};

use crate::support::{
    BROWSER,
    client::{Request, Response},
    origin::{After, Origin},
    program::{Beadle, PROGRAM, Setup, json_lines},
    wait_for,
};

const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";
const WILDBOT: &str = "WildBot/1.0 (+https://wild.example/bot)";
// Addresses in three networks.
const ONE: &str = "192.0.2.1";
const TWO: &str = "198.51.100.2";
const THREE: &str = "2001:db8:3::3";

/// A policy that disallows /both/ and these paths for all crawlers.
fn disallowing(origin: &Origin, paths: &str, robots_txt: &str, enforcement: &str) -> Setup {
    let groups = format!("[{{ user_agents: [\"*\"], disallow: [/both/{paths}] }}]");
    Setup::site(
        origin.port,
        &format!(
            "    robots_txt: {{ groups: {groups}{robots_txt} }}\n    \
             enforcement: {{ mode: block{enforcement} }}\n"
        ),
    )
    .server("  trusted_proxies: [127.0.0.1]\n")
}

fn old(origin: &Origin) -> Setup {
    disallowing(origin, "", "", "")
}

fn new(origin: &Origin) -> Setup {
    disallowing(origin, ", /new/", "", "")
}

fn ask(beadle: &Beadle, target: &str, user_agent: &str, ip: &str) -> Response {
    Request::get(target).user_agent(user_agent).field("X-Forwarded-For", ip).send(beadle.port)
}

fn visit(beadle: &Beadle, target: &str, user_agent: &str, ip: &str) -> u16 {
    ask(beadle, target, user_agent, ip).status
}

/// Fetches robots.txt and returns the name of its edition.
fn fetch(beadle: &Beadle, user_agent: &str, ip: &str) -> String {
    let answer = ask(beadle, "/robots.txt", user_agent, ip);
    assert_eq!(answer.status, 200);
    answer.header("etag").expect("it has one").trim_matches('"').to_owned()
}

fn edition(beadle: &Beadle) -> String {
    fetch(beadle, BROWSER, ONE)
}

/// The record of the only request to this path.
fn record_of(beadle: &Beadle, path: &str) -> Value {
    wait_for(&format!("the record of {path}"), || {
        beadle.log().into_iter().find(|record| record["path"] == path)
    })
}

fn explain(beadle: &Beadle, user_agent: &str, ip: &str, target: &str) -> Value {
    let args =
        ["explain", "--user-agent", user_agent, "--client-ip", ip, target, "--format", "json"];
    let output = beadle.verb(&args);
    let stderr = String::from_utf8_lossy(&output.stderr);
    json_lines(&output).pop().expect(&stderr)
}

/// Waits until the database has this many pairs of crawler and network.
fn wait_for_fetches(beadle: &Beadle, count: usize) {
    wait_for("the fetches in the database", || {
        (beadle.rows("SELECT edition FROM fetches").len() == count).then_some(())
    });
}

#[test]
fn a_restart_changes_no_verdict() {
    let origin = Origin::plain();
    for signal in ["TERM", "KILL"] {
        let beadle = old(&origin).start();
        let first = fetch(&beadle, GPTBOT, ONE);
        beadle.reload(&new(&origin));
        let second = fetch(&beadle, BINGBOT, TWO);
        wait_for_fetches(&beadle, 2);
        wait_for("the edition in the database", || {
            (beadle.rows("SELECT id FROM editions").len() == 2).then_some(())
        });
        // The second of two editions within a second has a date ahead, which is told when it is past:
        // from then on, it is the same in each second.
        let dates = |beadle: &Beadle| {
            let mut before = None;
            wait_for("a date in the past", || {
                let answer = ask(beadle, "/robots.txt", BROWSER, ONE);
                let field = |name| answer.header(name).map(str::to_owned);
                let (modified, date) = (field("last-modified"), field("date"));
                let known = before.replace((modified.clone(), date.clone()));
                // An answer whose two dates are of different seconds can still be one too early, so
                // that two have to agree.
                let is_past = |(was, at)| was == modified && was != at && at != date;
                known.is_some_and(is_past).then(|| (field("etag"), modified))
            })
        };
        let before = dates(&beadle);
        let beadle = beadle.restarted_as(signal, new(&origin));
        assert_eq!(dates(&beadle), before, "after SIG{signal}");
        assert_eq!(visit(&beadle, "/new/x", GPTBOT, ONE), 200, "after SIG{signal}");
        assert_eq!(visit(&beadle, "/new/x", WILDBOT, ONE), 200, "after SIG{signal}");
        assert_eq!(visit(&beadle, "/new/y", BINGBOT, TWO), 403, "after SIG{signal}");
        assert_eq!(visit(&beadle, "/both/z", GPTBOT, ONE), 403, "after SIG{signal}");
        let record = record_of(&beadle, "/both/z");
        assert_eq!(record["robots_read"]["state"], "older");
        assert_eq!(record["robots_read"]["edition"], first);
        assert_eq!(record_of(&beadle, "/new/y")["robots_read"]["edition"], second);
        let periods =
            "SELECT edition || ' ' || (until_ IS NULL) FROM edition_periods ORDER BY from_";
        assert_eq!(beadle.rows(periods), [format!("{first} 0"), format!("{second} 1")]);
    }
}

#[test]
fn a_policy_changed_between_two_runs_makes_an_edition() {
    let origin = Origin::plain();
    let beadle = old(&origin).start();
    let first = fetch(&beadle, GPTBOT, ONE);
    wait_for_fetches(&beadle, 1);
    let beadle = beadle.restarted_as("TERM", new(&origin));
    assert_eq!(visit(&beadle, "/new/x", GPTBOT, ONE), 200);
    assert_eq!(visit(&beadle, "/new/x", WILDBOT, ONE), 200);
    let second = fetch(&beadle, GPTBOT, ONE);
    assert_eq!(visit(&beadle, "/new/x", GPTBOT, ONE), 403);
    wait_for("the edition in the database", || {
        (beadle.rows("SELECT id FROM editions").len() == 2).then_some(())
    });
    // Back to the first policy: its edition keeps its name.
    let beadle = beadle.restarted_as("KILL", old(&origin));
    assert_eq!(edition(&beadle), first);
    assert_eq!(visit(&beadle, "/new/x", GPTBOT, ONE), 200);
    let periods = "SELECT edition FROM edition_periods ORDER BY from_";
    wait_for("three periods", || {
        (beadle.rows(periods) == [first.as_str(), &second, &first]).then_some(())
    });
}

#[test]
fn an_upgrade_that_only_reorders_costs_no_crawler_its_reading() {
    // As versions before the arrangement wrote it: '*' first, short rules first, GPTBot twice.
    const UNSORTED: &str = "User-agent: *\nDisallow: /a/\nAllow: /a/b/\n\n\
                            User-agent: Googlebot\nDisallow: /both/\n\n\
                            User-agent: Googlebot-Image\nDisallow: /%7Ei/\n\n\
                            User-agent: GPTBot\nDisallow: /both/\n\n\
                            User-agent: GPTBot\nDisallow: /both/x/\n";
    let groups = |more: &str| {
        format!(
            "groups: [{{ user_agents: [\"*\"], disallow: [/a/], allow: [/a/b/] }}, {{ user_agents: \
             [Googlebot], disallow: [/both/] }}, {{ user_agents: [Googlebot-Image], disallow: \
             [/%7Ei/] }}, {{ user_agents: [GPTBot], disallow: [/both/{more}] }}, {{ user_agents: \
             [GPTBot], disallow: [/both/x/] }}]"
        )
    };
    let origin = Origin::playing(|exchange| {
        exchange.read_body();
        exchange.answer("200 OK", &["Content-Type: text/plain"], UNSORTED.as_bytes());
        After::Keep
    });
    let setup = |robots_txt: &str| {
        let keys =
            format!("    robots_txt: {{ {robots_txt} }}\n    enforcement: {{ mode: block }}\n");
        Setup::site(origin.port, &keys).server("  trusted_proxies: [127.0.0.1]\n")
    };
    // The edition in the database has the bytes of the earlier version.
    let beadle = setup("source: origin").start();
    wait_for("the origin's file", || (visit(&beadle, "/both/", GPTBOT, ONE) == 403).then_some(()));
    let first = fetch(&beadle, GPTBOT, ONE);
    wait_for_fetches(&beadle, 1);
    wait_for("the edition in the database", || {
        (beadle.rows("SELECT cast(bytes AS TEXT) FROM editions").contains(&UNSORTED.to_owned()))
            .then_some(())
    });
    let beadle = beadle.restarted_as("TERM", setup(&groups("")));
    let published = ask(&beadle, "/robots.txt", BROWSER, TWO).text();
    assert!(published != UNSORTED && published.contains("User-agent: *"), "{published}");
    assert_eq!(visit(&beadle, "/both/y", GPTBOT, ONE), 403);
    let read = record_of(&beadle, "/both/y")["robots_read"].clone();
    assert_eq!((&read["state"], &read["edition"]), (&"current".into(), &first.as_str().into()));
    // A rule more is another file.
    let beadle = beadle.restarted_as("TERM", setup(&groups(", /new/")));
    assert_eq!(visit(&beadle, "/both/z", GPTBOT, ONE), 403);
    assert_eq!(record_of(&beadle, "/both/z")["robots_read"]["state"], "older");
}

#[test]
fn the_database_keeps_fetches_by_crawler_network_and_edition() {
    let origin = Origin::plain();
    let beadle = old(&origin).start();
    let first = edition(&beadle);
    for ip in [ONE, "192.0.2.77", TWO, THREE, "2001:db8:3:9::1", "2001:db8:4::1"] {
        fetch(&beadle, GPTBOT, ip);
    }
    fetch(&beadle, WILDBOT, ONE); // in no catalogue: kept in memory only
    wait_for_fetches(&beadle, 4);
    let fetches = "SELECT product_token || ' ' || network || ' ' || standing || ' ' || edition || \
                   ' ' || count || ' ' || (first <= last) FROM fetches ORDER BY network";
    let expected = [
        format!("GPTBot 192.0.2.0/24 unknown {first} 2 1"),
        format!("GPTBot 198.51.100.0/24 unknown {first} 1 1"),
        format!("GPTBot 2001:db8:3::/48 unknown {first} 2 1"),
        format!("GPTBot 2001:db8:4::/48 unknown {first} 1 1"),
    ];
    let rows = beadle.rows(fetches);
    let without_standing = |row: &str| -> Vec<String> {
        row.split(' ')
            .enumerate()
            .filter(|(at, _)| *at != 2)
            .map(|(_, word)| word.to_owned())
            .collect()
    };
    assert_eq!(
        rows.iter().map(|row| without_standing(row)).collect::<Vec<_>>(),
        expected.iter().map(|row| without_standing(row)).collect::<Vec<_>>()
    );
    for row in &rows {
        let standing = row.split(' ').nth(2);
        assert!(matches!(standing, Some("unknown" | "unverifiable")), "{row}");
    }
    let bytes = String::from_utf8(ask(&beadle, "/robots.txt", BROWSER, ONE).body).expect("UTF-8");
    assert_eq!(beadle.rows("SELECT CAST(bytes AS TEXT) FROM editions"), [bytes]);
    let sha256 = beadle.rows("SELECT sha256 FROM editions");
    assert!(sha256[0].len() == 64 && sha256[0].starts_with(&first), "{sha256:?}");
    beadle.reload(&new(&origin));
    let periods = "SELECT site || ' ' || source || ' ' || (until_ IS NULL OR until_ >= from_) \
                   FROM edition_periods";
    wait_for("both periods", || {
        (beadle.rows(periods) == ["site.example policy 1", "site.example policy 1"]).then_some(())
    });
}

#[test]
fn networks_are_hashed_with_addresses() {
    let origin = Origin::plain();
    let setup = || {
        old(&origin).violations(
            "  database: $DIR/beadle.db\n  log: $DIR/violations.jsonl\n  client_ip: hash\n",
        )
    };
    let beadle = setup().start();
    fetch(&beadle, GPTBOT, ONE);
    fetch(&beadle, GPTBOT, THREE);
    visit(&beadle, "/both/x", GPTBOT, ONE);
    wait_for_fetches(&beadle, 2);
    record_of(&beadle, "/both/x");
    let networks = beadle.rows("SELECT network FROM fetches");
    assert!(networks.iter().all(|text| text.len() == 16), "{networks:?}");
    // Under a new key all networks are unknown, which only gives more grace.
    let beadle = beadle.restarted_as(
        "TERM",
        new(&origin).violations(
            "  database: $DIR/beadle.db\n  log: $DIR/violations.jsonl\n  client_ip: hash\n",
        ),
    );
    assert_eq!(visit(&beadle, "/new/x", GPTBOT, ONE), 200);
    fetch(&beadle, GPTBOT, ONE);
    assert_eq!(visit(&beadle, "/new/x", GPTBOT, ONE), 403);
    wait_for_fetches(&beadle, 3);
    let mut beadle = beadle;
    beadle.stop();
    for entry in std::fs::read_dir(beadle.folder()).expect("the folder is ours") {
        let file = entry.expect("the folder is ours").path();
        let bytes = std::fs::read(&file).expect("the folder is ours");
        for address in ["192.0.2", "2001:db8"] {
            let is_there = bytes.windows(address.len()).any(|window| window == address.as_bytes());
            assert!(!is_there, "{address} in {}", file.display());
        }
    }
}

#[test]
fn two_sites_with_the_same_bytes_have_one_edition_and_two_histories() {
    let origin = Origin::plain();
    let sites = |a: &str, b: &str| {
        let site = |host: &str, paths: &str| {
            format!(
                "  - hosts: [{host}]\n    origin: http://127.0.0.1:{}\n    robots_txt: \
                 {{ groups: [{{ user_agents: [\"*\"], disallow: [{paths}] }}] }}\n    \
                 enforcement: {{ mode: block }}\n",
                origin.port
            )
        };
        Setup::sites(&format!("{}{}", site("a.example", a), site("b.example", b)))
    };
    let beadle = sites("/x/", "/x/").start();
    let at = |host: &str, target: &str| {
        Request::get(target).host(host).user_agent(GPTBOT).send(beadle.port)
    };
    let tag = |host: &str| at(host, "/robots.txt").header("etag").map(str::to_owned);
    assert_eq!(tag("a.example"), tag("b.example"));
    beadle.reload(&sites("/x/, /y/", "/x/"));
    assert_ne!(tag("a.example"), tag("b.example"));
    assert_eq!((at("a.example", "/y/").status, at("b.example", "/y/").status), (403, 200));
    wait_for("the editions", || (beadle.rows("SELECT id FROM editions").len() == 2).then_some(()));
    let history = |args: &[&str]| {
        json_lines(&beadle.verb(&[&["robots", "--history", "--format", "json"], args].concat()))
    };
    assert_eq!(history(&["--site", "a.example"]).len(), 2);
    assert_eq!(history(&["--site", "b.example"]).len(), 1);
    assert_eq!(history(&[]).len(), 3);
    // A name stands for one file, on whichever site.
    let (a, b) = (tag("a.example").expect("a tag"), tag("b.example").expect("a tag"));
    let diff = beadle.verb(&["diff", b.trim_matches('"'), a.trim_matches('"')]);
    assert_eq!(diff.status.code(), Some(1), "{diff:?}");
    assert!(String::from_utf8_lossy(&diff.stdout).contains("allow -> disallow"), "{diff:?}");
    let unclear = beadle.verb(&["diff", a.trim_matches('"'), "policy"]);
    assert_eq!(unclear.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unclear.stderr).contains("--site"), "{unclear:?}");
}

#[test]
fn history_lists_editions_and_diff_compares_their_meaning() {
    let origin = Origin::plain();
    let beadle = old(&origin).start();
    let first = edition(&beadle);
    beadle.reload(&new(&origin));
    let second = edition(&beadle);
    beadle.reload(&old(&origin));
    wait_for("three periods", || {
        (beadle.rows("SELECT edition FROM edition_periods").len() == 3).then_some(())
    });
    let json = json_lines(&beadle.verb(&["robots", "--history", "--format", "json"]));
    let editions: Vec<&Value> = json.iter().map(|row| &row["edition"]).collect();
    assert_eq!(editions, [&first, &second, &first]);
    for (number, row) in json.iter().enumerate() {
        assert_eq!((&row["site"], &row["source"]), (&json!("site.example"), &json!("policy")));
        assert_eq!(row["rules"], if number == 1 { 2 } else { 1 }, "{row}");
        assert!(row["sha256"].as_str().is_some_and(|text| text.len() == 64), "{row}");
        assert_eq!(row["until"].is_null(), number == 2, "{row}");
        assert!(row["bytes"].as_u64().is_some_and(|bytes| bytes > 50), "{row}");
    }
    let text = beadle.verb(&["robots", "--site", "site.example", "--history"]);
    let text = String::from_utf8(text.stdout).expect("UTF-8");
    let (changes, rows): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with("  "));
    assert_eq!((rows.len(), rows[3].contains("in force")), (4, true), "{text}");
    assert!(changes.contains(&"  +Disallow: /new/"), "{text}");
    let sha256 = json[1]["sha256"].as_str().expect("a text");
    for (before, after, change) in [
        (first.as_str(), second.as_str(), Some("allow -> disallow")),
        (&first[..4], &second[..6].to_uppercase(), Some("allow -> disallow")),
        (&first, sha256, Some("allow -> disallow")),
        (&second, "policy", Some("disallow -> allow")),
        (&first, "policy", None),
        (&second, &second, None),
    ] {
        let diff = beadle.verb(&["diff", before, after]);
        let text = String::from_utf8_lossy(&diff.stdout);
        let code = i32::from(change.is_some());
        assert_eq!(diff.status.code(), Some(code), "{before} {after}: {diff:?}");
        match change {
            Some(change) => {
                assert!(text.contains("/new/") && text.contains(change), "{text}");
                assert!(!text.contains("/both/"), "{text}");
            }
            None => assert!(text.contains("no difference in meaning"), "{text}"),
        }
    }
    let row = beadle.verb(&["diff", "--format", "json", &first, &second]);
    let rows = json_lines(&row);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(
        (&rows[0]["site"], &rows[0]["what"]),
        (&json!("site.example"), &json!("disallowed"))
    );
    assert_eq!(rows[0]["before"]["verdict"], "allow");
    assert_eq!(
        rows[0]["after"],
        json!({ "verdict": "disallow", "directive": "disallow", "pattern": "/new/", "line": 6 })
    );
}

#[test]
fn history_and_diff_explain_refusals() {
    let origin = Origin::plain();
    let beadle = old(&origin).start();
    // Publish editions until two names begin with the same digit.
    let mut names = vec![edition(&beadle)];
    let prefix = loop {
        let paths: String = (0..names.len()).map(|number| format!(", /{number}/")).collect();
        beadle.reload(&disallowing(&origin, &paths, "", ""));
        let name = edition(&beadle);
        if let Some(other) = names.iter().find(|other| other[..1] == name[..1]) {
            break other[..1].to_owned();
        }
        names.push(name);
    };
    wait_for("the editions", || {
        (beadle.rows("SELECT id FROM editions").len() > names.len()).then_some(())
    });
    let refused = |args: &[&str], sign: &str| {
        let verb = if args[0].starts_with("--") { "robots" } else { "diff" };
        let output = beadle.verb(&[&[verb], args].concat());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
        assert!(text.contains(sign), "{args:?}: {text}");
        assert!(output.stdout.is_empty(), "{args:?}: {output:?}");
    };
    refused(&[&prefix, "policy"], "write more digits");
    refused(&["zzzz", "policy"], "'zzzz' is neither a file, a URL nor an edition");
    refused(&["ffffffffffff", "policy"], "no edition begins with 'ffffffffffff'");
    refused(&["", "policy"], "'' is neither a file");
    refused(&["\u{1b}[31m*", "policy"], "is neither a file");
    refused(&["--history", "--site", "other.example"], "no site has the host");

    let without = disallowing(&origin, "", "", "").violations("  log: $DIR/v.jsonl\n");
    let folder = beadle.folder().join("without.yaml");
    std::fs::write(&folder, beadle.text_of(&without)).expect("the folder is ours");
    let missing = disallowing(&origin, "", "", "").violations("  database: $DIR/none.db\n");
    let missing_file = beadle.folder().join("missing.yaml");
    std::fs::write(&missing_file, beadle.text_of(&missing)).expect("the folder is ours");
    for (file, sign) in [(&folder, "set 'violations.database'"), (&missing_file, "none.db")] {
        for args in [&["robots", "--history"][..], &["diff", "ab", "cd"]] {
            let output = std::process::Command::new(PROGRAM)
                .args(args)
                .arg("--config")
                .arg(file)
                .output()
                .expect("the program can be started");
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
            assert!(text.contains(sign), "{args:?}: {text}");
        }
    }
    assert!(!beadle.folder().join("none.db").exists(), "reading creates no database");
}

#[test]
fn explain_shows_the_edition_read_and_the_grace() {
    let origin = Origin::plain();
    let beadle = old(&origin).start();
    let first = fetch(&beadle, GPTBOT, ONE);
    beadle.reload(&new(&origin));
    wait_for_fetches(&beadle, 1);
    let alone = explain(&beadle, GPTBOT, ONE, "https://site.example/new/x");
    assert_eq!(alone["editions"][0]["held"], false, "it has not fetched that: {alone}");
    let second = fetch(&beadle, GPTBOT, TWO);
    wait_for_fetches(&beadle, 2);
    wait_for("the editions", || (beadle.rows("SELECT id FROM editions").len() == 2).then_some(()));
    let url = "https://site.example/new/x";
    let excused = explain(&beadle, GPTBOT, ONE, url);
    assert_eq!(excused["verdict"], "disallow");
    assert_eq!(
        (&excused["action"], &excused["reason"]),
        (&json!("pass"), &json!("robots.disallow.grace"))
    );
    assert_eq!(excused["editions"][0]["edition"], second);
    // Another network of the crawler has fetched this edition since.
    assert_eq!(excused["editions"][0]["held"], true);
    assert_eq!(excused["editions"][0]["verdict"], "disallow");
    assert!(excused["editions"][0]["until"].is_null(), "{excused}");
    let past = &excused["editions"][1];
    assert_eq!((&past["edition"], &past["verdict"]), (&json!(first), &json!("allow")));
    assert_eq!((&past["held"], past["until"].is_string()), (&json!(true), true));
    let blocked = explain(&beadle, GPTBOT, TWO, url);
    assert_eq!(
        (&blocked["action"], &blocked["reason"]),
        (&json!("block"), &json!("robots.disallow"))
    );
    assert_eq!(blocked["robots_read"]["state"], "current");
    assert_eq!(blocked["editions"][1]["held"], false);
    let never = explain(&beadle, WILDBOT, ONE, url);
    assert_eq!(
        (&never["action"], &never["robots_read"]["state"]),
        (&json!("pass"), &json!("never"))
    );
    // The proxy does what `explain` says.
    assert_eq!(visit(&beadle, "/new/x", GPTBOT, ONE), 200);
    assert_eq!(visit(&beadle, "/new/x", GPTBOT, TWO), 403);
    for (ip, signs) in [
        (
            ONE,
            [
                format!("it may still follow {first}, which allows this"),
                "pass (robots.disallow.grace)".to_owned(),
            ],
        ),
        (
            TWO,
            [
                format!("last fetched the edition in force, {second}, at "),
                "which it has not read".to_owned(),
            ],
        ),
    ] {
        let text = beadle.verb(&["explain", "--user-agent", GPTBOT, "--client-ip", ip, url]);
        let text = String::from_utf8_lossy(&text.stdout).into_owned();
        for sign in signs {
            assert!(text.contains(&sign), "{sign} in\n{text}");
        }
    }
}
