//! Replay against the proxy's own path, and the order of lines.

use std::{fmt::Write, fs, io, num::NonZero, path::Path, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, header};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use serde_json::Value;

mod limits;

use super::{merge::Item, totals::Verdict, *};
use crate::{
    base::text::Text,
    formats::{access_log::Format, robots::OriginFile},
    records::{
        lines::LogTarget,
        record::{Edition, Violation},
        violations::{Settings, Sink},
    },
    rules::{
        enforce::{self, Moment},
        policy::Policy,
    },
    serving::gate::{Gate, Request},
    state::publication::{Handles, Memory},
};

const REQUESTS: usize = 20_000;
const FORMAT: &str = "$msec|$remote_addr|$host|$request|$status|$http_user_agent|";

const POLICY: &str = r#"
sites:
  - hosts: [www.example.com]
    origin: http://127.0.0.1:3000
    robots_txt:
      groups:
        - { user_agents: ["*"], disallow: [/private/, "/*.pdf$"], allow: [/private/open/] }
        - { user_agents: [GPTBot], disallow: [/] }
        - { user_agents: [bingbot], crawl_delay: 120, disallow: [/search] }
    enforcement:
      mode: log
      crawl_delay: throttle
      overrides: [{ user_agents: [GPTBot], mode: block }]
  - hosts: [shop.example.com]
    default: true
    origin: http://127.0.0.1:3001
    robots_txt:
      groups: [{ user_agents: ["*"], disallow: [/cart] }]
    enforcement:
      mode: ladder
      ladder: { period: 10m, share: 10%, min_violations: 3, throttle: 1/10s }
"#;

const USER_AGENTS: [&str; 9] = [
    "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
    "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "CCBot/2.0 (https://commoncrawl.org/faq/)",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36",
    "curl/8.5.0",
    "AcmeBot/1.0 (+https://acme.example/bot)",
    "GPTBot bingbot",
    "",
];

const PATHS: [&str; 10] = [
    "/",
    "/robots.txt",
    "/private/x",
    "/private/open/x",
    "/a/../private/y",
    "/file.pdf",
    "/search?q=1",
    "/cart/1",
    "/%70rivate/z",
    "/news/1?a=b",
];

struct Sample {
    time: Timestamp,
    client: [u8; 4],
    host: &'static str,
    path: &'static str,
    user_agent: &'static str,
    status: u16,
}

/// Requests of three days, by a fixed sequence of numbers.
fn samples(count: usize) -> Vec<Sample> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |most: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % most as u64).expect("it is small")
    };
    let mut time: Timestamp = "2026-11-01T00:00:00Z".parse().expect("a time");
    (0..count)
        .map(|_| {
            let step = if below(5) == 0 { 6_000 } else { 900 };
            time += SignedDuration::from_millis(below(step) as i64);
            Sample {
                time,
                client: [192, 0, below(3) as u8, below(4) as u8],
                host: ["www.example.com", "shop.example.com", "other.example.com"][below(3)],
                path: PATHS[below(PATHS.len())],
                user_agent: USER_AGENTS[below(USER_AGENTS.len())],
                status: [200, 200, 301, 404][below(4)],
            }
        })
        .collect()
}

fn log(samples: &[Sample]) -> String {
    let mut log = String::new();
    for one in samples {
        let milliseconds = one.time.as_millisecond();
        let [a, b, c, d] = one.client;
        writeln!(
            log,
            "{}.{:03}|{a}.{b}.{c}.{d}|{}|GET {} HTTP/1.1|{}|{}|",
            milliseconds / 1000,
            milliseconds % 1000,
            one.host,
            one.path,
            one.status,
            one.user_agent
        )
        .expect("a string");
    }
    log
}

