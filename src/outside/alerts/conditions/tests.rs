use super::*;
use crate::outside::{
    alerts::Refusal,
    tls::{self, Presented},
};

const MINUTE: u64 = 60;

/// A watcher of all events: more than 100 violations or 10 requests of impostors a minute.
fn watcher(known: &[(&str, &str)]) -> Watcher {
    let text = "alerts: { url: http://127.0.0.1:9, secret_file: k, violations_per_minute: 100, \
                impostors_per_minute: 10 }\nsites: [{ hosts: [a.example], origin: \"http://127.0.0.1:3\" }]";
    let policy: crate::rules::policy::Policy = text.parse().expect("a policy");
    let known = known.iter().map(|(site, token)| Offender::new(site, token)).collect();
    let mut watcher = Watcher::new(&policy.alerts[0], known);
    assert!(look(&mut watcher, &State::default(), 0).is_empty());
    watcher
}

/// The kinds and summaries of the events at a second.
fn look(watcher: &mut Watcher, state: &State, second: u64) -> Vec<String> {
    let events = watcher.look(state, Timestamp::UNIX_EPOCH, Duration::from_secs(second));
    events.iter().map(|event| format!("{} {}", event.kind, event.summary)).collect()
}

fn tally(token: &str, violations: u64, is_impostor: bool) -> Tally {
    let (site, product_token) = ("a.example".to_owned(), token.to_owned());
    Tally {
        site,
        product_token,
        is_impostor,
        is_quiet: false,
        requests: violations + 1,
        violations,
    }
}

#[test]
fn a_condition_is_one_event_until_it_ends_and_begins_again() {
    let mut watcher = watcher(&[]);
    let open = State { open_breakers: vec!["a.example".to_owned()], ..State::default() };
    let closed = State::default();
    let event = ["breaker_open a.example: the breaker is open, nothing is refused"];
    assert_eq!(look(&mut watcher, &open, 0), event);
    assert!(look(&mut watcher, &open, 5).is_empty());
    // It ends and begins again soon: the event waits.
    assert!(look(&mut watcher, &closed, 10).is_empty());
    assert!(look(&mut watcher, &open, 20).is_empty());
    assert!(look(&mut watcher, &closed, 30).is_empty());
    assert!(look(&mut watcher, &open, 9 * MINUTE).is_empty());
    assert_eq!(look(&mut watcher, &open, 10 * MINUTE), event, "it holds still");
    // One that never ends is told once.
    assert!(look(&mut watcher, &open, 60 * MINUTE).is_empty());
}

#[test]
fn each_part_of_the_program_has_its_event() {
    let mut watcher = watcher(&[]);
    let refused = |finding: &str| {
        Some(Refusal { at: Timestamp::UNIX_EPOCH, findings: vec![finding.to_owned()] })
    };
    let mut state = State {
        refused: refused("one"),
        quarantined: vec![("a.example".to_owned(), "it closes")],
        troubles: vec![("log".to_owned(), "full".to_owned())],
        lost: 3,
        ..State::default()
    };
    let kinds = |events: Vec<String>| -> Vec<String> {
        events.iter().filter_map(|one| one.split(' ').next()).map(str::to_owned).collect()
    };
    assert_eq!(
        kinds(look(&mut watcher, &state, 0)),
        ["reload_refused", "robots_quarantined", "store_trouble", "store_trouble"]
    );
    // Another error in the policy is news, the same one is not; more lost records are told later.
    state.lost = 7;
    assert!(look(&mut watcher, &state, 5).is_empty());
    state.refused = refused("two");
    assert_eq!(kinds(look(&mut watcher, &state, 10)), ["reload_refused"]);
    assert_eq!(
        look(&mut watcher, &state, 11 * MINUTE),
        ["store_trouble 4 records of violations were lost"]
    );
}

