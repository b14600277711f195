use jiff::Timestamp;

use super::*;
use crate::{
    base::text::Text,
    formats::robots::OriginFile,
    records::{
        record::{Edition, Violation, tests::violation},
        tally::{Hour, PeopleCount, Rollups},
    },
};

mod made_tables;
pub(crate) mod server;

const ORIGIN: Origin<'_> = Origin { node: "a", run: "r", batch: 7 };

fn encoded(records: &[&Violation], counts: &Rollups, editions: &[&Edition]) -> Vec<Insert> {
    inserts(ORIGIN, Portion { records, counts, overflow: &[], editions })
}

#[test]
fn a_record_is_a_row_with_its_day_and_a_number_in_the_order_of_time() {
    let first = Violation { time: Timestamp::UNIX_EPOCH, ..violation(1) };
    let second = Violation { id: "0192f0c1-0000-7001-8000-000000000000".into(), ..first.clone() };
    let third = Violation { id: Text::word("no uuid"), ..violation(3) };
    let rows = encoded(&[&first, &second, &third], &Rollups::default(), &[]);
    assert_eq!((rows.len(), rows[0].table, rows[0].len()), (1, Table::Violations, 3));
    let rows: Vec<serde_json::Value> = rows[0]
        .rows
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).expect("an object"))
        .collect();
    let days: Vec<_> = rows.iter().map(|row| row["day"].as_u64().expect("a number")).collect();
    assert_eq!(days, [19_700_101, 19_700_101, 20_231_114]);
    let numbers: Vec<_> = rows.iter().map(|row| row["sequence"].as_u64().unwrap()).collect();
    assert_eq!(numbers[..2], [0, 1 << 10]);
    assert_eq!(numbers[2] >> 22, 1_700_000_003_000);
    assert_eq!(rows[0]["product_tokens"], serde_json::json!(["GPTBot"]));
    assert!(rows[0]["robots_read_at"].is_null());
    let columns = Table::Violations.columns().split(", ").count();
    assert_eq!(rows[0].as_object().map(serde_json::Map::len), Some(columns));
}

#[test]
fn rows_can_be_split_down_to_one() {
    let all: Vec<_> = (0..5).map(violation).collect();
    let all: Vec<_> = all.iter().collect();
    let whole = encoded(&all, &Rollups::default(), &[]).remove(0);
    let [first, second] = whole.halves().expect("five rows");
    assert_eq!((first.len(), second.len()), (2, 3));
    assert_eq!([first.rows.clone(), second.rows].concat(), whole.rows);
    let [one, _] = first.halves().expect("two rows");
    assert_eq!(one.halves(), None);
    assert_eq!(one.days().rows, b"{\"day\":20231114}\n");
}

#[test]
fn counts_have_their_origin_and_editions_their_bytes() {
    let hour = Hour::from_millisecond(3_600_000);
    let people = vec![PeopleCount { hour, site: Text::word("a.example"), requests: 3 }];
    let edition = Edition {
        site: Text::word("a.example"),
        id: Text::word("00ff"),
        sha256: Text::word("00ff00"),
        bytes: b"\xff\n".as_slice().into(),
        source: Text::word("origin"),
        origin_file: OriginFile::Unknown,
        from: Timestamp::UNIX_EPOCH,
        until: None,
    };
    let found = encoded(&[], &Rollups { people, ..Rollups::default() }, &[&edition]);
    let texts: Vec<_> = found
        .iter()
        .map(|one| (one.table, String::from_utf8(one.rows.clone()).expect("text")))
        .collect();
    let origin = r#""node":"a","run":"r","batch":7"#;
    let site = r#""site":"a.example""#;
    assert_eq!(
        texts,
        [
            (Table::Editions, "{\"id\":\"00ff\",\"sha256\":\"00ff00\",\"hex\":\"ff0a\"}\n".into()),
            (
                Table::Publications,
                format!(
                    "{{{site},\"edition\":\"00ff\",\"source\":\"origin\",\"from_\":0,{origin},\
                     \"place\":0}}\n"
                )
            ),
            (
                Table::People,
                format!("{{\"day\":19700101,\"hour\":3600000,{site},{origin},\"requests\":3}}\n")
            ),
        ]
    );
}

#[test]
fn a_table_keeps_its_number() {
    assert_eq!(Table::ALL.map(Table::number), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
}

#[test]
fn the_servers_words_tell_the_kind_of_failure() {
    for (text, failure) in [
        ("Code: 60, e.displayText() = x", Failure::Missing),
        ("Code: 243. DB::Exception: y", Failure::Full("Code: 243. DB::Exception: y".into())),
        ("<html>", Failure::Refused(0, "<html>".into())),
    ] {
        assert_eq!(Failure::refused(None, text), failure, "{text}");
    }
    let error = |code| Error { address: "a".into(), failure: Failure::refused(Some(code), "") };
    assert_eq!(error(243).to_string(), "'a' has no room:  (make room on that server)");
    assert_eq!(
        error(241).to_string(),
        "'a' refuses:  (see the user's rights, and the server's log)"
    );
    assert_eq!(error(243).code(), "clickhouse.full");
    assert!(error(26).is_about_rows() && !error(241).is_about_rows());
}
