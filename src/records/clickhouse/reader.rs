//! Questions to the records and counts of all nodes.

use std::time::Duration;

use serde::de::DeserializeOwned;

use super::Client;
use crate::records::record::Error;

/// The most time for the answer to a question.
const DEADLINE: Duration = Duration::from_secs(30);

/// Answers the questions of a store to what all nodes wrote, with the same meaning.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    pub(super) client: Client,
}

impl Reader {
    /// Asks by this client.
    pub(crate) const fn new(client: Client) -> Self {
        Self { client }
    }

    /// The rows that answer a question.
    pub(super) fn all<T: DeserializeOwned>(&self, sql: &str) -> Result<Vec<T>, Error> {
        Ok(self.client.rows(sql, DEADLINE)?)
    }

    /// The value that an answer of one column begins with.
    pub(super) fn one<T: DeserializeOwned>(&self, sql: &str) -> Result<Option<T>, Error> {
        Ok(self.all::<(T,)>(sql)?.into_iter().next().map(|(value,)| value))
    }
}