/// What the proxy records of these requests.
fn proxied(policy: &Policy, samples: &[Sample], folder: &Path) -> Vec<Value> {
    let file = folder.join("violations.jsonl");
    let start = Timestamp::UNIX_EPOCH;
    let mut handles = Handles::at_rest(policy, &Memory::default(), true, start).expect("a queue");
    let settings = Settings {
        log: Some(LogTarget::File(file.clone())),
        database: policy.violations.local_database().map(Path::to_owned),
        queue: samples.len(),
        detail: u64::MAX,
        ..Settings::default()
    };
    handles.sink = Arc::new(Sink::start(settings).expect("a log"));
    let gate = Gate::new(&handles, policy);
    for one in samples {
        let mut fields = HeaderMap::new();
        if !one.user_agent.is_empty() {
            fields.insert(header::USER_AGENT, HeaderValue::from_static(one.user_agent));
        }
        let request = Request {
            method: &Method::GET,
            target: one.path.as_bytes(),
            authority: Some(one.host.as_bytes()),
            is_http_1_0: false,
            fields: &fields,
            peer: one.client.into(),
            is_tls: false,
        };
        let moment = Moment::at(one.time);
        let mut passage = gate.receive(&request, moment).passage;
        let none = HeaderMap::new();
        gate.response(&mut passage, request.target, one.status, &none, || moment);
        gate.finish(passage, one.status);
    }
    handles.sink.close(std::time::Duration::from_secs(60));
    let text = fs::read_to_string(file).expect("it is written");
    text.lines().map(|line| without_id(serde_json::from_str(line).expect("JSON"))).collect()
}

fn without_id(mut record: Value) -> Value {
    record.as_object_mut().expect("an object").remove("id");
    record
}

fn threads(number: usize) -> NonZero<usize> {
    NonZero::new(number).expect("it is not zero")
}

fn replayed(
    basis: Basis,
    against: Option<Basis>,
    logs: &[&Path],
    format: Option<&str>,
    number: usize,
) -> (Vec<Value>, Tally, Option<Changes>) {
    let sources = logs.iter().map(|log| Source::File((*log).to_owned())).collect();
    let format = format.map(|format| Format::of(format).expect("a format"));
    let logs = Logs::open(sources, format, threads(number)).expect("logs");
    let (judge, _) = Judge::new(basis, against, None).expect("a gate");
    let mut records = Vec::new();
    let mut record = |violation: &Violation| {
        records.push(without_id(serde_json::to_value(violation).map_err(io::Error::other)?));
        Ok(())
    };
    let (tally, changes) = judge.run(logs, Some(&mut record), |_, _| {}).expect("judged");
    (records, tally, changes)
}

fn policy(text: &str) -> Policy {
    text.parse().expect("a policy")
}

#[test]
fn the_verdicts_are_those_of_the_proxy_at_the_logged_times() {
    let folder = tempfile::tempdir().expect("a folder");
    let samples = samples(REQUESTS);
    let file = folder.path().join("access.log");
    fs::write(&file, log(&samples)).expect("a log");
    let expected = proxied(&policy(POLICY), &samples, folder.path());
    let basis = || Basis::of(policy(POLICY), None);
    let (found, tally, _) = replayed(basis(), None, &[&file], Some(FORMAT), 2);
    assert_eq!(found.len(), expected.len());
    assert!(found.len() > REQUESTS / 10, "{}", found.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    let actions = |word: &str| found.iter().filter(|one| one["action"] == word).count();
    let counts = ["log", "throttle", "block"].map(actions);
    assert!(counts.into_iter().all(|count| count > 100), "{counts:?}");
    assert_eq!((tally.lines, tally.parsed), (REQUESTS as u64, REQUESTS as u64));
    assert_eq!(tally.violations(), found.len() as u64);
    let json = json_lines(&tally, None);
    let (again, tally, _) = replayed(basis(), None, &[&file], Some(FORMAT), 1);
    assert_eq!(again, found, "one thread and two");
    assert_eq!(json_lines(&tally, None), json);
}

#[test]
fn another_policy_changes_what_the_counts_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("access.log");
    fs::write(&file, log(&samples(2_000))).expect("a log");
    let stricter = POLICY.replace("mode: log", "mode: block");
    let basis = |text: &str| Basis::of(policy(text), None);
    let (_, tally, changes) =
        replayed(basis(POLICY), Some(basis(&stricter)), &[&file], Some(FORMAT), 1);
    let changes = changes.expect("they were compared");
    let moved: u64 = changes.rows().iter().map(|row| row.4.requests).sum();
    for (site, _, before, after, change) in changes.rows() {
        assert_eq!((site, after), ("www.example.com", Verdict::Block));
        assert!(matches!(before, Verdict::Log | Verdict::Throttle), "{before:?}");
        assert!(!change.paths.is_empty());
    }
    assert!(moved > 100 && moved < tally.violations());
    let (_, _, none) = replayed(basis(POLICY), Some(basis(POLICY)), &[&file], Some(FORMAT), 1);
    assert!(none.expect("they were compared").rows().is_empty());
}

