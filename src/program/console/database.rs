//! The database of the policy: a file, or a file and a ClickHouse server.

use super::{exit::Error, output::remark, password};
use crate::{
    base::escape::shown,
    records::{
        clickhouse::Client,
        violations::{Location, Store},
    },
    rules::policy::Policy,
};

/// The database of the policy; `None` if it names none. Connects to nothing yet.
///
/// # Errors
/// The password or the certificates of a server can't be read.
pub(crate) fn location(policy: &Policy) -> Result<Option<Location>, Error> {
    let Some(database) = &policy.violations.database else { return Ok(None) };
    let shared = database.clickhouse().map(|clickhouse| {
        let settings = password::settings(clickhouse)?;
        let refused = |error| Error::Refused(format!("violations.clickhouse.ca_file: {error}"));
        Client::new(settings).map_err(refused)
    });
    let local = database.local().to_owned();
    Ok(Some(Location { local, shared: shared.transpose()? }))
}

/// Opens the database, and says on standard error what a machine that never served does not know.
///
/// # Errors
/// See [`Location::open`].
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
