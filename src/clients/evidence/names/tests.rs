//! Tests of look-ups, against a scripted name server.

use std::{
    collections::HashSet,
    net::{Ipv4Addr, UdpSocket},
    time::{Duration, Instant},
};

use hickory_resolver::proto::{
    op::ResponseCode,
    rr::{Name, RData, RecordType, rdata},
};

use super::{
    test_server::{NameServer, Reply, addresses, alias, names, pointer},
    *,
};

const REVERSE: &str = "1.2.0.192.in-addr.arpa.";
const CRAWLER: &str = "crawl.a.example.";
/// The domain of the suffix of `CRAWLER`. It resolves, as those of real operators do.
const DOMAIN: &str = "a.example.";
const NO_SUCH_NAME: Reply = Reply::Code(ResponseCode::NXDomain);
const NO_SUCH_RECORD: Reply = Reply::Code(ResponseCode::NoError);
const SERVER_FAILURE: Reply = Reply::Code(ResponseCode::ServFail);

/// The standard limits with a shorter deadline.
const LIMITS: Limits = Limits { deadline: Duration::from_millis(800), ..Limits::STANDARD };

fn start(limits: Limits, server: SocketAddr) -> (Names, Metrics) {
    let metrics = Metrics::new();
    let known = suffixes(&[".a.example", ".b.example", ".c.example"]);
    let names = Names::start(limits, &[server], known, &metrics).unwrap();
    (names, metrics)
}

fn suffixes(list: &[&str]) -> Vec<String> {
    list.iter().map(|&suffix| suffix.to_owned()).collect()
}

