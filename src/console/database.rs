//! The database of the policy: a file, or a file and a ClickHouse server.

use super::{exit::Error, password};
use crate::{clickhouse::Client, policy::Policy, violations::Location};

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
