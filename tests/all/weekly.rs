//! The ten questions of the guide 'Your weekly look': what was sent is counted here, and each answer of a
//! command and of a page is compared with that.

use crate::{
    standing::{GOOD, crawler, list},
    support::{
        BROWSER,
        client::Request,
        origin::Origin,
        program::{Beadle, Setup},
        wait_for,
    },
};

/// A request that was sent: its User-Agent, host, path, address, and how often.
type Visit = (&'static str, &'static str, &'static str, &'static str, usize);

const GPTBOT: &str = "GPTBot/1.2 (+https://openai.com/gptbot)";
const VISITS: [Visit; 10] = [
    (GPTBOT, "a.example", "/robots.txt", "20.171.206.3", 2),
    (GPTBOT, "a.example", "/page", "20.171.206.3", 120),
    (GPTBOT, "a.example", "/private/prices", "20.171.206.3", 7),
    ("ClaudeBot/1.0", "a.example", "/robots.txt", "216.73.216.10", 1),
    ("ClaudeBot/1.0", "a.example", "/page", "216.73.216.10", 130),
    ("CCBot/2.0", "b.example", "/shop/1", "18.97.9.168", 5),
    ("Bytespider", "b.example", "/private/1", "110.249.201.4", 3),
    ("DotBot/1.2", "a.example", "/page", "216.244.66.1", 8),
    (BROWSER, "a.example", "/page", "198.51.100.20", 11),
    ("ListBot/1.0", "a.example", "/page", "8.8.8.8", 6),
];
/// So many requests may come at once, whatever the pace.
const AT_ONCE: usize = 3;

const SITES: &str = "
  - hosts: [a.example]
    origin: http://127.0.0.1:$ORIGIN
    robots_txt:
      groups:
        - { user_agents: [\"*\"], disallow: [/private/] }
        - { user_agents: [DotBot], crawl_delay: 30 }
  - hosts: [b.example]
    origin: http://127.0.0.1:$ORIGIN
    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/private/, /shop/] }] }
";

/// How many requests these are, of those that were sent.
fn sent(is_one: impl Fn(&Visit) -> bool) -> usize {
    VISITS.iter().filter(|visit| is_one(visit)).map(|visit| visit.4).sum()
}

fn of(name: &'static str) -> impl Fn(&Visit) -> bool {
    move |visit| visit.0.starts_with(name)
}

fn breaks(visit: &Visit) -> bool {
    visit.2.starts_with("/private/") || visit.2.starts_with("/shop/")
}

/// A question of the week, with its answer from one command, and from a page that these links lead to,
/// one after the other, from the first page.
struct Question {
    what: &'static str,
    command: &'static [&'static str],
    says: String,
    links: &'static [&'static str],
    shows: String,
    /// How often the answer stands there, at least.
    times: usize,
}

fn questions() -> Vec<Question> {
    let requests = sent(of("GPTBot"));
    let broken = sent(|visit| of("GPTBot")(visit) && breaks(visit));
    let share = format!("{:.1}%", 100.0 * broken as f64 / requests as f64);
    let all = sent(breaks);
    let of_b = sent(|visit| breaks(visit) && visit.1 == "b.example");
    let fetches = sent(|visit| of("GPTBot")(visit) && visit.2 == "/robots.txt");
    let too_soon = sent(of("DotBot")) - AT_ONCE;
    let impostors = sent(of("ListBot"));
    let never = sent(of("Bytespider"));
    vec![
        Question {
            what: "Who broke my rules, and how much?",
            command: &["report"],
            says: format!("GPTBot {requests} {broken} {share}"),
            links: &[],
            shows: format!("GPTBot log {requests} {broken} {share}"),
            times: 1,
        },
        Question {
            what: "Is it getting better?",
            command: &["report", "--since", "24h"],
            says: format!("Violations {all} -"),
            links: &["/?days=1"],
            shows: format!("Violations {all} Share"),
            times: 1,
        },
        Question {
            what: "Which site has the trouble?",
            command: &["violations", "--since", "7d", "--by", "site"],
            says: format!("b.example {of_b} "),
            links: &["/robots"],
            shows: format!(" 2 {of_b} 0 "),
            times: 1,
        },
        Question {
            what: "Did they know the rule?",
            command: &["crawlers", "score", "GPTBot"],
            says: format!("had read this edition {broken} Fetches of robots.txt {fetches} "),
            links: &["/crawlers/GPTBot"],
            shows: format!("had read this edition {broken} Fetches of robots.txt {fetches} "),
            times: 1,
        },
        Question {
            what: "Does it keep its pace?",
            command: &["crawlers", "score", "DotBot"],
            says: format!("Too soon for the pace {too_soon} "),
            links: &["/crawlers/DotBot"],
            shows: format!("Too soon for the pace {too_soon} "),
            times: 1,
        },
        Question {
            what: "Is it really that crawler?",
            command: &["crawlers", "score", "ListBot"],
            says: format!("Claims of impostors {impostors} not from Lists"),
            links: &["/crawlers", "/impostors"],
            shows: format!("ListBot {impostors} "),
            times: 1,
        },
        Question {
            what: "Who behaves, and who takes more than it gives?",
            command: &["report", "--format", "json"],
            says: "\"best_behaved\":[\"ClaudeBot\"]".to_owned(),
            links: &[],
            shows: "ClaudeBot 100%".to_owned(),
            times: 1,
        },
        Question {
            what: "What exactly did a crawler request?",
            command: &["violations", "--product-token", "Bytespider", "--since", "7d"],
            says: " /private/1 Disallow: /private/".to_owned(),
            links: &["/crawlers/Bytespider", "/violations?crawler=Bytespider"],
            shows: " /private/1 Disallow: /private/".to_owned(),
            times: never,
        },
        Question {
            what: "Which rules were in force?",
            command: &["robots", "--history"],
            says: "in force policy 2 ".to_owned(),
            links: &["/robots", "/robots/b.example"],
            shows: "in force policy 2 ".to_owned(),
            times: 1,
        },
        Question {
            what: "What do I send, and to which address?",
            command: &[
                "report",
                "--evidence",
                "Bytespider",
                "--since",
                "7d",
                "--output",
                "$DIR/week.zip",
            ],
            says: format!("week.zip: {never} violations of Bytespider"),
            links: &["/crawlers/Bytespider", "/crawlers/Bytespider/evidence.zip"],
            shows: "message.txt".to_owned(),
            times: 1,
        },
    ]
}

