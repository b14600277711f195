//! Batches into the spool, and the rows that a server gets of them.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use parking_lot::Mutex;

use super::{totals::Totals, *};
use crate::records::{
    clickhouse::Portion,
    record::{Obstacle, Violation, tests::violation},
    tally::{Hour, PeopleCount, Rollups},
};

const HOUR: i64 = 3_600_000;

fn people(hour: i64, requests: u64) -> Rollups {
    let hour = Hour::from_millisecond(hour * HOUR);
    let people = vec![PeopleCount { hour, site: "a.example".into(), requests }];
    Rollups { people, ..Rollups::default() }
}

#[test]
fn totals_grow_until_an_hour_is_forgotten() {
    let mut totals = Totals::default();
    for (hour, requests, total) in
        [(1, 5, 5), (1, 2, 7), (2, 1, 1), (1, 1, 8), (3, 4, 4), (4, 1, 1)]
    {
        let counts = people(hour, requests);
        assert!(!totals.have_forgotten(&counts), "{hour}");
        assert_eq!(totals.add(&counts), people(hour, total), "{hour}");
    }
    assert!(totals.have_forgotten(&people(1, 1)), "a smaller count would replace a larger one");
    assert!(totals.have_forgotten(&people(0, 1)), "an earlier hour may be forgotten, too");
    assert!(!totals.have_forgotten(&people(2, 1)));
    assert_eq!(totals.add(&people(2, 1)), people(2, 2));
}

/// A server that answers each insert by a function of table and rows, and keeps what it took.
struct Stub {
    port: u16,
    taken: Arc<Mutex<Vec<(String, String)>>>,
}

impl Stub {
    fn start(answer: impl Fn(&str, &str) -> Option<u32> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let taken = Arc::new(Mutex::new(Vec::new()));
        let of_stub = Arc::clone(&taken);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                serve(stream, &answer, &of_stub);
            }
        });
        Self { port, taken }
    }

    /// The rows of a table that were taken.
    fn rows(&self, table: &str) -> Vec<String> {
        let taken = self.taken.lock();
        let of_table = taken.iter().filter(|(name, _)| name == table);
        of_table.flat_map(|(_, rows)| rows.lines().map(str::to_owned)).collect()
    }
}

/// Answers the requests of one connection.
fn serve(
    mut stream: TcpStream,
    answer: &impl Fn(&str, &str) -> Option<u32>,
    taken: &Mutex<Vec<(String, String)>>,
) {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 1 << 16]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let whole = text.find("\r\n\r\n").and_then(|head| {
            let length = text.lines().find_map(|line| {
                line.to_ascii_lowercase()
                    .strip_prefix("content-length: ")?
                    .trim()
                    .parse::<usize>()
                    .ok()
            });
            let end = head + 4 + length?;
            (bytes.len() >= end).then_some((head, end))
        });
        let Some((head, end)) = whole else {
            match stream.read(&mut buffer) {
                Ok(0) | Err(_) => return,
                Ok(count) => bytes.extend_from_slice(&buffer[..count]),
            }
            continue;
        };
        let body = text[head + 4..end].to_owned();
        let table = text.split("query=INSERT+INTO+").nth(1).and_then(|rest| rest.split('+').next());
        let table = table.unwrap_or_default().to_owned();
        let code = if table.is_empty() { None } else { answer(&table, &body) };
        let (status, text) = match code {
            Some(code) => ("500 Oops", format!("Code: {code}, e.displayText() = no")),
            None if body.contains("max(version)") => ("200 OK", "{\"data\":[[1]]}".to_owned()),
            None => ("200 OK", "{\"data\":[]}".to_owned()),
        };
        if code.is_none() && !table.is_empty() {
            taken.lock().push((table, body));
        }
        let length = text.len();
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{text}");
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
        bytes.drain(..end);
    }
}

fn settings(folder: &Path, port: u16, limit: u64) -> Settings {
    Settings {
        server: clickhouse::Settings {
            host: "127.0.0.1".to_owned(),
            port,
            is_tls: false,
            user: "default".to_owned(),
            password: String::new(),
            database: "test".to_owned(),
            ca_file: None,
        },
        folder: folder.to_owned(),
        limit,
        node: "n1".to_owned(),
        retention: None,
    }
}

/// Records with ids of their own.
fn records(from: u64, count: u64) -> Vec<Violation> {
    let record = |number: u64| Violation {
        id: format!("0192f0c1-2b3c-7000-8000-{number:012}").as_str().into(),
        time: Timestamp::from_second(1_795_000_000).expect("a time"),
        ..violation(number)
    };
    (from..from + count).map(record).collect()
}

