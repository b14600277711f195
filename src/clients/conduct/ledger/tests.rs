//! Tests of judgement in time: examples of three days, and a naive implementation of the rule.

use std::{collections::HashMap, sync::LazyLock, time::Duration};

use proptest::prelude::*;

use super::{book::MAX_NETWORKS, *};
use crate::{
    clients::conduct::Network,
    formats::robots::Target,
    rules::{
        crawlers::{Crawler, Standing},
        enforce::{self, Case, Knowledge, Moment, Rulebook},
        policy,
    },
};

mod fleet;
mod moves;

const HOUR: i64 = 3_600;
const START: i64 = 1_790_000_000;

fn at(hours: f64) -> Timestamp {
    Timestamp::from_second(START + (hours * HOUR as f64) as i64).expect("a time")
}

/// A policy of one site that disallows this to all crawlers.
fn policy(disallow: &str) -> policy::Policy {
    let text = format!(
        "sites: [{{ hosts: [a.example], origin: \"http://127.0.0.1:1\", robots_txt: \
         {{ groups: [{{ user_agents: [\"*\"], disallow: [{disallow}] }}] }} }}]"
    );
    text.parse().unwrap()
}

fn rulebook(disallow: &str, from: Timestamp, previous: Option<&Rulebook>) -> Rulebook {
    Rulebook::compile(&policy(disallow), from, previous)
}

/// A client at one time.
struct Client<'a> {
    ledger: &'a Ledger,
    site: &'a Site,
    network: Network,
    outcome: Outcome,
    now: Timestamp,
}

impl Client<'_> {
    const fn reader(&self) -> Reader {
        Reader { network: self.network, outcome: self.outcome }
    }

    /// `action reason state` of a request.
    fn request(&self, book: &Rulebook, token: &str, path: &str) -> String {
        let user_agent = format!("{token}/1.0 (+https://bot.example)");
        let claim = book.catalogue().identify(user_agent.as_bytes(), &self.site.names);
        let target = Target::new(path.as_bytes());
        let case = Case { claim: &claim, is_nameless: false, target: &target };
        let decision = enforce::decide(self.site, case, self);
        let name = decision.judgement.and_then(|judgement| judgement.name);
        let last = name
            .and_then(|name| self.ledger.readings(self.site, name, self.reader()).last())
            .map(|reading| reading.edition == self.site.edition().id());
        let state = last.map_or("never", |is_current| if is_current { "current" } else { "older" });
        format!("{} {} {state}", decision.action.as_str(), decision.reason.as_str())
    }

    /// Fetches the file; returns the rows to store.
    fn fetch(&self, book: &Rulebook, token: &str) -> Vec<Fetches> {
        let user_agent = format!("{token}/1.0 (+https://bot.example)");
        let claim = book.catalogue().identify(user_agent.as_bytes(), &self.site.names);
        let name = claim.primary().expect("a name");
        self.ledger.note(self.site, name, self.reader(), self.now)
    }
}

impl Knowledge for Client<'_> {
    fn moment(&self) -> Moment {
        Moment::at(self.now)
    }

    fn standing(&self, _: &Crawler) -> Standing {
        Standing { outcome: self.outcome, evidence: None }
    }

    fn known_editions(
        &self,
        name: Name<'_>,
        standing: Standing,
        start: Timestamp,
    ) -> KnownEditions {
        let reader = Reader { outcome: standing.outcome, ..self.reader() };
        self.ledger.readings(self.site, name, reader).known_editions(start)
    }
}

fn network(number: u8) -> Network {
    Network::of([192, 0, number, 1].into())
}

fn client<'a>(ledger: &'a Ledger, book: &'a Rulebook, number: u8, now: Timestamp) -> Client<'a> {
    let site = &book.sites()[0];
    Client { ledger, site, network: network(number), outcome: Outcome::Unknown, now }
}

