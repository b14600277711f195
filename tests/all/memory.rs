//! Memory: none on the usual request path, a bounded multiple of the size of a robots.txt, a limit
//! for the ledger of fetches, and the share of one connection.

use allocation_counter::{AllocationInfo, measure};
use beadle::{
    clients::conduct::{Fetches, Ledger, Network, Reader},
    formats::robots::{self, Matcher, Target},
    rules::{
        crawlers::{Name, Outcome},
        enforce::{self, EditionId, Moment, Rulebook, Site},
        policy::Policy,
    },
    serving::gate::Forwarding,
};
use http::{HeaderMap, HeaderName};
use jiff::Timestamp;

use crate::{
    support::{
        client::{Client, Request},
        conditions,
        origin::Origin,
        program::{Beadle, Setup},
        wait_for,
    },
    traffic,
};

#[allow(dead_code, reason = "the benchmark needs more of it")]
#[path = "../../benches/matching/inputs.rs"]
mod inputs;

/// How often the second `call` allocates.
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
            continue; // Its normal form may need memory.
        }
        let user_agent = user_agent.as_bytes();
        let count = allocations(|| {
            let claim = rulebook.catalogue().identify(user_agent, &site.names);
            let target = Target::new(target.as_bytes());
            let is_blank = enforce::is_blank(user_agent);
            let case = enforce::Case { claim: &claim, is_nameless: is_blank, target: &target };
            enforce::decide(site, case, &Moment::at(Timestamp::UNIX_EPOCH));
            site.tags.select(target.letter(), 200, Some(b"text/html"));
        });
        assert_eq!(count, 0, "{} {target}", user_agent.escape_ascii());
    }
}

#[test]
fn the_fields_of_a_usual_request_go_on_without_allocating() {
    let mut fields = HeaderMap::new();
    for name in [
        "host",
        "connection",
        "user-agent",
        "accept",
        "accept-language",
        "accept-encoding",
        "referer",
        "cookie",
        "sec-fetch-site",
        "upgrade-insecure-requests",
        "x-requested-with",
    ] {
        fields.append(HeaderName::from_static(name), "keep-alive".parse().expect("a value"));
    }
    for is_trusted in [false, true] {
        let forwarding = Forwarding { is_trusted, underscore_fields: false };
        let AllocationInfo { count_total, .. } = measure(|| forwarding.apply(&mut fields));
        assert_eq!((count_total, fields.len()), (0, 11));
    }
}

#[test]
fn a_verdict_allocates_nothing_with_any_number_of_rules() {
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

/// Fetches of each name from a number of networks, which have a number of editions between them.
fn fetches(names: &[(String, String)], networks: u32, editions: u32) -> Vec<Fetches> {
    let fetch = |(number, (site, token)): (i64, &(String, String)), network: u32| Fetches {
        site: site.clone(),
        product_token: token.clone(),
        network: Network::of(network.to_be_bytes().into()),
        outcome: Outcome::Unknown,
        edition: EditionId::of(&(network / 256 % editions).to_be_bytes()),
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
    // The extremes; the cases between them run at full size only.
    let mut cases = vec![
        (
            "25 crawlers, 4,000 networks, each with an edition of its own",
            crawlers(25),
            4_000,
            4_000,
        ),
        ("100,000 sites, the longest names", long(100_000), 1, 1),
    ];
    if conditions::is_full_size() {
        cases.extend([
            ("130,000 crawlers", crawlers(130_000), 1, 1),
            ("1,000 crawlers, 100 networks", crawlers(1_000), 100, 1),
            ("2,000 crawlers, 50 networks", crawlers(2_000), 50, 10),
            ("50,000 crawlers, two networks, two editions", crawlers(50_000), 2, 2),
            ("100,000 crawlers", crawlers(100_000), 1, 1),
            ("33,000 sites, the longest names, three networks and editions", long(33_333), 3, 3),
        ]);
    }
    for (case, names, networks, editions) in cases {
        let mut kept = None;
        let full = measure(|| kept = Some(Ledger::of(fetches(&names, networks, editions))));
        // Names that clients made up are kept apart.
        let ledger = kept.expect("it was made just now");
        let reader =
            Reader { network: Network::of([192, 0, 2, 1].into()), outcome: Outcome::Unknown };
        let more = measure(|| {
            for number in 0..10_000 {
                let name = token(number, 125);
                let at = Timestamp::UNIX_EPOCH;
                ledger.note(&rulebook.sites()[0], Name::Declared(&name), reader, at);
            }
        });
        let bytes = full.bytes_current + more.bytes_current;
        eprintln!("{case}: {bytes} octets, {} of them for made-up names", more.bytes_current);
        assert!(bytes <= LIMIT, "{case}: {bytes}");
    }
}

/// The memory of the program in octets, when it no longer changes.
fn settled(beadle: &Beadle) -> u64 {
    let resident = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", beadle.pid()));
        let status = status.expect("the program runs");
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let size = line.map(|line| line.trim().trim_end_matches(" kB").parse::<u64>());
        size.expect("Linux has this line").expect("a number of KiB") << 10
    };
    let (mut last, mut same) = (0, 0);
    wait_for("a program at rest", || {
        let now = resident();
        same = if now == last { same + 1 } else { 0 };
        last = now;
        std::thread::sleep(std::time::Duration::from_millis(20));
        (same > 20).then_some(now)
    })
}

/// What each of `count` connections takes, after `begin`.
fn share(beadle: &Beadle, count: usize, begin: impl Fn(&mut Client)) -> u64 {
    let before = settled(beadle);
    let clients: Vec<Client> = (0..count)
        .map(|_| {
            let mut client = Client::connect(beadle.port);
            begin(&mut client);
            client
        })
        .collect();
    let taken = settled(beadle).saturating_sub(before);
    drop(clients);
    taken / count as u64
}

#[test]
fn a_connection_takes_no_more_than_the_limits_say() {
    let origin = Origin::plain();
    let start = || {
        let beadle = Setup::site(origin.port, "").start();
        beadle.assert_healthy("the start");
        beadle
    };
    let silent = share(&start(), 400, |_| ());
    let idle = share(&start(), 400, |client| {
        assert_eq!(Request::get("/").send_over(client).status, 200);
    });
    let unfinished = share(&start(), 16, |client| {
        client.write(b"GET / HTTP/1.1\r\nHost: site.example\r\nX: ");
        client.write(&vec![b'x'; (1 << 20) - 1_000]);
    });
    eprintln!("octets for each: silent {silent}, idle {idle}, unfinished header {unfinished}");
    assert!(silent <= 64 << 10, "a silent connection takes {silent}");
    assert!(idle <= 64 << 10, "an idle connection takes {idle}");
    assert!(unfinished <= 1_536 << 10, "an unfinished header of 1 MiB takes {unfinished}");
}