#[test]
fn rows_of_several_logs_come_in_the_order_of_time_and_of_logs() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut samples = samples(24_000);
    let mut files = Vec::new();
    let mut expected: Vec<(i64, usize, u64)> = Vec::new();
    // Lines stand up to ten places from where they belong: some seconds.
    for at in (0..samples.len() - 10).step_by(7) {
        samples.swap(at, at + at % 10);
    }
    for (number, part) in [0..9_000, 8_000..16_000, 15_000..24_000].into_iter().enumerate() {
        let file = folder.path().join(format!("access.log.{number}"));
        let part = &samples[part];
        fs::write(&file, log(part)).expect("a log");
        files.push(file);
        let rows = part.iter().zip(1..);
        expected.extend(rows.map(|(one, line)| (one.time.as_microsecond(), number, line)));
    }
    // The last one is named first; the order of the same time is that of the arguments.
    files.reverse();
    expected.iter_mut().for_each(|(_, number, _)| *number = 2 - *number);
    expected.sort_unstable();
    for number in [1, 4] {
        let sources = files.iter().map(|file| Source::File(file.clone())).collect();
        let format = Format::of(FORMAT).expect("a format");
        let mut logs = Logs::open(sources, Some(format), threads(number)).expect("logs");
        let mut found = Vec::new();
        let mut take = |item: Item<'_>| -> Result<(), String> {
            if let Item::Row(_, row, log) = item {
                found.push((row.time / 1_000 * 1_000, log, row.line));
            }
            Ok(())
        };
        while logs.step(&mut take).expect("read") {}
        assert_eq!(found.len(), expected.len());
        let milliseconds =
            expected.iter().map(|(time, log, line)| (time / 1_000 * 1_000, *log, *line));
        let mut milliseconds: Vec<_> = milliseconds.collect();
        milliseconds.sort_unstable();
        assert_eq!(found, milliseconds);
    }
}

#[test]
fn with_history_each_request_is_judged_by_the_editions_of_its_time() {
    let edition = |path: &str, from: &str| {
        let bytes = Bytes::from(format!("User-agent: *\nDisallow: {path}\n"));
        let file = enforce::Edition::of_bytes(bytes.clone());
        Edition {
            site: "www.example.com".into(),
            id: file.id().to_string().into(),
            sha256: file.sha256().into(),
            bytes,
            source: Text::word("policy"),
            origin_file: OriginFile::Unknown,
            from: from.parse().expect("a time"),
            until: None,
        }
    };
    let editions =
        vec![edition("/new", "2026-11-10T00:00:00Z"), edition("/old", "2026-11-01T00:00:00Z")];
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("access.log");
    let mut log = String::new();
    for (time, path) in [
        ("09T23", "/old/1"),
        ("09T23", "/new/1"),
        ("10T02", "/old/2"),
        ("10T02", "/new/2"),
        ("11T02", "/old/3"),
        ("11T02", "/new/3"),
    ] {
        writeln!(log, "2026-11-{time}:00:00Z 192.0.2.1 GET {path} CCBot/2.0").expect("a string");
    }
    fs::write(&file, log).expect("a log");
    let policy = policy("sites: [{ hosts: [www.example.com], origin: 'http://127.0.0.1:3000' }]");
    let basis = Basis::with_history(policy, editions);
    let format = "$time_iso8601 $remote_addr $request_method $request_uri $http_user_agent";
    let (records, tally, _) = replayed(basis, None, &[&file], Some(format), 1);
    let paths: Vec<_> = records.iter().filter_map(|record| record["path"].as_str()).collect();
    assert_eq!(paths, ["/old/1", "/new/3"]);
    assert_eq!(tally.crawlers().iter().map(|(_, _, one)| one.of(Verdict::Grace)).sum::<u64>(), 1);
}

/// The list of addresses of ListBot, as `evidence.folder` keeps it: the name is the hash of the URL.
const LIST: (&str, &str) =
    ("ranges-bb5256bd9648dc08", "# http://lists.example/list.json\n\n66.249.64.0/19\n");

/// The rows of ListBot itself, and those of its impostors.
fn of_list_bot(json: &str) -> (Vec<Value>, Vec<Value>) {
    let lines = json.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    lines.filter(|line| line["product_token"] == "ListBot").partition(|line| {
        let standing = line.get("standing");
        assert!(standing.is_none_or(|word| word == "contradicted"), "{line}");
        standing.is_none()
    })
}