#[test]
fn a_certificate_is_told_of_two_weeks_before_its_end() {
    let ends: Timestamp = "2026-12-24T12:00:00Z".parse().expect("a time");
    let begins: Timestamp = "2026-09-25T12:00:00Z".parse().expect("a time");
    let file = "/etc/site.pem".to_owned();
    let certificates = vec![Presented { file: file.clone(), begins, ends }];
    let state = State { certificates, ..State::default() };
    let mut watcher = watcher(&[]);
    let mut at = |now: &str, since_start| {
        let now = now.parse().expect("a time");
        let events = watcher.look(&state, now, Duration::from_secs(since_start));
        events.iter().map(|event| event.summary.clone()).collect::<Vec<_>>()
    };
    assert!(at("2026-12-10T11:59:00Z", 0).is_empty());
    assert_eq!(
        at("2026-12-10T12:01:00Z", 60),
        ["certificate /etc/site.pem ends at 2026-12-24 12:00:00 UTC; renew it"]
    );
    assert!(at("2026-12-25T12:00:00Z", 86_400).is_empty(), "told");
    let warning = state.certificates[0].warning("2026-12-25T12:00:00Z".parse().expect("a time"));
    assert!(warning.is_some_and(|text| text.contains(" ended at ")));
    // One of six days is renewed with two days left.
    let begins = "2026-12-18T12:00:00Z".parse().expect("a time");
    let short = Presented { file, begins, ends };
    let is_due = |now: &str| short.is_due(now.parse().expect("a time"));
    assert!(!is_due("2026-12-23T11:59:00Z"));
    assert!(is_due("2026-12-23T12:01:00Z"));
}

#[test]
fn a_failed_renewal_is_told_of_by_its_certificate() {
    let one = |reason: &str| tls::Trouble { file: "/a.pem".to_owned(), reason: reason.to_owned() };
    let mut state = State { not_renewed: vec![one("no answer")], ..State::default() };
    let mut watcher = watcher(&[]);
    assert_eq!(
        look(&mut watcher, &state, 0),
        ["certificate_not_renewed certificate /a.pem is not renewed: no answer"]
    );
    state.not_renewed = vec![one("another reason")];
    assert!(look(&mut watcher, &state, 5).is_empty(), "told");
}

#[test]
fn new_offenders_are_told_together_and_once() {
    let mut watcher = watcher(&[("A.example", "gptbot")]);
    let mut state = State {
        tallies: vec![tally("GPTBot", 5, false), tally("Googlebot", 5, true), tally("x", 0, false)],
        ..State::default()
    };
    assert!(look(&mut watcher, &state, 0).is_empty(), "a known one, an impostor, an honest one");
    state.tallies.push(tally("CCBot", 1, false));
    assert_eq!(
        look(&mut watcher, &state, 5),
        ["new_offender a.example: CCBot violates the rules for the first time"]
    );
    state.tallies.push(tally("Bytespider", 1, false));
    assert!(look(&mut watcher, &state, 10).is_empty());
    state.tallies.push(tally("AhrefsBot", 1, false));
    let later = look(&mut watcher, &state, 11 * MINUTE);
    assert_eq!(later, ["new_offender 2 crawlers violate the rules for the first time"]);
    assert!(look(&mut watcher, &state, 30 * MINUTE).is_empty());
}

#[test]
fn rates_are_measured_over_a_minute() {
    let mut watcher = watcher(&[("a.example", "GPTBot")]);
    let mut at = |violations: u64, impostors: u64, second: u64| {
        let google = Tally { requests: impostors, ..tally("Googlebot", 0, true) };
        let tallies = vec![tally("GPTBot", violations, false), google];
        look(&mut watcher, &State { tallies, ..State::default() }, second)
    };
    assert!(at(50, 10, 0).is_empty());
    assert!(at(100, 10, 30).is_empty());
    assert!(at(150, 20, 60).is_empty(), "exactly the threshold");
    assert_eq!(at(160, 20, 65), ["violation_rate a.example: 110 violations in one minute"]);
    assert!(at(300, 20, 70).is_empty(), "told");
    let impostors = "impostors a.example: 21 requests with a crawler's name that is not theirs in \
                     one minute";
    assert_eq!(at(300, 31, 75), [impostors]);
}

