//! The database of the policy: a file, or a file and a ClickHouse server.

use std::path::Path;

use super::exit::Error;
use crate::{
    clickhouse::{Client, Settings},
    policy::{ClickHouse, Database, Policy},
    violations::Location,
};

/// The variable of the environment with the password of the user of ClickHouse.
const PASSWORD: &str = "BEADLE_CLICKHOUSE_PASSWORD";
/// The longest file with a password.
const LONGEST: u64 = 4096;

/// The database of the policy; `None` if it names none. Connects to nothing yet.
///
/// # Errors
/// The password or the certificates of a server can't be read.
pub(crate) fn location(policy: &Policy) -> Result<Option<Location>, Error> {
    let Some(database) = &policy.violations.database else { return Ok(None) };
    let shared = match database {
        Database::Sqlite(_) => None,
        Database::ClickHouse(clickhouse) => Some(client(clickhouse)?),
    };
    Ok(Some(Location { local: database.local().to_owned(), shared }))
}

/// A client of the server.
///
/// # Errors
/// See [`location`].
pub(crate) fn client(clickhouse: &ClickHouse) -> Result<Client, Error> {
    let ClickHouse { server, password_file, ca_file, .. } = clickhouse;
    let password = match password_file {
        Some(file) => password(file)?,
        None => std::env::var(PASSWORD).unwrap_or_default(),
    };
    let settings = Settings {
        host: server.host.clone(),
        port: server.port,
        is_tls: server.tls,
        user: server.user.clone(),
        password,
        database: server.database.clone(),
        ca_file: ca_file.clone(),
    };
    let refused = |error| Error::Refused(format!("violations.clickhouse.ca_file: {error}"));
    Client::new(settings).map_err(refused)
}

/// The password in a file, without the end of its line.
fn password(file: &Path) -> Result<String, Error> {
    let shown = file.display();
    let refused =
        |why: &str| Error::Refused(format!("violations.clickhouse.password_file: {shown}: {why}"));
    let found = std::fs::metadata(file).map_err(|error| refused(&error.to_string()))?;
    if !found.is_file() || found.len() > LONGEST {
        return Err(refused("not a file with one password (write it alone into a file)"));
    }
    let text = std::fs::read_to_string(file).map_err(|error| refused(&error.to_string()))?;
    let password = text.trim_end_matches(['\r', '\n']);
    if password.is_empty() || password.contains(|one: char| one.is_control()) {
        return Err(refused("no password, or more than one line (write it alone into a file)"));
    }
    Ok(password.to_owned())
}
