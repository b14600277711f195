//! The desk: who may see it, and what its pages show.

use std::{
    collections::BTreeSet,
    os::unix::fs::PermissionsExt as _,
    time::{Duration, Instant},
};

use crate::support::{
    client::{Request, Response},
    origin::Origin,
    program::{Beadle, Setup},
    wait_for,
};

mod crawlers; // the list, the scorecard, the evidence bundle
mod overview; // counts of a span, and the state of the program

const RULES: &str = "
    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/private/, /old/] }] }
    enforcement: { mode: log, overrides: [{ user_agents: [GPTBot], mode: block }] }
";
const TOKEN: &str = "correct-horse-battery-staple";
const ADMIN: &str = "{ address: $ADMIN, token_file: token }";

/// A program with the token of the file `token` beside its policy.
fn with_token() -> Beadle {
    let origin = Origin::plain();
    // A token file is a secret of the machine, so any file that is there will do.
    let folder = tempfile::tempdir().expect("a folder").keep();
    let file = folder.join("token");
    std::fs::write(&file, format!("{TOKEN}\n")).expect("written");
    let admin = ADMIN.replace("token_file: token", &format!("token_file: {}", file.display()));
    Setup::site(origin.port, RULES).admin(&admin).start()
}

fn page(beadle: &Beadle, path: &str) -> Request {
    let _ = beadle;
    Request::get(path).host("localhost").field("Accept", "text/html,*/*;q=0.8")
}

fn form(path: &str, body: &str) -> Request {
    Request::new("POST", path)
        .host("localhost")
        .field("Content-Type", "application/x-www-form-urlencoded")
        .body(body)
}

fn assert_guarded(answer: &Response, path: &str) {
    let policy = answer.header("content-security-policy").unwrap_or_default();
    assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
    assert!(!policy.contains("unsafe"), "{path}: {policy}");
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
    assert!(answer.header("cache-control").is_some(), "{path}");
}

#[test]
fn a_token_opens_the_desk_and_health_needs_none() {
    let beadle = with_token();
    for path in ["/", "/violations", "/violations/x", "/metrics", "/nothing"] {
        let answer = Request::get(path).host("localhost").send(beadle.admin);
        assert_eq!(answer.status, 401, "{path}");
        assert!(answer.has("www-authenticate", "Bearer realm=\"beadle\""), "{path}");
        assert_guarded(&answer, path);
        for token in ["x", "", &TOKEN[1..]] {
            let answer = Request::get(path)
                .host("localhost")
                .field("Authorization", format!("Bearer {token}"))
                .send(beadle.admin);
            assert_eq!(answer.status, 401, "{path} {token}");
        }
    }
    for path in ["/", "/violations", "/metrics"] {
        let answer = Request::get(path)
            .host("localhost")
            .field("Authorization", format!("Bearer {TOKEN}"))
            .send(beadle.admin);
        assert_eq!(answer.status, 200, "{path}");
        assert_guarded(&answer, path);
    }
    for path in ["/healthz", "/readyz", "/login", "/assets/desk.css"] {
        assert_eq!(Request::get(path).host("localhost").send(beadle.admin).status, 200, "{path}");
    }
}

#[test]
fn a_person_logs_in_once_and_comes_to_the_page_asked_for() {
    let beadle = with_token();
    let answer = page(&beadle, "/violations?site=a&action=log").send(beadle.admin);
    assert_eq!(answer.status, 303);
    let login = answer.header("location").expect("a location").to_owned();
    assert_eq!(login, "/login?next=%2Fviolations%3Fsite%3Da%26action%3Dlog");
    let text = page(&beadle, &login).send(beadle.admin).text();
    assert!(text.contains("value=\"/violations?site=a&#38;action=log\""), "{text}");

    let wrong = form("/login", "token=wrong&next=%2Fviolations").send(beadle.admin);
    assert_eq!(wrong.status, 403);
    assert_eq!(wrong.header("set-cookie"), None);
    assert!(wrong.text().contains("This is not the token."));

    let body = format!("token={TOKEN}&next=%2Fviolations%3Fsite%3Da");
    let right = form("/login", &body).field("Sec-Fetch-Site", "same-origin").send(beadle.admin);
    assert_eq!((right.status, right.header("location")), (303, Some("/violations?site=a")));
    let cookie = right.header("set-cookie").expect("a cookie").to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
    assert!(!cookie.contains(TOKEN), "{cookie}");
    let cookie = cookie.split(';').next().expect("a pair");
    let shown = page(&beadle, "/violations").field("Cookie", cookie).send(beadle.admin);
    assert_eq!(shown.status, 200);
    assert!(shown.text().contains("Log out"));

    let left = form("/logout", "").field("Cookie", cookie).send(beadle.admin);
    assert!(left.header("set-cookie").is_some_and(|line| line.contains("Max-Age=0")));
}

