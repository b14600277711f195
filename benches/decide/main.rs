//! The decision alone, in process: the time to identify, judge and tag one request.
//!
//! `cargo bench --bench decide`, some seconds. All cases take turns in one run. The baseline is a
//! look-up of the User-Agent in a hash map of the standard library: the least cost of any answer by
//! User-Agent. The ratio to the baseline is more portable to other machines than the time.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::{cell::RefCell, collections::HashMap, hint::black_box, sync::Arc};

use beadle::{
    formats::{
        robots::{Access, Target},
        robots_tag,
    },
    records::{
        tally::{Detail, People, Places, ReadState, SeriesKey},
        violations::{Settings, Sink},
    },
    rules::{
        crawlers::{Class, Recent},
        enforce::{self, Action, Moment, Reason, Rulebook, Site},
        policy,
    },
};
use jiff::Timestamp;

use turns::{Case, measure};

#[allow(dead_code, reason = "other benchmarks need more of it")]
#[path = "../traffic/mod.rs"]
mod traffic;
#[path = "../turns/mod.rs"]
mod turns;

fn main() {
    // `cargo test --all-targets` starts benchmarks too, without this argument.
    if !std::env::args().any(|arg| arg == "--bench") {
        println!("skipped: start it with `cargo bench --bench decide`");
        return;
    }
    let text = traffic::policy("127.0.0.1:8080", "violations.db", "http://127.0.0.1:3000");
    let policy: policy::Policy = text.parse().expect("the benchmark's policy is valid");
    let rulebook = Rulebook::compile(&policy, Timestamp::UNIX_EPOCH, None);
    let (_, site) = rulebook.site(Some(traffic::HOST)).expect("the policy has this host");

    let requests = Requests::sorted(&rulebook, site);
    println!(
        "{} crawlers known, {} rules; {} requests of browsers, {} of crawlers that are allowed, {} \
         that are not\n",
        rulebook.catalogue().iter().len(),
        traffic::RULES,
        requests.browsers.len(),
        requests.allowed.len(),
        requests.disallowed.len()
    );
    let folder = tempfile::tempdir().expect("a folder");
    let settings = Settings {
        database: Some(folder.path().join("bench.db")),
        detail: 0,
        ..Settings::default()
    };
    let sink = Sink::start(settings).expect("a database");
    let mut cases = cases(&rulebook, site, &requests);
    cases.extend(counting(&sink));
    measure(cases);
}

/// The counts by hour, while a writer takes them.
fn counting(sink: &Sink) -> Vec<Case<'_>> {
    let key = |number: usize| SeriesKey {
        site: traffic::HOST,
        class: "crawler",
        product_token: ["GPTBot", "ClaudeBot", "Googlebot", "bingbot"][number % 4],
        is_declared: false,
        purpose: "search",
        standing: "confirmed",
        verdict: "allow",
        action: "pass",
        reason: "robots.allow",
        edition: "0123456789abcdef",
        line: (number / 4 % 16) as u32,
        directive: "allow",
        pattern: "/products/ropes/",
        read: None,
    };
    let now = Timestamp::from_second(1_795_000_000).expect("a time");
    let people = Arc::new(People::default());
    vec![
        Case::new("counted: request of a crawler, 64 series", move |number| {
            sink.tally.count(black_box(now), black_box(&key(number)));
        }),
        Case::new("counted: request of a crawler that invents a name", move |number| {
            let key = SeriesKey { is_declared: true, ..key(number) };
            sink.tally.count(black_box(now), black_box(&key));
        }),
        Case::new("counted: request of a person", move |_| {
            sink.tally.count_person(black_box(&people), traffic::HOST, black_box(now));
        }),
        Case::new("counted: folded violation, with path and network", move |number| {
            let read = Some(ReadState::Never);
            let key = SeriesKey { action: "block", read, ..key(number) };
            let places =
                || Places { path: "/products/ropes/1".into(), network: "192.0.2.0/24".into() };
            let detail = sink.tally.admit(black_box(now), black_box(&key), places);
            assert!(matches!(detail, Detail::Folded));
        }),
    ]
}

