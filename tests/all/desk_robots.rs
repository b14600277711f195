//! The pages of the desk about robots.txt and about the policy.

use super::origin_robots::{AS_IT_IS, CLOSED, GOOD, GPTBOT, OTHER, Reply, World};
use crate::support::{
    client::{Request, Response},
    origin::{After, Origin},
    program::{Beadle, Setup},
    wait_for,
};

const TOKEN: &str = "correct-horse-battery-staple";
const QUARANTINE: &str = "/robots/site.example/quarantine";

fn page(beadle: &Beadle, path: &str) -> Response {
    Request::get(path).host("localhost").field("Accept", "text/html").send(beadle.admin)
}

/// The text of a page that is there.
fn text(beadle: &Beadle, path: &str) -> String {
    let answer = page(beadle, path);
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    let policy = answer.header("content-security-policy").unwrap_or_default();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    let text = answer.text();
    assert!(!text.contains("<script"), "{path}: {text}");
    text
}

fn form(path: &str, body: &str) -> Request {
    Request::new("POST", path)
        .host("localhost")
        .field("Content-Type", "application/x-www-form-urlencoded")
        .field("Sec-Fetch-Site", "same-origin")
        .body(body)
}

/// The cells before the text of a line: violations, and requests that passed.
fn counts(page: &str, line: &str) -> Option<[String; 2]> {
    let (before, _) = page.split_once(&format!("<td class=\"mono\">{line}</td>"))?;
    let row = before.rsplit("<tr").next()?;
    let mut cells = row.rsplit("<td").map(|cell| {
        let text: Vec<&str> = cell.split(['<', '>']).collect();
        text.into_iter().find(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()))
    });
    let mut next = || Some(cells.next()?.unwrap_or_default().to_owned());
    let passed = next()?;
    Some([next()?, passed])
}

fn wait_for_counts(beadle: &Beadle, path: &str, line: &str, expected: [&str; 2]) {
    let mut last = None;
    wait_for(&format!("{expected:?} of '{line}'"), || {
        let found = counts(&text(beadle, path), line);
        let is_there = found.as_ref().is_some_and(|found| *found == expected);
        if found != last {
            last = found;
            eprintln!("{line}: {last:?}");
        }
        is_there.then_some(())
    });
}