#[test]
fn rfc9309_2_4_six_crawlers_and_two_editions_through_72_hours() {
    // The first edition disallows /a and /old. From hour 30 on, the second disallows /a and /b.
    let first = rulebook("/a, /old", at(0.0), None);
    let second = rulebook("/a, /b", at(30.0), Some(&first));
    let fetches = [
        // GPTBot fetches daily, Bytespider once, Googlebot soon after the change, bingbot from two
        // networks, CCBot never. Googlebot-Image uses the fetches of Googlebot.
        (0.0, "GPTBot", 1),
        (10.0, "Bytespider", 2),
        (20.0, "Googlebot", 3),
        (24.0, "GPTBot", 1),
        (29.0, "bingbot", 4),
        (30.5, "Googlebot", 3),
        (32.0, "bingbot", 5),
        (48.0, "GPTBot", 1),
    ];
    let requests = [
        // (hour, token, network, the decisions for /a, /b and /old)
        (1.0, "GPTBot", 1, ["log current", "pass current", "log current"]),
        (1.0, "CCBot", 9, ["log never", "pass never", "log never"]),
        (29.0, "Bytespider", 2, ["log current", "pass current", "log current"]),
        (29.0, "Googlebot-Image", 3, ["log current", "pass current", "log current"]),
        (31.0, "GPTBot", 1, ["log older", "grace older", "pass older"]),
        (31.0, "CCBot", 9, ["log never", "grace never", "pass never"]),
        (31.0, "Bytespider", 2, ["log older", "grace older", "pass older"]),
        (31.0, "Googlebot", 3, ["log current", "log current", "pass current"]),
        // Another network under its name: no evidence that it knows the new edition.
        (31.0, "Googlebot", 8, ["log current", "grace current", "pass current"]),
        (31.0, "Googlebot-Image", 3, ["log current", "log current", "pass current"]),
        (31.0, "bingbot", 4, ["log older", "grace older", "pass older"]),
        // The network that fetched the new edition knows it. Another network may have its own copy.
        (33.0, "bingbot", 5, ["log current", "log current", "pass current"]),
        (33.0, "bingbot", 4, ["log older", "grace older", "pass older"]),
        (33.0, "bingbot", 8, ["log current", "grace current", "pass current"]),
        // Bytespider's copy is too old now, but the first edition is still in the window.
        (35.0, "Bytespider", 2, ["log older", "grace older", "pass older"]),
        (47.0, "GPTBot", 1, ["log older", "grace older", "pass older"]),
        (49.0, "GPTBot", 1, ["log current", "log current", "pass current"]),
        (53.5, "CCBot", 9, ["log never", "grace never", "pass never"]),
        (53.5, "Bytespider", 2, ["log older", "grace older", "pass older"]),
        // The copy of bingbot's first network is too old now. A fetch by another network proves
        // nothing about this one.
        (53.5, "bingbot", 4, ["log older", "grace older", "pass older"]),
        // A day after the change it counts for all crawlers.
        (54.0, "CCBot", 9, ["log never", "log never", "pass never"]),
        (54.0, "Bytespider", 2, ["log older", "log older", "pass older"]),
        (55.0, "Googlebot", 3, ["log current", "log current", "pass current"]),
        (71.0, "GPTBot", 1, ["log current", "log current", "pass current"]),
        (72.0, "CCBot", 9, ["log never", "log never", "pass never"]),
        (72.0, "Googlebot-Image", 3, ["log current", "log current", "pass current"]),
    ];
    let ledger = Ledger::default();
    let mut fetches = fetches.into_iter().peekable();
    for (hour, token, number, expected) in requests {
        while let Some((hour, token, number)) = fetches.next_if(|fetch| fetch.0 <= hour) {
            let book = if hour < 30.0 { &first } else { &second };
            client(&ledger, book, number, at(hour)).fetch(book, token);
        }
        let book = if hour < 30.0 { &first } else { &second };
        let client = client(&ledger, book, number, at(hour));
        for (path, expected) in ["/a/x", "/b/x", "/old/x"].into_iter().zip(expected) {
            let (verdict, state) = expected.split_once(' ').expect("two words");
            let expected = match verdict {
                "grace" => format!("pass robots.disallow.grace {state}"),
                "log" => format!("log robots.disallow {state}"),
                _ => format!("pass robots.allow {state}"),
            };
            let found = client.request(book, token, path);
            assert_eq!(found, expected, "{token} from {number} requests {path} at {hour}");
        }
    }
}

