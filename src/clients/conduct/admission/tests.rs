//! Admission at a simulated origin: workers that take one request at a time, and a queue before them.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
};

use super::*;
use crate::rules::policy::Policy;

const PAGE: (&str, &[u8]) = ("GET", b"/page/1");
const FIRST: Party = Party::Crawler { rank: 0 };
const OTHER: Party = Party::Crawler { rank: 1 };

fn rules(text: &str) -> Arc<PeopleFirst> {
    let text = format!(
        "sites: [{{ hosts: [a.example], origin: \"http://127.0.0.1:1\", enforcement: {{ \
         people_first: {{ {text} }} }} }}]"
    );
    let policy: Policy = text.parse().expect("a policy");
    Arc::clone(policy.sites[0].enforcement.people_first.as_ref().expect("it is set"))
}

/// Asks for admission; the request can't wait.
fn ask(
    admission: &Arc<Admission>,
    rules: &Arc<PeopleFirst>,
    party: Party,
    request: (&str, &[u8]),
    now: Duration,
) -> Result<Stay, PutOff> {
    let admitted = admission.admit(rules, party, request, now, (Duration::ZERO, &mut None));
    admitted.map_err(|full| match full {
        Full::PutOff(put_off) => put_off,
        Full::Waits => panic!("it waits"),
    })
}

fn milliseconds(time: u64) -> Duration {
    Duration::from_millis(time)
}

/// What happened at the origin.
struct Outcome {
    /// The times of people's requests in milliseconds, the shortest first.
    people: Vec<u64>,
    /// The workers that crawlers had at a time, on average.
    crawlers: f64,
}

impl Outcome {
    fn p95(&self) -> u64 {
        self.people[self.people.len() * 95 / 100]
    }
}

/// Eight workers, pages of 200 ms, a person each 50 ms, and from the fifth second on a crawler each 5 ms.
fn simulate(rules: Option<&Arc<PeopleFirst>>, has_crawlers: bool, seconds: u64) -> Outcome {
    const WORKERS: usize = 8;
    const SERVICE: u64 = 200;
    let admission = Arc::new(Admission::default());
    let mut events = BinaryHeap::from([Reverse((10, "person", 0))]);
    if has_crawlers {
        events.push(Reverse((5_000, "crawler", 0)));
    }
    let mut stays: Vec<(u64, bool, Option<Stay>)> = Vec::new();
    let (mut busy, mut queue) = (0, VecDeque::new());
    let mut outcome = Outcome { people: Vec::new(), crawlers: 0.0 };
    while let Some(Reverse((now, what, number))) = events.pop() {
        if now > seconds * 1_000 {
            break;
        }
        if what == "done" {
            let (since, is_person, stay) = &mut stays[number];
            if let Some(mut stay) = stay.take() {
                stay.head(200, milliseconds(now));
            }
            match is_person {
                _ if now < 10_000 => {}
                true => outcome.people.push(now - *since),
                false => outcome.crawlers += SERVICE as f64 / (seconds as f64 - 10.0) / 1_000.0,
            }
            match queue.pop_front() {
                Some(next) => events.push(Reverse((now + SERVICE, "done", next))),
                None => busy -= 1,
            }
            continue;
        }
        let is_person = what == "person";
        events.push(Reverse((now + if is_person { 50 } else { 5 }, what, 0)));
        let party = if is_person { Party::Person } else { FIRST };
        let admitted = rules.map(|rules| ask(&admission, rules, party, PAGE, milliseconds(now)));
        let Ok(stay) = admitted.transpose() else { continue };
        stays.push((now, is_person, stay));
        if busy < WORKERS {
            busy += 1;
            events.push(Reverse((now + SERVICE, "done", stays.len() - 1)));
        } else {
            queue.push_back(stays.len() - 1);
        }
    }
    outcome.people.sort_unstable();
    outcome
}

#[test]
fn people_wait_as_if_alone_and_crawlers_take_what_they_leave() {
    let alone = simulate(None, false, 120);
    let flooded = simulate(None, true, 60);
    assert!(flooded.p95() > 20 * alone.p95(), "without a limit, people wait for crawlers");
    let shared = simulate(Some(&rules("")), true, 300);
    assert!(shared.p95() as f64 <= 1.2 * alone.p95() as f64, "{} ms", shared.p95());
    // People take four workers of eight.
    assert!(shared.crawlers >= 0.8 * 4.0, "{} workers", shared.crawlers);
    // One that an operator allows is kept, too.
    let capped = simulate(Some(&rules("crawlers_at_once: 2")), true, 60);
    assert!((1.8..=2.0).contains(&capped.crawlers), "{} workers", capped.crawlers);
}

