//! The database of the policy: a file, or a file and a ClickHouse server.

use std::env;

use super::output::{Error, remark};
use crate::{
    base::escape::shown,
    records::{
        clickhouse::{Client, Settings},
        violations::{Location, Store},
    },
    rules::policy::{ClickHouse, ClickHouseServer, Policy},
};

/// The password of ClickHouse, unless a file has it.
const PASSWORD: &str = "BEADLE_CLICKHOUSE_PASSWORD";

/// The database of the policy; `None` if it names none. Connects to nothing yet.
pub(crate) fn location(policy: &Policy) -> Result<Option<Location>, Error> {
    let Some(database) = &policy.violations.database else { return Ok(None) };
    let shared = database.clickhouse().map(|clickhouse| {
        let settings = settings(clickhouse)?;
        let refused = |error| Error::Refused(format!("violations.clickhouse.ca_file: {error}"));
        Client::new(settings).map_err(refused)
    });
    let local = database.local().to_owned();
    Ok(Some(Location { local, shared: shared.transpose()? }))
}

/// Opens the database, and says on standard error what a machine that never served does not know.
pub(crate) fn open(location: &Location) -> Result<Store, Error> {
    if location.is_elsewhere() {
        let file = location.local.display().to_string();
        remark(&format!(
            "no local database at '{}': fetches, hosts and quarantined files of this machine are \
             unknown here",
            shown(&file)
        ));
    }
    Ok(location.open()?)
}

/// The server of the policy, with its password.
pub(crate) fn settings(clickhouse: &ClickHouse) -> Result<Settings, Error> {
    let password = match &clickhouse.password_file {
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| {
                let file = file.display();
                let key = "violations.clickhouse.password_file";
                Error::Refused(format!("{key}: {file}: {error}"))
            })?;
            text.trim_end_matches(['\r', '\n']).to_owned()
        }
        None => env::var(PASSWORD).unwrap_or_default(),
    };
    let ClickHouseServer { tls, host, port, user, database } = clickhouse.server.clone();
    let ca_file = clickhouse.ca_file.clone();
    Ok(Settings { host, port, is_tls: tls, user, password, database, ca_file })
}