#[test]
fn a_quiet_crawler_is_no_event_and_its_impostors_are() {
    let mut watcher = watcher(&[]);
    let mut at = |is_quiet, violations: u64, impostors: u64, second: u64| {
        let own = Tally { is_quiet, ..tally("GPTBot", violations, false) };
        let impostors = Tally { requests: 0, ..tally("GPTBot", impostors, true) };
        let tallies = vec![own, impostors, tally("CCBot", 0, false)];
        look(&mut watcher, &State { tallies, ..State::default() }, second)
    };
    assert!(at(true, 500, 0, 5).is_empty(), "neither new nor many");
    // The end of the quiet brings back nothing.
    assert!(at(false, 500, 0, 70).is_empty());
    assert_eq!(
        at(true, 900, 101, 75),
        ["violation_rate a.example: 101 violations in one minute"],
        "of impostors"
    );
    assert!(at(false, 900, 101, 800).is_empty());
    assert_eq!(
        at(false, 1_001, 101, 805),
        ["violation_rate a.example: 101 violations in one minute"]
    );
    // One that was noted and not told yet.
    let mut state = State { tallies: vec![tally("A", 1, false)], ..State::default() };
    assert_eq!(look(&mut watcher, &state, 900).len(), 1);
    state.tallies.push(tally("B", 1, false));
    assert!(look(&mut watcher, &state, 905).is_empty(), "within ten minutes");
    state.tallies[1].is_quiet = true;
    assert!(look(&mut watcher, &state, 910).is_empty());
    state.tallies[1].is_quiet = false;
    assert!(look(&mut watcher, &state, 9_000).is_empty());
}

#[test]
fn what_was_counted_before_the_first_look_is_no_event() {
    let text = "alerts: { url: http://127.0.0.1:9, secret_file: k }\n\
                sites: [{ hosts: [a.example], origin: \"http://127.0.0.1:3\" }]";
    let policy: crate::rules::policy::Policy = text.parse().expect("a policy");
    let mut watcher = Watcher::new(&policy.alerts[0], BTreeSet::new());
    let tallies = vec![tally("CCBot", 9_000, false), tally("Googlebot", 9_000, true)];
    let state = State { tallies, lost: 7, ..State::default() };
    assert!(look(&mut watcher, &state, 7_200).is_empty());
    assert!(look(&mut watcher, &state, 7_205).is_empty());
}

#[test]
fn an_event_is_json_of_a_known_form() {
    let mut watcher = watcher(&[]);
    let state = State { tallies: vec![tally("CCBot", 200, false)], ..State::default() };
    let events = watcher.look(&state, Timestamp::UNIX_EPOCH, Duration::ZERO);
    let bodies: Vec<Value> =
        events.iter().map(|event| serde_json::from_str(&event.body()).expect("JSON")).collect();
    assert_eq!(
        bodies,
        [
            json!({
                "type": "violation_rate", "timestamp": "1970-01-01T00:00:00.000Z",
                "data": {
                    "summary": "a.example: 200 violations in one minute", "site": "a.example",
                    "per_minute": 200, "threshold": 100,
                    "crawlers": [{ "product_token": "CCBot", "count": 200 }],
                },
            }),
            json!({
                "type": "new_offender", "timestamp": "1970-01-01T00:00:00.000Z",
                "data": {
                    "summary": "a.example: CCBot violates the rules for the first time",
                    "offenders": [{ "site": "a.example", "product_token": "CCBot" }], "count": 1,
                },
            }),
        ]
    );
}

#[test]
fn a_new_offender_at_another_node_is_told_of_once() {
    let (mut watcher, mut other) = (watcher(&[]), watcher(&[]));
    look(&mut other, &State::default(), 0);
    let state = State { tallies: vec![tally("CCBot", 1, false)], ..State::default() };
    let event = other.look(&state, Timestamp::UNIX_EPOCH, Duration::from_secs(8)).remove(0);
    look(&mut watcher, &State::default(), 8);
    assert!(!watcher.has_told(&event));
    assert_eq!(
        look(&mut watcher, &State::default(), 10),
        ["new_offender a.example: CCBot violates the rules for the first time"]
    );
    assert!(watcher.has_told(&event));
    assert!(look(&mut watcher, &State::default(), 12).is_empty());
}
