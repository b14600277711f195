use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn servers(origin: &str) -> (Servers, Metrics) {
    let text = format!("sites:\n  - hosts: [a.example]\n    origin: {origin}\n");
    let policy: policy::Policy = text.parse().expect("a policy");
    let (backend, metrics) = (&policy.sites[0].backend, Metrics::new());
    let servers = Servers::new("a.example", backend, None, &AddressBook::default(), &metrics);
    (servers, metrics)
}

const THREE: &str = "['http://127.0.0.1:1', 'http://127.0.0.1:2', 'http://127.0.0.1:3']";

/// The ports of the next requests, each of them over at once.
fn ports(servers: &Servers, count: usize, now: Duration) -> Vec<u16> {
    let port = |_| Attempts::default().next(servers, || now).map_or(0, |one| one.origin.port);
    (0..count).map(port).collect()
}

#[test]
fn requests_take_turns() {
    let (servers, _) = servers(THREE);
    assert_eq!(ports(&servers, 7, SECOND), [1, 2, 3, 1, 2, 3, 1]);
}

#[test]
fn the_server_with_the_fewest_requests_is_next() {
    let (servers, _) = servers(&format!("{{ urls: {THREE}, balance: least-connections }}"));
    let mut open = Vec::new();
    let mut begin = || {
        let mut attempts = Attempts::default();
        let port = attempts.next(&servers, || SECOND).map_or(0, |one| one.origin.port);
        open.push((port, attempts));
    };
    (0..6).for_each(|_| begin());
    let count = |open: &[(u16, Attempts)], port| open.iter().filter(|one| one.0 == port).count();
    assert_eq!([1, 2, 3].map(|port| count(&open, port)), [2, 2, 2]);
    open.retain(|(port, _)| *port != 2);
    assert_eq!(ports(&servers, 3, SECOND), [2, 2, 2], "it has none in progress");
}

#[test]
fn a_refused_connection_leaves_the_server_out_for_a_pause() {
    let (servers, metrics) = servers(THREE);
    let mut attempts = Attempts::default();
    assert_eq!(attempts.next(&servers, || SECOND).map(|one| one.origin.port), Some(1));
    assert!(attempts.failed(&servers, Fault::Connection, SECOND, &metrics));
    assert_eq!(attempts.next(&servers, || SECOND).map(|one| one.origin.port), Some(2));
    assert!(servers.all[0].is_down());
    assert!(!ports(&servers, 9, 10 * SECOND).contains(&1));
    // One request tries it after ten seconds.
    let after = ports(&servers, 9, 11 * SECOND);
    assert_eq!(after.iter().filter(|port| **port == 1).count(), 1, "{after:?}");
    assert!(!ports(&servers, 9, 20 * SECOND).contains(&1));
    servers.succeeded(0, Success::Request, &metrics);
    assert!(!servers.all[0].is_down());
    assert_eq!(ports(&servers, 3, 20 * SECOND).iter().filter(|port| **port == 1).count(), 1);
}

#[test]
fn requests_without_a_response_leave_the_server_out_if_they_come_in_a_row() {
    let (servers, metrics) = servers(THREE);
    let fail = || servers.failed(0, Fault::Response, SECOND, &metrics);
    fail();
    fail();
    servers.succeeded(0, Success::Request, &metrics);
    fail();
    fail();
    assert!(!servers.all[0].is_down());
    fail();
    assert!(servers.all[0].is_down());
}

#[test]
fn a_server_that_checks_found_down_waits_for_a_good_check() {
    let health = "health: { path: /up, failures: 2 }";
    let (servers, metrics) = servers(&format!("{{ urls: {THREE}, {health} }}"));
    let fail = || servers.failed(0, Fault::Check, SECOND, &metrics);
    fail();
    assert!(!servers.all[0].is_down());
    fail();
    assert!(servers.all[0].is_down());
    assert!(!ports(&servers, 9, 3_600 * SECOND).contains(&1), "no request tries it");
    servers.succeeded(0, Success::Check, &metrics);
    assert!(ports(&servers, 3, SECOND).contains(&1));
}

#[test]
fn a_request_tries_each_server_once() {
    let (servers, metrics) = servers(THREE);
    let mut attempts = Attempts::default();
    let mut seen = Vec::new();
    while let Some(server) = attempts.next(&servers, || SECOND) {
        seen.push(server.origin.port);
        attempts.failed(&servers, Fault::Response, SECOND, &metrics);
    }
    assert_eq!(seen, [1, 2, 3]);
    assert_eq!(servers.retry_after(SECOND), 10);
}

#[test]
fn without_a_server_a_client_waits_for_the_first_one() {
    let (servers, metrics) = servers(THREE);
    for (place, at) in [(0, 1), (1, 3), (2, 8)] {
        servers.failed(place, Fault::Connection, at * SECOND, &metrics);
    }
    assert_eq!(ports(&servers, 1, 8 * SECOND), [0]);
    assert_eq!(servers.retry_after(8 * SECOND + SECOND / 2), 3);
    assert_eq!(servers.retry_after(11 * SECOND), 1);
}

#[test]
fn a_single_server_is_never_left_out() {
    let (servers, metrics) = servers("http://127.0.0.1:1");
    let mut attempts = Attempts::default();
    for _ in 0..3 {
        assert!(attempts.next(&servers, || SECOND).is_some());
        assert!(!attempts.failed(&servers, Fault::Connection, SECOND, &metrics));
    }
    assert_eq!(ports(&servers, 2, SECOND), [1, 1]);
    assert!(servers.all[0].is_down(), "its health is shown");
}

#[test]
fn a_new_policy_keeps_the_health_of_a_server() {
    let (before, metrics) = servers(THREE);
    before.failed(1, Fault::Connection, SECOND, &metrics);
    let (next, _) = servers("['http://127.0.0.1:2', 'http://127.0.0.1:4']");
    let next =
        Servers::new("a.example", &next.backend, Some(&before), &AddressBook::default(), &metrics);
    assert_eq!(next.all.iter().map(Server::is_down).collect::<Vec<_>>(), [true, false]);
}
