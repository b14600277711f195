//! Old days, dropped whole. Every node does this, and it does no harm that several do.
//!
//! The server's clock counts. Where this machine's clock differs by more than an hour, one of both is
//! wrong, and nothing is dropped.

use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::records::clickhouse::{Client, Error, RECORD_HOURS, Table, day};

/// The time from the start to the first pass, and between two passes.
const FIRST: Duration = Duration::from_secs(60);
const INTERVAL: Duration = Duration::from_secs(600);
/// The most that the clocks may differ, in seconds.
const LEEWAY: u64 = 3600;
const DEADLINE: Duration = Duration::from_secs(30);
/// The tables with a partition for each day, and those with one for each month.
const BY_DAY: [&str; 7] = [
    Table::Violations.as_str(),
    RECORD_HOURS,
    Table::Counts.as_str(),
    Table::Places.as_str(),
    Table::People.as_str(),
    Table::Referrals.as_str(),
    Table::DaysSentAgain.as_str(),
];
const BY_MONTH: [&str; 2] = [Table::CountedHours.as_str(), Table::Overflow.as_str()];

#[derive(Debug)]
pub(super) struct Retention {
    keep: Duration,
    next: Instant,
}

impl Retention {
    pub(super) fn new(keep: Duration, now: Instant) -> Self {
        Self { keep, next: now + FIRST }
    }

    /// Drops the oldest day of each table if it is too old and a pass is due, and returns the number of
    /// records.
    pub(super) fn pass(&mut self, client: &Client, now: Instant) -> Result<u64, Error> {
        if now < self.next {
            return Ok(0);
        }
        self.next = now + INTERVAL;
        let sql = "SELECT toInt64(toUnixTimestamp(now())) AS now";
        let clocks: Vec<(i64,)> = client.rows(sql, DEADLINE)?;
        let Some((now,)) = clocks.first() else { return Ok(0) };
        if now.abs_diff(Timestamp::now().as_second()) > LEEWAY {
            tracing::warn!(
                code = "clickhouse.clocks_differ",
                "this machine's clock differs from that of ClickHouse: no old day is dropped"
            );
            return Ok(0);
        }
        let oldest = oldest_day(*now, self.keep);
        let mut removed = 0;
        for table in BY_DAY {
            let count = drop_oldest(client, table, oldest)?;
            removed += if table == Table::Violations.as_str() { count } else { 0 };
        }
        for table in BY_MONTH {
            drop_oldest(client, table, oldest / 100)?;
        }
        Ok(removed)
    }
}

/// The oldest day that stays, as a number: 20261123.
fn oldest_day(now: i64, keep: Duration) -> u32 {
    let kept = i64::try_from(keep.as_secs()).unwrap_or(i64::MAX);
    day(now.saturating_sub(kept).saturating_mul(1000))
}

/// Drops the oldest partition that is older, and returns the number of its rows.
fn drop_oldest(client: &Client, name: &str, oldest: u32) -> Result<u64, Error> {
    let sql = format!(
        "SELECT partition, toUInt64(sum(rows)) AS count FROM system.parts \
         WHERE database = currentDatabase() AND table = '{name}' AND active \
         AND toUInt32OrZero(partition) < {oldest} GROUP BY partition ORDER BY partition LIMIT 1"
    );
    let found: Vec<(String, u64)> = client.rows(&sql, DEADLINE)?;
    let number =
        found.first().and_then(|(partition, count)| Some((partition.parse::<u32>().ok()?, *count)));
    let Some((partition, count)) = number else { return Ok(0) };
    client.execute(&format!("ALTER TABLE {name} DROP PARTITION {partition}"), DEADLINE)?;
    tracing::info!(
        code = "clickhouse.dropped",
        table = name,
        partition,
        rows = count,
        "an old partition was dropped"
    );
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::clickhouse::tests::server;

    fn days(client: &Client, table: &str) -> Vec<String> {
        let sql = format!(
            "SELECT toString(day) AS partition, toUInt64(count()) AS count FROM {table} \
             GROUP BY day ORDER BY day"
        );
        let found: Vec<(String, u64)> = client.rows(&sql, DEADLINE).expect("rows");
        found.into_iter().map(|(day, _)| day).collect()
    }

    #[test]
    fn a_server_drops_the_oldest_day_of_each_table_and_keeps_the_others() {
        let Some(client) = server::database() else { return };
        let now = Timestamp::now();
        let day = |days: i64| {
            let time = Timestamp::from_second(now.as_second() - days * 86_400).expect("a time");
            time.strftime("%Y%m%d").to_string()
        };
        for table in BY_DAY.into_iter().chain(BY_MONTH) {
            for days in [200, 100, 20, 0].map(day) {
                let sql = format!("INSERT INTO {table} (day) VALUES ({days})");
                client.execute(&sql, DEADLINE).expect("added");
            }
        }
        let begin = Instant::now();
        let mut retention = Retention::new(Duration::from_secs(30 * 86_400), begin);
        assert_eq!(retention.pass(&client, begin).expect("a pass"), 0, "it is not due");
        for (pass, removed) in [(0, 1), (1, 1), (2, 0)] {
            let due = begin + FIRST + INTERVAL * pass;
            assert_eq!(retention.pass(&client, due).expect("a pass"), removed, "{pass}");
        }
        for table in BY_DAY.into_iter().chain(BY_MONTH) {
            assert_eq!(days(&client, table), [day(20), day(0)], "{table}");
        }
    }

    #[test]
    fn a_day_goes_when_all_of_it_is_too_old() {
        let at = |time: &str| time.parse::<Timestamp>().expect("a time").as_second();
        for (now, days, oldest) in [
            ("2026-11-23T00:00:00Z", 1, 20_261_122),
            ("2026-11-23T23:59:59Z", 1, 20_261_122),
            ("2026-03-01T12:00:00Z", 1, 20_260_228),
            ("2026-01-15T00:00:00Z", 90, 20_251_017),
            ("1970-01-02T00:00:00Z", 90, 19_700_101),
        ] {
            let keep = Duration::from_secs(days * 86_400);
            assert_eq!(oldest_day(at(now), keep), oldest, "{now}");
        }
    }
}
