//! The `violations` section.

use std::{
    ops::RangeInclusive,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::rules::keys;

use super::{
    database::{self, Database},
    fields::Fields,
    findings::Findings,
    scalar::path,
    shape::At,
};

/// How long records are kept by default: 90 days.
pub const DEFAULT_RETENTION: Duration = Duration::from_secs(90 * DAY.as_secs());

/// How large the database may become by default: 2 GiB.
pub const DEFAULT_MAX_SIZE: u64 = 2 << 30;

/// The least and the most of it. A batch of the longest records has to fit many times.
const MAX_SIZES: RangeInclusive<u64> = 16 << 20..=16 << 40;

const DAY: Duration = Duration::from_secs(86_400);

/// The `violations` section: where and how long records are kept, and how many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violations {
    /// The database (default none).
    pub database: Option<Database>,
    /// What happens to a damaged database (default `keep`).
    pub on_damage: OnDamage,
    /// The JSON lines (default none; standard output if the section is missing).
    pub log: Option<Log>,
    /// How long records stay in the database (default 90 days).
    pub retention: Duration,
    /// How large the database may become, in bytes (default 2 GiB).
    pub max_size: u64,
    /// Number of records that may wait to be written (default 8192).
    pub queue: usize,
    /// The most records of one site, product token and rule in an hour (default 1000). Further
    /// violations are only counted.
    pub detail: u64,
    /// Query parameters whose values are replaced before anything is recorded (default none).
    pub redact_query: Vec<String>,
    /// The recorded part of a client's address (default `full`).
    pub client_ip: ClientIp,
}

impl Violations {
    /// The SQLite file on this machine, if records have a database: all records, or what a node needs
    /// after a restart where ClickHouse has the records.
    pub fn local_database(&self) -> Option<&Path> {
        self.database.as_ref().map(Database::local)
    }
}

/// The recorded part of a client's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientIp {
    /// The whole address.
    Full,
    /// Its network: /24 of IPv4, /48 of IPv6.
    Network,
    /// A hash with a key that changes each day and is never stored.
    Hash,
}

/// What happens to a damaged database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDamage {
    /// It stays as it is; records wait in memory.
    Keep,
    /// It is moved aside, and a new one is started.
    Rotate,
}

/// The destination of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Log {
    /// Appended to a file.
    File(PathBuf),
    /// Standard output.
    Stdout,
}

/// Reads the `violations` section; without one, JSON lines go to standard output.
pub(super) fn read(at: Option<&At<'_>>, findings: &mut Findings) -> Violations {
    let fields = Fields::of(at, &keys::VIOLATIONS, findings);
    let (file, clickhouse) = (fields.take("database"), fields.take("clickhouse"));
    let on_damage = [OnDamage::Keep, OnDamage::Rotate];
    let client_ips = [ClientIp::Full, ClientIp::Network, ClientIp::Hash];
    Violations {
        database: database::read(file.as_ref(), clickhouse.as_ref(), findings),
        on_damage: fields.choice("on_damage", on_damage, findings).unwrap_or(OnDamage::Keep),
        log: match at {
            None => Some(Log::Stdout),
            Some(_) => fields.read("log", destination, findings),
        },
        retention: fields.time("retention", Duration::from_secs(3_600)..=3_650 * DAY, findings),
        max_size: fields.size("max_size", MAX_SIZES, findings),
        queue: fields.number("queue", findings),
        detail: fields.number("detail", findings),
        redact_query: fields.each("redact_query", At::owned_text, findings),
        client_ip: fields.choice("client_ip", client_ips, findings).unwrap_or(ClientIp::Full),
    }
}

/// A file, or `stdout`.
pub(super) fn destination(at: &At<'_>, findings: &mut Findings) -> Option<Log> {
    let path = path(at, findings)?;
    Some(if path.as_os_str() == "stdout" { Log::Stdout } else { Log::File(path) })
}