#[test]
fn each_line_of_robots_txt_has_its_hits() {
    let origin = Origin::plain();
    let rules = |disallow: &str| {
        format!(
            "    robots_txt: {{ cache_window: 0s, groups: [{{ user_agents: [\"*\"], \
             disallow: [{disallow}], allow: [/private/press/] }}] }}\n    \
             enforcement: {{ mode: block }}\n"
        )
    };
    let beadle = Setup::site(origin.port, &rules("/private/, /old/, /never/")).start();
    for (path, user_agent, requests) in [
        ("/robots.txt", GPTBOT, 2),
        ("/robots.txt", "bingbot/2.0", 1),
        ("/private/x", GPTBOT, 3),
        ("/private/press/x", GPTBOT, 4),
        ("/old/x", "bingbot/2.0", 2),
        ("/open", GPTBOT, 5),
    ] {
        (0..requests).for_each(|_| drop(beadle.get(path, user_agent)));
    }
    // A site alone has no list.
    for path in ["/robots", "/robots/site.example", "/robots/SITE.example?days=1"] {
        wait_for_counts(&beadle, path, "Disallow: /private/", ["3", "0"]);
        wait_for_counts(&beadle, path, "Allow: /private/press/", ["0", "4"]);
        wait_for_counts(&beadle, path, "Disallow: /old/", ["2", "0"]);
        wait_for_counts(&beadle, path, "Disallow: /never/", ["0", "0"]);
    }
    let shown = text(&beadle, "/robots/site.example");
    assert_eq!(counts(&shown, "User-agent: *"), Some(Default::default()), "it decides nothing");
    let served = beadle.get("/robots.txt", "x").text();
    for (at, line) in served.lines().enumerate() {
        let number = format!("<tr id=\"L{0}\"><td class=\"number at\">{0}</td>", at + 1);
        let (_, row) = shown.split_once(&number).expect("a row for each line");
        let cell = format!("<td class=\"mono\">{}</td>", line.replace('\'', "&#39;"));
        assert!(row.split("</tr>").next().is_some_and(|row| row.contains(&cell)), "{cell}");
    }
    // The violations behind a number.
    let link =
        "<a href=\"/violations?site=site.example&#38;rule=Disallow%3A+%2Fprivate%2F&#38;since=20";
    assert!(shown.contains(link), "{shown}");
    assert!(shown.contains("policy line "), "the rule's place in the policy: {shown}");
    for fetches in
        [">GPTBot</a></td><td class=\"number\">2<", ">bingbot</a></td><td class=\"number\">1<"]
    {
        assert!(shown.contains(fetches), "{fetches}: {shown}");
    }
    // The rules of an older edition count where they are now, or below.
    let first = edition(&shown);
    beadle.reload(&Setup::site(origin.port, &rules("/new/, /private/")));
    beadle.get("/new/x", GPTBOT);
    beadle.get("/private/x", GPTBOT);
    wait_for_counts(&beadle, "/robots", "Disallow: /private/", ["4", "0"]);
    wait_for_counts(&beadle, "/robots", "Disallow: /new/", ["1", "0"]);
    let shown = text(&beadle, "/robots");
    assert!(shown.contains("Rules of older editions") && shown.contains("Disallow: /old/"));
    // The history, and what the second edition changed.
    let second = edition(&shown);
    assert_ne!(first, second);
    let rows = |id: &str| shown.matches(&format!(">{id}</a>")).count();
    assert_eq!((rows(&first), rows(&second)), (1, 1), "{shown}");
    let changes = text(&beadle, &format!("/robots/site.example/{second}"));
    for part in [
        &*format!("Changes from edition <a class=\"mono\" href=\"/robots/site.example/{first}\">"),
        "allow -&#62; disallow",
        "disallow -&#62; allow",
        "by &#39;Disallow: /new/&#39; (line",
        "<td class=\"mono path\">/never/</td>",
    ] {
        assert!(changes.contains(part), "{part}: {changes}");
    }
    assert!(text(&beadle, &format!("/robots/site.example/{first}")).contains("no earlier edition"));
    let terminal = beadle.verb(&["diff", &first, &second]);
    let terminal = String::from_utf8_lossy(&terminal.stdout).into_owned();
    let is_change = |line: &str| line.split_whitespace().eq(["/new/", "allow", "->", "disallow"]);
    assert!(terminal.lines().any(is_change), "{terminal}");
    // Bytes as they were served.
    let bytes = page(&beadle, &format!("/robots/site.example/{first}/file"));
    assert_eq!((bytes.status, bytes.text()), (200, served));
    assert!(bytes.has("content-type", "text/plain; charset=utf-8"));
    for path in ["/robots/x.example", "/robots/site.example/0123456789abcdef", "/robots/%00%ff"] {
        let status = page(&beadle, path).status;
        assert!([400, 404].contains(&status), "{path}: {status}");
    }
}

/// The edition on the page of a site.
fn edition(page: &str) -> String {
    let (_, rest) = page.split_once("Edition ").expect("an edition");
    rest.split(',').next().expect("an id").to_owned()
}

#[test]
fn a_quarantined_file_is_compared_and_published_by_its_form() {
    let world = World::new(AS_IT_IS, Reply::file(GOOD));
    assert_eq!(page(&world.beadle, QUARANTINE).status, 404);
    world.publish(Reply::file(CLOSED));
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[CLOSED]);
    let shown = text(&world.beadle, "/robots");
    assert!(shown.contains("closes the whole site") && shown.contains(QUARANTINE), "{shown}");
    let shown = text(&world.beadle, QUARANTINE);
    for part in
        ["<td class=\"mono\">Disallow: /</td>", "allow -&#62; disallow", "Publish this file"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let id = shown.split("name=\"id\" value=\"").nth(1).and_then(|rest| rest.split('"').next());
    let body = format!("id={}", id.expect("an id"));
    // Nothing else accepts it: no other site's form, no other file, no other method.
    for (name, value) in [("Sec-Fetch-Site", "cross-site"), ("Origin", "http://evil.example")] {
        let request = Request::new("POST", QUARANTINE)
            .host("localhost")
            .field("Content-Type", "application/x-www-form-urlencoded")
            .field(name, value)
            .body(&body);
        assert_eq!(request.send(world.beadle.admin).status, 403, "{name}: {value}");
    }
    let send = |body: &str| form(QUARANTINE, body).send(world.beadle.admin);
    assert_eq!(send("id=0123456789abcdef").status, 409);
    assert_eq!(send("").status, 400);
    assert_eq!(page(&world.beadle, &format!("{QUARANTINE}?{body}")).status, 200);
    world.wait_for_rows("SELECT site FROM held_robots WHERE accepted IS NULL", &["site.example"]);
    // The file changes while its page is open.
    let other = format!("# another\n{CLOSED}");
    world.publish(Reply::file(&other));
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[&other]);
    let stale = send(&body);
    assert_eq!(stale.status, 409);
    assert!(stale.text().contains("no longer in quarantine"), "{}", stale.text());
    world.wait_for_rows("SELECT site FROM held_robots WHERE accepted IS NULL", &["site.example"]);
    world.assert_serves(GOOD, "nothing is published");
    // The right form.
    let shown = text(&world.beadle, QUARANTINE);
    let id = shown.split("name=\"id\" value=\"").nth(1).and_then(|rest| rest.split('"').next());
    let done = send(&format!("id={}", id.expect("an id")));
    assert_eq!((done.status, done.header("location")), (303, Some("/robots/site.example")));
    world.wait_until_served(&other);
    world.wait_for_rows("SELECT site FROM held_robots", &[]);
    assert!(!text(&world.beadle, "/robots").contains("in quarantine since"));
    assert_eq!(send(&format!("id={}", id.expect("an id"))).status, 409, "sent twice");
}