#[test]
fn a_form_of_another_site_changes_nothing() {
    let beadle = with_token();
    let body = format!("token={TOKEN}");
    for (name, value) in [
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
        ("Origin", "http://evil.example"),
        ("Origin", "null"),
    ] {
        let answer = form("/login", &body).field(name, value).send(beadle.admin);
        assert_eq!((answer.status, answer.header("set-cookie")), (403, None), "{name}: {value}");
    }
}

#[test]
fn without_a_good_token_no_address_is_open_to_others() {
    let origin = Origin::plain();
    let folder = tempfile::tempdir().expect("a folder");
    let open = folder.path().join("open");
    std::fs::write(&open, "correct-horse-battery").expect("the folder is ours");
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o666)).expect("ours, too");
    let open = format!("{{ address: $ADMIN, token_file: {} }}", open.display());
    for (admin, why) in [
        (&*open, "every user may write it"),
        ("0.0.0.0:1", "0.0.0.0:1 is open to other machines, without a token"),
        ("{ address: \"[::]:1\" }", "[::]:1 is open to other machines, without a token"),
        ("{ address: $ADMIN, token_file: /nowhere/token }", "/nowhere/token: No such file"),
        ("{ address: $ADMIN, token_file: /dev/null }", "shorter than 16 characters"),
    ] {
        let mut beadle = Setup::site(origin.port, "").admin(admin).spawn();
        let (status, _) = beadle.wait();
        assert_eq!(status.code(), Some(2), "{admin}");
        // Its last line may still be on the way.
        beadle.wait_for_stderr(why);
    }
}

