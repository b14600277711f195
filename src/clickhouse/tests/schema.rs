use std::thread;

use super::{
    super::{Attempt, Failure, Insert, Table, check, migrate},
    server::{self, DEADLINE},
};

#[test]
fn tables_are_made_once_by_as_many_nodes_as_start() {
    let Some(client) = server::empty() else { return };
    assert_eq!(check(&client, DEADLINE).expect_err("nothing yet").failure, Failure::Missing);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| migrate(&client, DEADLINE).expect("tables"));
        }
    });
    check(&client, DEADLINE).expect("tables");
    migrate(&client, DEADLINE).expect("nothing to do");
    client.execute("INSERT INTO beadle_versions VALUES (99)", DEADLINE).expect("added");
    for found in [check(&client, DEADLINE), migrate(&client, DEADLINE)] {
        let error = found.expect_err("of a newer version");
        assert_eq!(error.failure, Failure::Newer(99));
        assert!(error.to_string().contains("as schema 99"), "{error}");
    }
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
