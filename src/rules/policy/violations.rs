//! The `violations` section.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use crate::base::text::words;

use super::{
    database::{self, Database},
    fields::Fields,
    setting::{Setting, by_word},
    shape::At,
};

/// The `violations` section: where and how long records are kept, and how many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violations {
    pub(crate) database: Option<Database>,
    pub(crate) on_damage: OnDamage,
    pub(crate) log: Option<Log>,
    /// How long records stay in the database (default 90 days).
    pub retention: Duration,
    /// How large the database may become, in bytes (default 2 GiB).
    pub max_size: u64,
    pub(crate) queue: usize,
    pub(crate) detail: u64,
    pub(crate) redact_query: Vec<String>,
    pub(crate) client_ip: ClientIp,
}

impl Violations {
    /// The SQLite file on this machine, if records have a database: all records, or what a node needs
    /// after a restart where ClickHouse has the records.
    pub(crate) fn local_database(&self) -> Option<&Path> {
        self.database.as_ref().map(Database::local)
    }
}

words! {
    /// The recorded part of a client's address.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ClientIp {
        /// The whole address.
        Full = "full",
        /// Its network: /24 of IPv4, /48 of IPv6.
        Network = "network",
        /// A hash with a key that changes each day and is never stored.
        Hash = "hash",
    }
}

words! {
    /// What happens to a damaged database.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum OnDamage {
        /// It stays as it is; records wait in memory.
        Keep = "keep",
        /// It is moved aside, and a new one is started.
        Rotate = "rotate",
    }
}

by_word!(ClientIp, OnDamage);

/// The destination of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Log {
    /// Appended to a file.
    File(PathBuf),
    /// Standard output.
    Stdout,
}

pub(super) fn read(policy: &Fields<'_>) -> Violations {
    let fields = policy.section("violations");
    Violations {
        database: database::read(&fields),
        on_damage: fields.get("on_damage"),
        log: match policy.take("violations") {
            None => Some(Log::Stdout),
            Some(_) => fields.find("log"),
        },
        retention: fields.get("retention"),
        max_size: fields.get("max_size"),
        queue: fields.get("queue"),
        detail: fields.get("detail"),
        redact_query: fields.all("redact_query"),
        client_ip: fields.get("client_ip"),
    }
}

/// A file, or `stdout`.
impl Setting for Log {
    fn read(at: &At<'_>) -> Option<Self> {
        let path = PathBuf::read(at)?;
        Some(if path.as_os_str() == "stdout" { Self::Stdout } else { Self::File(path) })
    }
}