/// One event, an hour after the one before.
#[derive(Clone, Debug)]
enum Event {
    /// The file disallows some of `/0` to `/3`, a bit for each.
    Publish(u8),
    /// A network of the crawler fetches it, confirmed or not.
    Fetch(u8, bool),
    /// It requests a page, confirmed or not.
    Request(u8, bool, u8),
    /// Beadle starts again, with the fetches that it stored.
    Restart,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let client = || (0_u8..3, any::<bool>());
    let event = prop_oneof![
        4 => (0_u8..16).prop_map(Event::Publish),
        6 => client().prop_map(|(network, is_confirmed)| Event::Fetch(network, is_confirmed)),
        8 => (client(), 0_u8..4)
            .prop_map(|((network, is_confirmed), page)| Event::Request(network, is_confirmed, page)),
        1 => Just(Event::Restart),
    ];
    prop::collection::vec(event, 1..90)
}

/// A fetch in the list of all events: the hour, the network, whether it was confirmed, the mask.
type Fetched = (i64, u8, bool, u8);

/// The editions that a client may be using, by its fetches after `start`: the last one of its own,
/// and those of all later fetches. `None` if it fetched nothing.
fn known_masks(fetched: &[Fetched], start: i64, number: u8, is_confirmed: bool) -> Option<Vec<u8>> {
    let is_own = |(when, by, was_confirmed, _): &&Fetched| {
        *when > start && (*by == number || (*was_confirmed && is_confirmed))
    };
    let own = fetched.iter().rev().find(is_own)?;
    let is_later = |one: &&Fetched| one.0 >= own.0;
    Some(fetched.iter().filter(is_later).map(|one| one.3).collect())
}

/// The policies that disallow the pages of each mask. Parsing them takes most of the time.
static POLICIES: LazyLock<Vec<policy::Policy>> = LazyLock::new(|| {
    let pages = |mask| (0..4).filter(move |page| mask & 1 << page != 0);
    let paths = |mask| pages(mask).map(|page| format!("/{page}")).chain(["/never".to_owned()]);
    (0..16).map(|mask: u8| policy(&paths(mask).collect::<Vec<_>>().join(", "))).collect()
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 2))]

    /// The rule, applied literally to a list of all events.
    #[test]
    fn only_a_request_that_every_known_edition_disallows_is_a_violation(
        events in events(),
    ) {
        let mut ledger = Ledger::default();
        let mut rows: HashMap<String, Fetches> = HashMap::new();
        let mut book = Rulebook::compile(&POLICIES[0], at(0.0), None);
        // (from, mask)
        let (mut published, mut fetched) = (vec![(0, 0)], Vec::<Fetched>::new());
        for (hour, event) in (1_i64..).zip(events) {
            let now = at(hour as f64);
            let current = published.last().expect("one at least").1;
            let start = hour - 24;
            let client = |number, is_confirmed: bool| {
                let outcome = if is_confirmed { Outcome::Confirmed } else { Outcome::Unknown };
                Client { outcome, ..client(&ledger, &book, number, now) }
            };
            match event {
                Event::Publish(mask) => {
                    book = Rulebook::compile(&POLICIES[usize::from(mask)], now, Some(&book));
                    if mask != current {
                        published.push((hour, mask));
                    }
                }
                Event::Fetch(number, is_confirmed) => {
                    // The database has one row for each network, by its text.
                    for row in client(number, is_confirmed).fetch(&book, "GPTBot") {
                        rows.insert(row.network.to_string(), row);
                    }
                    fetched.push((hour, number, is_confirmed, current));
                }
                Event::Restart => {
                    let stored = rows.iter().map(|(network, row)| {
                        Fetches { network: Network::parse(network), ..row.clone() }
                    });
                    ledger = Ledger::of(stored);
                }
                Event::Request(number, is_confirmed, page) => {
                    let known = known_masks(&fetched, start, number, is_confirmed);
                    let mut known = known.unwrap_or_else(|| {
                        let ends = published.iter().skip(1).map(|(from, _)| *from).chain([i64::MAX]);
                        let periods = published.iter().zip(ends);
                        periods.filter(|(_, end)| *end > start).map(|((_, mask), _)| *mask).collect()
                    });
                    known.push(current);
                    let disallows = |mask: &u8| mask & 1 << page != 0;
                    let expected = match (disallows(&current), known.iter().all(disallows)) {
                        (false, _) => "pass robots.allow",
                        (true, true) => "log robots.disallow",
                        (true, false) => "pass robots.disallow.grace",
                    };
                    let path = format!("/{page}");
                    let found = client(number, is_confirmed).request(&book, "GPTBot", &path);
                    let (found, _) = found.rsplit_once(' ').expect("three words");
                    prop_assert_eq!(found, expected, "at {} by {} for {}", hour, number, path);
                }
            }
        }
    }
}