#[test]
fn the_operators_latency_replaces_the_usual_times() {
    let rules = rules("latency: 300ms");
    let outcome = simulate(Some(&rules), true, 120);
    assert!((250..=350).contains(&outcome.p95()), "{} ms", outcome.p95());
    // Alone they take longer than allowed, so one crawler at a time is left.
    let strict = PeopleFirst { latency: Some(milliseconds(100)), ..PeopleFirst::clone(&rules) };
    assert!(simulate(Some(&Arc::new(strict)), true, 60).crawlers <= 1.0);
}

/// The requests of crawlers that are admitted now, of ten.
fn admitted(admission: &Arc<Admission>, rules: &Arc<PeopleFirst>, now: u64) -> Vec<Stay> {
    let admit = |_| ask(admission, rules, FIRST, PAGE, milliseconds(now)).ok();
    (0..10).filter_map(admit).collect()
}

#[test]
fn the_limit_falls_at_once_when_the_origin_fails() {
    let (admission, rules) = (Arc::new(Admission::default()), rules(""));
    let mut stays = admitted(&admission, &rules, 1_000);
    assert_eq!(stays.len(), 4, "a bounded start");
    stays[0].head(503, milliseconds(1_100));
    assert_eq!(admission.load(&rules).limit, 2);
    // Those that were there before do not count again, and one is always left.
    stays[1].head(504, milliseconds(1_200));
    assert_eq!(admission.load(&rules).limit, 2);
    drop(stays);
    for second in 3..20 {
        admitted(&admission, &rules, second * 1_000).iter_mut().for_each(|stay| {
            stay.head(502, milliseconds(second * 1_000 + 10));
        });
    }
    assert_eq!(admission.load(&rules).limit, 1);
    assert_eq!(admitted(&admission, &rules, 30_000).len(), 1);
}

#[test]
fn a_share_of_failures_may_be_usual() {
    let (admission, rules) = (Arc::new(Admission::default()), rules("errors: 50%"));
    for number in 0..100 {
        let person = ask(&admission, &rules, Party::Person, PAGE, milliseconds(2_000 * number));
        let status = if number % 4 == 0 { 500 } else { 200 };
        person.expect("people pass").head(status, milliseconds(2_000 * number + 10));
    }
    assert_eq!(admission.load(&rules).limit, 4);
}

#[test]
fn people_always_pass_and_leave_with_their_head() {
    let (admission, rules) = (Arc::new(Admission::default()), rules(""));
    let person = |now| ask(&admission, &rules, Party::Person, PAGE, milliseconds(now));
    let mut people: Vec<Stay> = (0..50).map(|_| person(1_000).expect("people pass")).collect();
    let load = admission.load(&rules);
    assert_eq!(load, Load { limit: 1, people: 50, ..Load::default() });
    assert_eq!(admitted(&admission, &rules, 1_000).len(), 1, "one crawler is always left");
    people.iter_mut().take(49).for_each(|one| one.head(200, milliseconds(1_010)));
    assert_eq!(admission.load(&rules).people, 1);
    // The rest of a response counts no more, and a request without a response ends.
    drop(people);
    assert_eq!(admission.load(&rules), Load { limit: 4, is_active: true, ..Load::default() });
}

#[test]
fn those_who_come_first_get_the_next_place() {
    let (admission, rules) = (Arc::new(Admission::default()), rules(""));
    let admit = |party, now| ask(&admission, &rules, party, PAGE, milliseconds(now));
    let mut stays: Vec<Stay> = (0..4).map(|_| admit(OTHER, 1_000).expect("room")).collect();
    assert!(admit(FIRST, 1_000).is_err());
    stays.pop();
    assert!(admit(OTHER, 1_500).is_err(), "another one waits for this place");
    stays.push(admit(FIRST, 1_600).expect("its place"));
    // It did not come back.
    stays.pop();
    stays.push(admit(OTHER, 2_700).expect("room"));
}

