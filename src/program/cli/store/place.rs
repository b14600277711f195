//! The database that is meant.

use std::path::{Path, PathBuf};

use crate::{
    base::escape,
    program::console::{ConfigFile, Error, load_with_database, remark},
    rules::policy,
};

/// The database, named by the policy or by itself.
#[derive(Debug, clap::Args)]
pub(super) struct Database {
    #[command(flatten)]
    config: ConfigFile,
    /// The database, if not that of the policy.
    #[arg(long, value_name = "FILE", global = true)]
    database: Option<PathBuf>,
}

/// A database, and its limit of size if a policy names it.
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) max_size: Option<u64>,
}

impl Database {
    /// The database, which may not exist.
    pub(super) fn find(&self) -> Result<Found, Error> {
        if let Some(path) = &self.database {
            return Ok(Found { path: path.clone(), max_size: None });
        }
        let violations = load_with_database(&self.config)?.violations;
        let clickhouse = violations.database.as_ref().and_then(policy::Database::clickhouse);
        if let Some(policy::ClickHouse { server, local, .. }) = clickhouse {
            let local = escape::path(local);
            remark(&format!("the records are in {server}: this is about '{local}' alone"));
        }
        let Some(path) = violations.local_database().map(Path::to_owned) else {
            let message = "the policy has no database (set violations.database, or name a file with \
                           --database)";
            return Err(Error::Refused(message.to_owned()));
        };
        Ok(Found { path, max_size: Some(violations.max_size) })
    }
}