#[test]
fn an_unconfirmed_fetch_does_not_count_for_a_confirmed_crawler() {
    let first = rulebook("/a", at(0.0), None);
    let book = rulebook("/a, /b", at(1.0), Some(&first));
    let ledger = Ledger::default();
    client(&ledger, &book, 1, at(2.0)).fetch(&book, "Googlebot");
    let request = |outcome| {
        let client = Client { outcome, ..client(&ledger, &book, 2, at(3.0)) };
        client.request(&book, "Googlebot", "/b")
    };
    assert_eq!(request(Outcome::Confirmed), "pass robots.disallow.grace never");
    // It does not count for an unknown client either.
    assert_eq!(request(Outcome::Unknown), "pass robots.disallow.grace current");
    let confirmed = Client { outcome: Outcome::Confirmed, ..client(&ledger, &book, 3, at(3.0)) };
    confirmed.fetch(&book, "Googlebot");
    assert_eq!(request(Outcome::Confirmed), "log robots.disallow current");
    assert_eq!(request(Outcome::Unknown), "pass robots.disallow.grace current");
    // A later fetch under its name only adds an edition that may excuse it.
    let third = rulebook("/a", at(4.0), Some(&book));
    client(&ledger, &third, 9, at(4.0)).fetch(&third, "Googlebot");
    let fourth = rulebook("/a, /b", at(5.0), Some(&third));
    let client = Client { outcome: Outcome::Confirmed, ..client(&ledger, &fourth, 2, at(6.0)) };
    assert_eq!(client.request(&fourth, "Googlebot", "/b"), "pass robots.disallow.grace current");
}

#[test]
fn a_program_knows_only_what_its_own_address_fetched_also_after_a_restart() {
    let first = rulebook("/a", at(0.0), None);
    let book = rulebook("/a, /b", at(1.0), Some(&first));
    let grace = "pass robots.disallow.grace never";
    for (token, of_a_neighbour, of_a_stranger) in [
        ("GPTBot", "log robots.disallow current", "pass robots.disallow.grace current"),
        ("python-requests", grace, grace),
        ("Scrapy", grace, grace),
    ] {
        let name = book.catalogue().find(token).map(Name::Known);
        let request = |ledger: &Ledger, address: [u8; 4]| {
            let network = Network::of_client(address.into(), name);
            let client = Client { network, ..client(ledger, &book, 1, at(3.0)) };
            client.request(&book, token, "/b")
        };
        let ledger = Ledger::default();
        let network = Network::of_client([192, 0, 2, 7].into(), name);
        let reader = Client { network, ..client(&ledger, &book, 1, at(2.0)) };
        let rows = reader.fetch(&book, token).into_iter().map(|row| {
            // The database keeps the text.
            let network = Network::parse(&row.network.to_string());
            Fetches { network, ..row }
        });
        for ledger in [&Ledger::of(rows), &ledger] {
            assert_eq!(request(ledger, [192, 0, 2, 7]), "log robots.disallow current", "{token}");
            assert_eq!(request(ledger, [192, 0, 2, 8]), of_a_neighbour, "{token}");
            assert_eq!(request(ledger, [198, 51, 100, 7]), of_a_stranger, "{token}");
        }
    }
}