#[test]
fn violations_are_listed_filtered_and_shown_whole() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    for (path, user_agent) in [
        ("/private/a", "GPTBot/1.2"),
        ("/private/<b>?x=\"'&y", "bingbot/2.0"),
        ("/old/c", "<script>alert(1)</script> GPTBot/1.2"),
    ] {
        beadle.get(path, user_agent);
    }
    let records = beadle.records(3);
    beadle.wait_for_metric("beadle_records_stored_total", 3.0);
    let list = |query: &str| {
        let answer = page(&beadle, &format!("/violations{query}")).send(beadle.admin);
        assert_eq!(answer.status, 200, "{query}");
        assert_guarded(&answer, query);
        answer.text()
    };
    let rows = |text: &str| text.matches("<a href=\"/violations/").count();
    for (query, count) in [
        ("", 3),
        ("?crawler=gptbot", 2),
        ("?crawler=GPTBot&action=block&site=&path=", 2),
        ("?action=log", 1),
        ("?path=/old/", 1),
        ("?path=%2Fold%2F%24", 0),
        ("?since=2020-01-01", 3),
        ("?since=2999-01-01", 0),
        ("?until=2020-01-01", 0),
        ("?since=2020-01-01&until=2999-01-01", 3),
        ("?before=2", 1),
        ("?sort=time&before=2", 1),
        ("?rule=Disallow:+/private/", 2),
        ("?rule=Disallow:+/", 0),
        ("?exact_path=/private/a", 1),
        ("?exact_path=/private/", 0),
    ] {
        assert_eq!(rows(&list(query)), count, "{query}");
    }
    for (query, said) in [
        ("", "3 violations, the latest first"),
        ("?action=log", "1 violation, the latest first"),
        ("?crawler=NoSuchBot", "Nothing is listed with this filter."),
        ("?since=2999-01-01", "No violation is recorded with this filter."),
        ("?sort=time", "3 violations, the oldest first"),
        ("?sort=-crawler", "3 violations, by crawler backwards, of each the latest first"),
        (
            "?sort=time",
            "<th scope=\"col\" aria-sort=\"ascending\"><a href=\"/violations\">time</a>",
        ),
        ("?action=log", "<a href=\"/api/v1/violations.csv?action=log\" download>"),
    ] {
        assert!(list(query).contains(said), "{query}: {said}: {}", list(query));
    }
    // Counts are written behind the records.
    wait_for("the values that occur", || {
        list("").contains("<option value=\"GPTBot\">2</option>").then_some(())
    });
    for (query, said) in [
        ("", "<option value=\"Disallow: /private/\">2</option>"),
        ("?crawler=bingbot", "<option value=\"GPTBot\">2</option>"),
        ("?crawler=bingbot", "<option value=\"site.example\">1</option>"),
        (
            "?crawler=CCBot",
            "No record has the crawler 'CCBot'. There are records of GPTBot (2), bingbot (1).",
        ),
        (
            "?rule=Disallow:+/privat/",
            "No record has the rule 'Disallow: /privat/'. There are records of ",
        ),
        (
            "?crawler=bingbot&purpose=seo",
            "No record has the purpose 'seo'. There are records of search (1).",
        ),
    ] {
        let text = list(query);
        assert!(text.contains(&said.replace('\'', "&#39;")), "{query}: {said}: {text}");
    }
    for (query, fault) in [
        ("?since=soon", "'soon' is no day"),
        ("?path=old", "'old' is no path"),
        ("?crawler=NoSuchBot", "No crawler is named 'NoSuchBot'"),
        ("?site=none.example", "No site has the host 'none.example'"),
        ("?purpose=ai-trainig", "No purpose is named 'ai-trainig'"),
        ("?action=deny", "'deny' is no action: choose one of log, throttle, block."),
        ("?impostors=all", "'all' is no choice of impostors: choose one of without, only."),
        ("?reason=robots.froms", "'robots.froms' is no reason: choose one of "),
        ("?rule=/private/", "'/private/' is no rule (write it as robots.txt has it"),
        ("?before=abc", "'abc' is no number of a record"),
        ("?until=soon", "'soon' is no day"),
        ("?since=2026-01-02&until=2026-01-02", "The end is not after the start: a day begins at"),
        ("?sort=path", "The list has no order 'path': choose one of time, site, action, crawler"),
        ("?at=x", "'x' is no number of a record: leave 'at' out."),
        ("?standing=confirmed", "no condition 'standing': choose one of crawler, site, "),
        ("?site=site.example&site=x", "'site' stands there twice"),
    ] {
        let text = list(query);
        assert!(text.contains(&fault.replace('\'', "&#39;")), "{query}: {text}");
    }
    for (path, fault) in [
        ("/?days=x", "'x' is no number of days: choose one of 1, 7, 30, 90."),
        ("/?site=x", "No site has the host 'x'"),
        ("/?sort=", "This page has no condition 'sort': choose one of days, site."),
        ("/crawlers?sort=bad", "'bad' is no column to sort by: choose one of name, requests, "),
        ("/crawlers?days=5", "'5' is no number of days"),
        ("/crawlers/GPTBot?until=1", "This page has no condition 'until'"),
        ("/robots?days=x", "'x' is no number of days"),
        ("/robots/site.example?day=7", "This page has no condition 'day'"),
        ("/live?standing=", "This page has no condition 'standing'"),
    ] {
        let text = page(&beadle, path).send(beadle.admin).text();
        assert!(text.contains(&fault.replace('\'', "&#39;")), "{path}: {text}");
    }
    let bundle = page(&beadle, "/crawlers/GPTBot/evidence.zip?days=x").send(beadle.admin);
    assert_eq!(bundle.status, 400, "of another span than was meant");
    for record in &records {
        let id = record["id"].as_str().expect("an id");
        let text = page(&beadle, &format!("/violations/{id}")).send(beadle.admin).text();
        let here = "<a href=\"/violations\" aria-current=\"page\">";
        for known in [id, here, "Disallow: /", "The rules disallow this path.", "127.0.0.1"] {
            assert!(text.contains(known), "{known}: {text}");
        }
        assert!(!text.contains("<script") && !text.contains("<b>"), "{text}");
    }
    let missing = page(&beadle, "/violations/%3Cscript%3E").send(beadle.admin);
    assert_eq!(missing.status, 404);
    assert!(!missing.text().contains("<script"), "{}", missing.text());
}

