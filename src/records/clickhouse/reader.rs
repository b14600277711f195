//! Questions to the records and counts of all nodes.

use std::time::Duration;

use serde::{Deserialize, de::DeserializeOwned};

use super::{Client, check};
use crate::records::record::Error;

/// The most time for the answer to a question.
const DEADLINE: Duration = Duration::from_secs(30);

/// Answers questions to what all nodes wrote.
#[derive(Clone, Debug)]
pub struct Reader {
    pub(super) client: Client,
}

/// The number of an answer that is one number.
#[derive(Deserialize)]
pub(super) struct Number {
    pub(super) number: u64,
}

impl Reader {
    /// Asks by this client.
    pub const fn new(client: Client) -> Self {
        Self { client }
    }

    /// Checks that the tables are there, and of this version.
    ///
    /// # Errors
    /// Where they are not, or the server cannot be used.
    pub fn check(&self) -> Result<(), Error> {
        Ok(check(&self.client, DEADLINE)?)
    }

    /// The rows that answer a question.
    pub(super) fn all<T: DeserializeOwned>(&self, sql: &str) -> Result<Vec<T>, Error> {
        Ok(self.client.rows(sql, DEADLINE)?)
    }

    /// The first row of an answer.
    pub(super) fn one<T: DeserializeOwned>(&self, sql: &str) -> Result<Option<T>, Error> {
        Ok(self.all(sql)?.into_iter().next())
    }
}