#[test]
fn what_the_crawler_read_its_impostor_did_not_read() {
    let book = rulebook("/a", at(0.0), None);
    let ledger = Ledger::default();
    client(&ledger, &book, 1, at(1.0)).fetch(&book, "Googlebot");
    for (number, outcome, state) in [
        (1, Outcome::Contradicted, "current"),
        (2, Outcome::Contradicted, "never"),
        (2, Outcome::Unknown, "current"),
    ] {
        let client = Client { outcome, ..client(&ledger, &book, number, at(2.0)) };
        let expected = format!("log robots.disallow {state}");
        assert_eq!(client.request(&book, "Googlebot", "/a"), expected, "{number} {outcome:?}");
    }
}

#[test]
fn fetches_survive_a_restart() {
    let first = rulebook("/a", at(0.0), None);
    let book = rulebook("/a, /b", at(9.0), Some(&first));
    let ledger = Ledger::default();
    let rows = [(1.0, &first), (3.0, &first), (9.5, &book)]
        .map(|(hour, book)| client(&ledger, book, 1, at(hour)).fetch(book, "GPTBot"));
    assert_eq!(rows.each_ref().map(Vec::len), [1, 1, 2], "the last one is of another edition");
    let last = rows.last().and_then(|rows| rows.last()).expect("a row");
    assert_eq!((last.first, last.last, last.count), (at(1.0), at(9.5), 3));
    assert_eq!(last.interval, Some(Duration::from_secs(5_400 + 23_400 / 4)));
    let again = Ledger::of([last.clone()]);
    assert_eq!(
        client(&again, &book, 1, at(10.0)).request(&book, "GPTBot", "/b"),
        "log robots.disallow current"
    );
}

#[test]
fn a_clock_that_is_set_back_causes_no_violation() {
    let first = rulebook("/a", at(100.0), None);
    let ledger = Ledger::default();
    client(&ledger, &first, 1, at(101.0)).fetch(&first, "GPTBot");
    // Back by four days; then the file changes.
    let second = rulebook("/a, /b", at(5.0), Some(&first));
    let request =
        |hour, number| client(&ledger, &second, number, at(hour)).request(&second, "GPTBot", "/b");
    assert_eq!(request(6.0, 1), "pass robots.disallow.grace older");
    assert_eq!(request(6.0, 2), "pass robots.disallow.grace older");
    client(&ledger, &second, 1, at(7.0)).fetch(&second, "GPTBot");
    assert_eq!(request(8.0, 1), "log robots.disallow current");
    // The excuse ends: a time ahead of the clock is over after a day.
    ledger.set_back(at(8.0));
    let request = |hour, token| client(&ledger, &second, 1, at(hour)).request(&second, token, "/b");
    assert_eq!(request(28.0, "CCBot"), "pass robots.disallow.grace never");
    assert_eq!(request(29.0, "CCBot"), "log robots.disallow never");
    client(&ledger, &first, 1, at(200.0)).fetch(&first, "Bytespider");
    client(&ledger, &second, 2, at(201.0)).fetch(&second, "Bytespider");
    ledger.set_back(at(28.0));
    // Both fetches have one time now. Their order is unknown, and so is the edition of a client.
    let third = rulebook("/a, /b", at(28.0), Some(&first));
    let request = |hour, number| {
        client(&ledger, &third, number, at(hour)).request(&third, "Bytespider", "/b")
    };
    for (hour, number, expected) in [
        (51.0, 1, "pass robots.disallow.grace older"),
        (51.0, 2, "pass robots.disallow.grace current"),
        (52.0, 1, "log robots.disallow older"),
    ] {
        assert_eq!(request(hour, number), expected, "{hour} {number}");
    }
}

