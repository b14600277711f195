//! The password of ClickHouse, from a file or from the environment.

use std::env;

use crate::{
    program::console::exit::Error,
    records::clickhouse,
    rules::policy::{ClickHouse, ClickHouseServer},
};

const VARIABLE: &str = "BEADLE_CLICKHOUSE_PASSWORD";

/// The server of the policy, with its password.
///
/// # Errors
/// The file can't be read.
pub(crate) fn settings(clickhouse: &ClickHouse) -> Result<clickhouse::Settings, Error> {
    let password = match &clickhouse.password_file {
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| {
                let file = file.display();
                let key = "violations.clickhouse.password_file";
                Error::Refused(format!("{key}: {file}: {error}"))
            })?;
            text.trim_end_matches(['\r', '\n']).to_owned()
        }
        None => env::var(VARIABLE).unwrap_or_default(),
    };
    let ClickHouseServer { tls, host, port, user, database } = clickhouse.server.clone();
    let ca_file = clickhouse.ca_file.clone();
    Ok(clickhouse::Settings { host, port, is_tls: tls, user, password, database, ca_file })
}
