//! Crawlers that others wrote, on a site of tricky links: one that obeys the rules is never recorded
//! as a violator, and a record of the others is right by the letter. On a site with limits, one that
//! comes back later gets every page.

use std::{
    collections::BTreeSet,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use beadle::formats::robots::{self, Access, Matcher, Target};
use serde_json::{Value, json};

use crate::support::{
    client::Request,
    conditions::{do_without, is_full_size, origins_folder, want},
    hostile,
    origin::{After, Origin},
    program::{Beadle, Setup},
};

/// The rules of the site. Each link below is near one of them.
const RULES: [&str; 14] = [
    "/private/",
    "/exact$",
    "/caf%C3%A9/",
    "/wiki/Special:",
    "/cart$",
    "/*+",
    "/*/feed/",
    "/*.pdf$",
    "/*?sort=",
    "/a%2Fb",
    "/tmp",
    "/~user/",
    "/deep/*/end$",
    "/*;print",
];

/// Links that a page may have, to closed paths, to open ones, and to what some origins read as closed.
const LINKS: [&str; 56] = [
    "/exact",
    "/exact;jsessionid=1",
    "/exact?x=1",
    "/exact/",
    "/private/x",
    "//private/dbl",
    "/private",
    "/private%2Fx",
    "/private%2fx",
    "/private;x/y",
    "/private%5Cx",
    "/%70rivate/y",
    "/PRIVATE/x",
    "/x//private/",
    "/caf%E9/x",
    "/caf%C3%A9/x",
    "/café/y",
    "/cafe/x",
    "/wiki/Special%3ARandom",
    "/wiki/Special:Random",
    "/wiki/special:random",
    "/cart?",
    "/cart",
    "/cart?x",
    "/cart/",
    "/c%2B%2B-book",
    "/c++-book",
    "/c%2b%2b-book",
    "/share/https%3A%2F%2Fblog.test%2Ffeed%2F",
    "/blog/feed/",
    "/blog/feed",
    "/feed/",
    "/doc.pdf",
    "/doc.pdf?page=2",
    "/doc.pdf;v=2",
    "/doc%2Epdf",
    "/doc.PDF",
    "/list?sort=up",
    "/list?a=1&sort=up",
    "/list%3Fsort=up",
    "/a/b",
    "/a%2Fb",
    "/a%2fb/c",
    "/a%252Fb",
    "/tmp",
    "/tmp.html",
    "/t%6Dp/x",
    "/~user/x",
    "/%7Euser/x",
    "/%7euser/y",
    "/deep/1/end",
    "/deep/1/end?",
    "/deep/1/end/",
    "/page;print",
    "/page%3Bprint",
    "/open/page",
];

fn robots_txt() -> String {
    let rules: String = RULES.iter().map(|rule| format!("Disallow: {rule}\n")).collect();
    format!("User-agent: *\n{rules}")
}

/// A site with a page of all links at every path, and its robots.txt.
fn site() -> Origin {
    Origin::playing(|exchange| {
        let host = exchange.request.header("host").expect("HTTP/1.1").to_owned();
        // Absolute links: `//private/dbl` alone would name a host.
        let link = |path: &str| format!("<a href=\"http://{host}{path}\">{path}</a>\n");
        let answer = match exchange.request.target.as_slice() {
            b"/robots.txt" => ("text/plain", robots_txt()),
            _ => ("text/html; charset=utf-8", LINKS.map(link).concat()),
        };
        exchange.answer("200 OK", &[&format!("Content-Type: {}", answer.0)], answer.1.as_bytes());
        After::Keep
    })
}

/// The program before the site, at the host that crawlers use.
fn started(origin: &Origin, source: &str, mode: &str) -> Beadle {
    let rules: Vec<String> = RULES.iter().map(|rule| format!("\"{rule}\"")).collect();
    let groups = format!("groups: [{{ user_agents: [\"*\"], disallow: [{}] }}]", rules.join(", "));
    let robots_txt = match source {
        "origin" => "source: origin".to_owned(),
        "merge" => "source: merge".to_owned(),
        _ => groups,
    };
    let beadle = Setup::sites(&format!(
        "  - hosts: [\"127.0.0.1\"]\n    origin: http://127.0.0.1:{}\n    robots_txt: {{ {robots_txt} }}\n    \
         enforcement: {{ mode: {mode} }}\n",
        origin.port
    ))
    .start();
    // The rules of an origin hold once its file is there.
    let served = Request::get("/robots.txt").host("127.0.0.1").send(beadle.port).text();
    assert!(served.contains("Disallow: /private/"), "{source}: {served}");
    beadle
}

/// All records, once the program is still: no request is in progress, and each record is stored.
fn records(beadle: &Beadle) -> Vec<Value> {
    beadle.wait_for_metric("beadle_requests_in_flight", 0.0);
    let seen = beadle.metric("beadle_records_seen_total");
    beadle.records(seen as usize)
}

/// The records of violations. The others are of forms that the letter allows.
fn violations(beadle: &Beadle) -> Vec<Value> {
    let mut records = records(beadle);
    for record in &records {
        let is_form = record["reason"] == json!("robots.form");
        assert_eq!(record["verdict"] == json!("allow"), is_form, "{record}");
    }
    records.retain(|record| record["verdict"] == json!("disallow"));
    records
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/real_crawlers").join(name)
}

/// Runs a crawler from the site's front page on.
fn crawl(program: &Path, arguments: &[&str], beadle: &Beadle) {
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new(program)
        .args(arguments)
        .arg(format!("http://127.0.0.1:{}/", beadle.port))
        .current_dir(folder.path())
        .envs(origins_folder().map(|folder| ("NODE_PATH", folder.join("node_modules"))))
        .output()
        .expect("the crawler starts");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(!complaint.contains("Traceback"), "{complaint}");
}

/// Protego's answers, one for each case; `None` where it is not installed.
fn protego(cases: &[Value]) -> Option<Vec<bool>> {
    let mut child = Command::new(want("scrapy")?.with_file_name("python3"))
        .arg(file("judge.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python starts");
    let mut input = child.stdin.take().expect("a pipe");
    let lines: String = cases.iter().map(|case| format!("{case}\n")).collect();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().expect("an end");
    writer.join().expect("no panic").expect("all is read");
    let answers = String::from_utf8(output.stdout).expect("JSON");
    Some(answers.lines().map(|line| line == "true").collect())
}

#[test]
fn scrapy_obeys_to_the_letter_and_is_never_recorded_as_a_violator() {
    let Some(scrapy) = want("scrapy") else { return };
    let python = scrapy.with_file_name("python3");
    for (source, mode) in [
        ("policy", "log"),
        ("policy", "block"),
        ("origin", "log"),
        ("origin", "block"),
        ("merge", "log"),
        ("merge", "block"),
    ] {
        let origin = site();
        let beadle = started(&origin, source, mode);
        crawl(&python, &[&file("spider.py").display().to_string()], &beadle);
        assert_eq!(violations(&beadle), Vec::<Value>::new(), "{source}, {mode}");
        // The crawl was a real one: it went to what the letter allows, also to other forms of closed
        // paths.
        let forms: BTreeSet<String> =
            records(&beadle).iter().map(|record| record["path"].to_string()).collect();
        assert!(forms.len() >= 8, "{source}, {mode}: {forms:?}");
        let seen = origin.received().len();
        assert!(seen >= 15, "{source}, {mode}: {seen} requests");
    }
}

#[test]
fn records_of_other_crawlers_name_a_rule_and_are_right_by_the_letter() {
    let origins = origins_folder();
    let simplecrawler = origins.map(|folder| folder.join("node_modules"));
    let simplecrawler = simplecrawler.filter(|folder| folder.join("simplecrawler").is_dir());
    if simplecrawler.is_none() {
        do_without("simplecrawler (npm)");
    }
    let script = file("crawl.js").display().to_string();
    let crawlers: [(Option<PathBuf>, &str, Vec<&str>); 3] = [
        (want("wget"), "Wget", vec!["-q", "-r", "-l2", "--tries=1", "-nd", "--delete-after"]),
        (want("httrack"), "HTTrack", vec!["-q", "-r3", "-s2", "-%v0", "-I0", "-c1", "-A9999999"]),
        (simplecrawler.as_ref().and_then(|_| want("node")), "ExampleBot", vec![&script]),
    ];
    for (program, name, arguments) in crawlers {
        let Some(program) = program else { continue };
        for mode in ["log", "block"] {
            let origin = site();
            let beadle = started(&origin, "policy", mode);
            crawl(&program, &arguments, &beadle);
            let seen = origin.received().len();
            assert!(seen >= 15, "{name}, {mode}: {seen} requests");
            let violations = violations(&beadle);
            let case = |record: &Value| json!({ "robots_txt": robots_txt(), "name": name, "target": record["path"] });
            let cases: Vec<Value> = violations.iter().map(case).collect();
            let Some(allowed) = protego(&cases) else { return };
            assert_eq!(allowed.len(), violations.len());
            for (record, is_allowed) in violations.iter().zip(allowed) {
                let rule = record["robots"]["pattern"].as_str().unwrap_or_default();
                assert!(RULES.contains(&rule), "{name}, {mode}: {record}");
                assert_eq!(record["action"], json!(mode), "{name}: {record}");
                assert!(!is_allowed, "{name}, {mode}: Protego allows it: {record}");
            }
        }
    }
}

// === crawlers that come back later ===

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0";
/// What makes crawlers come back later, the counter of these answers, and how many crawl at a time.
type Limits = [(&'static str, Option<&'static str>, usize); 2];

const LIMITS: Limits = [
    (
        "rate_limits: [{ user_agents: [\"*\"], requests: 600/1m, burst: 5 }]",
        Some("beadle_limited_requests_total{mode=\"throttle\","),
        1,
    ),
    ("people_first: { crawlers_at_once: 1 }", Some("beadle_put_off_requests_total{"), 2),
];
/// The same, and requests wait: so long that none is answered before its turn.
const WAITS: Limits = [
    ("rate_limits: [{ user_agents: [\"*\"], requests: 600/1m, burst: 5, wait: 10s }]", None, 1),
    ("people_first: { crawlers_at_once: 1, wait: 10s }", None, 2),
];

/// A site of so many pages of 20 ms. Each is linked from one other: without that, it is lost.
fn tree(pages: usize) -> Origin {
    Origin::playing(move |exchange| {
        let target = String::from_utf8_lossy(&exchange.request.target).into_owned();
        let number = match target.as_str() {
            "/" => Some(0),
            other => other.strip_prefix("/page/").and_then(|number| number.parse::<usize>().ok()),
        };
        let Some(number) = number.filter(|number| *number < pages) else {
            exchange.answer("404 Not Found", &[], b"");
            return After::Keep;
        };
        std::thread::sleep(Duration::from_millis(20));
        let below = (4 * number + 1..=4 * number + 4).filter(|number| *number < pages);
        let links: String =
            below.map(|number| format!("<a href=\"/page/{number}\">x</a>\n")).collect();
        let body = format!("{links}<a href=\"/private/{number}\">x</a>");
        exchange.answer("200 OK", &["Content-Type: text/html"], body.as_bytes());
        After::Keep
    })
}

/// Crawls a site that limits crawlers, as the robots.txt is asked for and a person reads it.
fn comes_back_for_every_page(
    program: &Path,
    arguments: &[&str],
    (name, limits): (&str, Limits),
    pages: usize,
) {
    for (limit, counter, crawls) in limits {
        let origin = tree(pages);
        let beadle = Setup::sites(&format!(
            "  - hosts: [\"127.0.0.1\"]\n    origin: http://127.0.0.1:{}\n    robots_txt: {{ groups: [{{ \
             user_agents: [\"*\"], disallow: [/private/] }}] }}\n    enforcement: {{ mode: block, {limit} }}\n",
            origin.port
        ))
        .start();
        let get = |target: &str, user_agent: &str| {
            Request::get(target).host("127.0.0.1").user_agent(user_agent).send(beadle.port).status
        };
        std::thread::scope(|scope| {
            let crawl = || crawl(program, arguments, &beadle);
            let crawls: Vec<_> = (0..crawls).map(|_| scope.spawn(crawl)).collect();
            while !crawls.iter().all(|crawl| crawl.is_finished()) {
                assert_eq!(get("/robots.txt", &format!("{name}/1.0")), 200, "{name}, {limit}");
                assert_eq!(get("/page/0", BROWSER), 200, "{name}, {limit}");
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        let received = origin.received();
        let fetched = |number: usize| {
            let target = if number == 0 { "/".to_owned() } else { format!("/page/{number}") };
            received.iter().filter(|one| one.target == target.as_bytes()).count()
        };
        let lost: Vec<usize> = (0..pages).filter(|number| fetched(*number) < crawls).collect();
        assert!(lost.is_empty(), "{name}, {limit}: {lost:?} of {pages} are lost");
        assert_eq!(records(&beadle), Vec::<Value>::new(), "{name}, {limit}");
        if let Some(counter) = counter {
            let later =
                beadle.metric(&format!("{counter}product_token=\"{name}\",site=\"127.0.0.1\"}}"));
            assert!(later > 0.0, "{name}, {limit}: no answer said to come back later");
        }
    }
}

#[test]
fn wget_with_waitretry_gets_every_page_of_a_site_with_limits() {
    let Some(wget) = want("wget") else { return };
    let pages = if is_full_size() { 200 } else { 24 };
    let arguments = [
        "-q",
        "-r",
        "-linf",
        "-nd",
        "--delete-after",
        "--tries=20",
        "--waitretry=2",
        "--retry-on-http-error=429,503",
    ];
    comes_back_for_every_page(&wget, &arguments, ("Wget", LIMITS), pages);
}

#[test]
fn scrapy_with_autothrottle_gets_every_page_of_a_site_with_limits() {
    if !is_full_size() {
        return;
    }
    let Some(scrapy) = want("scrapy") else { return };
    let python = scrapy.with_file_name("python3");
    // AutoThrottle follows the time of the pages alone, and a retry waits no longer than any request. With
    // the default of two retries, pages are lost unless requests wait at Beadle.
    for (retries, limits) in [(30, LIMITS), (2, WAITS)] {
        let settings = json!({
            "AUTOTHROTTLE_ENABLED": true,
            "AUTOTHROTTLE_START_DELAY": 1,
            "RETRY_TIMES": retries,
        });
        let arguments = [file("spider.py").display().to_string(), settings.to_string()];
        let arguments = arguments.each_ref().map(String::as_str);
        comes_back_for_every_page(&python, &arguments, ("Scrapy", limits), 200);
    }
}

/// The pieces of rules and of targets that all read alike. A target is nearly always near a rule.
const PIECES: [&str; 14] =
    ["/", "/a", "/b", "a", "b", "/é", "%C3%A9", "%2F", "%2f", "~", "%7E", ".pdf", "-", "%41"];
/// Pieces with reserved characters. Protego decodes their escapes, which §2.2.2 doesn't, so it reads
/// more of a rule's paths: what it fetches, the letter allows.
const RESERVED: [&str; 8] = [":", "%3A", "+", "%2B", ";x", "=", ",", "//"];

#[test]
fn rfc9309_2_2_2_protego_fetches_only_what_the_letter_allows() {
    let mut choose = hostile::choices(26);
    let mut text = |pieces: &[&str], is_rule: bool| {
        let mut text = "/".to_owned();
        for _ in 0..choose(4) {
            match choose(8) {
                0 if is_rule => text.push('*'),
                _ => text.push_str(pieces[choose(pieces.len())]),
            }
        }
        if is_rule && choose(5) == 0 {
            text.push('$');
        }
        text
    };
    let all: Vec<&str> = PIECES.into_iter().chain(RESERVED).collect();
    let files = if is_full_size() { 3_000 } else { 300 };
    let mut cases = Vec::new();
    for (pieces, third) in [(&PIECES[..], "Allow"), (&all, "Disallow")] {
        for _ in 0..files {
            let rule = |name| format!("{name}: {}\n", text(pieces, true));
            let rules: String = ["Disallow", "Disallow", third].map(rule).concat();
            for _ in 0..20 {
                cases.push(json!({
                    "robots_txt": format!("User-agent: ExampleBot\n{rules}"),
                    "name": "ExampleBot",
                    "target": text(pieces, false),
                }));
            }
        }
    }
    let Some(answers) = protego(&cases) else { return };
    assert_eq!(answers.len(), cases.len());
    let mut disallowed = 0;
    for (case, protego_allows) in cases.iter().zip(answers) {
        let (file, _) = robots::parse(case["robots_txt"].as_str().expect("text").as_bytes());
        let matcher = Matcher::new(&file);
        let scope = matcher.group("ExampleBot").expect("the group");
        let target = case["target"].as_str().expect("text");
        let verdict = matcher.verdict_judged(scope, &Target::new(target.as_bytes()));
        if protego_allows {
            assert_eq!(verdict.access, Access::Allow, "{case} {verdict:?}");
        }
        disallowed += usize::from(!protego_allows && verdict.access == Access::Disallow);
    }
    assert!(disallowed > cases.len() / 10, "{disallowed} of {}", cases.len());
}
