//! The tables, and the versions of them.

use std::time::Duration;

use super::{
    Client,
    failure::{Error, Failure},
    tables::{RECORD_HOURS, Table},
};

/// The steps that turn tables of version n - 1 into those of version n. Each statement changes nothing
/// when it comes again, so that several nodes may take a step at once.
const MIGRATIONS: [&str; 1] = [include_str!("tables.sql")];
const CURRENT: u32 = MIGRATIONS.len() as u32;
/// The hours of records, as the table of hours has them.
const HOURS: &str = "SELECT DISTINCT day, \
    toUInt32(intDiv(bitShiftRight(sequence, 22), 3600000)) AS hour, site, product_token, \
    ifNull(purpose, '') AS purpose, action FROM violations";
const VERSIONS: &str = "CREATE TABLE IF NOT EXISTS beadle_versions (version UInt32) \
    ENGINE = ReplacingMergeTree ORDER BY version";

/// Makes the tables, or updates older ones; creates a missing database. What was lost of the tables is
/// made again.
pub fn migrate(client: &Client, deadline: Duration) -> Result<(), Error> {
    let version = match version(client, deadline) {
        Err(Error { failure: Failure::Missing, .. }) => {
            create(client, deadline)?;
            version(client, deadline)?
        }
        found => found?,
    };
    // Before the view adds hours of today.
    let days = days_without_hours(client, deadline)?;
    for (number, migration) in (1..).zip(MIGRATIONS) {
        for statement in statements(migration) {
            client.execute(&statement, deadline)?;
        }
        if number > version {
            let sql = format!("INSERT INTO beadle_versions (version) VALUES ({number})");
            client.execute(&sql, deadline)?;
        }
    }
    let view = "CREATE MATERIALIZED VIEW IF NOT EXISTS fill_record_hours TO";
    client.execute(&format!("{view} {RECORD_HOURS} AS {HOURS}"), deadline)?;
    for (day,) in days {
        let sql = format!("INSERT INTO {RECORD_HOURS} {HOURS} WHERE day = {day}");
        client.execute(&sql, deadline)?;
    }
    Ok(())
}

/// The days with records and without hours, the latest first.
fn days_without_hours(client: &Client, deadline: Duration) -> Result<Vec<(u32,)>, Error> {
    let days = |table: &str| {
        format!(
            "SELECT partition FROM system.parts WHERE database = currentDatabase() \
             AND table = '{table}' AND active"
        )
    };
    let [records, hours] = [Table::Violations.as_str(), RECORD_HOURS].map(days);
    let sql = format!(
        "SELECT toUInt32(partition) AS day FROM ({records}) WHERE partition NOT IN ({hours}) \
         GROUP BY partition ORDER BY day DESC"
    );
    client.rows(&sql, deadline)
}

/// The version of the tables; 0 where there are none yet.
fn version(client: &Client, deadline: Duration) -> Result<u32, Error> {
    let sql = "SELECT max(version) AS version FROM beadle_versions";
    let found: Vec<(u32,)> = client.rows(sql, deadline)?;
    match found.first().map_or(0, |(version,)| *version) {
        newer if newer > CURRENT => Err(client.failed(Failure::Newer(newer))),
        version => Ok(version),
    }
}

/// Creates the table of versions, and the database where it is missing: not each user may do that.
fn create(client: &Client, deadline: Duration) -> Result<(), Error> {
    match client.execute(VERSIONS, deadline) {
        Err(Error { failure: Failure::Missing, .. }) => {
            let name = client.database().replace('\\', "\\\\").replace('`', "\\`");
            let sql = format!("CREATE DATABASE IF NOT EXISTS `{name}`");
            client.execute_outside(&sql, deadline)?;
            client.execute(VERSIONS, deadline)
        }
        created => created,
    }
}

fn statements(file: &str) -> Vec<String> {
    let lines = file.lines().filter(|line| !line.starts_with("--"));
    let text = lines.collect::<Vec<_>>().join("\n");
    text.split(';').map(str::trim).filter(|one| !one.is_empty()).map(str::to_owned).collect()
}