fn append(
    forwarder: &mut Forwarder,
    number: u64,
    records: &[Violation],
) -> Result<(), crate::records::record::Error> {
    let records: Vec<&Violation> = records.iter().collect();
    let counts = people(1, records.len() as u64);
    let batch = Portion { records: &records, counts: &counts, overflow: &[], editions: &[] };
    forwarder.append(number, batch)
}

/// The ids of all records, each once, and how many rows came more than once.
fn ids(stub: &Stub) -> (std::collections::BTreeSet<String>, usize) {
    let id = |row: &String| row.split("\"id\":\"").nth(1).map(|rest| rest[..36].to_owned());
    let all: Vec<_> = stub.rows("violations").iter().filter_map(id).collect();
    let each: std::collections::BTreeSet<_> = all.iter().cloned().collect();
    (each.clone(), all.len() - each.len())
}

/// Waits until it holds.
fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < until, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn end(forwarding: &Forwarding) {
    forwarding.close(Instant::now() + Duration::from_secs(10));
}

#[test]
fn a_batch_is_sent_once_with_whole_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let stub = Stub::start(|_, _| None);
    let (mut forwarder, forwarding) =
        Forwarder::start(settings(folder.path(), stub.port, 64 << 20)).expect("it is new");
    append(&mut forwarder, 1, &records(0, 3)).expect("there is room");
    append(&mut forwarder, 1, &records(0, 3)).expect("a batch that comes again changes nothing");
    append(&mut forwarder, 2, &records(3, 4)).expect("there is room");
    end(&forwarding);
    let (each, again) = ids(&stub);
    assert_eq!((each.len(), again), (7, 0));
    let people = stub.rows("people");
    assert!(
        people[0].contains("\"requests\":3") && people[1].contains("\"requests\":7"),
        "{people:?}"
    );
    let status = forwarding.status();
    assert_eq!((status.sent, status.waiting, status.bytes, status.trouble), (7, 0, 0, None));
}

#[test]
fn what_a_full_or_missing_server_does_not_take_waits_for_the_next_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let full = Stub::start(|_, _| Some(243));
    let (mut forwarder, forwarding) =
        Forwarder::start(settings(folder.path(), full.port, 64 << 20)).expect("it is new");
    append(&mut forwarder, 1, &records(0, 3)).expect("there is room");
    end(&forwarding);
    let status = forwarding.status();
    assert_eq!(status.waiting, 3);
    assert!(status.trouble.is_some_and(|trouble| trouble.contains("243")));
    assert!(status.failures.contains_key("clickhouse.full"), "{:?}", status.failures);
    drop((forwarder, forwarding));

    let stub = Stub::start(|_, _| None);
    let (_forwarder, forwarding) =
        Forwarder::start(settings(folder.path(), stub.port, 64 << 20)).expect("it is free");
    wait_for("the rest is sent", || forwarding.status().waiting == 0);
    assert_eq!(ids(&stub).0.len(), 3);
    assert!(!stub.rows("days_sent_again").is_empty(), "they may have been there already");
}

#[test]
fn a_row_that_the_server_refuses_is_set_aside_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let bad = "000000000005";
    let stub = Stub::start(move |_, rows| rows.contains(bad).then_some(27));
    let (mut forwarder, forwarding) =
        Forwarder::start(settings(folder.path(), stub.port, 64 << 20)).expect("it is new");
    append(&mut forwarder, 1, &records(0, 9)).expect("there is room");
    wait_for("all others are sent", || forwarding.status().waiting == 0);
    let status = forwarding.status();
    assert_eq!((status.refused, status.sent, ids(&stub)), (1, 8, (ids(&stub).0, 0)));
    assert_eq!(ids(&stub).0.len(), 8);
    let aside = std::fs::read_to_string(folder.path().join("refused-violations.jsonl"));
    assert!(aside.expect("it is there").contains(bad));
}

#[test]
fn a_full_spool_refuses_and_keeps_room_for_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let stub = Stub::start(|_, _| Some(243));
    let (mut forwarder, forwarding) =
        Forwarder::start(settings(folder.path(), stub.port, 200_000)).expect("it is new");
    let mut number = 0;
    while forwarder.has_room() {
        number += 1;
        append(&mut forwarder, number, &records(number, 1)).expect("there is room");
    }
    let trouble = forwarder.trouble().expect("it is full");
    assert!(matches!(trouble.obstacle, Obstacle::SpoolFull(200_000)), "{trouble}");
    append(&mut forwarder, number + 1, &[]).expect("there is room for counts");
    let refusal = append(&mut forwarder, number + 2, &records(0, 1000)).expect_err("too many");
    assert_eq!(refusal.code(), "store.spool_full");
    assert!(forwarding.status().bytes <= 200_000);
}
