//! Records as rows, written and read.

use jiff::Timestamp;
use rusqlite::{
    Connection, Row, params,
    types::{FromSql, FromSqlError},
};

use super::columns::{list, time, unreadable};
use crate::{
    base::text::Text,
    records::{
        record::{Robots, RobotsRead, Violation},
        tally::ReadState,
    },
};

/// The columns of a record, in the order of its fields.
pub(super) const COLUMNS: &str = "schema, id, time, site, client_ip, method, host, path, \
    user_agent, product_token, product_tokens, operator, purpose, standing, evidence, verdict, \
    reason, action, status, robots_edition, robots_line, robots_directive, robots_pattern, \
    robots_group, robots_read_state, robots_read_edition, robots_read_at";

/// The bytes of a row beside its texts: its header, its page, and its entries in the indexes.
const ROW: usize = 170;

/// Reads a row column by column, in the order of [`COLUMNS`].
struct Columns<'a, 'b> {
    row: &'a Row<'b>,
    next: usize,
}

/// The question for the approximate bytes of a record with its indexes: the first one from a sequence
/// number on.
pub(super) fn size_of_next() -> String {
    let texts = COLUMNS.split(',').map(|column| format!("ifnull(octet_length({column}), 0)"));
    // Id, site and product token have indexes.
    let keys = ["id", "site", "product_token"].map(|column| format!("octet_length({column})"));
    let sum = texts.chain(keys).collect::<Vec<_>>().join(" + ");
    format!("SELECT {ROW} + {sum} FROM violations WHERE sequence >= ? ORDER BY sequence LIMIT 1")
}

/// Adds the records; a record that is there already stays as it is.
pub(super) fn add(connection: &Connection, records: &[&Violation]) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(&format!(
        "INSERT INTO violations ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, \
         ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING"
    ))?;
    records.iter().try_for_each(|violation| insert(&mut statement, violation))
}

fn insert(statement: &mut rusqlite::Statement<'_>, violation: &Violation) -> rusqlite::Result<()> {
    let Violation { robots, robots_read, .. } = violation;
    statement.execute(params![
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

/// Reads a record with its sequence number.
pub(super) fn violation(row: &Row<'_>) -> rusqlite::Result<(u64, Violation)> {
    let mut columns = Columns { row, next: 0 };
    let sequence: i64 = columns.next()?;
    let violation = Violation {
        schema: columns.next()?,
        id: columns.next()?,
        time: columns.time()?,
        site: columns.next()?,
        client_ip: columns.next()?,
        method: columns.next()?,
        host: columns.next()?,
        path: columns.next()?,
        user_agent: columns.next()?,
        product_token: columns.next()?,
        product_tokens: columns.list()?,
        operator: columns.next()?,
        purpose: columns.next()?,
        standing: columns.next()?,
        evidence: columns.next()?,
        verdict: columns.next()?,
        reason: columns.next()?,
        action: columns.next()?,
        status: columns.next()?,
        robots: Robots {
            edition: columns.next()?,
            line: columns.next()?,
            directive: columns.next()?,
            pattern: columns.next()?,
            group: columns.list()?,
        },
        robots_read: RobotsRead {
            state: {
                let word: String = columns.next()?;
                let state = ReadState::from_word(&word);
                state.ok_or_else(|| unreadable(25, FromSqlError::InvalidType))?
            },
            edition: columns.next()?,
            at: {
                let at: Option<i64> = columns.next()?;
                at.map(|at| time(at, 27)).transpose()?
            },
        },
    };
    Ok((sequence.unsigned_abs(), violation))
}

impl Columns<'_, '_> {
    fn next<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        let at = self.next;
        self.next += 1;
        self.row.get(at)
    }

    fn list(&mut self) -> rusqlite::Result<Vec<Text>> {
        let text: String = self.next()?;
        serde_json::from_str(&text).map_err(|error| unreadable(self.next - 1, error))
    }

    fn time(&mut self) -> rusqlite::Result<Timestamp> {
        time(self.next()?, self.next - 1)
    }
}
