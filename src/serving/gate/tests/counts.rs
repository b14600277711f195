//! Requests by hour: the database holds exactly what was asked for, whatever the clock does.

use std::{collections::BTreeMap, thread, time::Duration};

use http::{Method, header};
use jiff::Timestamp;

use super::{
    BINGBOT, BROWSER, CLAUDEBOT, GOOGLEBOT, GPTBOT, ONE, THREE, TWO, WILDBOT,
    world::{Message, World},
};
use crate::{
    base::text::Text,
    records::{
        counts::{Counted, Dimension, Question},
        record::Filter,
        tally::{Hour, PlaceKind, ReadState},
        violations::Store,
    },
};

/// The clients with their class and the name that counts.
const CLIENTS: [(&str, &str, &str); 10] = [
    (GPTBOT, "crawler", "GPTBot"),
    (BINGBOT, "crawler", "bingbot"),
    (GOOGLEBOT, "crawler", "Googlebot"),
    (CLAUDEBOT, "crawler", "ClaudeBot"),
    (WILDBOT, "automation", "WildBot"),
    ("curl/8.5.0", "automation", "curl"),
    (
        "Mozilla/5.0 (compatible; ChatGPT-User/1.0; +https://openai.com/bot)",
        "user-triggered",
        "ChatGPT-User",
    ),
    ("", "none", ""),
    (BROWSER, "browser", ""),
    // An app that no catalogue knows is a person's.
    ("FeedApp/1.2 CFNetwork/1408 Darwin/22.5.0", "app", ""),
];
const INVENTED: &str = "Invented";

fn site(paths: &str) -> String {
    format!(
        "    robots_txt: {{ groups: [\
         {{ user_agents: [\"*\"], disallow: [/both/{paths}], allow: [/both/open] }}, \
         {{ user_agents: [GPTBot, ChatGPT-User], disallow: [/ai/, /both/] }}] }}\n    \
         enforcement: {{ mode: block }}\n"
    )
}

