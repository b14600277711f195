//! The tables of the database, and the versions of them.

use rusqlite::{Connection, TransactionBehavior};

/// "BEAD": distinguishes Beadle's databases from those of other programs.
pub(super) const APPLICATION_ID: i64 = 0x4245_4144;
/// The steps that turn a database of version n - 1 into one of version n (`PRAGMA user_version`).
const MIGRATIONS: [&str; 10] = [
    include_str!("schema.sql"),
    "ALTER TABLE violations ADD COLUMN evidence TEXT",
    include_str!("editions.sql"),
    include_str!("hosts.sql"),
    include_str!("rollups.sql"),
    include_str!("record_blocks.sql"),
    include_str!("counted_hours.sql"),
    include_str!("probes.sql"),
    include_str!("policies.sql"),
    "ALTER TABLE held_robots ADD COLUMN discarded INTEGER",
];
pub(super) const CURRENT: u32 = MIGRATIONS.len() as u32;

/// The version of an open database; 0 without tables. `None` for a database of another program.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<Option<u32>> {
    let number = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let version = number("PRAGMA user_version")?;
    let application = number("PRAGMA application_id")?;
    let tables = number("SELECT count(*) FROM sqlite_schema")?;
    Ok(match u32::try_from(version) {
        Ok(version) if application == APPLICATION_ID => Some(version),
        Ok(0) if tables == 0 => Some(0),
        _ => None,
    })
}

pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    // Another process may have been faster.
    let version: usize = transaction
        .query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))
        .map(|version| version.unsigned_abs() as usize)?;
    for migration in MIGRATIONS.iter().skip(version) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", CURRENT)?;
    transaction.commit()
}
