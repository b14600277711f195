//! Judgement in time, in process: the cost of older editions in the window.
//!
//! `cargo bench --bench time`, half a minute. Each row compares a site with ten editions in the
//! window and the same site with the last edition alone, in turns. The ratio is per round. The
//! verdict is the decision with a prepared claim and prepared forms of the path; the whole decision
//! is beside it. A second table measures a full ledger of fetches.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::hint::black_box;

use beadle::{
    formats::robots::Target,
    rules::{
        crawlers::Claim,
        enforce::{self, Case, Moment, Reason, Rulebook, Site},
        policy,
    },
};
use jiff::{Timestamp, ToSpan};

use self::{
    editions::{Change, File, policy_text},
    rows::Row,
};

mod editions; // sites that change
mod fetches; // a full ledger
mod rows; // pairs of cases and their table
#[allow(dead_code, reason = "other benchmarks need more of it")]
#[path = "../traffic/mod.rs"]
mod traffic;
#[path = "../turns/mod.rs"]
mod turns;

/// The number of editions in the window, including the one in force.
const EDITIONS: u32 = 10;

fn main() {
    // `cargo test --all-targets` starts benchmarks too, without this argument.
    if !std::env::args().any(|arg| arg == "--bench") {
        println!("skipped: start it with `cargo bench --bench time`");
        return;
    }
    let sites: Vec<(String, Pair, Vec<Kind>)> =
        traffic_sites().into_iter().chain(sites()).collect();
    let mut rows: Vec<Row<'_>> = Vec::new();
    for (name, pair, kinds) in &sites {
        for kind in kinds {
            rows.push(row(format!("{name}: {}", kind.name), pair, kind));
        }
    }
    rows::measure(rows);
    println!();
    let (_, pair, _) = &sites[1];
    turns::measure(fetches::cases(&[&pair.older, &pair.ten], now()));
}

/// The same rules with nine earlier editions, and alone.
struct Pair {
    one: Rulebook,
    ten: Rulebook,
    /// The ninth of the ten editions.
    older: Rulebook,
}

/// Requests with the same outcome.
struct Kind {
    name: &'static str,
    requests: Vec<(String, String)>,
    /// The reason of the decision: with one edition, and with ten.
    reasons: Option<[Reason; 2]>,
}

fn now() -> Timestamp {
    Timestamp::UNIX_EPOCH + (10 * 24).hours()
}

impl Pair {
    /// A pair from the policies of all editions, by number; the last is in force.
    fn new(text: impl Fn(u32) -> String) -> Self {
        let read = |number| {
            text(number).parse::<policy::Policy>().expect("the benchmark's policy is valid")
        };
        let mut older: Option<Rulebook> = None;
        let mut ten: Option<Rulebook> = None;
        for number in 0..EDITIONS {
            let at = now() - i64::from(EDITIONS - number).hours();
            let next = Rulebook::compile(&read(number), at, ten.as_ref());
            older = ten.replace(next);
        }
        let one = Rulebook::compile(&read(EDITIONS - 1), now(), None);
        let (older, ten) = older.zip(ten).expect("there are ten");
        let in_window = ten.sites()[0].timeline.in_window(now() - 24.hours()).count();
        assert_eq!(in_window + 1, EDITIONS as usize, "all editions differ");
        Self { one, ten, older }
    }
}

fn traffic_sites() -> Vec<(String, Pair, Vec<Kind>)> {
    let text = traffic::policy("127.0.0.1:8080", "violations.db", "http://127.0.0.1:3000");
    // The rules for `*` and the rules for AI crawlers change in turn.
    let places = ["disallow: [\"/admin/\"", "disallow: [\"/archive/\""];
    assert!(places.iter().all(|place| text.contains(place)), "the policy has these rules");
    let changed = |number: u32| {
        (0..=number).zip(places.iter().cycle()).fold(text.clone(), |text, (number, place)| {
            text.replace(place, &format!("{place}, \"/added-{number}/\""))
        })
    };
    let mixed = traffic::user_agents::mixed();
    let pairs = (0..mixed.len() * traffic::TARGETS.len()).map(|at| {
        (mixed[at % mixed.len()].clone(), traffic::TARGETS[at % traffic::TARGETS.len()].to_owned())
    });
    let kinds = vec![Kind { name: "all requests", requests: pairs.collect(), reasons: None }];
    vec![("usual traffic, 100 rules".to_owned(), Pair::new(changed), kinds)]
}