#[test]
fn each_question_of_the_week_has_its_answer_in_one_command_and_in_two_clicks() {
    let (origin, list) = (Origin::plain(), list(GOOD));
    let beadle = Setup::sites(&SITES.replace("$ORIGIN", &origin.port.to_string()))
        .sections(&format!(
            "crawlers:\n  - {{ product_token: ListBot, operator: Lists, purpose: search, {} }}\n\
             evidence:\n  user_agents: [ListBot]\n  allow_addresses: [127.0.0.0/8]\n",
            crawler(&list)
        ))
        .server("  trusted_proxies: [127.0.0.1]\n")
        .start();
    wait_for("the list", || {
        let fetched = r#"beadle_evidence_fetches_total{evidence="ip-range",outcome="fresh"}"#;
        (beadle.metric(fetched) == 1.0).then_some(())
    });
    for (user_agent, host, path, address, count) in VISITS {
        for _ in 0..count {
            let request = Request::get(path).host(host).user_agent(user_agent);
            request.field("X-Forwarded-For", address).send(beadle.port);
        }
    }
    beadle.wait_for_report("ListBot", &[("requests", sent(of("ListBot")) as u64)]);
    let mut wrong = Vec::new();
    for Question { what, command, says, links, shows, times } in questions() {
        let folder = beadle.folder().to_str().expect("text");
        let command: Vec<_> = command.iter().map(|word| word.replace("$DIR", folder)).collect();
        let output = beadle.verb(&command.iter().map(String::as_str).collect::<Vec<_>>());
        let printed = [output.stdout, output.stderr].concat();
        let printed = words(&String::from_utf8_lossy(&printed));
        if printed.matches(&says).count() < times {
            wrong.push(format!("{what}\n  no '{says}' in {printed}"));
        }
        assert!(links.len() <= 2, "{what}");
        let shown = follow(&beadle, links);
        if shown.matches(&shows).count() < times {
            wrong.push(format!("{what}\n  no '{shows}' on {links:?}: {shown}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The text of the page that the links lead to. Each is on the page before it.
fn follow(beadle: &Beadle, links: &[&str]) -> String {
    let get = |path: &str| {
        let page = Request::get(path).host("localhost").field("Accept", "text/html");
        let answer = page.send(beadle.admin);
        assert_eq!(answer.status, 200, "{path}");
        answer.text()
    };
    let mut page = get("/");
    for link in links {
        let targets = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
        let target = targets.map(|one| one.replace("&#38;", "&")).find(|one| one.starts_with(link));
        page = get(&target.unwrap_or_else(|| panic!("no link to {link}: {page}")));
    }
    let texts = page.split('<').map(|part| part.split_once('>').map_or(part, |it| it.1));
    words(&texts.collect::<Vec<_>>().join(" "))
}

/// The text with single spaces.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