#[test]
fn those_that_wait_get_their_places_in_order_before_new_ones() {
    let admission = Arc::new(Admission::default());
    let rules = rules("crawlers_at_once: 1, wait: 2s");
    let admit = |party, now, waiting: &mut Option<Queued>| {
        admission.admit(&rules, party, PAGE, milliseconds(now), (rules.wait, waiting))
    };
    let at_origin = admit(OTHER, 0, &mut None).expect("room");
    let mut waiting: Vec<Option<Queued>> = vec![None, None, None];
    for (at, party) in [OTHER, OTHER, FIRST].into_iter().enumerate() {
        assert_eq!(admit(party, at as u64, &mut waiting[at]).err(), Some(Full::Waits));
    }
    assert_eq!(
        admission.load(&rules),
        Load { limit: 1, crawlers: 1, waiting: 3, ..Load::default() }
    );
    let may_go = |waiting: &[Option<Queued>], now| -> Vec<bool> {
        waiting.iter().flatten().map(|one| one.may_go(milliseconds(now))).collect()
    };
    // The first in the order came last.
    assert_eq!(may_go(&waiting, 100), [false, false, true]);
    drop(at_origin);
    assert_eq!(admit(OTHER, 200, &mut waiting[1]).err(), Some(Full::Waits));
    let at_origin = admit(FIRST, 200, &mut waiting[2]).expect("it is the next");
    waiting.pop();
    drop(at_origin);
    assert_eq!(may_go(&waiting, 300), [true, false]);
    // One that comes now has to wait behind them, and one of these has waited for too long.
    let mut late = None;
    assert_eq!(admit(OTHER, 1_900, &mut late).err(), Some(Full::Waits));
    assert_eq!(may_go(&waiting, 2_001), [true, true]);
    let put_off = admit(OTHER, 2_001, &mut waiting[1]).expect_err("it is not the next one");
    assert!(matches!(put_off, Full::PutOff(PutOff { is_first: true, .. })), "{put_off:?}");
    waiting.clear();
    assert!(admit(OTHER, 2_002, &mut late).is_ok());
    drop(late);
    assert_eq!(admission.load(&rules).waiting, 0);
}

#[test]
fn so_many_may_wait_and_no_more() {
    let (admission, rules) =
        (Arc::new(Admission::default()), rules("crawlers_at_once: 1, wait: 2s"));
    let mut waiting: Vec<Option<Queued>> = (0..102).map(|_| None).collect();
    let mut full = waiting.iter_mut().map(|one| {
        let queue = (rules.wait, one);
        admission.admit(&rules, OTHER, PAGE, milliseconds(1_000), queue)
    });
    let _stay = full.next().expect("one").expect("room");
    let waits = full.filter(|one| matches!(one, Err(Full::Waits))).count();
    assert_eq!(waits, 100);
}

#[test]
fn where_people_take_everything_crawlers_get_one_a_second() {
    let (admission, rules) = (Arc::new(Admission::default()), rules(""));
    let _people: Vec<_> =
        (0..4).map(|_| ask(&admission, &rules, Party::Person, PAGE, milliseconds(0))).collect();
    let passed = (0..50).filter(|number| {
        let crawler = ask(&admission, &rules, OTHER, PAGE, milliseconds(10_000 + 100 * number));
        crawler.is_ok()
    });
    assert_eq!(passed.count(), 5);
}

#[test]
fn what_is_put_off_is_told_once() {
    let (admission, rules) = (Arc::new(Admission::default()), rules("crawlers_at_once: 1"));
    let _stay = ask(&admission, &rules, FIRST, PAGE, milliseconds(1_000)).expect("room");
    let put_off = |now| ask(&admission, &rules, FIRST, PAGE, milliseconds(now)).expect_err("no");
    assert!(put_off(1_000).is_first && !put_off(2_000).is_first);
    assert_eq!(admission.calmed(milliseconds(61_999)), None);
    assert_eq!(admission.calmed(milliseconds(62_000)), Some(2));
    assert_eq!(admission.calmed(milliseconds(70_000)), None);
    assert!(put_off(70_000).is_first);
}

#[test]
fn a_cheap_page_does_not_make_a_search_slow() {
    let (admission, rules) = (Arc::new(Admission::default()), rules(""));
    for number in 0..400 {
        let now = 100 * number;
        let crawler = ask(&admission, &rules, FIRST, PAGE, milliseconds(now));
        let (path, time) = [(&b"/logo.svg"[..], 2), (b"/search?q=x", 900)][number as usize % 2];
        let person = ask(&admission, &rules, Party::Person, ("GET", path), milliseconds(now));
        person.expect("people pass").head(200, milliseconds(now + time));
        drop(crawler);
    }
    assert!(admission.load(&rules).limit >= 4);
}