/// The links to lists of violations, each with its number: its own text, or the next cell.
fn numbered_links(text: &str) -> Vec<(String, usize)> {
    let numbered = |rest: &str| {
        let (link, rest) = rest.split_once("\">")?;
        let (name, rest) = rest.split_once("</a>")?;
        let cell = || rest.strip_prefix("</td><td class=\"number\">")?.split('<').next();
        let number = name.parse().ok().or_else(|| cell()?.parse().ok())?;
        Some((format!("/violations?{}", link.replace("&#38;", "&")), number))
    };
    text.split("<a href=\"/violations?").skip(1).filter_map(numbered).collect()
}

#[test]
fn every_number_leads_to_as_many_violations() {
    const SHARED: &str = "
    robots_txt:
      groups:
        - { user_agents: [\"*\"], disallow: [/private/, /private/a/] }
        - { user_agents: [CCBot], disallow: [/private/, /own/] }
    enforcement: { mode: log }
";
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, SHARED).start();
    for (path, user_agent) in [
        ("/private/a", "GPTBot/1.2"),
        ("/private/a?x=1", "GPTBot/1.2"),
        ("/private/ab", "GPTBot/1.2"),
        ("/private/a/b", "GPTBot/1.2"),
        ("/private/a/c", "bingbot/2.0"),
        ("/private/a*", "bingbot/2.0"),
        ("/private/é", "bingbot/2.0"),
        ("/private/a", "CCBot/2.0"),
        ("/own/a", "CCBot/2.0"),
        ("/open", "GPTBot/1.2"),
    ] {
        beadle.get(path, user_agent);
    }
    beadle.wait_for_metric("beadle_records_stored_total", 9.0);
    let text = |path: &str| page(&beadle, path).send(beadle.admin).text();
    let mut seen = 0;
    for path in ["/", "/crawlers/GPTBot", "/crawlers/bingbot", "/crawlers/CCBot", "/robots"] {
        let links = numbered_links(&text(path));
        assert!(links.len() >= 2, "{path}: {}", text(path));
        for (link, number) in links {
            let listed = text(&link).matches("<a href=\"/violations/").count();
            assert_eq!(listed, number, "{path}: {link}");
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen}");
    // Records do not tell the two lines with this rule apart.
    assert!(!text("/robots").contains("rule=Disallow%3A+%2Fprivate%2F&#38;"));
}

#[test]
fn the_list_goes_back_page_by_page() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    for number in 0..250 {
        let user_agent = if number % 5 == 0 { "bingbot/2.0" } else { "GPTBot/1.2" };
        beadle.get(&format!("/private/{number}"), user_agent);
    }
    beadle.wait_for_metric("beadle_records_stored_total", 250.0);
    let text = |path: &str| page(&beadle, path).send(beadle.admin).text();
    wait_for("all counts", || text("/violations").contains("\">200</option>").then_some(()));
    let of = |row: &str, name: &str| {
        let (_, value) = row.split_once(&format!("data-name=\"{name}\""))?;
        Some(value.split_once('>')?.1.split('<').next()?.to_owned())
    };
    for sort in ["", "time", "crawler", "-crawler", "site", "-action"] {
        let (mut path, mut seen) = (format!("/violations?sort={sort}"), Vec::new());
        loop {
            let text = text(&path);
            let before = seen.len();
            let rows = text.split("<tr>").filter(|row| row.contains("data-name"));
            seen.extend(rows.filter_map(|row| {
                let number = of(row, "path")?.trim_start_matches("/private/").parse::<u32>().ok();
                Some((of(row, "crawler")?.to_lowercase(), number?))
            }));
            let shown = format!("250 violations, showing {}–{}, ", before + 1, seen.len());
            assert!(text.contains(&shown), "{path}: {shown}: {text}");
            let Some((_, older)) = text.split_once("rel=\"next\" href=\"") else { break };
            path = older.split('"').next().expect("a link").replace("&#38;", "&");
        }
        let crawlers: Vec<&str> = seen.iter().map(|(name, _)| name.as_str()).collect();
        let numbers: Vec<u32> = seen.iter().map(|(_, number)| *number).collect();
        // Records are written when responses end, so that neighbours may change places.
        let halves = [&numbers[..100], &numbers[150..]].map(|part| part.iter().sum::<u32>());
        match sort {
            "crawler" => assert!(crawlers.is_sorted(), "{crawlers:?}"),
            "-crawler" => assert!(crawlers.is_sorted_by(|a, b| a >= b), "{crawlers:?}"),
            "time" => assert!(halves[0] < halves[1], "the oldest first: {numbers:?}"),
            _ => assert!(halves[0] > halves[1], "the latest first: {numbers:?}"),
        }
        let each: BTreeSet<u32> = numbers.iter().copied().collect();
        assert_eq!((each.len(), numbers.len()), (250, 250), "{sort}: each once");
    }
    // The file has exactly the list.
    let list = text(
        "/violations?crawler=bingbot&impostors=without&since=2020-01-01&exact_path=/private/0",
    );
    let (_, link) = list.split_once("<a href=\"/api/v1/violations.csv?").expect("a link");
    let link = link.split('"').next().expect("a link").replace("&#38;", "&");
    for (name, lines) in [("jsonl", 1), ("csv", 2)] {
        let export = text(&format!("/api/v1/violations.{name}?{link}"));
        assert_eq!(export.lines().count(), lines, "{export}");
    }
}

#[test]
fn a_hostile_record_keeps_a_page_small() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    let long = format!("/private/{}", "x".repeat(840));
    for number in 0..100 {
        beadle.get(&format!("{long}{number}"), &format!("{}bot/1.0", "N".repeat(54)));
    }
    beadle.wait_for_metric("beadle_records_stored_total", 100.0);
    for path in ["/violations", "/live"] {
        let text = page(&beadle, path).send(beadle.admin).text();
        assert!(text.len() < 100 << 10, "{path} has {} bytes", text.len());
        assert!(!text.contains(&long), "the page of the record has the whole");
    }
}

