use std::{
    fs,
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
pub(super) use crate::records::record::tests::violation;
use crate::{
    base::text::Text,
    formats::robots::OriginFile,
    records::{
        counts::Question,
        lines::LogTarget,
        record::{
            BrokenRule, Edition, Fetch, Filter, Listing, Obstacle, Overflow, Robots, RobotsRead,
            SCHEMA, Violation,
        },
        tally::{Places, ReadState, Series, Tallied},
    },
};

mod crash;

/// A record whose series is its own.
impl From<Violation> for Record {
    fn from(violation: Violation) -> Self {
        let series = Arc::new(Series::of(&violation, "crawler"));
        let path = violation.path.split('?').next().unwrap_or_default().into();
        let places = Places { path, network: Text::word("2001:db8::/48") };
        Self { tallied: Some(Tallied { series, places }), violation }
    }
}

/// A published edition that its id and time identify.
pub(super) fn edition(site: &'static str, id: &'static str, from: i64) -> Edition {
    Edition {
        site: Text::word(site),
        id: Text::word(id),
        sha256: Text::word(id),
        bytes: format!("User-agent: {id}\nDisallow: /\n").into(),
        source: Text::word("policy"),
        origin_file: OriginFile::Unknown,
        from: Timestamp::from_second(from).expect("a time"),
        until: None,
    }
}

/// A first fetch.
pub(super) fn fetch(
    site: &'static str,
    product_token: &'static str,
    network: &'static str,
    edition: &'static str,
    at: i64,
) -> Fetch {
    let at = Timestamp::from_second(at).expect("a time");
    Fetch {
        site: Text::word(site),
        product_token: Text::word(product_token),
        network: Text::word(network),
        standing: Text::word("confirmed"),
        edition: Text::word(edition),
        first: at,
        last: at,
        count: 1,
        interval: None,
    }
}

fn settings(folder: &Path) -> Settings {
    Settings {
        database: Some(folder.join("beadle.db")),
        log: Some(LogTarget::File(folder.join("violations.jsonl"))),
        ..Settings::default()
    }
}

fn listed(folder: &Path, filter: &Filter) -> (Listing, Listing) {
    let store = Store::open_read_only(&folder.join("beadle.db")).expect("a database");
    let log = jsonl::read(&folder.join("violations.jsonl"), filter).expect("a log");
    (store.query(filter).expect("rows"), log)
}

fn records(listing: Listing) -> Vec<Violation> {
    listing.records.into_iter().map(|(_, violation)| violation).collect()
}

/// Waits until it is so, for ten seconds at most.
pub(super) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(10), "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

fn any_violation() -> impl Strategy<Value = Violation> {
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        any::<String>().prop_map(String::into_bytes),
        Just(b"x\r\n{\"verdict\":\"allow\"}\x1b[2J\x00\\\"'; DROP TABLE violations;--".to_vec()),
        Just(vec![0xff; 3000]),
    ];
    let texts = prop::collection::vec(bytes, 14);
    (texts, any::<[u8; 16]>(), any::<u16>(), any::<Option<u32>>(), 0..3_usize, any::<u32>())
        .prop_map(|(texts, ip, status, line, state, time)| {
            let text = |at: usize| Text::field(&texts[at]);
            let at = Timestamp::from_millisecond(i64::from(time) * 997).expect("within 140 years");
            Violation {
                schema: SCHEMA,
                id: text(0),
                time: at,
                site: text(1),
                client_ip: Text::from(std::net::IpAddr::from(ip).to_string().as_str()),
                method: text(2),
                host: text(3),
                path: Text::path(&texts[4]),
                user_agent: Text::user_agent(&texts[5]),
                product_token: text(6),
                product_tokens: vec![text(6), text(7)],
                operator: line.map(|_| text(8)),
                purpose: line.map(|_| text(9)),
                standing: text(10),
                evidence: line.map(|_| text(11)),
                verdict: text(11),
                reason: text(12),
                action: text(13),
                status,
                robots: Robots {
                    edition: text(8),
                    line,
                    directive: text(9),
                    pattern: Text::path(&texts[5]),
                    group: vec![text(10)],
                },
                robots_read: RobotsRead {
                    state: [ReadState::Never, ReadState::Older, ReadState::Current][state],
                    edition: line.map(|_| text(11)),
                    at: line.map(|_| at),
                },
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_field_is_read_back_with_any_bytes_in_it(
        mut written in prop::collection::vec(any_violation(), 1..6)
    ) {
        for (number, violation) in written.iter_mut().enumerate() {
            violation.id = number.to_string().into();
        }
        let folder = tempfile::tempdir().expect("a folder");
        let sink = Sink::start(settings(folder.path())).expect("a sink");
        written.iter().for_each(|violation| sink.record(violation.clone()));
        prop_assert_eq!(sink.close(Duration::from_secs(9)).stored, written.len() as u64);
        let lines = fs::read_to_string(folder.path().join("violations.jsonl")).expect("UTF-8");
        prop_assert_eq!(lines.lines().count(), written.len());
        prop_assert!(!lines.contains(|c: char| c.is_control() && c != '\n'));
        let (rows, lines) = listed(folder.path(), &Filter::default());
        prop_assert_eq!((rows.unreadable, lines.unreadable), (0, 0));
        prop_assert_eq!(&records(rows), &written);
        prop_assert_eq!(&records(lines), &written);
    }
}

#[test]
fn the_line_of_a_record_is_a_contract() {
    let mut line = Vec::new();
    let mut violation = violation(0);
    violation.robots_read.at = Some(violation.time);
    jsonl::push(&mut line, &violation);
    let expected = concat!(
        r#"{"schema":1,"id":"0192f0c1-0000-7000-8000-000000000000","time":"2023-11-14T22:13:20.000Z","#,
        r#""site":"shop.example","client_ip":"2001:db8::7","method":"GET","host":"www.shop.example","#,
        r#""path":"/private/0?page=0","#,
        r#""user_agent":"Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)","#,
        r#""product_token":"GPTBot","product_tokens":["GPTBot"],"operator":"OpenAI","#,
        r#""purpose":"ai-training","standing":"confirmed","evidence":"ip-range","#,
        r#""verdict":"disallow","reason":"robots.disallow","action":"log","status":403,"#,
        r#""robots":{"edition":"sha256:00ff","line":7,"directive":"disallow","pattern":"/private/","#,
        r#""group":["GPTBot","CCBot"]},"#,
        r#""robots_read":{"state":"never","edition":null,"at":"2023-11-14T22:13:20.000Z"}}"#,
        "\n"
    );
    assert_eq!(String::from_utf8(line).expect("UTF-8"), expected);
}

#[test]
fn the_database_and_the_log_list_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let sink = Sink::start(settings(folder.path())).expect("a sink");
    (0..60).for_each(|number| sink.record(violation(number)));
    sink.close(Duration::from_secs(9));
    let some = |text: &str| Some(text.to_owned());
    let all = Filter::default;
    let since = Some(violation(50).time);
    for (filter, count) in [
        (all(), 60),
        (Filter { id: some(&violation(3).id), ..all() }, 1),
        (Filter { site: some("BLOG.example"), ..all() }, 30),
        (Filter { product_token: some("gptbot"), ..all() }, 20),
        (Filter { purpose: some("ai-training"), ..all() }, 20),
        (Filter { purpose: some(""), ..all() }, 0),
        (Filter { action: some("block"), ..all() }, 30),
        (Filter { path: some("/private/1"), ..all() }, 11),
        (Filter { path: some("*page=7$"), ..all() }, 6),
        (Filter { path: some("/private/*3?page"), ..all() }, 6),
        (Filter { since, ..all() }, 10),
        (Filter { since: Some(Timestamp::MIN), ..all() }, 60),
        (Filter { since: Some(Timestamp::MAX), ..all() }, 0),
        (Filter { since: since.map(|at| at + Duration::from_nanos(1)), ..all() }, 9),
        (Filter { until: since, ..all() }, 50),
        (Filter { since, until: since.map(|at| at + Duration::from_nanos(1)), ..all() }, 1),
        (Filter { until: Some(Timestamp::MIN), ..all() }, 0),
        (Filter { limit: Some(7), ..all() }, 7),
        (Filter { limit: Some(0), ..all() }, 0),
        (Filter { limit: Some(usize::MAX), ..all() }, 60),
        (Filter { limit: Some(2), action: some("log"), path: some("*=4"), ..all() }, 2),
        (Filter { site: some("shop.example"), product_token: some("CCBot"), since, ..all() }, 2),
        (Filter { site: some("' OR 1=1 --"), ..all() }, 0),
        (Filter { path: some("/' OR 1=1 --"), ..all() }, 0),
        (Filter { rule: BrokenRule::of_line("Disallow: /private/"), ..all() }, 30),
        (Filter { rule: BrokenRule::of_line("disallow:/*?page="), since, ..all() }, 5),
        (Filter { rule: BrokenRule::of_line("Allow: /private/"), ..all() }, 0),
        (Filter { rule: BrokenRule::of_line("Disallow: /"), ..all() }, 0),
        (Filter { rule: BrokenRule::of_line("robots.disallow"), ..all() }, 0),
        (Filter { exact_path: some("/private/1"), ..all() }, 1),
        (Filter { exact_path: some("/private/"), ..all() }, 0),
        (Filter { exact_path: some("/private/1"), path: some("*page=2"), ..all() }, 0),
        (Filter { action: some("\";DROP TABLE violations"), ..all() }, 0),
        (Filter { id: some("\u{0}"), ..all() }, 0),
    ] {
        let (rows, lines) = listed(folder.path(), &filter);
        let rows = records(rows);
        assert_eq!(rows.len(), count, "{filter:?}");
        assert!(rows == records(lines), "{filter:?}");
        assert!(rows.is_sorted_by_key(|violation| violation.time), "{filter:?}");
    }
    let (rows, _) = listed(folder.path(), &Filter { limit: Some(1), ..all() });
    assert_eq!(records(rows), [violation(59)], "a limit keeps the latest");
}

#[test]
fn following_lists_each_record_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let sink = Sink::start(settings(folder.path())).expect("a sink");
    let (mut of_rows, mut of_lines) = (Vec::new(), Vec::new());
    let (mut row, mut line) = (0, 0);
    for round in 0..4 {
        (round * 10..round * 10 + 10).for_each(|number| sink.record(violation(number)));
        eventually("written", || {
            sink.counts().queued + sink.log_counts().map_or(9, |c| c.queued) == 0
        });
        for _ in 0..4 {
            let next =
                |after| Filter { after_sequence: Some(after), limit: Some(3), ..Filter::default() };
            let rows = listed(folder.path(), &next(row)).0;
            let lines = listed(folder.path(), &next(line)).1;
            (row, line) = (rows.end, lines.end);
            of_rows.extend(records(rows));
            of_lines.extend(records(lines));
        }
    }
    let all: Vec<_> = (0..40).map(violation).collect();
    assert_eq!(of_rows, all);
    assert_eq!(of_lines, all);
}

#[test]
fn records_without_room_are_counted_exactly() {
    const THREADS: u64 = 8;
    const EACH: u64 = 2000;
    let folder = tempfile::tempdir().expect("a folder");
    let sink =
        Arc::new(Sink::start(Settings { queue: 64, ..settings(folder.path()) }).expect("a sink"));
    let record = |thread: u64| {
        let sink = Arc::clone(&sink);
        move || {
            for number in 0..EACH {
                sink.record(violation(thread * EACH + number));
                let Counts { seen, stored, folded, dropped, queued } = sink.counts();
                assert_eq!(seen, stored + folded + dropped + queued);
            }
        }
    };
    let threads: Vec<_> = (0..THREADS).map(|thread| thread::spawn(record(thread))).collect();
    threads.into_iter().for_each(|thread| thread.join().expect("the counts add up"));
    let counts = sink.close(Duration::from_secs(9));
    assert_eq!(counts.seen, THREADS * EACH);
    assert_eq!((counts.queued, counts.stored + counts.dropped), (0, counts.seen));
    assert!(counts.dropped > 0, "64 places are not enough for this");
    let (rows, lines) = listed(folder.path(), &Filter::default());
    assert_eq!(rows.records.len() as u64, counts.stored);
    assert_eq!(lines.records.len() as u64, sink.log_counts().expect("a log").stored);
    assert_eq!(lines.unreadable, 0, "lines about overflow are not taken for broken ones");
    let sum = |overflow: &[Overflow]| overflow.iter().map(|o| o.count).sum::<u64>();
    assert_eq!(sum(&sink.overflow()), counts.dropped);
    let store = Store::open_read_only(&folder.path().join("beadle.db")).expect("a database");
    assert_eq!(sum(&store.overflow().expect("rows")), counts.dropped, "written down as well");
    let all = &store.counted(&Question::default()).expect("a row")[0];
    assert_eq!((all.violations, all.dropped, all.folded), (counts.seen, counts.dropped, 0));
    // Of each name, what is kept and what is counted make up what was recorded.
    for overflow in sink.overflow() {
        let is_it = |v: &Violation| {
            (&v.site, &v.product_token, &v.robots.pattern)
                == (&overflow.site, &overflow.product_token, &overflow.rule)
        };
        let seen = (0..THREADS * EACH).filter(|&number| is_it(&violation(number))).count() as u64;
        let kept = rows.records.iter().filter(|(_, v)| is_it(v)).count() as u64;
        assert_eq!(kept + overflow.count, seen, "{overflow:?}");
    }
}

#[test]
fn a_client_that_makes_up_names_is_counted_in_bounded_memory() {
    let sink = Sink::start(Settings::default()).expect("nothing to open");
    for number in 0..9000_u32 {
        sink.record(Violation {
            product_token: format!("Bot{number}").into(),
            robots: Robots { pattern: Text::word("/"), ..violation(0).robots },
            ..violation(0)
        });
    }
    let overflow = sink.overflow();
    assert_eq!(overflow.len(), 4097);
    assert_eq!((overflow[0].product_token.as_str(), overflow[0].count), ("other", 9000 - 4096));
    assert_eq!(
        sink.counts(),
        Counts { seen: 9000, stored: 0, folded: 0, dropped: 9000, queued: 0 }
    );
    assert_eq!(sink.health(), Health::Ok, "nothing is configured, so nothing is wrong");
}

#[test]
fn a_full_disk_under_the_log_costs_the_database_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = Some(LogTarget::File("/dev/full".into()));
    let sink =
        Sink::start(Settings { log: log.clone(), ..settings(folder.path()) }).expect("a sink");
    (0..300).for_each(|number| sink.record(violation(number)));
    eventually("stored", || sink.counts().stored == 300);
    eventually("degraded", || sink.health() != Health::Ok);
    let Health::Degraded(reason) = sink.health() else { panic!("just seen to be degraded") };
    assert_eq!(reason, "'/dev/full': the disk is full, or a quota is used up (make room)");
    sink.close(Duration::from_millis(200));
    let lost = sink.log_counts().expect("a log");
    assert_eq!(lost, Counts { seen: 300, stored: 0, folded: 0, dropped: 300, queued: 0 });

    let alone = Sink::start(Settings { log, ..Settings::default() }).expect("a sink");
    (0..300).for_each(|number| alone.record(violation(number)));
    let lost = alone.close(Duration::from_millis(200));
    assert_eq!(lost, Counts { seen: 300, stored: 0, folded: 0, dropped: 300, queued: 0 });
    assert_eq!(alone.overflow().iter().map(|o| o.count).sum::<u64>(), 300);
}

