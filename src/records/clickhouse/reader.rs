//! Questions to the records, counts and editions of all nodes, and to the names in them.

use std::time::Duration;

use serde::de::DeserializeOwned;

use super::{Client, condition::text, tables::RECORD_HOURS};
use crate::{
    base::text::Text,
    records::record::{Error, MOST_NAMES, NameFound, NameKind},
};

const DEADLINE: Duration = Duration::from_secs(30);

/// Answers the questions of a store to what all nodes wrote, with the same meaning.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    pub(crate) client: Client,
}

impl Reader {
    pub(super) fn all<T: DeserializeOwned>(&self, sql: &str) -> Result<Vec<T>, Error> {
        Ok(self.client.rows(sql, DEADLINE)?)
    }

    /// The value that an answer of one column begins with.
    pub(super) fn one<T: DeserializeOwned>(&self, sql: &str) -> Result<Option<T>, Error> {
        Ok(self.all::<(T,)>(sql)?.into_iter().next().map(|(value,)| value))
    }

    pub(crate) fn find_name(&self, kind: NameKind, name: &str) -> Result<NameFound, Error> {
        let wanted = text(&name.to_ascii_lowercase());
        let columns = columns(kind);
        for (table, column) in columns {
            // The server stops at the first one. These tables have far fewer rows than records.
            let sql = format!(
                "SELECT toUInt64(1) AS number FROM {table} WHERE lower({column}) = {wanted} LIMIT 1"
            );
            if self.one::<u64>(&sql)?.is_some() {
                return Ok(NameFound::Itself);
            }
        }
        let names = columns.iter().map(|(table, column)| {
            format!("SELECT {column} AS found FROM {table} GROUP BY {column} LIMIT {MOST_NAMES}")
        });
        let names = names.collect::<Vec<_>>().join(" UNION ALL ");
        let sql = format!(
            "SELECT any(found) AS name FROM ({names}) WHERE found != '' \
             GROUP BY lower(found) ORDER BY lower(found) LIMIT {MOST_NAMES}"
        );
        Ok(NameFound::Others(self.all(&sql)?.into_iter().map(|(name,)| name).collect()))
    }

    pub(crate) fn counted_token(&self, product_token: &str) -> Result<Option<Text>, Error> {
        let wanted = text(&product_token.to_ascii_lowercase());
        let sql = format!(
            "SELECT product_token AS name FROM counts WHERE lower(product_token) = {wanted} \
             AND product_token != '' LIMIT 1"
        );
        self.one(&sql)
    }
}

/// The columns with names of a kind, by table; the smallest table first.
const fn columns(kind: NameKind) -> &'static [(&'static str, &'static str)] {
    match kind {
        NameKind::Site => &[("publications", "site"), ("counts", "site"), (RECORD_HOURS, "site")],
        NameKind::ProductToken => &[("counts", "product_token"), (RECORD_HOURS, "product_token")],
        NameKind::Purpose => &[("counts", "purpose")],
    }
}