/// A simple random sequence.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// What was sent, counted without any of the program's tables.
#[derive(Default)]
struct Naive {
    /// By hour, class, product token and whether it was refused.
    requests: BTreeMap<(i64, String, String, bool), u64>,
    people: BTreeMap<i64, u64>,
    referrals: BTreeMap<(i64, &'static str), u64>,
    robots_txt: u64,
    folded: u64,
}

fn hour(time: Timestamp) -> i64 {
    Hour::of(time).as_millisecond()
}

/// Sends a random request, and counts it.
fn send(world: &World, random: &mut Random, naive: &mut Naive) {
    let number = random.below(CLIENTS.len() as u64 + 2) as usize;
    let invented = format!("{INVENTED}{}Bot", random.below(700));
    let invented_agent = format!("{invented}/1.0 (+https://{invented}.example/)");
    let (user_agent, class, token) = match CLIENTS.get(number) {
        Some((user_agent, class, token)) => (*user_agent, *class, *token),
        None => (invented_agent.as_str(), "automation", INVENTED),
    };
    let page = random.below(900);
    let target = match random.below(12) {
        0 => "/robots.txt".to_owned(),
        1..4 => format!("/both/{page}?q={page}"),
        4 => "/both/open".to_owned(),
        5 => format!("/ai/{page}"),
        6 => format!("/new/{page}"),
        7 => format!("/x/../both/{page}"),
        _ => format!("/free/{page}"),
    };
    let referer = [
        None,
        Some(("https://chatgpt.com/", Some("OpenAI"))),
        Some(("https://www.google.de/", Some("Google"))),
        Some(("https://site.example/free", None)),
        Some(("https://blog.example/", None)),
    ];
    let referer = referer[random.below(5) as usize];
    let address = match random.below(9) {
        0..3 => ONE.to_owned(),
        3..5 => TWO.to_owned(),
        5 => THREE.to_owned(),
        _ => format!("203.0.{}.9", random.below(250)),
    };
    let method = if random.below(5) == 0 { Method::HEAD } else { Method::GET };
    let is_get = method == Method::GET;
    let mut message = Message::get(&target).user_agent(user_agent).from(&address).method(method);
    if let Some((referer, _)) = referer {
        message = message.field(header::REFERER, referer);
    }
    let folded = world.handles.sink.counts().folded;
    let response = world.send(&message);
    let (at, is_refused) = (hour(world.now()), response.status == 403);
    let is_person = ["browser", "app"].contains(&class);
    naive.robots_txt += u64::from(target == "/robots.txt" && !is_person);
    naive.folded += world.handles.sink.counts().folded - folded;
    if is_person {
        assert!(!is_refused);
        *naive.people.entry(at).or_default() += 1;
        let operator = referer.and_then(|(_, operator)| operator).filter(|_| is_get);
        if let Some(name) = operator {
            *naive.referrals.entry((at, name)).or_default() += 1;
        }
        return;
    }
    let key = (at, class.to_owned(), token.to_owned(), is_refused);
    *naive.requests.entry(key).or_default() += 1;
}

fn millisecond(text: &Text) -> i64 {
    text.parse::<Timestamp>().expect("a time").as_millisecond()
}

fn assert_equal(naive: &Naive, store: &Store) {
    use Dimension as By;
    let asked = |by: &[Dimension]| Question { by: by.to_vec(), ..Question::default() };
    let by_client = [By::Hour, By::Class, By::ProductToken];
    let mut found: BTreeMap<(i64, String, String, bool), u64> = BTreeMap::new();
    for Counted { key, requests, violations, .. } in
        store.counted(&asked(&by_client)).expect("rows")
    {
        let token = match key[2].as_str() {
            name if name.starts_with(INVENTED) || name == "other" => INVENTED,
            name => name,
        };
        for (count, is_refused) in [(violations, true), (requests - violations, false)] {
            let key = (millisecond(&key[0]), key[1].to_string(), token.to_owned(), is_refused);
            *found.entry(key).or_default() += count;
        }
    }
    found.retain(|_, count| *count > 0);
    assert_eq!(found, naive.requests);
    let by_reason = store.counted(&asked(&[By::Reason])).expect("rows");
    let fetches = by_reason.iter().find(|one| one.key[0] == "robots.robots_txt");
    assert_eq!(fetches.map(|one| one.requests), Some(naive.robots_txt));
    let people = store.people(&asked(&[By::Hour])).expect("rows");
    let people = people.iter().map(|one| (millisecond(&one.key[0]), one.requests));
    assert_eq!(people.collect::<BTreeMap<_, _>>(), naive.people);
    let referrals = store.referrals(&asked(&[])).expect("rows");
    let sum = |name: &str| {
        let of_name = naive.referrals.iter().filter(|((_, operator), _)| *operator == name);
        of_name.map(|(_, visits)| visits).sum::<u64>()
    };
    assert_eq!(referrals.len(), 2);
    referrals.iter().for_each(|one| assert_eq!(one.visits, sum(&one.operator), "{one:?}"));

    // Each violation is a row, or counted without one.
    let violations = Question { only_violations: true, ..asked(&[]) };
    let all = &store.counted(&violations).expect("a row")[0];
    let rows = store.query(&Filter::default()).expect("rows").records;
    assert_eq!(all.violations, rows.len() as u64 + all.folded + all.dropped);
    assert_eq!((all.folded, all.dropped), (naive.folded, 0));
    assert!(rows.len() as u64 > all.folded / 50 && all.folded > 0, "{all:?}");
    for kind in [PlaceKind::Path, PlaceKind::Network] {
        let places = store.places(kind, &asked(&[]), usize::MAX).expect("rows");
        assert_eq!(places.iter().map(|place| place.violations).sum::<u64>(), all.violations);
    }

    // Of each series, the rows are those that are neither folded nor dropped.
    let by = [
        By::Hour,
        By::ProductToken,
        By::Standing,
        By::Purpose,
        By::Verdict,
        By::Action,
        By::Reason,
        By::Edition,
        By::Directive,
        By::Pattern,
        By::Line,
        By::ReadState,
    ];
    let is_named = |token: &str| !token.starts_with(INVENTED) && token != "other";
    let mut expected: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    for (_, row) in rows.iter().filter(|(_, row)| is_named(&row.product_token)) {
        let read: ReadState = row.robots_read.state;
        let at = Timestamp::from_millisecond(hour(row.time)).expect("a time").to_string();
        let token = if row.product_token == "-" { "" } else { row.product_token.as_str() };
        let purpose = row.purpose.as_ref().map_or("", Text::as_str);
        let line = row.robots.line.unwrap_or(0).to_string();
        let texts: [&str; 12] = [
            &at,
            token,
            &row.standing,
            purpose,
            &row.verdict,
            &row.action,
            &row.reason,
            &row.robots.edition,
            &row.robots.directive,
            &row.robots.pattern,
            &line,
            read.as_str(),
        ];
        *expected.entry(texts.map(str::to_owned).to_vec()).or_default() += 1;
    }
    let counted = store.counted(&Question { only_violations: true, ..asked(&by) }).expect("rows");
    let found: BTreeMap<Vec<String>, u64> = counted
        .into_iter()
        .filter(|one| is_named(&one.key[1]))
        .map(|one| {
            let key = one.key.iter().map(ToString::to_string).collect();
            (key, one.violations - one.folded - one.dropped)
        })
        .filter(|(_, count)| *count > 0)
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn rollups_equal_a_naive_count_over_restarts_and_clock_jumps() {
    let requests = if std::env::var_os("BEADLE_FULL").is_some() { 100_000 } else { 6_000 };
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut naive = Naive::default();
    let mut world = World::with_store("detail: 5", &site(""));
    for number in 0..requests {
        match random.below(2_000) {
            // A clock that is set to another hour, or back.
            0 => world.at(Duration::from_secs(random.below(5 * 3_600))),
            1..60 => world.pass(Duration::from_secs(random.below(400))),
            60..62 => world.reload(&site([", /new/", ""][random.below(2) as usize])),
            _ => {}
        }
        if number % (requests / 5) == requests / 7 {
            world = world.restarted(&site(""));
        }
        while world.handles.sink.counts().queued > 4_000 {
            thread::sleep(Duration::from_millis(5));
        }
        send(&world, &mut random, &mut naive);
    }
    let (store, _folder) = world.store();
    assert_equal(&naive, &store);
}

#[test]
fn a_violation_beyond_the_detail_is_refused_and_counted_without_a_record() {
    let world = World::with_store("detail: 2", &site(""));
    for number in 0..5 {
        let response = world.get(&format!("/both/{number}"), BINGBOT);
        assert_eq!(response.status, 403);
        assert_eq!(response.violation.is_some(), number < 2);
    }
    world.pass(Duration::from_secs(3_600));
    assert!(world.get("/both/6", BINGBOT).violation.is_some(), "another hour");
    assert!(world.get("/both/6", CLAUDEBOT).violation.is_some(), "another crawler");
    let counts = world.handles.sink.counts();
    assert_eq!((counts.seen, counts.folded, counts.dropped), (7, 3, 0));
    assert_eq!(counts.seen, counts.stored + counts.folded + counts.dropped + counts.queued);
    let (store, _folder) = world.store();
    let by = vec![Dimension::ProductToken];
    let counted = store.counted(&Question { by, ..Question::default() }).expect("rows");
    let counted: Vec<_> =
        counted.iter().map(|one| (one.key[0].as_str(), one.violations, one.folded)).collect();
    assert_eq!(counted, [("bingbot", 6, 3), ("ClaudeBot", 1, 0)]);
    assert_eq!(store.query(&Filter::default()).expect("rows").records.len(), 4);
}

#[test]
fn hashed_addresses_leave_no_network() {
    let world = World::with_store("client_ip: hash", &site(""));
    world.get("/both/1", BINGBOT);
    let (store, _folder) = world.store();
    let places = store.places(PlaceKind::Network, &Question::default(), 9).expect("rows");
    assert_eq!(places.iter().map(|place| place.key.as_str()).collect::<Vec<_>>(), ["-"]);
    let places = store.places(PlaceKind::Path, &Question::default(), 9).expect("rows");
    assert_eq!(places.iter().map(|place| place.key.as_str()).collect::<Vec<_>>(), ["/both/1"]);
}