#[test]
fn a_form_without_the_token_publishes_nothing() {
    let origin = Origin::plain();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("token");
    std::fs::write(&file, format!("{TOKEN}\n")).expect("written");
    let admin = format!("{{ address: $ADMIN, token_file: {} }}", file.display());
    let beadle = Setup::site(origin.port, "").admin(&admin).start();
    for path in [QUARANTINE, "/robots/x/quarantine"] {
        assert_eq!(form(path, "id=x").send(beadle.admin).status, 401, "{path}");
    }
    for path in ["/robots", "/robots/site.example", "/policy"] {
        assert_eq!(Request::get(path).host("localhost").send(beadle.admin).status, 401, "{path}");
    }
    let with_token = form(QUARANTINE, "id=x").field("Authorization", format!("Bearer {TOKEN}"));
    assert_eq!(with_token.send(beadle.admin).status, 409);
}

#[test]
fn a_hostile_robots_txt_is_shown_escaped_and_bounded() {
    let hostile = [
        &b"# </pre><script>alert(1)</script>\nUser-agent: *\nDisallow: /<b>&\"'\n"[..],
        b"Disallow: /\x1b[31m\x07\nDisallow: /\xff\xfe\rDisallow: /\xe2\x80\xae\n",
        b"Disallow: /before\n",
        "x".repeat(100_000).as_bytes(),
        b"\n",
        "a\n".repeat(190_000).as_bytes(),
        b"Disallow: /last\n",
    ]
    .concat();
    let world = World::new(AS_IT_IS, Reply::file(&hostile));
    world.beadle.get("/last/x", GPTBOT);
    wait_for_counts(&world.beadle, "/robots", "Disallow: /last", ["1", "0"]);
    let shown = text(&world.beadle, "/robots");
    for part in [
        "# &#60;/pre&#62;&#60;script&#62;alert(1)",
        "Disallow: /&#60;b&#62;&#38;&#34;&#39;",
        "Disallow: /\\x1b[31m\\x07",
        "Disallow: /\\xff\\xfe",
        "Disallow: /\\u{202e}",
        "xxx…(+99600 bytes)",
        "more are in the file",
    ] {
        assert!(shown.contains(part), "{part}");
    }
    assert!(!shown.contains(['\x1b', '\x07', '\u{202e}']));
    assert!(shown.len() < 1 << 20, "{} bytes", shown.len());
    let id = edition(&shown);
    let file = page(&world.beadle, &format!("/robots/site.example/{id}/file"));
    assert_eq!(file.body, hostile, "the download has all bytes");
    world.publish(Reply::file(OTHER));
    world.wait_until_served(OTHER);
    wait_for("the edition", || text(&world.beadle, "/robots").contains(&id).then_some(()));
    let shown = text(&world.beadle, &format!("/robots/site.example/{id}"));
    assert!(shown.len() < 1 << 20, "{} bytes", shown.len());
    let new = format!("/robots/site.example/{}", edition(&text(&world.beadle, "/robots")));
    // It is in force a moment before it is in the database.
    wait_for("the new edition", || (page(&world.beadle, &new).status == 200).then_some(()));
    text(&world.beadle, &new);
}