type Request = (String, &'static str);

/// The pairs of User-Agent and path, by decision.
struct Requests {
    browsers: Vec<Request>,
    allowed: Vec<Request>,
    disallowed: Vec<Request>,
    evading: Vec<Request>,
}

impl Requests {
    fn sorted(rulebook: &Rulebook, site: &Site) -> Self {
        let pairs = |user_agents: Vec<String>, targets: &[&'static str]| -> Vec<Request> {
            let pair = |user_agent: String| {
                targets.iter().map(move |target| (user_agent.clone(), *target)).collect::<Vec<_>>()
            };
            user_agents.into_iter().flat_map(pair).collect()
        };
        let crawlers = || traffic::user_agents::crawlers().map(str::to_owned).to_vec();
        let browsers = pairs(traffic::user_agents::browsers(), &traffic::TARGETS);
        assert!(
            browsers.iter().all(|request| outcome(rulebook, site, request).0 == Class::Browser),
            "every browser is identified as a browser"
        );
        let is_disallowed =
            |request: &Request| outcome(rulebook, site, request).1 == Access::Disallow;
        let (disallowed, allowed) =
            pairs(crawlers(), &traffic::TARGETS).into_iter().partition(is_disallowed);
        let evasions = ["/x//search?q=1", "//admin/x", "/a;b/..%2Fcart", "/tmp%2Fx/y.html"];
        let mut evading = pairs(crawlers(), &evasions);
        evading.retain(|request| outcome(rulebook, site, request).2 == Reason::Form);
        Self { browsers, allowed, disallowed, evading }
    }
}

/// The work of the proxy between the header of a request and its origin.
fn outcome(
    rulebook: &Rulebook,
    site: &Site,
    (user_agent, target): &Request,
) -> (Class, Access, Reason, Action) {
    let user_agent = user_agent.as_bytes();
    let claim = rulebook.catalogue().identify(user_agent, &site.names);
    let target = Target::new(target.as_bytes());
    let is_nameless = enforce::is_blank(user_agent);
    let case = enforce::Case { claim: &claim, is_nameless, target: &target };
    let decision = enforce::decide(site, case, &Moment::at(Timestamp::UNIX_EPOCH));
    (claim.class(), decision.access, decision.reason, decision.action)
}

fn cases<'a>(rulebook: &'a Rulebook, site: &'a Site, requests: &'a Requests) -> Vec<Case<'a>> {
    let user_agents = traffic::user_agents::mixed();
    let numbers: HashMap<Vec<u8>, usize> =
        user_agents.iter().map(|text| text.clone().into_bytes()).zip(0..).collect();
    let look_up = move |number: usize| {
        let key = &user_agents[number % user_agents.len()];
        black_box(numbers.get(black_box(key.as_bytes())));
    };
    let identify_all = |user_agents: Vec<String>| {
        move |number: usize| {
            let user_agent = black_box(user_agents[number % user_agents.len()].as_bytes());
            black_box(rulebook.catalogue().identify(user_agent, &site.names).class());
        }
    };
    let identify_again = |user_agents: Vec<String>| {
        let recent = RefCell::new(Recent::default());
        move |number: usize| {
            let user_agent = black_box(user_agents[number % user_agents.len()].as_bytes());
            let mut recent = recent.borrow_mut();
            black_box(recent.identify(rulebook.catalogue(), user_agent, &site.names).class());
        }
    };
    // More User-Agents than the cache has room for, so that every look-up misses.
    let never_again = |user_agents: Vec<String>| {
        let numbered = (0..64 * Recent::PLACES).zip(user_agents.iter().cycle());
        let many: Vec<String> = numbered.map(|(number, text)| format!("{text} {number}")).collect();
        many
    };
    let isbot = |user_agents: Vec<String>| {
        let bots = isbot::Bots::default();
        move |number: usize| {
            black_box(bots.is_bot(black_box(&user_agents[number % user_agents.len()])));
        }
    };
    let woothee = |user_agents: Vec<String>| {
        let parser = woothee::parser::Parser::new();
        move |number: usize| {
            black_box(parser.parse(black_box(&user_agents[number % user_agents.len()])));
        }
    };
    let browsers = traffic::user_agents::browsers;
    let crawlers = || traffic::user_agents::crawlers().map(str::to_owned).to_vec();
    let judge = |requests: &'a [Request]| {
        move |number: usize| {
            black_box(outcome(rulebook, site, black_box(&requests[number % requests.len()])));
        }
    };
    let target = |number: usize| {
        let target = traffic::TARGETS[number % traffic::TARGETS.len()];
        black_box(Target::new(black_box(target.as_bytes())).is_cut());
    };
    let forms = |target: &'static str| {
        let target = format!("{target}{}", &"/abcdefghi".repeat(20)[target.len()..]);
        move |_: usize| {
            black_box(Target::new(black_box(target.as_bytes())).is_cut());
        }
    };
    let select = |path: &'static str| {
        move |_| {
            let path = black_box(path.as_bytes());
            black_box(site.tags.select(path, 200, Some(b"text/html; charset=utf-8")));
        }
    };
    let merge = |_| {
        let path = black_box(&b"/press/kit"[..]);
        let theirs: [&[u8]; 1] = [b"*;max-snippet=50, Googlebot;noarchive"];
        black_box(site.tags.merge(path, 200, Some(b"text/html"), &theirs, &[]));
    };
    let (ours, _) = robots_tag::read(&[b"*;noai;noimageai, GPTBot;noindex"]);
    let pair = move |_| {
        let (theirs, _) = robots_tag::read(black_box(&[b"*;max-snippet=50, Googlebot;noarchive"]));
        black_box(theirs.union(&ours).to_field());
    };
    vec![
        Case::new("baseline: User-Agent looked up in a `HashMap`", look_up),
        Case::new("identify: browsers", identify_all(browsers())),
        Case::new("identify: one of 64 KiB", identify_all(vec!["word ".repeat(13_108)])),
        Case::new("identify: browsers, seen before", identify_again(browsers())),
        Case::new("identify: browsers, 32,768", identify_all(never_again(browsers()))),
        Case::new("the same, each remembered in vain", identify_again(never_again(browsers()))),
        Case::new("isbot: browsers", isbot(browsers())),
        Case::new("woothee: browsers", woothee(browsers())),
        Case::new("identify: crawlers and tools", identify_all(crawlers())),
        Case::new("identify: crawlers and tools, seen before", identify_again(crawlers())),
        Case::new("isbot: crawlers and tools", isbot(crawlers())),
        Case::new("woothee: crawlers and tools", woothee(crawlers())),
        Case::new("identify and decide: browser", judge(&requests.browsers)),
        Case::new("identify and decide: crawler, allowed", judge(&requests.allowed)),
        Case::new("identify and decide: crawler, disallowed", judge(&requests.disallowed)),
        Case::new("identify and decide: crawler, evading", judge(&requests.evading)),
        Case::new("the path in its forms (of that)", target),
        Case::new("200 octets in their forms: none", forms("/a")),
        Case::new("200 octets in their forms: one slash too many", forms("//a")),
        Case::new("200 octets in their forms: all kinds", forms("/a%5cb/..%2fprivate/x;y")),
        Case::new("200 octets in their forms: too many", forms("//a;b/%2F..%5c..;/%40/..//%3bc/")),
        Case::new("tags: none apply", select("/products/ropes/manila-12mm")),
        Case::new("tags: prepared", select("/press/kit")),
        Case::new("tags: merged with the origin's", merge),
        Case::new("`Robots-Tag` alone (of that): read, merged, written", pair),
    ]
}
