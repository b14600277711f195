use std::thread;

use serde::Deserialize;

use super::{
    super::{Attempt, Failure, Insert, Table, migrate},
    server::{self, DEADLINE},
};

#[derive(Deserialize)]
struct Found {
    day: u32,
}

#[test]
fn tables_are_made_once_by_as_many_nodes_as_start() {
    let Some(client) = server::empty() else { return };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| migrate(&client, DEADLINE).expect("tables"));
        }
    });
    migrate(&client, DEADLINE).expect("nothing to do");
    client.execute("INSERT INTO beadle_versions VALUES (99)", DEADLINE).expect("added");
    let error = migrate(&client, DEADLINE).expect_err("of a newer version");
    assert_eq!(error.failure, Failure::Newer(99));
    assert!(error.to_string().contains("as schema 99"), "{error}");
}

#[test]
fn the_hours_of_records_come_back_where_they_were_lost() {
    let Some(client) = server::database() else { return };
    let record = |day: u32, hour: u64| {
        let sequence = (hour * 3_600_000) << 22;
        format!(
            "{{\"day\":{day},\"sequence\":{sequence},\"id\":\"{day}\",\"site\":\"a.example\"}}\n"
        )
    };
    let insert = |day, hour| {
        let insert = Insert { table: Table::Violations, rows: record(day, hour).into_bytes() };
        client.insert(&insert, Attempt::First, DEADLINE)
    };
    let hours = || {
        let sql = "SELECT day FROM record_hours WHERE hour = 7 + day AND \
                   site = 'a.example' AND purpose = '' GROUP BY day ORDER BY day";
        let days: Vec<Found> = client.rows(sql, DEADLINE).expect("rows");
        days.into_iter().map(|found| found.day).collect::<Vec<_>>()
    };
    insert(1, 8).expect("added");
    insert(2, 9).expect("added");
    assert_eq!(hours(), [1, 2]);
    for table in ["fill_record_hours", "record_hours"] {
        client.execute(&format!("DROP TABLE {table}"), DEADLINE).expect("dropped");
    }
    insert(3, 10).expect("added");
    migrate(&client, DEADLINE).expect("made again");
    assert_eq!(hours(), [1, 2, 3]);
    insert(4, 11).expect("added");
    client.execute("ALTER TABLE record_hours DROP PARTITION 2", DEADLINE).expect("dropped");
    assert_eq!(hours(), [1, 3, 4]);
    migrate(&client, DEADLINE).expect("filled again");
    assert_eq!(hours(), [1, 2, 3, 4]);
}

#[test]
fn a_server_says_what_it_refuses_and_a_missing_one_that_it_is_missing() {
    let Some(client) = server::database() else { return };
    let rows = b"{\"day\":1}\n{\"day\":\n".to_vec();
    let insert = Insert { table: Table::DaysSentAgain, rows };
    let error = client.insert(&insert, Attempt::First, DEADLINE).expect_err("half a row");
    assert!(error.is_about_rows(), "{error}");
    let error = client.execute("SELECT sleep(3)", std::time::Duration::from_millis(200));
    assert_eq!(error.expect_err("too slow").code(), "clickhouse.late");
    let settings = server::settings(1, "x");
    let nowhere = super::super::Client::new(settings).expect("a client");
    let error = nowhere.execute("SELECT 1", DEADLINE).expect_err("no server");
    assert_eq!(error.code(), "clickhouse.unreachable");
    assert!(error.to_string().contains("clickhouse://default@127.0.0.1:1/x"), "{error}");
}