#[test]
fn declared_names_and_many_networks_evict_no_known_crawler() {
    let book = rulebook("/a", at(0.0), None);
    let (ledger, site) = (Ledger::default(), &book.sites()[0]);
    let known = |name| Name::Known(book.catalogue().find(name).expect("a known crawler"));
    let reader = |number: u32| Reader {
        network: Network::of(number.to_be_bytes().into()),
        outcome: Outcome::Unknown,
    };
    let note = |name, number, hour| ledger.note(site, name, reader(number), at(hour)).len();
    assert_eq!(note(known("GPTBot"), 1, 1.0), 1);
    for number in 0..2 * MAX_DECLARED {
        let name = format!("x{number}bot");
        let fetch = ledger.note(site, Name::Declared(&name), reader(1), at(2.0));
        assert_eq!(fetch, []);
    }
    assert!(ledger.declared.read().pairs() <= MAX_DECLARED);
    for number in 0..2 * MAX_NETWORKS as u32 {
        note(known("CCBot"), number << 8, 3.0);
    }
    // The quarter with the oldest fetches made room for the others.
    let kept = ledger.named.read().pairs() - 1;
    assert!((MAX_NETWORKS / 2..=MAX_NETWORKS).contains(&kept), "{kept}");
    let last = ledger.readings(site, known("GPTBot"), reader(1)).last();
    assert_eq!(last.map(|reading| reading.edition), Some(site.edition().id()));
}

/// The worked example of the manual, line by line.
#[test]
fn rfc9309_2_4_the_worked_example_of_the_manual() {
    const PAGE: &str = include_str!("../../../../docs/src/judging.md");
    let (_, section) = PAGE.split_once("### A worked example\n").expect("the section");
    let table = section.lines().skip_while(|line| !line.starts_with("| time ")).skip(2);
    let rows = table.take_while(|line| line.starts_with('|')).map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        <[&str; 6]>::try_from(cells).expect("six columns")
    });
    let ledger = Ledger::default();
    let mut book: Option<Rulebook> = None;
    let mut requests = 0;
    for [time, crawler, event, decision, state, _] in rows {
        let (day, clock) = time.split_once(' ').expect("a day and a time");
        let day = ["Mon", "Tue", "Wed"].iter().position(|name| *name == day).expect("a day");
        let (hour, minute) = clock.split_once(':').expect("hours and minutes");
        let number = |text: &str| text.parse::<f64>().expect("a number");
        let now = at(day as f64 * 24.0 + number(hour) + number(minute) / 60.0);
        let quoted = || event.split('`').skip(1).step_by(2);
        if event.starts_with("publishes") {
            let paths: Vec<&str> =
                quoted().map(|rule| rule.strip_prefix("Disallow: ").expect("a rule")).collect();
            book = Some(rulebook(&paths.join(", "), now, book.as_ref()));
            continue;
        }
        let book = book.as_ref().expect("something is published first");
        // Each crawler has its own network.
        let client = client(&ledger, book, crawler.as_bytes()[0], now);
        if event.starts_with("fetches") {
            client.fetch(book, crawler);
            continue;
        }
        let expected = match decision {
            "allowed" => "pass robots.allow",
            "grace" => "pass robots.disallow.grace",
            "violation" => "log robots.disallow",
            other => panic!("'{other}' is no decision"),
        };
        let path = quoted().next().expect("a path");
        assert_eq!(
            client.request(book, crawler, path),
            format!("{expected} {state}"),
            "{time} {crawler} {event}"
        );
        requests += 1;
    }
    assert_eq!(requests, 11, "every request of the table");
}
