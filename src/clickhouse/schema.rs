//! The tables, and the versions of them.

use std::time::Duration;

use serde::Deserialize;

use super::{
    Client,
    error::{Error, Failure},
};

/// The steps that turn tables of version n - 1 into those of version n. Each statement changes nothing
/// when it comes again, so that several nodes may take a step at once.
const MIGRATIONS: [&str; 1] = [include_str!("schema.sql")];
/// The newest version.
const CURRENT: u32 = MIGRATIONS.len() as u32;
/// The table of versions.
const VERSIONS: &str = "CREATE TABLE IF NOT EXISTS beadle_versions (version UInt32) \
    ENGINE = ReplacingMergeTree ORDER BY version";

#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// Makes the tables, or updates older ones; creates a missing database.
///
/// # Errors
/// Where the server cannot be used, or where a newer version of this program made the tables.
pub fn migrate(client: &Client, deadline: Duration) -> Result<(), Error> {
    let version = match version(client, deadline) {
        Err(Error { failure: Failure::Missing, .. }) => {
            create(client, deadline)?;
            version(client, deadline)?
        }
        found => found?,
    };
    for (number, migration) in (1..).zip(MIGRATIONS).skip(version as usize) {
        for statement in statements(migration) {
            client.execute(&statement, deadline)?;
        }
        let sql = format!("INSERT INTO beadle_versions (version) VALUES ({number})");
        client.execute(&sql, deadline)?;
    }
    Ok(())
}

/// Checks that the tables are those of this version.
///
/// # Errors
/// Where the server cannot be used, or where the tables are missing or of another version.
pub fn check(client: &Client, deadline: Duration) -> Result<(), Error> {
    match version(client, deadline)? {
        CURRENT => Ok(()),
        0 => Err(client.failed(Failure::Missing)),
        _ => Err(client.failed(Failure::Older)),
    }
}

/// The version of the tables; 0 where there are none yet.
fn version(client: &Client, deadline: Duration) -> Result<u32, Error> {
    let sql = "SELECT max(version) AS version FROM beadle_versions";
    let found: Vec<Version> = client.rows(sql, deadline)?;
    match found.first().map_or(0, |found| found.version) {
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

/// The statements of a file, without its comments.
fn statements(file: &str) -> Vec<String> {
    let lines = file.lines().filter(|line| !line.starts_with("--"));
    let text = lines.collect::<Vec<_>>().join("\n");
    text.split(';').map(str::trim).filter(|one| !one.is_empty()).map(str::to_owned).collect()
}