#[test]
fn a_log_is_reopened_after_rotation() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("violations.jsonl");
    let sink = Sink::start(settings(folder.path())).expect("a sink");
    let is_written = |count| sink.log_counts().expect("a log").stored == count;
    sink.record(violation(0));
    eventually("written", || is_written(1));
    fs::rename(&path, folder.path().join("violations.1.jsonl")).expect("moved");
    sink.record(violation(1));
    eventually("written", || is_written(2));
    assert_eq!(records(listed(folder.path(), &Filter::default()).1), [violation(1)]);
    // A reader that was further on in the old one starts over.
    let filter = Filter { after_sequence: Some(1 << 40), ..Filter::default() };
    assert_eq!(records(listed(folder.path(), &filter).1), [violation(1)]);
}

#[test]
fn lines_that_are_no_records_are_skipped_and_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("violations.jsonl");
    let mut lines = b"\n{}\nnot json\n\xff\xfe\n".to_vec();
    jsonl::push(&mut lines, &violation(0));
    lines.extend(vec![b'x'; 3 << 20]);
    lines.push(b'\n');
    jsonl::push(&mut lines, &Violation { schema: SCHEMA + 1, ..violation(1) });
    lines.extend(b"{\"schema\":1,\"kind\":\"overflow\",\"count\":3}\n");
    jsonl::push(&mut lines, &violation(2));
    lines.extend(b"{\"schema\":1,\"id\":\"torn by a cr");
    fs::write(&path, &lines).expect("written");
    let listing = jsonl::read(&path, &Filter::default()).expect("a log");
    assert_eq!(listing.unreadable, 5);
    assert_eq!(records(listing), [violation(0), violation(2)]);

    let log = Some(LogTarget::File(path.clone()));
    let sink = Sink::start(Settings { log, ..Settings::default() }).expect("a sink");
    sink.record(violation(3));
    sink.close(Duration::from_secs(9));
    let listing = jsonl::read(&path, &Filter::default()).expect("a log");
    assert_eq!(listing.unreadable, 6, "the torn line has an end now");
    assert_eq!(records(listing), [violation(0), violation(2), violation(3)]);
    for (path, obstacle) in [
        (folder.path(), Obstacle::NoRegularFile),
        (Path::new("/dev/zero"), Obstacle::NoRegularFile),
    ] {
        assert_eq!(jsonl::read(path, &Filter::default()).expect_err("refused").obstacle, obstacle);
    }
}