#[test]
fn several_sites_have_a_list_and_odd_names_have_pages() {
    let origin = Origin::playing(|exchange| {
        exchange.answer("200 OK", &[], b"x");
        After::Keep
    });
    let site = |hosts: &str| {
        format!(
            "  - hosts: [{hosts}]\n    origin: http://127.0.0.1:{}\n    robots_txt: {{ groups: \
             [{{ user_agents: [\"*\"], disallow: [/private/] }}] }}\n",
            origin.port
        )
    };
    let sites = [site("\"*.Example.com\""), site("\"2001:db8::1\", \"b_c.example\"")].concat();
    let beadle = Setup::sites(&sites).start();
    Request::get("/private/x").host("a.example.com").user_agent(GPTBOT).send(beadle.port);
    let list = text(&beadle, "/robots");
    for part in
        ["href=\"/robots/example.com\"", "*.example.com", "href=\"/robots/2001%3Adb8%3A%3A1\""]
    {
        assert!(list.contains(part), "{part}: {list}");
    }
    wait_for_counts(&beadle, "/robots/example.com", "Disallow: /private/", ["1", "0"]);
    for path in ["/robots/2001%3Adb8%3A%3A1", "/robots/2001:db8::1"] {
        let shown = text(&beadle, path);
        assert!(shown.contains("href=\"/robots/2001%3Adb8%3A%3A1?days=30\""), "{shown}");
        assert_eq!(counts(&shown, "Disallow: /private/"), Some(["0".to_owned(), "0".to_owned()]));
    }
    wait_for("the sum", || {
        let list = text(&beadle, "/robots?days=90");
        let link = "<a href=\"/violations?site=example.com&#38;since=20";
        (list.contains(link) && list.contains("\">1</a></td>")).then_some(())
    });
}

#[test]
fn without_a_database_the_file_is_shown_without_hits() {
    let origin = Origin::plain();
    let rules = "    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/private/] }] }\n";
    let setup = Setup::site(origin.port, rules).violations("  log: $DIR/violations.jsonl\n");
    let beadle = setup.start();
    let shown = text(&beadle, "/robots");
    assert!(shown.contains("<td class=\"mono\">Disallow: /private/</td>"), "{shown}");
    assert!(shown.contains("Set violations.database."), "{shown}");
    assert!(!shown.contains(">violations</th>") && !shown.contains("History"), "{shown}");
    let file = page(&beadle, &format!("/robots/site.example/{}/file", edition(&shown)));
    assert_eq!(file.text(), beadle.get("/robots.txt", "x").text());
    assert!(text(&beadle, QUARANTINE).contains("No database"));
    assert_eq!(form(QUARANTINE, "id=x").send(beadle.admin).status, 409);
}

#[test]
fn the_policy_is_shown_in_words_with_the_findings_of_its_file() {
    let origin = Origin::plain();
    let settings = "    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/private/] }] }\n    \
                    enforcement: { mode: block, overrides: [{ user_agents: [GPTBot], mode: log }] }\n";
    let setup = Setup::site(origin.port, settings);
    let beadle = setup.clone().start();
    let shown = text(&beadle, "/policy");
    let known = [
        "The file on disk is in force.",
        "Site site.example",
        "crawlers, other programs, clients without a name",
        "block: violations are recorded and refused",
        "GPTBot: log",
        "90 days",
        "A change here needs a restart.",
        "built in, of 20",
        "1 group of the policy",
        "Disallow",
    ];
    for part in known.iter().take(9) {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let terminal = |findings: &str| {
        let output = beadle.verb(&["check", "--format", "json"]);
        let output = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.contains(findings), "{output}");
        output.lines().count()
    };
    // Errors, with their lines.
    let text_before = beadle.policy_text();
    let broken = text_before.replace("mode: block", "mode: blok");
    beadle.replace_policy(&broken);
    beadle.wait_for_stderr("policy refused");
    let line = broken.lines().position(|line| line.contains("blok")).expect("it is there") + 1;
    let shown = text(&beadle, "/policy");
    for part in [
        "The file on disk has errors. It was refused at 20",
        &format!("<a href=\"#L{line}\">line {line}</a>"),
        "did you mean &#39;block&#39;?",
        "block: violations are recorded and refused",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(shown.matches("[policy.").count(), terminal("blok"));
    // A change that needs a restart names its key.
    beadle.replace_policy(&beadle.text_of(&setup.server("  threads: 3\n")));
    wait_for("the refusal", || {
        let shown = text(&beadle, "/policy");
        let is_named = shown.contains("server.threads: a change of this key needs a restart");
        (is_named && shown.contains("has changes that need a restart. It was refused"))
            .then_some(())
    });
    // Secrets in URLs are hidden, in findings too.
    let secret =
        text_before.replace("origin: http://127.0.0.1", "origin: http://me:s3cret@127.0.0.1");
    let secret = format!(
        "{secret}alerts: [{{ url: https://hooks.example/s3cret, secret_file: /nowhere }}]\n"
    );
    beadle.replace_policy(&secret);
    let shown = text(&beadle, "/policy");
    assert!(shown.contains("has errors") && shown.contains("https://hooks.example/…"), "{shown}");
    assert!(!shown.contains("s3cret"), "{shown}");
    std::fs::remove_file(beadle.policy_file()).expect("it is there");
    assert!(text(&beadle, "/policy").contains("The file can&#39;t be read"));
}