#[test]
fn an_impostor_is_one_if_either_policy_has_the_evidence() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join(LIST.0), LIST.1).expect("a copy");
    let evidence = format!("evidence: {{ folder: {} }}\n", folder.path().display());
    let basis = |has_evidence: bool, mode: &str| {
        let crawler = "crawlers: [{ product_token: ListBot, ip_ranges: ['http://lists.example/list.json'] }]\n";
        let evidence = if has_evidence { &*evidence } else { "" };
        let text = format!("{crawler}{evidence}{}", POLICY.replace("mode: log", mode));
        Basis::of(policy(&text), None)
    };
    let start: Timestamp = "2026-11-01T00:00:00Z".parse().expect("a time");
    let sample = |(second, first): (i64, u8)| Sample {
        time: start + SignedDuration::from_secs(second),
        client: [first, 249, 64, 1],
        host: "www.example.com",
        path: "/private/x",
        user_agent: "ListBot/1.0 (+https://lists.example/bot)",
        status: 200,
    };
    let file = folder.path().join("access.log");
    let samples: Vec<_> = [(0, 66), (1, 9), (2, 66), (3, 9), (4, 9)].map(sample).into();
    fs::write(&file, log(&samples)).expect("a log");
    for (before, after) in [(true, true), (true, false), (false, true)] {
        let against = Some(basis(after, "mode: block"));
        let first = basis(before, "mode: log");
        let (_, tally, changes) = replayed(first, against, &[&file], Some(FORMAT), 1);
        let (own, impostors) = of_list_bot(&json_lines(&tally, changes.as_ref()));
        let requests = [own, impostors].map(|rows| {
            let changes = rows.into_iter().filter(|row| row["kind"] == "change");
            changes.map(|row| row["requests"].as_u64().expect("a number")).collect::<Vec<_>>()
        });
        assert_eq!(requests, [vec![2], vec![3]], "evidence before {before}, after {after}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 32))]

    #[test]
    fn the_rows_of_a_crawler_are_the_same_with_and_without_impostors(
        requests in prop::collection::vec((0..400_i64, 0..4_u8, any::<bool>(), 0..PATHS.len()), 1..80),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join(LIST.0), LIST.1).expect("a copy");
        let sections = format!(
            "crawlers: [{{ product_token: ListBot, operator: Lists, purpose: search, ip_ranges: \
             ['http://lists.example/list.json'] }}]\nevidence: {{ folder: {} }}\n",
            folder.path().display()
        );
        let start: Timestamp = "2026-11-01T00:00:00Z".parse().expect("a time");
        let mut samples: Vec<_> = requests
            .into_iter()
            .map(|(second, last, is_own, path)| Sample {
                time: start + SignedDuration::from_secs(second),
                client: if is_own { [66, 249, 64, last] } else { [9, 9, 9, last] },
                host: if path % 3 == 0 { "shop.example.com" } else { "www.example.com" },
                path: PATHS[path],
                user_agent: "ListBot/1.0 (+https://lists.example/bot)",
                status: 200,
            })
            .collect();
        samples.sort_by_key(|sample| sample.time);
        let basis = |text: &str| Basis::of(policy(&format!("{sections}{text}")), None);
        let stricter = POLICY.replace("mode: log", "mode: block").replace("crawl_delay: 120", "crawl_delay: 9");
        let outcome = |samples: &[Sample]| {
            let file = folder.path().join("access.log");
            fs::write(&file, log(samples)).expect("a log");
            let against = Some(basis(&stricter));
            let (_, tally, changes) = replayed(basis(POLICY), against, &[&file], Some(FORMAT), 1);
            of_list_bot(&json_lines(&tally, changes.as_ref()))
        };
        let (own, impostors) = outcome(&samples);
        let count = samples.iter().filter(|sample| sample.client[0] == 9).count() as u64;
        let of_impostors = impostors.iter().filter(|line| line["kind"] == "crawler");
        let requests = of_impostors.map(|line| line["requests"].as_u64().expect("a number"));
        prop_assert_eq!(requests.sum::<u64>(), count);
        samples.retain(|sample| sample.client[0] != 9);
        let (alone, none) = outcome(&samples);
        prop_assert_eq!(own, alone);
        prop_assert!(none.is_empty(), "{:?}", none);
    }
}