fn of_a() -> Vec<String> {
    suffixes(&[".a.example"])
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// The name servers of a domain.
fn servers() -> Reply {
    let name = Name::from_ascii("ns.a.example.").expect("it is well-formed");
    Reply::Records(vec![RData::NS(rdata::NS(name))])
}

/// Waits until no look-up is pending.
async fn wait_for_all(names: &Names) {
    let end = Instant::now() + Duration::from_secs(10);
    while names.queue.pending() > 0 {
        assert!(Instant::now() < end, "the look-ups do not end");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// The answer after the first look-up.
async fn answer_after_look_up(names: &Names, address: &str, suffixes: &[String]) -> Testimony {
    assert_eq!(names.answer(ip(address), suffixes), Testimony::NotYet);
    wait_for_all(names).await;
    names.answer(ip(address), suffixes)
}

fn count(metrics: &Metrics, outcome: &str) -> u64 {
    metrics.evidence_lookups("reverse-dns", outcome).get()
}

#[tokio::test]
async fn a_name_counts_if_it_is_the_crawlers_and_has_the_address() {
    let right = || addresses(&["198.51.100.9", "192.0.2.1"]);
    let cases: Vec<(&str, Reply, Reply, Testimony)> = vec![
        ("right", names(&[CRAWLER]), right(), Testimony::Yes),
        ("upper case", names(&["CRAWL.A.Example."]), right(), Testimony::Yes),
        ("lying", names(&[CRAWLER]), addresses(&["198.51.100.9"]), Testimony::No),
        ("an unknown name", names(&[CRAWLER]), NO_SUCH_NAME, Testimony::No),
        ("a name without address", names(&[CRAWLER]), NO_SUCH_RECORD, Testimony::No),
        ("the domain itself", names(&["a.example."]), right(), Testimony::No),
        ("another domain", names(&["crawl.evila.example."]), right(), Testimony::No),
        ("a domain inside", names(&["crawl.a.example.evil.example."]), right(), Testimony::No),
        ("a dot in a label", names(&["crawl\\.a.example."]), right(), Testimony::No),
        ("no name", NO_SUCH_NAME, right(), Testimony::No),
        ("no record", NO_SUCH_RECORD, right(), Testimony::No),
        ("several", names(&["x.example.", CRAWLER, "y.example."]), right(), Testimony::Yes),
        ("a delegated range", alias("1.0-63.2.0.192.in-addr.arpa."), right(), Testimony::Yes),
        ("a loop", alias(REVERSE), right(), Testimony::Withheld),
        ("a loop of names", names(&[CRAWLER]), alias("loop.a.example."), Testimony::NotYet),
        ("server failure", SERVER_FAILURE, right(), Testimony::Withheld),
        ("failure of the name", names(&[CRAWLER]), SERVER_FAILURE, Testimony::NotYet),
        ("refused", Reply::Code(ResponseCode::Refused), right(), Testimony::Withheld),
        ("lame", Reply::Referral, right(), Testimony::Withheld),
        ("lame for the name", names(&[CRAWLER]), Reply::Referral, Testimony::NotYet),
        ("garbage", Reply::Garbage, right(), Testimony::Withheld),
        ("silence", Reply::Silence, right(), Testimony::Withheld),
        ("silence of the name", names(&[CRAWLER]), Reply::Silence, Testimony::NotYet),
        (
            "too slow",
            Reply::After(2 * LIMITS.deadline, vec![pointer(CRAWLER)]),
            right(),
            Testimony::Withheld,
        ),
        (
            "slow",
            Reply::After(LIMITS.deadline / 8, vec![pointer(CRAWLER)]),
            right(),
            Testimony::Yes,
        ),
        ("truncated", Reply::TooLong(vec![pointer(CRAWLER)]), right(), Testimony::Yes),
    ];
    let both = cases.into_iter().flat_map(|case| [(case.clone(), true), (case, false)]);
    for ((case, reverse, forward, expected), knows_domain) in both {
        let server = NameServer::start(move |name, kind| match (name, kind) {
            (REVERSE, RecordType::PTR | RecordType::CNAME) => reverse.clone(),
            ("1.0-63.2.0.192.in-addr.arpa.", RecordType::PTR) => names(&[CRAWLER]),
            (CRAWLER, RecordType::A | RecordType::CNAME) => forward.clone(),
            ("loop.a.example.", _) => alias(CRAWLER),
            (DOMAIN, RecordType::NS) if knows_domain => servers(),
            _ => NO_SUCH_NAME,
        });
        let (names, metrics) = start(LIMITS, server.address);
        let answer = answer_after_look_up(&names, "192.0.2.1", &of_a()).await;
        // A name server that does not know the domain of the crawler proves nothing.
        let (expected, outcome) = match expected {
            Testimony::Yes => (expected, "confirmed"),
            Testimony::No if knows_domain => (expected, "refuted"),
            Testimony::No => (Testimony::NotYet, "unproven"),
            Testimony::Withheld if knows_domain => (expected, "failed"),
            _ => (Testimony::NotYet, "failed"),
        };
        assert_eq!(answer, expected, "{case}, {knows_domain}: {:?}", server.asked());
        assert_eq!(count(&metrics, outcome), 1, "{case}");
        assert_eq!(names.queue.pending(), 0, "{case}: a known address needs no second look-up");
    }
}

#[tokio::test]
async fn name_servers_that_do_not_resolve_contradict_no_claim() {
    let portal = || addresses(&["198.51.100.1"]);
    for (case, other, reverse, domain) in [
        ("no name exists", NO_SUCH_NAME, NO_SUCH_NAME, NO_SUCH_NAME),
        ("no name has records", NO_SUCH_RECORD, NO_SUCH_RECORD, NO_SUCH_RECORD),
        ("every query fails", SERVER_FAILURE, SERVER_FAILURE, SERVER_FAILURE),
        ("every name has the same address", portal(), portal(), portal()),
        (
            "every name has the same address, others are right",
            portal(),
            names(&[CRAWLER]),
            servers(),
        ),
        ("names of addresses fail too", SERVER_FAILURE, Reply::Silence, NO_SUCH_NAME),
    ] {
        let server = NameServer::start(move |name, kind| match (name, kind) {
            (REVERSE, RecordType::PTR) => reverse.clone(),
            (DOMAIN, RecordType::NS) => domain.clone(),
            _ => other.clone(),
        });
        let (names, metrics) = start(LIMITS, server.address);
        for address in ["192.0.2.1", "192.0.2.2"] {
            let answer = answer_after_look_up(&names, address, &of_a()).await;
            assert_eq!(answer, Testimony::NotYet, "{case}");
        }
        assert_eq!(count(&metrics, "refuted"), 0, "{case}");
        let domains = server.asked().iter().filter(|query| *query == "NS a.example.").count();
        assert!(domains <= 2, "{case}: one probe a minute, each query twice at most");
    }
}

#[tokio::test]
async fn an_answer_for_a_whole_tree_of_addresses_says_nothing_about_one() {
    let soa = |zone: &str| {
        let zone = Name::from_ascii(zone).expect("it is well-formed");
        Reply::NoSuchName(zone)
    };
    for (zone, expected) in [
        ("in-addr.arpa.", Testimony::NotYet),
        (".", Testimony::NotYet),
        ("192.in-addr.arpa.", Testimony::No),
        ("2.0.192.in-addr.arpa.", Testimony::No),
    ] {
        let reverse = soa(zone);
        let server = NameServer::start(move |name, kind| match (name, kind) {
            (REVERSE, RecordType::PTR) => reverse.clone(),
            (DOMAIN, RecordType::NS) => servers(),
            _ => NO_SUCH_NAME,
        });
        let (names, _) = start(LIMITS, server.address);
        assert_eq!(answer_after_look_up(&names, "192.0.2.1", &of_a()).await, expected, "{zone}");
    }
}

#[tokio::test]
async fn a_confirmed_name_proves_that_names_resolve() {
    let server = NameServer::start(|name, kind| match (name, kind) {
        (REVERSE, RecordType::PTR) => names(&[CRAWLER]),
        (CRAWLER, RecordType::A) => addresses(&["192.0.2.1"]),
        _ => NO_SUCH_NAME,
    });
    let (names, metrics) = start(LIMITS, server.address);
    assert_eq!(answer_after_look_up(&names, "192.0.2.2", &of_a()).await, Testimony::NotYet);
    assert_eq!(answer_after_look_up(&names, "192.0.2.1", &of_a()).await, Testimony::Yes);
    assert_eq!(names.answer(ip("192.0.2.2"), &of_a()), Testimony::No);
    assert_eq!((count(&metrics, "unproven"), names.queue.pending()), (1, 0));
}

#[tokio::test]
async fn a_flood_from_networks_with_dead_name_servers_delays_no_other_network() {
    let server = NameServer::start(|name, kind| match (name, kind) {
        (REVERSE, RecordType::PTR) => names(&[CRAWLER]),
        (CRAWLER, RecordType::A) => addresses(&["192.0.2.1"]),
        (_, RecordType::PTR) => Reply::Silence,
        (DOMAIN, RecordType::NS) => servers(),
        _ => NO_SUCH_NAME,
    });
    let (names, _) = start(LIMITS, server.address);
    let flood = |names: &Names| {
        for (network, host) in (0..160).flat_map(|network| (1..=8).map(move |host| (network, host)))
        {
            names.answer(IpAddr::from([198, 51, network, host]), &of_a());
        }
    };
    flood(&names);
    while server.asked().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    flood(&names);
    let end = Instant::now() + Duration::from_secs(30);
    while names.answer(ip("192.0.2.1"), &of_a()) != Testimony::Yes {
        assert!(Instant::now() < end, "it waits too long");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut before: Vec<String> = server.asked();
    before.truncate(before.iter().position(|query| query.contains(REVERSE)).expect("it was asked"));
    let before: HashSet<String> = before.into_iter().filter(|one| one.starts_with("PTR")).collect();
    // One of each network, and those that were running.
    assert!(before.len() <= 160 + LIMITS.at_once, "{}", before.len());
}

#[tokio::test]
async fn an_unreachable_name_server_contradicts_no_claim() {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let closed = socket.local_addr().unwrap();
    drop(socket);
    let (names, metrics) = start(LIMITS, closed);
    assert_eq!(answer_after_look_up(&names, "192.0.2.1", &of_a()).await, Testimony::NotYet);
    assert_eq!((count(&metrics, "failed"), names.queue.pending()), (1, 0));
}

#[tokio::test]
async fn a_lost_query_is_repeated() {
    let has_dropped_one = std::sync::atomic::AtomicBool::new(false);
    let server = NameServer::start(move |name, kind| match (name, kind) {
        _ if !has_dropped_one.swap(true, std::sync::atomic::Ordering::Relaxed) => Reply::Silence,
        (REVERSE, RecordType::PTR) => names(&[CRAWLER]),
        (CRAWLER, RecordType::A) => addresses(&["192.0.2.1"]),
        _ => NO_SUCH_NAME,
    });
    let (names, _) = start(LIMITS, server.address);
    assert_eq!(answer_after_look_up(&names, "192.0.2.1", &of_a()).await, Testimony::Yes);
}

#[tokio::test]
async fn names_outside_the_suffixes_are_not_resolved_and_hide_no_name() {
    let mut many: Vec<String> = (0..200).map(|number| format!("n{number}.evil.example.")).collect();
    many.push(CRAWLER.to_owned());
    let server = NameServer::start(move |name, kind| match (name, kind) {
        (REVERSE, RecordType::PTR) => {
            Reply::TooLong(many.iter().map(|name| pointer(name)).collect())
        }
        (CRAWLER, RecordType::A) => addresses(&["192.0.2.1"]),
        _ => SERVER_FAILURE,
    });
    let (names, _) = start(LIMITS, server.address);
    assert_eq!(answer_after_look_up(&names, "192.0.2.1", &of_a()).await, Testimony::Yes);
    let queries = server.asked();
    assert!(queries.iter().all(|query| !query.contains("evil")), "{queries:?}");
}

#[tokio::test]
async fn at_most_four_names_of_an_address_are_resolved() {
    let server = NameServer::start(|name, kind| match (name, kind) {
        (REVERSE, RecordType::PTR) => {
            let own: Vec<String> = (0..6).map(|number| format!("n{number}.a.example.")).collect();
            Reply::Records([&own[..1], &own].concat().iter().map(|name| pointer(name)).collect())
        }
        ("n3.a.example.", RecordType::A) => addresses(&["192.0.2.1"]),
        ("n5.a.example.", RecordType::A) => addresses(&["192.0.2.1"]),
        _ => NO_SUCH_NAME,
    });
    let (names, _) = start(LIMITS, server.address);
    assert_eq!(answer_after_look_up(&names, "192.0.2.1", &of_a()).await, Testimony::Yes);
    let forward: Vec<String> =
        server.asked().into_iter().filter(|query| query.starts_with("A ")).collect();
    let expected: Vec<String> = (0..4).map(|number| format!("A n{number}.a.example.")).collect();
    assert_eq!(forward, expected);
}

#[tokio::test]
async fn more_names_than_are_resolved_leave_the_claim_open() {
    let server = NameServer::start(|name, kind| match (name, kind) {
        (REVERSE, RecordType::PTR) => {
            let own: Vec<String> = (0..6).map(|number| format!("n{number}.a.example.")).collect();
            Reply::Records(own.iter().map(|name| pointer(name)).collect())
        }
        ("n5.a.example.", RecordType::A) => addresses(&["192.0.2.1"]),
        (DOMAIN, RecordType::NS) => servers(),
        _ => NO_SUCH_NAME,
    });
    let (names, _) = start(LIMITS, server.address);
    assert_eq!(answer_after_look_up(&names, "192.0.2.1", &of_a()).await, Testimony::Withheld);
}

#[tokio::test]
async fn ipv6_addresses_have_names_and_a_mapped_address_counts_as_ipv4() {
    let server = NameServer::start(|name, kind| match (name, kind) {
        (name, RecordType::PTR) if name.ends_with(".8.b.d.0.1.0.0.2.ip6.arpa.") => {
            names(&[CRAWLER])
        }
        (REVERSE, RecordType::PTR) => names(&[CRAWLER]),
        (CRAWLER, RecordType::A) => addresses(&["192.0.2.1"]),
        (CRAWLER, RecordType::AAAA) => addresses(&["2001:db8::1"]),
        _ => NO_SUCH_NAME,
    });
    let (names, metrics) = start(LIMITS, server.address);
    assert_eq!(answer_after_look_up(&names, "2001:db8::1", &of_a()).await, Testimony::Yes);
    assert_eq!(answer_after_look_up(&names, "2001:db8::2", &of_a()).await, Testimony::No);
    assert_eq!(answer_after_look_up(&names, "::ffff:192.0.2.1", &of_a()).await, Testimony::Yes);
    assert_eq!(names.answer(ip("192.0.2.1"), &of_a()), Testimony::Yes);
    assert_eq!(count(&metrics, "confirmed"), 2);
}

#[tokio::test]
async fn one_look_up_serves_every_crawler() {
    let server = NameServer::start(|name, kind| match (name, kind) {
        (REVERSE, RecordType::PTR) => names(&[CRAWLER, "crawl.b.example."]),
        (CRAWLER | "crawl.b.example.", RecordType::A) => addresses(&["192.0.2.1"]),
        ("c.example.", RecordType::SOA | RecordType::A) => addresses(&["198.51.100.9"]),
        _ => NO_SUCH_NAME,
    });
    let (names, metrics) = start(LIMITS, server.address);
    let (of_b, of_c) = (suffixes(&[".b.example"]), suffixes(&[".c.example"]));
    assert_eq!(answer_after_look_up(&names, "192.0.2.9", &of_c).await, Testimony::No);
    assert_eq!(answer_after_look_up(&names, "192.0.2.1", &of_a()).await, Testimony::Yes);
    assert_eq!(names.answer(ip("192.0.2.1"), &of_c), Testimony::No);
    assert_eq!(names.answer(ip("192.0.2.1"), &of_b), Testimony::Yes);
    assert_eq!(count(&metrics, "confirmed"), 1);
    assert_eq!(answer_after_look_up(&names, "192.0.2.2", &of_a()).await, Testimony::No);
    assert_eq!(names.answer(ip("192.0.2.2"), &of_b), Testimony::No);
    assert_eq!(count(&metrics, "refuted"), 2);
}

#[tokio::test]
async fn a_failed_query_for_one_name_does_not_affect_the_others() {
    let server = NameServer::start(|name, kind| match (name, kind) {
        (REVERSE, RecordType::PTR) => names(&["crawl.b.example.", CRAWLER, "late.b.example."]),
        (CRAWLER, RecordType::A) => addresses(&["192.0.2.1"]),
        ("late.b.example.", _) => Reply::Silence,
        _ => SERVER_FAILURE,
    });
    let (names, _) = start(LIMITS, server.address);
    let of_b = suffixes(&[".b.example"]);
    let of_both = suffixes(&[".a.example", ".b.example"]);
    assert_eq!(answer_after_look_up(&names, "192.0.2.1", &of_both).await, Testimony::Yes);
    assert_eq!(names.answer(ip("192.0.2.1"), &of_b), Testimony::NotYet);
}

#[tokio::test]
async fn many_requests_cause_one_look_up() {
    let server = NameServer::start(|name, kind| match (name, kind) {
        (REVERSE, RecordType::PTR) => {
            Reply::After(Duration::from_millis(20), vec![pointer(CRAWLER)])
        }
        (CRAWLER, RecordType::A) => addresses(&["192.0.2.1"]),
        _ => NO_SUCH_NAME,
    });
    let (names, metrics) = start(LIMITS, server.address);
    for _ in 0..1_000 {
        assert_eq!(names.answer(ip("192.0.2.1"), &of_a()), Testimony::NotYet);
    }
    wait_for_all(&names).await;
    assert_eq!(names.answer(ip("192.0.2.1"), &of_a()), Testimony::Yes);
    assert_eq!(server.asked(), [format!("PTR {REVERSE}"), format!("A {CRAWLER}")]);
    assert_eq!((count(&metrics, "confirmed"), count(&metrics, "dropped")), (1, 0));
}

#[tokio::test]
async fn an_entry_near_its_end_answers_and_is_refreshed() {
    let server = NameServer::start(|name, kind| match (name, kind) {
        (REVERSE, RecordType::PTR) => names(&[CRAWLER]),
        (CRAWLER, RecordType::A) => addresses(&["192.0.2.1"]),
        _ => NO_SUCH_NAME,
    });
    let (names, metrics) = start(LIMITS, server.address);
    let look_up = LookUp { end: End::Complete, ..LookUp::default() };
    names.proofs.end_probe(".a.example", true, Instant::now());
    let then = Instant::now() - Duration::from_secs(14 * 60);
    names.cache.insert(ip("192.0.2.1"), look_up, then);
    assert_eq!(names.answer(ip("192.0.2.1"), &of_a()), Testimony::No);
    wait_for_all(&names).await;
    assert_eq!(names.answer(ip("192.0.2.1"), &of_a()), Testimony::Yes);
    assert_eq!((count(&metrics, "confirmed"), names.queue.pending()), (1, 0));
}

#[tokio::test]
async fn private_addresses_are_not_looked_up() {
    let metrics = Metrics::new();
    let names =
        Names::start(Limits::STANDARD, &[(Ipv4Addr::LOCALHOST, 9).into()], of_a(), &metrics)
            .unwrap();
    for address in [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.1.1",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fd00::1",
        "ff02::1",
        "::ffff:10.1.2.3",
        "198.18.0.1",
        "64:ff9b::808:808",
        "2002:808:808::1",
    ] {
        assert_eq!(names.answer(ip(address), &of_a()), Testimony::Nothing, "{address}");
    }
    assert_eq!(names.answer(ip("192.0.2.1"), &[]), Testimony::Nothing, "the crawler has no suffix");
    assert_eq!(names.queue.pending(), 0);
    for address in ["100.128.0.1", "172.32.0.1", "223.255.255.1", "2001:db8::1", "2620:fe::fe"] {
        assert_eq!(names.answer(ip(address), &of_a()), Testimony::NotYet, "{address}");
    }
    assert_eq!(names.queue.pending(), 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_never_waits_for_a_name_server() {
    let server = NameServer::start(|_, _| Reply::Silence);
    let limits = Limits { waiting: 64, at_once: 4, ..LIMITS };
    let (names, metrics) = start(limits, server.address);
    let mut times = Vec::new();
    for number in 0..1_000_u32 {
        let address = Ipv4Addr::from(0xC633_0000 + 256 * number).into();
        let before = Instant::now();
        assert_eq!(names.answer(address, &of_a()), Testimony::NotYet);
        times.push(before.elapsed());
    }
    times.sort_unstable();
    let median = times[times.len() / 2];
    assert!(median < Duration::from_micros(200), "{median:?}");
    let dropped = count(&metrics, "dropped");
    assert!((900..=1_000 - 64).contains(&dropped), "{dropped}");
    assert!(names.queue.pending() <= 64 + 4);
}

#[tokio::test]
async fn the_number_of_look_ups_at_once_is_bounded() {
    let server = NameServer::start(|_, _| Reply::Silence);
    let limits = Limits { at_once: 3, ..Limits::STANDARD };
    let (names, _) = start(limits, server.address);
    for number in 0..20_u32 {
        names.answer(Ipv4Addr::from(0xC633_0000 + 256 * number).into(), &of_a());
    }
    let queries = || HashSet::<String>::from_iter(server.asked());
    while queries().len() < 3 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(queries().len(), 3);
    assert_eq!(names.queue.pending(), 20);
}

#[tokio::test]
async fn the_background_task_ends_with_its_owner() {
    let server = NameServer::start(|_, _| Reply::Silence);
    let (names, _) = start(LIMITS, server.address);
    names.answer(ip("192.0.2.1"), &of_a());
    let cache = Arc::downgrade(&names.cache);
    drop(names);
    let end = Instant::now() + Duration::from_secs(5);
    while cache.strong_count() > 0 {
        assert!(Instant::now() < end, "the task still runs");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn a_known_answer_needs_no_allocation() {
    let server = NameServer::start(|name, kind| match (name, kind) {
        (REVERSE, RecordType::PTR) => names(&[CRAWLER]),
        (CRAWLER, RecordType::A) => addresses(&["192.0.2.1"]),
        _ => NO_SUCH_NAME,
    });
    let (names, _) = start(LIMITS, server.address);
    let of_a = of_a();
    for (address, expected) in [("192.0.2.1", Testimony::Yes), ("192.0.2.2", Testimony::No)] {
        assert_eq!(answer_after_look_up(&names, address, &of_a).await, expected);
        let address = ip(address);
        let allocated = allocation_counter::measure(|| {
            names.answer(address, &of_a);
        });
        assert_eq!(allocated.count_total, 0, "{address}");
    }
}
