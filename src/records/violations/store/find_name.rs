//! The names in the database: of records, and of what was kept without a record.

use rusqlite::params;

use super::connection::Store;
use crate::{
    base::text::Text,
    records::record::{Error, MOST_NAMES, NameFound, NameKind},
};

impl Store {
    /// Whether a name is in the database, in any case; else the names that are.
    pub fn find_name(&self, kind: NameKind, name: &str) -> Result<NameFound, Error> {
        let here = self.find_name_here(kind, name)?;
        let Some(shared) = &self.shared else { return Ok(here) };
        let NameFound::Others(mut names) = here else { return Ok(NameFound::Itself) };
        let NameFound::Others(others) = shared.find_name(kind, name)? else {
            return Ok(NameFound::Itself);
        };
        names.retain(|name| !others.iter().any(|other| other.eq_ignore_ascii_case(name)));
        names.extend(others);
        names.truncate(MOST_NAMES);
        Ok(NameFound::Others(names))
    }

    fn find_name_here(&self, kind: NameKind, name: &str) -> Result<NameFound, Error> {
        let columns = columns(kind);
        let is_there = columns.iter().map(|(table, column)| {
            format!("EXISTS (SELECT 1 FROM {table} WHERE {column} = ?1 COLLATE NOCASE)")
        });
        let sql = format!("SELECT {}", is_there.collect::<Vec<_>>().join(" OR "));
        if self.all(&sql, [name], |row| row.get(0))?.contains(&true) {
            return Ok(NameFound::Itself);
        }
        let names = columns.iter().map(|(table, column)| match *table {
            // From name to name in the index: records are many, and names are few.
            RECORDS => format!(
                "SELECT name FROM (WITH RECURSIVE next (name) AS ( \
                 SELECT min({column}) FROM {table} UNION ALL \
                 SELECT (SELECT min({column}) FROM {table} WHERE {column} > name) FROM next \
                 WHERE name IS NOT NULL LIMIT ?1) SELECT name FROM next)"
            ),
            _ => format!("SELECT DISTINCT {column} AS name FROM {table}"),
        });
        let names = names.collect::<Vec<_>>().join(" UNION ");
        let sql = format!("SELECT name FROM ({names}) WHERE name <> '' LIMIT ?1");
        let most = i64::try_from(MOST_NAMES).unwrap_or(i64::MAX);
        Ok(NameFound::Others(self.all(&sql, params![most], |row| row.get(0))?))
    }

    /// The product token as counts spell it, in whatever case it is asked for.
    pub fn counted_token(&self, product_token: &str) -> Result<Option<Text>, Error> {
        if let Some(shared) = &self.shared {
            return shared.counted_token(product_token);
        }
        // From site to site in the index: series are many, and sites are few.
        let sql = "WITH RECURSIVE sites (name) AS (SELECT min(site) FROM series UNION ALL \
                   SELECT (SELECT min(site) FROM series WHERE site > name) FROM sites \
                   WHERE name IS NOT NULL) \
                   SELECT product_token FROM sites JOIN series ON site = name \
                   WHERE product_token = ? AND product_token <> '' LIMIT 1";
        Ok(self.all(sql, [product_token], |row| row.get(0))?.pop())
    }
}

const RECORDS: &str = "violations";

/// The columns with names of a kind, by table. Purposes have no index in the records.
fn columns(kind: NameKind) -> &'static [(&'static str, &'static str)] {
    match kind {
        NameKind::Site => &[
            (RECORDS, "site"),
            ("series", "site"),
            ("edition_periods", "site"),
            ("fetches", "site"),
        ],
        NameKind::ProductToken => {
            &[(RECORDS, "product_token"), ("series", "product_token"), ("fetches", "product_token")]
        }
        NameKind::Purpose => &[("series", "purpose")],
    }
}

#[cfg(test)]
mod tests;