fn sites() -> Vec<(String, Pair, Vec<Kind>)> {
    let mut sites = Vec::new();
    for rules in [20, 5_000] {
        for change in Change::ALL {
            let file = File { rules, change };
            let pair = Pair::new(|number| policy_text(file, number));
            sites.push((format!("{rules} rules, {}", change.name()), pair, kinds(file)));
        }
    }
    sites
}

/// The requests of the judged crawlers, by outcome.
fn kinds(file: File) -> Vec<Kind> {
    let by_all = |paths: Vec<String>| -> Vec<(String, String)> {
        let pair = |path: &String, user_agent: &str| (user_agent.to_owned(), path.clone());
        let user_agents = editions::USER_AGENTS;
        paths.iter().flat_map(|path| user_agents.map(|user_agent| pair(path, user_agent))).collect()
    };
    let kind =
        |name, paths, one, ten| Kind { name, requests: by_all(paths), reasons: Some([one, ten]) };
    let mut kinds = vec![
        kind("allowed", file.allowed(), Reason::Allow, Reason::Allow),
        kind("disallowed", file.disallowed(), Reason::Disallow, Reason::Disallow),
    ];
    if file.change == Change::Rule {
        let (disallow, grace) = (Reason::Disallow, Reason::Grace);
        kinds.push(kind("the oldest allows", file.allowed_once(), disallow, grace));
        kinds.push(kind("all older allow", file.disallowed_now(), disallow, grace));
        kinds.push(kind("each by a rule of its own", file.narrowed(), disallow, disallow));
    }
    kinds
}

fn row<'a>(name: String, pair: &'a Pair, kind: &'a Kind) -> Row<'a> {
    let books = [&pair.one, &pair.ten];
    for (book, number) in books.into_iter().zip(0..) {
        let site = &book.sites()[0];
        for request in kind.requests.iter().filter(|_| kind.reasons.is_some()) {
            let found = whole(book, site, request);
            let expected = kind.reasons.map(|reasons| reasons[number]);
            assert_eq!(Some(found), expected, "{name}: {request:?} with {number}");
        }
    }
    let whole = books.map(|book| {
        let site = &book.sites()[0];
        Box::new(move |number: usize| {
            black_box(whole(book, site, black_box(&kind.requests[number % kind.requests.len()])));
        }) as Box<dyn Fn(usize)>
    });
    let verdict = books.map(|book| {
        let site = &book.sites()[0];
        let prepare = |(user_agent, target): &'a (String, String)| -> (Claim<'a>, Target<'a>) {
            let claim = book.catalogue().identify(user_agent.as_bytes(), &site.names);
            (claim, Target::new(target.as_bytes()))
        };
        let prepared: Vec<_> = kind.requests.iter().map(prepare).collect();
        Box::new(move |number: usize| {
            let (claim, target) = black_box(&prepared[number % prepared.len()]);
            let case = Case { claim, is_nameless: false, target };
            black_box(enforce::decide(site, case, &Moment::at(now())));
        }) as Box<dyn Fn(usize)>
    });
    Row::new(name, verdict, whole)
}

/// The work of the proxy between the header of a request and its origin.
fn whole(book: &Rulebook, site: &Site, (user_agent, target): &(String, String)) -> Reason {
    let claim = book.catalogue().identify(user_agent.as_bytes(), &site.names);
    let target = Target::new(target.as_bytes());
    let case = Case { claim: &claim, is_nameless: false, target: &target };
    enforce::decide(site, case, &Moment::at(now())).reason
}
