//! The SQLite database of violations and of what they are judged by: the transaction that adds to
//! it.
//!
//! Write-ahead logging, so that readers hinder nobody, and `synchronous = FULL`, so that a record
//! that was acknowledged survives a power cut. No other file of the program knows SQLite.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::{
    Connection, ErrorCode, ToSql, TransactionBehavior, params,
    types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef},
};

pub(super) use self::append::Appender;
use crate::violations::{Error, Obstacle, Overflow, Text, Violation, notes::Notes};

mod append; // the writer's target
mod editions; // what robots.txt was, and when
mod fetches; // who read it
mod open; // what may be opened, and the schema's versions
mod prune; // what goes when it is too old
mod quarantine; // files that wait for an acceptance
mod query; // the questions

/// The columns of a record, in the order of its fields.
const COLUMNS: &str = "schema, id, time, site, client_ip, method, host, path, user_agent, \
    product_token, product_tokens, operator, purpose, standing, evidence, verdict, reason, action, status, \
    robots_edition, robots_line, robots_directive, robots_pattern, robots_group, \
    robots_read_state, robots_read_edition, robots_read_at";

/// An open database.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    connection: Connection,
}

impl Store {
    /// Adds all of it or nothing. What is there already is left alone, so that a batch may be
    /// added again after a failure that left its fate open.
    pub(super) fn add<'a>(
        &mut self,
        records: impl IntoIterator<Item = &'a Violation>,
        notes: &Notes,
        overflow: &[Overflow],
    ) -> Result<(), Error> {
        let records: Vec<_> = records.into_iter().collect();
        self.attempt(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            insert_records(&transaction, &records)?;
            editions::publish(&transaction, notes.editions())?;
            editions::mention(&transaction, &records)?;
            quarantine::add(&transaction, notes.quarantine())?;
            fetches::add(&transaction, notes.fetches())?;
            insert_overflow(&transaction, overflow)?;
            transaction.commit()
        })
    }

    fn attempt<T>(
        &mut self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        work(&mut self.connection).map_err(|error| from_sqlite(&self.path, error))
    }
}

fn insert_records(connection: &Connection, records: &[&Violation]) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(&format!(
        "INSERT INTO violations ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, \
         ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING"
    ))?;
    records.iter().try_for_each(|violation| insert_record(&mut insert, violation))
}

fn insert_overflow(connection: &Connection, overflow: &[Overflow]) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO overflow (site, product_token, rule, count, first, last) \
         VALUES (?, ?, ?, ?, ?, ?)",
    )?;
    for Overflow { site, product_token, rule, count, first, last } in overflow {
        let (first, last) = (first.as_millisecond(), last.as_millisecond());
        insert.execute(params![site, product_token, rule, count.cast_signed(), first, last])?;
    }
    Ok(())
}

fn insert_record(
    insert: &mut rusqlite::Statement<'_>,
    violation: &Violation,
) -> rusqlite::Result<()> {
    let Violation { robots, robots_read, .. } = violation;
    insert.execute(params![
        violation.schema,
        violation.id,
        violation.time.as_millisecond(),
        violation.site,
        violation.client_ip,
        violation.method,
        violation.host,
        violation.path,
        violation.user_agent,
        violation.product_token,
        list(&violation.product_tokens),
        violation.operator,
        violation.purpose,
        violation.standing,
        violation.evidence,
        violation.verdict,
        violation.reason,
        violation.action,
        violation.status,
        robots.edition,
        robots.line,
        robots.directive,
        robots.pattern,
        list(&robots.group),
        robots_read.state.as_str(),
        robots_read.edition,
        robots_read.at.map(Timestamp::as_millisecond),
    ])?;
    Ok(())
}

/// A list is kept as a JSON array, which SQLite's own functions can take apart.
fn list(texts: &[Text]) -> String {
    serde_json::to_string(texts).expect("a list of texts has no map with odd keys")
}

/// What SQLite's failure means to an operator.
fn from_sqlite(path: &Path, error: rusqlite::Error) -> Error {
    let obstacle = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Obstacle::Locked,
        Some(ErrorCode::DiskFull) => Obstacle::Full,
        Some(ErrorCode::NotADatabase) => Obstacle::NoDatabase,
        Some(ErrorCode::DatabaseCorrupt) => Obstacle::Corrupt(error.to_string()),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            Obstacle::Denied
        }
        _ => Obstacle::Failed(error.to_string()),
    };
    Error::new(path, obstacle)
}

impl ToSql for Text {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(self.as_str().as_bytes())))
    }
}

impl FromSql for Text {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_str().map(|text| Self::read_back(text.to_owned()))
    }
}

#[cfg(test)]
mod tests;
