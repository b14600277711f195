//! Fair in time: nobody is held to a robots.txt that he can't know yet (RFC 9309 §2.4), across
//! reloads and restarts, and the operator can see why.

use serde_json::{Value, json};

use crate::support::{
    BROWSER,
    client::{Request, Response},
    origin::Origin,
    program::{Beadle, PROGRAM, Setup, json_lines},
    wait_for,
};

const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";
const WILDBOT: &str = "WildBot/1.0 (+https://wild.example/bot)";
/// In three networks.
const ONE: &str = "192.0.2.1";
const TWO: &str = "198.51.100.2";
const THREE: &str = "2001:db8:3::3";

/// Everybody is kept out of /both/, and out of these.
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

/// Fetches robots.txt and gives the name of the edition.
fn fetch(beadle: &Beadle, user_agent: &str, ip: &str) -> String {
    let answer = ask(beadle, "/robots.txt", user_agent, ip);
    assert_eq!(answer.status, 200);
    answer.header("etag").expect("it has one").trim_matches('"').to_owned()
}

fn edition(beadle: &Beadle) -> String {
    fetch(beadle, BROWSER, ONE)
}

fn grace(beadle: &Beadle, product_token: &str) -> f64 {
    let labels = format!("product_token=\"{product_token}\",site=\"site.example\"");
    beadle.metric(&format!("beadle_grace_total{{{labels}}}"))
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

/// Waits until so many pairs of crawler and network are written down.
fn wait_for_fetches(beadle: &Beadle, count: usize) {
    wait_for("the fetches in the database", || {
        (beadle.rows("SELECT edition FROM fetches").len() == count).then_some(())
    });
}

#[test]
fn rfc9309_2_4_who_can_only_know_the_old_file_is_held_to_that() {
    let origin = Origin::plain();
    let beadle = old(&origin).start();
    let first = fetch(&beadle, GPTBOT, ONE);
    let _ = fetch(&beadle, BINGBOT, ONE);
    beadle.reload(&new(&origin));
    let second = fetch(&beadle, BINGBOT, ONE);
    assert_ne!(first, second);
    // It has the old file; it has none; it has none and nobody knows it.
    for (name, user_agent) in
        [("GPTBot", GPTBOT), ("Amazonbot", "Amazonbot/0.1"), ("other", WILDBOT)]
    {
        assert_eq!(visit(&beadle, "/new/x", user_agent, ONE), 200, "{user_agent}");
        beadle.wait_for_metric(
            &format!("beadle_grace_total{{product_token=\"{name}\",site=\"site.example\"}}"),
            1.0,
        );
    }
    assert_eq!(beadle.metric("beadle_records_seen"), 0.0, "grace is no violation");
    // Has read it, and goes on.
    assert_eq!(visit(&beadle, "/new/read", BINGBOT, ONE), 403);
    let record = record_of(&beadle, "/new/read");
    assert_eq!(record["robots"]["edition"], second);
    assert_eq!(record["robots_read"]["state"], "current");
    assert_eq!(record["robots_read"]["edition"], second);
    assert!(record["robots_read"]["at"].as_str().is_some_and(|at| at.ends_with('Z')), "{record}");
    // What both forbid is no news to anybody.
    for (user_agent, path, state, read) in [
        (GPTBOT, "/both/older", "older", json!(first)),
        ("Amazonbot/0.1", "/both/never", "never", Value::Null),
        (WILDBOT, "/both/wild", "never", Value::Null),
    ] {
        assert_eq!(visit(&beadle, path, user_agent, ONE), 403, "{path}");
        let record = record_of(&beadle, path);
        assert_eq!(record["reason"], "robots.disallow");
        assert_eq!(record["robots"]["edition"], second);
        assert_eq!(record["robots_read"]["state"], state);
        assert_eq!(record["robots_read"]["edition"], read);
    }
    // Once it has read the new one, that counts.
    assert_eq!(fetch(&beadle, GPTBOT, ONE), second);
    assert_eq!(visit(&beadle, "/new/y", GPTBOT, ONE), 403);
    assert_eq!(grace(&beadle, "GPTBot"), 1.0);
    assert_eq!(record_of(&beadle, "/new/y")["robots_read"]["state"], "current");
}

#[test]
fn a_site_may_have_no_patience() {
    let origin = Origin::plain();
    for (robots_txt, enforcement) in [("", ", grace: enforce"), (", cache_window: 0s", "")] {
        let beadle = disallowing(&origin, "", robots_txt, enforcement).start();
        let first = fetch(&beadle, GPTBOT, ONE);
        beadle.reload(&disallowing(&origin, ", /new/", robots_txt, enforcement));
        assert_eq!(visit(&beadle, "/new/x", GPTBOT, ONE), 403, "{robots_txt}{enforcement}");
        assert_eq!(visit(&beadle, "/new/never", WILDBOT, ONE), 403);
        let record = record_of(&beadle, "/new/x");
        assert_eq!(record["robots_read"]["state"], "older");
        assert_eq!(record["robots_read"]["edition"], first);
        assert_eq!(record["reason"], "robots.disallow");
        assert_eq!(grace(&beadle, "GPTBot"), 0.0);
    }
}

#[test]
fn a_window_that_is_over_excuses_nobody() {
    let origin = Origin::plain();
    let window = ", cache_window: 2s, max_age: 1s";
    let beadle = disallowing(&origin, "", window, "").start();
    fetch(&beadle, GPTBOT, ONE);
    beadle.reload(&disallowing(&origin, ", /new/", window, ""));
    assert_eq!(visit(&beadle, "/new/x", GPTBOT, ONE), 200);
    wait_for("the end of the window", || {
        (visit(&beadle, "/new/x", GPTBOT, ONE) == 403).then_some(())
    });
}

#[test]
fn rfc9110_13_a_304_is_a_fetch_and_a_head_is_none() {
    let origin = Origin::plain();
    let beadle = old(&origin).start();
    let (first, _) = (fetch(&beadle, GPTBOT, ONE), fetch(&beadle, BINGBOT, ONE));
    beadle.reload(&new(&origin));
    let second = edition(&beadle);
    let request = |method: &str, user_agent: &str, tag: &str| {
        Request::new(method, "/robots.txt")
            .user_agent(user_agent)
            .field("X-Forwarded-For", ONE)
            .field("If-None-Match", format!("\"{tag}\""))
            .send(beadle.port)
    };
    let head = request("HEAD", GPTBOT, &first);
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(request("HEAD", GPTBOT, &second).status, 304);
    assert_eq!(visit(&beadle, "/new/x", GPTBOT, ONE), 200, "HEAD shows no rules");
    assert_eq!(request("GET", BINGBOT, &second).status, 304);
    assert_eq!(visit(&beadle, "/new/y", BINGBOT, ONE), 403, "it has that one already");
    assert_eq!(record_of(&beadle, "/new/y")["robots_read"]["edition"], second);
}

#[test]
fn rfc9110_8_8_validators_follow_the_editions_and_not_only_the_bytes() {
    let origin = Origin::plain();
    let beadle = old(&origin).start();
    let copy = || ask(&beadle, "/robots.txt", BROWSER, ONE);
    let conditional =
        |name: &str, value: &str| Request::get("/robots.txt").field(name, value).send(beadle.port);
    // A, B, A, C, A, all within a second or two.
    let mut copies = vec![copy()];
    for setup in [new(&origin), old(&origin), disallowing(&origin, ", /c/", "", ""), old(&origin)] {
        beadle.reload(&setup);
        let now = copy();
        assert_eq!(now.header("cache-control"), Some("public, max-age=3600"));
        for before in &copies {
            let is_same = before.body == now.body;
            let tag = before.header("etag").expect("a tag");
            let by_tag = conditional("If-None-Match", tag);
            assert_eq!(by_tag.status, if is_same { 304 } else { 200 });
            assert_eq!(is_same, before.header("etag") == now.header("etag"));
            let date = before.header("last-modified").expect("a date");
            if !is_same {
                let by_date = conditional("If-Modified-Since", date);
                assert_eq!(by_date.status, 200, "{date}, {:?}", now.header("last-modified"));
            }
        }
        let date = now.header("last-modified").expect("a date");
        assert_eq!(conditional("If-Modified-Since", date).status, 304);
        copies.push(now);
    }
    let dates: Vec<_> = copies.iter().map(|copy| copy.header("last-modified")).collect();
    assert_ne!(dates.first(), dates.last(), "it was modified in between");
}

#[test]
fn rfc9110_8_8_2_dates_tell_editions_apart_where_nothing_is_excused_too() {
    let origin = Origin::plain();
    let impatient = |paths: &str| disallowing(&origin, paths, ", cache_window: 0s", "");
    let beadle = impatient("").start();
    for paths in [", /b/", "", ", /c/", ", /d/"] {
        let before = ask(&beadle, "/robots.txt", BROWSER, ONE);
        beadle.reload(&impatient(paths));
        let date = before.header("last-modified").expect("a date");
        let answer = Request::get("/robots.txt").field("If-Modified-Since", date);
        assert_eq!(answer.send(beadle.port).status, 200, "{date} {paths}");
    }
    // They are told apart by the program that comes after, too.
    let copy = ask(&beadle, "/robots.txt", BROWSER, ONE);
    wait_for("five periods", || {
        (beadle.rows("SELECT edition FROM edition_periods").len() == 5).then_some(())
    });
    let beadle = beadle.restarted_as("KILL", impatient(", /d/"));
    let again = ask(&beadle, "/robots.txt", BROWSER, ONE);
    assert_eq!(again.header("last-modified"), copy.header("last-modified"));
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
        let dates = |beadle: &Beadle| {
            let answer = ask(beadle, "/robots.txt", BROWSER, ONE);
            (
                answer.header("etag").map(str::to_owned),
                answer.header("last-modified").map(str::to_owned),
            )
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
fn a_policy_changed_while_nothing_ran_is_news_too() {
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
    // And back again: the first edition goes on under its name.
    let beadle = beadle.restarted_as("KILL", old(&origin));
    assert_eq!(edition(&beadle), first);
    assert_eq!(visit(&beadle, "/new/x", GPTBOT, ONE), 200);
    let periods = "SELECT edition FROM edition_periods ORDER BY from_";
    wait_for("three periods", || {
        (beadle.rows(periods) == [first.as_str(), &second, &first]).then_some(())
    });
}

#[test]
fn what_one_network_of_a_crawler_read_another_need_not_know() {
    let origin = Origin::plain();
    let beadle = old(&origin).start();
    fetch(&beadle, GPTBOT, ONE);
    beadle.reload(&new(&origin));
    fetch(&beadle, GPTBOT, TWO);
    // The one that has the old file, from any address of it.
    assert_eq!(visit(&beadle, "/new/x", GPTBOT, ONE), 200);
    assert_eq!(visit(&beadle, "/new/x", GPTBOT, "192.0.2.200"), 200);
    // The one that has the new file, and a third that may have either.
    assert_eq!(visit(&beadle, "/new/x", GPTBOT, "198.51.100.99"), 403);
    assert_eq!(visit(&beadle, "/new/x", GPTBOT, THREE), 200);
    assert_eq!(visit(&beadle, "/both/x", GPTBOT, THREE), 403);
    // A person who looks at the file has not read it for a crawler.
    fetch(&beadle, BROWSER, ONE);
    assert_eq!(visit(&beadle, "/new/x", GPTBOT, ONE), 200);
    assert_eq!(visit(&beadle, "/new/x", BROWSER, ONE), 200);
}

#[test]
fn a_family_reads_the_file_under_one_of_its_names() {
    let origin = Origin::plain();
    let setup = |paths: &str| {
        let text = format!(
            "    robots_txt: {{ groups: [{{ user_agents: [OwnBot, \"*\"], disallow: [/both/{paths}] }}] }}\n    \
             enforcement: {{ mode: block, overrides: [{{ user_agents: [Googlebot-Image], mode: block }}] }}\n"
        );
        Setup::site(origin.port, &text).server("  trusted_proxies: [127.0.0.1]\n")
    };
    let beadle = setup("").start();
    fetch(&beadle, "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", ONE);
    fetch(&beadle, "OwnBot/1.0 (+https://own.example)", ONE);
    wait_for_fetches(&beadle, 2);
    beadle.reload(&setup(", /new/"));
    wait_for("the edition in the database", || {
        (beadle.rows("SELECT id FROM editions").len() == 2).then_some(())
    });
    let beadle = beadle.restarted_as("KILL", setup(", /new/"));
    for (user_agent, reader) in [("Googlebot-Image/1.0", "Googlebot/2.1"), ("ownbot/2", "OWNBOT")] {
        let state = |path: String| {
            assert_eq!(visit(&beadle, &path, user_agent, ONE), 403, "{user_agent} {path}");
            record_of(&beadle, &path)["robots_read"]["state"].clone()
        };
        assert_eq!(visit(&beadle, "/new/x", user_agent, ONE), 200, "{user_agent}");
        assert_eq!(state(format!("/both/{reader}")), "older");
        fetch(&beadle, reader, ONE);
        assert_eq!(state(format!("/new/{reader}")), "current");
    }
}

#[test]
fn two_names_at_once_excuse_no_more_than_each_alone() {
    let origin = Origin::plain();
    let beadle = old(&origin).start();
    fetch(&beadle, GPTBOT, ONE);
    beadle.reload(&new(&origin));
    fetch(&beadle, BINGBOT, ONE);
    assert_eq!(visit(&beadle, "/new/x", "GPTBot/1.2 bingbot/2.0", ONE), 403);
    assert_eq!(record_of(&beadle, "/new/x")["product_token"], "bingbot");
    // Nor does it help to write the path otherwise, or to have no name.
    fetch(&beadle, GPTBOT, ONE);
    for target in ["/n%65w/y", "/a/../new/y", "//new/y"] {
        assert_eq!(visit(&beadle, target, GPTBOT, ONE), 403, "{target}");
    }
    assert_eq!(visit(&beadle, "/new/z", "", TWO), 200);
    beadle.wait_for_metric("beadle_grace_total{product_token=\"none\",site=\"site.example\"}", 1.0);
    assert_eq!(visit(&beadle, "/both/z", "", TWO), 403);
}

#[test]
fn the_database_says_who_read_what_from_where() {
    let origin = Origin::plain();
    let beadle = old(&origin).start();
    let first = edition(&beadle);
    for ip in [ONE, "192.0.2.77", TWO, THREE, "2001:db8:3:9::1", "2001:db8:4::1"] {
        fetch(&beadle, GPTBOT, ip);
    }
    fetch(&beadle, WILDBOT, ONE); // known to nobody: in memory alone
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
fn where_addresses_are_hashed_so_are_networks() {
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
    // With another key nobody is recognised, which only makes the judgement milder.
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
    // The name means one file, whoever published it.
    let (a, b) = (tag("a.example").expect("a tag"), tag("b.example").expect("a tag"));
    let diff = beadle.verb(&["robots", "--diff", b.trim_matches('"'), a.trim_matches('"')]);
    assert!(diff.status.success(), "{diff:?}");
    assert!(String::from_utf8_lossy(&diff.stdout).contains("allow -> disallow"), "{diff:?}");
    let unclear = beadle.verb(&["robots", "--diff", a.trim_matches('"'), "policy"]);
    assert_eq!(unclear.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unclear.stderr).contains("--site"), "{unclear:?}");
}

#[test]
fn the_history_is_listed_and_editions_are_compared_by_meaning() {
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
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(text.lines().nth(3).is_some_and(|line| line.contains("in force")), "{text}");
    let sha256 = json[1]["sha256"].as_str().expect("a text");
    for (before, after, change) in [
        (first.as_str(), second.as_str(), Some("allow -> disallow")),
        (&first[..4], &second[..6].to_uppercase(), Some("allow -> disallow")),
        (&first, sha256, Some("allow -> disallow")),
        (&second, "policy", Some("disallow -> allow")),
        (&first, "policy", None),
        (&second, &second, None),
    ] {
        let diff = beadle.verb(&["robots", "--diff", before, after]);
        let text = String::from_utf8_lossy(&diff.stdout);
        assert_eq!(diff.status.code(), Some(0), "{before} {after}: {diff:?}");
        match change {
            Some(change) => {
                assert!(text.contains("/new/") && text.contains(change), "{text}");
                assert!(!text.contains("/both/"), "{text}");
            }
            None => assert!(text.contains("judged differently"), "{text}"),
        }
    }
    let row = beadle.verb(&["robots", "--format", "json", "--diff", &first, &second]);
    let rows = json_lines(&row);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0]["before"]["verdict"], "allow");
    assert_eq!(
        rows[0]["after"],
        json!({ "verdict": "disallow", "directive": "disallow", "pattern": "/new/", "line": 6 })
    );
}

#[test]
fn what_can_not_be_listed_or_compared_is_told_why() {
    let origin = Origin::plain();
    let beadle = old(&origin).start();
    // Until two of them begin with the same digit.
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
        let output = beadle.verb(&[&["robots"], args].concat());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
        assert!(text.contains(sign), "{args:?}: {text}");
        assert!(output.stdout.is_empty(), "{args:?}: {output:?}");
    };
    refused(&["--diff", &prefix, "policy"], "write more digits");
    refused(&["--diff", "zzzz", "policy"], "no edition begins with 'zzzz'");
    refused(&["--diff", "", "policy"], "no edition begins with ''");
    refused(&["--diff", "\u{1b}[31m*", "policy"], "no edition begins with");
    refused(&["--history", "--site", "other.example"], "no site has the host");
    refused(&["--history", "--diff", "a", "b"], "cannot be used with");

    let without = disallowing(&origin, "", "", "").violations("  log: $DIR/v.jsonl\n");
    let folder = beadle.folder().join("without.yaml");
    std::fs::write(&folder, beadle.text_of(&without)).expect("the folder is ours");
    let missing = disallowing(&origin, "", "", "").violations("  database: $DIR/none.db\n");
    let missing_file = beadle.folder().join("missing.yaml");
    std::fs::write(&missing_file, beadle.text_of(&missing)).expect("the folder is ours");
    for (file, sign) in [(&folder, "set 'violations.database'"), (&missing_file, "none.db")] {
        for args in [&["--history"][..], &["--diff", "ab", "cd"]] {
            let output = std::process::Command::new(PROGRAM)
                .args(["robots", "--config"])
                .arg(file)
                .args(args)
                .output()
                .expect("the program can be started");
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
            assert!(text.contains(sign), "{args:?}: {text}");
        }
    }
    assert!(!beadle.folder().join("none.db").exists(), "a look makes no database");
}

#[test]
fn explain_tells_what_was_read_and_why_it_is_excused() {
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
    // Another of its networks has fetched that since.
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
    // What is explained is what is done.
    assert_eq!(visit(&beadle, "/new/x", GPTBOT, ONE), 200);
    assert_eq!(visit(&beadle, "/new/x", GPTBOT, TWO), 403);
    for (ip, signs) in [
        (
            ONE,
            [
                format!("it may be going by {first}, which allows this"),
                "pass (robots.disallow.grace)".to_owned(),
            ],
        ),
        (
            TWO,
            [
                format!("last fetched the edition in force, {second}, at "),
                "which it does not go by".to_owned(),
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
