//! Tests of look-ups, against a scripted name server.

use std::{
    collections::HashSet,
    net::{Ipv4Addr, UdpSocket},
    time::{Duration, Instant},
};

use hickory_resolver::proto::{op::ResponseCode, rr::RecordType};

use super::{
    test_server::{NameServer, Reply, addresses, alias, names, pointer},
    *,
};

const REVERSE: &str = "1.2.0.192.in-addr.arpa.";
const CRAWLER: &str = "crawl.a.example.";
const NO_SUCH_NAME: Reply = Reply::Code(ResponseCode::NXDomain);
const NO_SUCH_RECORD: Reply = Reply::Code(ResponseCode::NoError);
const SERVER_FAILURE: Reply = Reply::Code(ResponseCode::ServFail);

/// The standard limits with a shorter deadline.
const LIMITS: Limits = Limits { deadline: Duration::from_millis(800), ..Limits::STANDARD };

fn start(limits: Limits, server: SocketAddr) -> (Names, Metrics) {
    let metrics = Metrics::new();
    let names = Names::start_within(limits, &[server], &metrics).unwrap();
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
        ("a loop", alias(REVERSE), right(), Testimony::NotYet),
        ("a loop of names", names(&[CRAWLER]), alias("loop.a.example."), Testimony::NotYet),
        ("server failure", SERVER_FAILURE, right(), Testimony::NotYet),
        ("failure of the name", names(&[CRAWLER]), SERVER_FAILURE, Testimony::NotYet),
        ("refused", Reply::Code(ResponseCode::Refused), right(), Testimony::NotYet),
        ("lame", Reply::Referral, right(), Testimony::NotYet),
        ("lame for the name", names(&[CRAWLER]), Reply::Referral, Testimony::NotYet),
        ("garbage", Reply::Garbage, right(), Testimony::NotYet),
        ("silence", Reply::Silence, right(), Testimony::NotYet),
        ("silence of the name", names(&[CRAWLER]), Reply::Silence, Testimony::NotYet),
        (
            "too slow",
            Reply::After(2 * LIMITS.deadline, vec![pointer(CRAWLER)]),
            right(),
            Testimony::NotYet,
        ),
        (
            "slow",
            Reply::After(LIMITS.deadline / 8, vec![pointer(CRAWLER)]),
            right(),
            Testimony::Yes,
        ),
        ("truncated", Reply::TooLong(vec![pointer(CRAWLER)]), right(), Testimony::Yes),
    ];
    for (case, reverse, forward, expected) in cases {
        let server = NameServer::start(move |name, kind| match (name, kind) {
            (REVERSE, RecordType::PTR | RecordType::CNAME) => reverse.clone(),
            ("1.0-63.2.0.192.in-addr.arpa.", RecordType::PTR) => names(&[CRAWLER]),
            (CRAWLER, RecordType::A | RecordType::CNAME) => forward.clone(),
            ("loop.a.example.", _) => alias(CRAWLER),
            _ => NO_SUCH_NAME,
        });
        let (names, metrics) = start(LIMITS, server.address);
        let answer = answer_after_look_up(&names, "192.0.2.1", &of_a()).await;
        assert_eq!(answer, expected, "{case}: {:?}", server.asked());
        let outcome = match expected {
            Testimony::Yes => "confirmed",
            Testimony::No => "refuted",
            Testimony::NotYet | Testimony::Nothing => "failed",
        };
        assert_eq!(count(&metrics, outcome), 1, "{case}");
        assert_eq!(names.queue.pending(), 0, "{case}: a known address needs no second look-up");
    }
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
async fn one_look_up_serves_every_crawler_so_far() {
    let server = NameServer::start(|name, kind| match (name, kind) {
        (REVERSE, RecordType::PTR) => names(&[CRAWLER, "crawl.b.example."]),
        (CRAWLER | "crawl.b.example.", RecordType::A) => addresses(&["192.0.2.1"]),
        _ => NO_SUCH_NAME,
    });
    let (names, metrics) = start(LIMITS, server.address);
    let (of_b, of_c) = (suffixes(&[".b.example"]), suffixes(&[".c.example"]));
    assert_eq!(answer_after_look_up(&names, "192.0.2.9", &of_c).await, Testimony::No);
    assert_eq!(answer_after_look_up(&names, "192.0.2.1", &of_a()).await, Testimony::Yes);
    assert_eq!(names.answer(ip("192.0.2.1"), &of_c), Testimony::No);
    assert_eq!(
        answer_after_look_up(&names, "192.0.2.1", &of_b).await,
        Testimony::Yes,
        "no look-up covered it before"
    );
    assert_eq!(names.answer(ip("192.0.2.1"), &of_a()), Testimony::Yes);
    assert_eq!(count(&metrics, "confirmed"), 2);
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
    let look_up = LookUp { names: Vec::new(), is_complete: true };
    let covered = Arc::new(suffixes::Suffixes::default().with(&of_a()));
    let then = Instant::now() - Duration::from_secs(14 * 60);
    names.cache.insert(ip("192.0.2.1"), look_up, &covered, then);
    assert_eq!(names.answer(ip("192.0.2.1"), &of_a()), Testimony::No);
    wait_for_all(&names).await;
    assert_eq!(names.answer(ip("192.0.2.1"), &of_a()), Testimony::Yes);
    assert_eq!((count(&metrics, "confirmed"), names.queue.pending()), (1, 0));
}

#[tokio::test]
async fn private_addresses_are_not_looked_up() {
    let metrics = Metrics::new();
    let names = Names::start(&[(Ipv4Addr::LOCALHOST, 9).into()], &metrics).unwrap();
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
