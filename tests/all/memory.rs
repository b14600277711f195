//! What is allocated: nothing on the usual request path, and a bounded multiple of a file's size
//! for a robots.txt that was read and compiled; and the ledger of fetches, which has a limit.

use allocation_counter::{AllocationInfo, measure};
use beadle::{
    crawlers::{Name, Outcome},
    enforce::{self, Moment, Rulebook, Site},
    policy::Policy,
    proxy::{Ledger, Network, Reader},
    robots::{self, Matcher, Target},
    violations::{Fetch, Text},
};
use jiff::Timestamp;

use crate::traffic;

#[allow(dead_code, reason = "the benchmark needs more of it")]
#[path = "../../benches/matching/inputs.rs"]
mod inputs;

/// How often `call` allocates, after it was called once.
fn allocations(call: impl Fn()) -> u64 {
    call();
    measure(call).count_total
}

#[test]
fn a_usual_request_is_identified_judged_and_tagged_without_allocating() {
    let text = traffic::policy("127.0.0.1:8080", "violations.db", "http://127.0.0.1:3000");
    let policy = text.parse::<Policy>().unwrap();
    let changed = text.replacen("disallow: [", "disallow: [/x, ", 1);
    let changed = changed.parse::<Policy>().unwrap();
    let an_hour_ago = Timestamp::UNIX_EPOCH - jiff::SignedDuration::from_hours(1);
    let older = Rulebook::compile(&changed, an_hour_ago, None);
    for before in [None, Some(&older)] {
        let rulebook = Rulebook::compile(&policy, Timestamp::UNIX_EPOCH, before);
        let (_, site) = rulebook.site(Some(traffic::HOST)).expect("the policy has this host");
        assert_eq!(site.timeline.is_single(), before.is_none());
        judge_usual_traffic(&rulebook, site);
    }
}

fn judge_usual_traffic(rulebook: &Rulebook, site: &Site) {
    let user_agents = traffic::user_agents::mixed();
    for (number, user_agent) in user_agents.iter().enumerate() {
        let target = traffic::TARGETS[number % traffic::TARGETS.len()];
        if target.contains('%') {
            continue; // Its normal form may have to be written down.
        }
        let user_agent = user_agent.as_bytes();
        let count = allocations(|| {
            let claim = rulebook.catalogue().identify(user_agent, &site.names);
            let target = Target::new(target.as_bytes());
            let is_blank = enforce::is_blank(user_agent);
            let asked = enforce::Asked { claim: &claim, is_nameless: is_blank, target: &target };
            enforce::decide(site, asked, &Moment::at(Timestamp::UNIX_EPOCH));
            site.tags.select(target.letter(), 200, Some(b"text/html"));
        });
        assert_eq!(count, 0, "{} {target}", user_agent.escape_ascii());
    }
}

#[test]
fn a_verdict_allocates_nothing_however_many_rules_there_are() {
    for file in [
        inputs::File::small(),
        inputs::File::large(10_000, 0),
        inputs::File::large(10_000, 10),
        inputs::File::slashes(1000),
        inputs::File::letters(2000, 120, "aa"),
    ] {
        let matcher = Matcher::new(&robots::parse(file.text.as_bytes()).0);
        let scope = matcher.star().expect("every file has a group for all");
        for path in [inputs::long(40), inputs::long(8192), inputs::octets("ab", 2048)] {
            let judge = || {
                matcher.verdict(scope, &Target::new(path.as_bytes()));
            };
            assert_eq!(allocations(judge), 0, "{}", path.get(..40).unwrap_or(&path));
        }
    }
}

#[test]
fn a_large_file_takes_at_most_twelve_times_its_size() {
    for file in [inputs::File::large(10_000, 0), inputs::File::large(10_000, 10)] {
        let size = file.text.len() as u64;
        let mut kept = None;
        let AllocationInfo { bytes_max, bytes_current, .. } = measure(|| {
            let (robots, _) = robots::parse(file.text.as_bytes());
            kept = Some((Matcher::new(&robots), robots));
        });
        eprintln!("{size} octets: at most {bytes_max} at a time, then {bytes_current}");
        assert!(bytes_max <= 12 * size, "at most {bytes_max} for {size}");
        assert!(bytes_current <= 8 * size as i64, "{bytes_current} are kept for {size}");
    }
}

/// As many fetches as there are pairs: of each name at each site from so many networks. Each of
/// these holds one of so many editions.
fn fetches(names: &[(String, String)], networks: u32, editions: u32) -> Vec<Fetch> {
    let fetch = |(number, (site, token)): (i64, &(String, String)), network: u32| Fetch {
        site: site.clone().into(),
        product_token: token.clone().into(),
        network: Network::of(network.to_be_bytes().into()).to_string().into(),
        standing: Text::word(Outcome::Unknown.as_str()),
        edition: format!("{:016x}", network / 256 % editions).into(),
        first: Timestamp::UNIX_EPOCH,
        last: Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_secs(number),
        count: 1,
        interval: None,
    };
    let networks = || (0..networks).map(|number| number << 8);
    let names = (0..).zip(names);
    names.flat_map(|name| networks().map(move |network| fetch(name, network))).collect()
}

#[test]
fn the_ledger_of_100_000_pairs_takes_at_most_32_mib() {
    const LIMIT: i64 = 32 << 20;
    let token = |number: usize, length: usize| format!("Bot{number:0>length$}");
    let crawlers = |count: usize| -> Vec<_> {
        (0..count).map(|number| ("www.example.com".to_owned(), token(number, 6))).collect()
    };
    // A host has up to 253 octets, a product token 128.
    let long = |count: usize| -> Vec<_> {
        (0..count)
            .map(|number| (format!("{}.{number:09}", "a".repeat(243)), token(number, 125)))
            .collect()
    };
    let policy = "sites: [{ hosts: [a.example], origin: \"http://127.0.0.1:1\" }]";
    let policy = policy.parse::<Policy>().unwrap();
    let rulebook = Rulebook::compile(&policy, Timestamp::UNIX_EPOCH, None);
    for (case, names, networks, editions) in [
        ("1,000 crawlers, 100 networks", crawlers(1_000), 100, 1),
        ("2,000 crawlers, 50 networks", crawlers(2_000), 50, 10),
        (
            "25 crawlers, 4,000 networks, each with an edition of its own",
            crawlers(25),
            4_000,
            4_000,
        ),
        ("50,000 crawlers, two networks, two editions", crawlers(50_000), 2, 2),
        ("100,000 crawlers", crawlers(100_000), 1, 1),
        ("130,000 crawlers", crawlers(130_000), 1, 1),
        ("100,000 sites, the longest names", long(100_000), 1, 1),
        ("33,000 sites, the longest names, three networks and editions", long(33_333), 3, 3),
    ] {
        let mut kept = None;
        let full =
            measure(|| kept = Some(Ledger::remembering(fetches(&names, networks, editions))));
        // Names that clients make up have a book of their own.
        let ledger = kept.expect("it was made just now");
        let reader =
            Reader { network: Network::of([192, 0, 2, 1].into()), outcome: Outcome::Unknown };
        let more = measure(|| {
            for number in 0..10_000 {
                let name = token(number, 125);
                let at = Timestamp::UNIX_EPOCH;
                ledger.note(&rulebook.sites()[0], Name::Declared(&name), reader, "-".into(), at);
            }
        });
        let bytes = full.bytes_current + more.bytes_current;
        eprintln!("{case}: {bytes} octets, {} of them for made-up names", more.bytes_current);
        assert!(bytes <= LIMIT, "{case}: {bytes}");
    }
}