#[test]
fn an_empty_desk_says_what_to_try() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    for path in ["/", "/violations"] {
        let text = page(&beadle, path).send(beadle.admin).text();
        let (_, command) = text.split_once("<pre>curl ").expect("a command");
        let command = command.split('<').next().expect("a command").replace("&#39;", "'");
        let url = format!(
            "-A GPTBot/1.0 -H 'Host: site.example' 'http://127.0.0.1:{}/private/'",
            beadle.port
        );
        assert_eq!(command, url, "{path}");
    }
}

#[test]
fn a_million_records_are_listed_and_exported() {
    if std::env::var_os("BEADLE_FULL").is_none() {
        return;
    }
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    beadle.get("/private/a", "GPTBot/1.2");
    beadle.wait_for_metric("beadle_records_stored_total", 1.0);
    crate::api::fill(&beadle, 1_000_000);
    let mut last = String::new();
    // The summaries come in pieces behind the records.
    let patience = Instant::now() + Duration::from_secs(300);
    for sort in ["", "time", "crawler", "-site", "action"] {
        let path = format!("/violations?sort={sort}");
        loop {
            let start = Instant::now();
            last = page(&beadle, &path).send(beadle.admin).text();
            let took = start.elapsed();
            eprintln!("{path}: {took:?}");
            if took < Duration::from_millis(300) {
                break;
            }
            assert!(Instant::now() < patience, "{path} takes {took:?}");
            std::thread::sleep(Duration::from_secs(2));
        }
    }
    assert!(last.contains("1,000,001 violations, showing 1–100, by action"), "{last}");
    let start = Instant::now();
    let export = page(&beadle, "/api/v1/violations.csv").send(beadle.admin);
    assert_eq!(export.text().lines().count(), 1_000_002);
    eprintln!("export: {:?}, {} bytes", start.elapsed(), export.body.len());
}
