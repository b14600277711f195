//! Programs with a desk: one with traffic behind it, and those with little to show.

use std::{
    path::Path,
    sync::{Arc, Weak},
};

use beadle::{
    base::text::Text,
    records::{
        record::{Robots, RobotsRead, SCHEMA, Violation},
        tally::ReadState,
        violations::{Record, Settings, Sink},
    },
};
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;

use crate::{
    quarantine::Quarantined,
    support::{
        BROWSER, PATIENCE,
        client::Request,
        origin::Origin,
        program::{Beadle, Setup},
        wait_for,
        week::{self, SITE},
    },
};

/// The token of the desk that has one.
pub(crate) const TOKEN: &str = "correct-horse-battery-staple";

/// User-Agents of crawlers, and a path and a name, that would be more than text if a page let them.
/// Each contains [`TRAP`].
pub(crate) const HOSTILE: [&str; 6] = [
    "<script>alert(1)</script>Bot/1.0 GPTBot/1.2",
    "\"><img src=x onerror=alert(1)>Bot/1.0 CCBot/2.0",
    "'-alert(1)-' onfocus=alert(1) autofocus CCBot/2.0",
    "GPTBot/1.2 </dd></dl></main><script src=//evil.example/alert(1).js></script>",
    "<svg onload=alert(1)>AhrefsBot/7.0 {{7*7}} &lt;b&gt;",
    "<style>*{display:none}</style><base href=//evil.example/><a href='javascript:alert(1)'>PetalBot",
];
pub(crate) const HOSTILE_PATH: &str =
    "/private/\"><script>alert(1)</script>?q='onmouseover=alert(1)";
pub(crate) const HOSTILE_NAME: &str = "<script>alert(1)</script>";
/// What would open a dialog.
pub(crate) const TRAP: &str = "alert(1)";

