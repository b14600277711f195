//! Requests to the server over its HTTP interface, each within a deadline.
//!
//! The callers are threads that may wait. A client has a small runtime of its own, so that they need
//! none.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use derive_more::Display;
use serde::{Deserialize, de::DeserializeOwned};
use tokio::runtime::{Builder, Runtime};
use url::Url;

use super::{
    Insert, Table,
    failure::{Error, Failure, code_of},
};
use crate::base::fetch::{self, Post, Reach, Redirects};

const LARGEST: usize = 1 << 30;
/// The field with the code of an error. Older servers have none; their text begins with it.
const CODE: &str = "x-clickhouse-exception-code";

/// The place of a database, and how to get in; shown as the operator writes it, without the password.
#[derive(Clone, PartialEq, Eq, Display)]
#[display(
    "{}://{user}@{host}:{port}/{database}",
    if *is_tls { "clickhouses" } else { "clickhouse" }
)]
pub struct Settings {
    /// The host: a name or an address, as in a URL.
    pub host: String,
    /// The port of the HTTP interface.
    pub port: u16,
    /// Whether the connection is encrypted.
    pub is_tls: bool,
    /// The user.
    pub user: String,
    /// The password; empty for none. It is never shown.
    pub password: String,
    /// The database.
    pub database: String,
    /// A PEM file with certificate authorities, in addition to the system's.
    pub ca_file: Option<PathBuf>,
}

/// Whether the same rows may have been sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// They were never sent.
    First,
    /// They may be there already.
    Again,
}

/// A client of a server. Copies share the connection's settings.
#[derive(Clone, Debug)]
pub struct Client(Arc<Connection>);

#[derive(Debug)]
struct Connection {
    settings: Settings,
    http: fetch::Client,
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
}

#[derive(Deserialize)]
struct Answer<T> {
    data: Vec<T>,
}

impl Client {
    /// A client with these settings. It does not connect yet.
    pub fn new(settings: Settings) -> Result<Self, String> {
        let http = fetch::Client::new(fetch::Settings {
            user_agent: fetch::PRODUCT,
            reach: Reach::Any,
            redirects: Redirects::Return,
            authorities: settings.ca_file.as_deref(),
            resolver: None,
        })?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = Some(runtime.map_err(|error| error.to_string())?);
        Ok(Self(Arc::new(Connection { settings, http, runtime })))
    }

    /// The database as the operator writes it, without the password.
    pub fn address(&self) -> String {
        self.0.settings.to_string()
    }

    pub(super) fn database(&self) -> &str {
        &self.0.settings.database
    }

    /// Adds the rows. Waits for the server until the deadline; after a failure, they may be there.
    pub fn insert(
        &self,
        insert: &Insert,
        attempt: Attempt,
        deadline: Duration,
    ) -> Result<(), Error> {
        if attempt == Attempt::Again && insert.table == Table::Violations {
            // First, so that no question counts a record twice.
            self.add(&insert.days(), deadline)?;
        }
        self.add(insert, deadline)
    }

    fn add(&self, Insert { table, rows }: &Insert, deadline: Duration) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        let sql =
            format!("INSERT INTO {} ({}) FORMAT JSONEachRow", table.as_str(), table.columns());
        self.send(Some(&sql), rows, deadline, true).map(drop)
    }

    /// Runs a statement that has no answer.
    pub fn execute(&self, sql: &str, deadline: Duration) -> Result<(), Error> {
        self.send(None, sql.as_bytes(), deadline, true).map(drop)
    }

    /// Runs a statement outside any database, as one that creates it.
    pub(super) fn execute_outside(&self, sql: &str, deadline: Duration) -> Result<(), Error> {
        self.send(None, sql.as_bytes(), deadline, false).map(drop)
    }

    /// The rows that answer a question: a tuple of values for each, in the order of its columns.
    pub fn rows<T: DeserializeOwned>(
        &self,
        sql: &str,
        deadline: Duration,
    ) -> Result<Vec<T>, Error> {
        let sql = format!("{sql} FORMAT JSONCompact");
        let answer = self.send(None, sql.as_bytes(), deadline, true)?;
        let answer: Answer<T> = serde_json::from_slice(&answer).map_err(|error| {
            // An error behind the first rows is a line of its own.
            let text = String::from_utf8_lossy(&answer);
            let refused = text.lines().find_map(|line| Some((code_of(line)?, line)));
            self.failed(match refused {
                Some((code, line)) => Failure::refused(Some(code), line),
                None => Failure::Unreadable(error.to_string()),
            })
        })?;
        Ok(answer.data)
    }

    pub(super) fn failed(&self, failure: Failure) -> Error {
        Error { address: self.address(), failure }
    }

    fn send(
        &self,
        statement: Option<&str>,
        body: &[u8],
        deadline: Duration,
        is_inside: bool,
    ) -> Result<bytes::Bytes, Error> {
        let Connection { settings, http, runtime } = &*self.0;
        let url = settings.url(statement, deadline, is_inside);
        let url = url.ok_or_else(|| self.failed(Failure::Unreachable("not an address".into())))?;
        let fields = [
            ("content-type", "text/plain; charset=utf-8"),
            ("x-clickhouse-user", settings.user.as_str()),
            ("x-clickhouse-key", settings.password.as_str()),
        ];
        let post = Post { url: url.as_str(), fields: &fields, body, deadline: Some(deadline) };
        let exchange = async {
            let answer = http.post(post).await?;
            let code = answer.fields().get(CODE).and_then(|code| code.to_str().ok()?.parse().ok());
            let status = answer.status();
            Ok((status, code, answer.body(LARGEST).await?))
        };
        let runtime = runtime.as_ref().expect("it is there until the last copy is dropped");
        let (status, code, answer): (_, Option<u32>, _) =
            runtime.block_on(exchange).map_err(|failure: fetch::Failure| match failure {
                fetch::Failure::Timeout(how) => self.failed(Failure::Late(how)),
                failure => self.failed(Failure::Unreachable(failure.to_string())),
            })?;
        if status == 200 && code.is_none_or(|code| code == 0) {
            return Ok(answer);
        }
        let text = String::from_utf8_lossy(&answer);
        let text = if text.trim().is_empty() { format!("status {status}") } else { text.into() };
        Err(self.failed(Failure::refused(code, &text)))
    }
}

impl Settings {
    /// The URL of a request. The server gives up at the deadline, too.
    fn url(&self, statement: Option<&str>, deadline: Duration, is_inside: bool) -> Option<Url> {
        let Self { host, port, is_tls, database, .. } = self;
        let scheme = if *is_tls { "https" } else { "http" };
        let mut url = Url::parse(&format!("{scheme}://{host}:{port}/")).ok()?;
        let seconds = deadline.as_secs().max(1).to_string();
        let mut fields = url.query_pairs_mut();
        if is_inside {
            fields.append_pair("database", database);
        }
        fields
            .append_pair("max_execution_time", &seconds)
            .append_pair("output_format_json_quote_64bit_integers", "0")
            // So an error has a status of its own, also behind the first rows.
            .append_pair("wait_end_of_query", "1");
        if let Some(statement) = statement {
            fields.append_pair("query", statement);
        }
        drop(fields);
        Some(url)
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Settings({self})")
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Within another runtime, dropping one that waits is a panic.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