const SITES: &str = "
  - hosts: [www.example.com, example.com]
    origin: http://127.0.0.1:$ORIGIN
    robots_txt:
      groups:
        - { user_agents: [\"*\"], disallow: [/private/, \"/*?q=\"], allow: [/private/help/] }
        - { user_agents: [GPTBot, CCBot], disallow: [/private/, /articles/] }
        - { user_agents: [bingbot], disallow: [/private/], crawl_delay: 5 }
    enforcement:
      mode: log
      overrides:
        - { user_agents: [GPTBot], mode: block }
        - { user_agents: [bingbot], mode: throttle }
  - hosts: [shop.example]
    origin: http://127.0.0.1:$ORIGIN
    robots_txt:
      groups: [{ user_agents: [\"*\"], disallow: [/cart/, /account/] }]
";

/// Who came, where to, from where and how often.
const VISITS: [(&str, &str, &str, &str, usize); 18] = [
    (SITE, "GPTBot/1.2 (+https://openai.com/gptbot)", "/robots.txt", "20.171.206.3", 2),
    (SITE, "GPTBot/1.2 (+https://openai.com/gptbot)", "/articles/2026/tides", "20.171.206.3", 6),
    (SITE, "GPTBot/1.2 (+https://openai.com/gptbot)", "/private/prices", "20.171.206.9", 3),
    (SITE, "CCBot/2.0 (https://commoncrawl.org/faq/)", "/articles/2026/harbour", "18.97.9.168", 5),
    (SITE, "CCBot/2.0 (https://commoncrawl.org/faq/)", "/", "18.97.9.168", 4),
    (SITE, BINGBOT, "/robots.txt", "157.55.39.20", 1),
    (SITE, BINGBOT, "/articles/2026/tides", "157.55.39.20", 5),
    (SITE, "ClaudeBot/1.0; +claudebot@anthropic.com", "/robots.txt", "216.73.216.10", 1),
    (SITE, "ClaudeBot/1.0; +claudebot@anthropic.com", "/articles/", "216.73.216.10", 7),
    (SITE, "Mozilla/5.0 (compatible; Bytespider)", "/search?q=harbour", "110.249.201.4", 4),
    (SITE, "Mozilla/5.0 (compatible; Bytespider)", "/%70rivate/prices", "110.249.201.4", 2),
    (SITE, "AhrefsBot/7.0", "/private/help/delivery", "54.36.148.2", 2),
    ("shop.example", "AhrefsBot/7.0", "/cart/42?size=m", "54.36.148.2", 3),
    ("shop.example", "PetalBot", "/account/", "114.119.130.5", 2),
    (SITE, "python-requests/2.32", "/private/prices", "2001:db8:7::1", 2),
    (SITE, "", "/private/prices", "203.0.113.77", 1),
    (SITE, BROWSER, "/", "198.51.100.20", 9),
    (SITE, BROWSER, "/private/prices", "198.51.100.20", 2),
];
const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";

/// The desks, each with its program.
pub(crate) struct Desks {
    /// Two weeks of counts, a week of records, and traffic of now.
    pub(crate) busy: Beadle,
    /// Nothing came yet.
    pub(crate) empty: Beadle,
    /// The policy names no database.
    pub(crate) bare: Beadle,
    /// A token opens it.
    pub(crate) locked: Beadle,
    /// The origin's new robots.txt is in quarantine.
    pub(crate) quarantined: Quarantined,
    _folder: tempfile::TempDir,
}

impl Desks {
    /// The desks, the same for all tests that run at a time. The last one of them ends the programs.
    pub(crate) fn start() -> Arc<Self> {
        static DESKS: Mutex<Weak<Desks>> = Mutex::new(Weak::new());
        let mut shared = DESKS.lock();
        shared.upgrade().unwrap_or_else(|| {
            let desks = Arc::new(Self::new());
            *shared = Arc::downgrade(&desks);
            desks
        })
    }

    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let origin = Origin::plain();
        let token = folder.path().join("token");
        std::fs::write(&token, format!("{TOKEN}\n")).expect("the folder is ours");
        let token = format!("{{ address: $ADMIN, token_file: {} }}", token.display());
        let rules =
            "    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/private/] }] }\n";
        let one = || Setup::site(origin.port, rules);
        let empty = one().spawn();
        let bare = one().violations("  log: $DIR/violations.jsonl\n").spawn();
        let locked = one().admin(&token).spawn();
        let quarantined = Quarantined::start();
        let busy = busy(folder.path());
        [&empty, &bare, &locked].into_iter().for_each(Beadle::wait_until_ready);
        Self { busy, empty, bare, locked, quarantined, _folder: folder }
    }
}

/// A program with traffic behind it. Its database is in the folder.
fn busy(folder: &Path) -> Beadle {
    let database = folder.join("beadle.db");
    let now = Timestamp::now();
    week::fill(&database, now);
    let settings = Settings { database: Some(database.clone()), ..Settings::default() };
    let sink = Sink::start(settings).expect("the folder is ours");
    let past = past(now);
    past.into_iter().for_each(|violation| sink.record(Record { violation, tallied: None }));
    sink.close(PATIENCE);
    let origin = Origin::plain();
    let beadle = Setup::sites(&SITES.replace("$ORIGIN", &origin.port.to_string()))
        // The pictures say nothing about the files that this process may open.
        .server("  trusted_proxies: [127.0.0.1]\n  limits: { connections: 1000 }\n")
        .violations(&format!("  database: {}\n  log: $DIR/violations.jsonl\n", database.display()))
        .start();
    visit(&beadle);
    beadle
}

/// Sends the traffic, and waits until it is in the database.
fn visit(beadle: &Beadle) {
    let send = |request: Request, address: &str| {
        request.field("X-Forwarded-For", address).send(beadle.port);
    };
    for (host, user_agent, path, address, count) in VISITS {
        for _ in 0..count {
            send(Request::get(path).host(host).user_agent(user_agent), address);
        }
    }
    for referrer in
        ["https://chatgpt.com/", "https://www.perplexity.ai/search", "https://a.example/"]
    {
        let visit = Request::get("/articles/2026/tides").host(SITE).user_agent(BROWSER);
        send(visit.field("Referer", referrer), "198.51.100.21");
    }
    for user_agent in HOSTILE {
        send(Request::get("/private/x").host(SITE).user_agent(user_agent), "203.0.113.66");
        send(Request::get(HOSTILE_PATH).host(SITE).user_agent(user_agent), "203.0.113.66");
    }
    wait_for("the records in the database", || {
        let value = |name: &str| beadle.metric(&format!("beadle_records_{name}_total"));
        (value("seen") >= 24.0 && value("seen") == value("stored")).then_some(())
    });
}

/// Records of the last week, the earliest first.
fn past(now: Timestamp) -> Vec<Violation> {
    let word = Text::word;
    let crawlers = [
        (
            "GPTBot",
            "OpenAI",
            "ai-training",
            "GPTBot/1.2 (+https://openai.com/gptbot)",
            "20.171.206.3",
        ),
        (
            "CCBot",
            "Common Crawl",
            "ai-training",
            "CCBot/2.0 (https://commoncrawl.org/faq/)",
            "18.97.9.168",
        ),
        (
            "Bytespider",
            "ByteDance",
            "ai-training",
            "Mozilla/5.0 (compatible; Bytespider)",
            "110.249.201.4",
        ),
        ("AhrefsBot", "Ahrefs", "seo", "Mozilla/5.0 (compatible; AhrefsBot/7.0)", "54.36.148.2"),
        (
            "Googlebot",
            "Google",
            "search",
            "Mozilla/5.0 (compatible; Googlebot/2.1)",
            "203.0.113.14",
        ),
        (HOSTILE_NAME, HOSTILE_NAME, "other", HOSTILE[0], "203.0.113.66"),
    ];
    let paths = [
        "/private/prices",
        "/articles/2026/tides",
        "/private/catalogue/winter?page=3",
        "/search?q=opening+hours",
        HOSTILE_PATH,
    ];
    let record = |number: usize| {
        let (token, operator, purpose, user_agent, address) = crawlers[number * 5 % crawlers.len()];
        let path = paths[number * 3 % paths.len()];
        let is_impostor = token == "Googlebot";
        let (action, status) = match token {
            "GPTBot" | "Googlebot" => ("block", 403),
            "AhrefsBot" => ("throttle", 429),
            _ => ("log", 200),
        };
        let back = SignedDuration::from_mins(20 + 47 * (160 - number as i64));
        let read = match number % 3 {
            0 => ReadState::Never,
            1 => ReadState::Older,
            _ => ReadState::Current,
        };
        let edition = (read != ReadState::Never).then(|| word(week::EDITION));
        Violation {
            schema: SCHEMA,
            id: format!("019aa0c1-0000-7000-8000-{number:012x}").into(),
            time: now - back,
            site: word(SITE),
            client_ip: word(address),
            method: word("GET"),
            host: word(SITE),
            path: Text::path(path.as_bytes()),
            user_agent: word(user_agent),
            product_token: word(token),
            product_tokens: Text::list([token]),
            operator: Some(word(operator)),
            purpose: Some(word(purpose)),
            standing: word(if is_impostor { "contradicted" } else { "unknown" }),
            evidence: is_impostor.then(|| word("reverse-dns")),
            verdict: word("disallow"),
            reason: word(if is_impostor { "claim.contradicted" } else { "robots.disallow" }),
            action: word(action),
            status,
            robots: Robots {
                edition: word(week::EDITION),
                line: (!is_impostor).then_some(2),
                directive: word(if is_impostor { "" } else { "disallow" }),
                pattern: word(match path {
                    _ if is_impostor => "",
                    path if path.starts_with("/private/") => "/private/",
                    path if path.starts_with("/articles/") => "/articles/",
                    _ => "/*?q=",
                }),
                group: Text::list(["*"]),
            },
            robots_read: RobotsRead {
                state: read,
                at: edition.is_some().then(|| now - back - SignedDuration::from_hours(9)),
                edition,
            },
        }
    };
    (0..160).map(record).collect()
}
