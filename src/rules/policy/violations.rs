//! The `violations` section: where records go, how long they are kept, and how many.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use derive_more::Display;

use crate::base::{diagnostic::Diagnostic, escape::shown, text::words};

use super::{
    fields::{Fields, Setting, section},
    shape::At,
};

section! {
    /// The `violations` section: where and how long records are kept, and how many.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Violations {
        pub(crate) database: Option<Database> = by(database),
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

/// The destination of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Log {
    File(PathBuf),
    Stdout,
}

pub(super) fn read(policy: &Fields<'_>) -> Violations {
    let violations = Violations::read(&policy.section("violations"));
    match policy.take("violations") {
        None => Violations { log: Some(Log::Stdout), ..violations },
        Some(_) => violations,
    }
}

impl Log {
    pub(super) fn file_mut(&mut self) -> Option<&mut PathBuf> {
        match self {
            Self::File(file) => Some(file),
            Self::Stdout => None,
        }
    }
}

/// A file, or `stdout`.
impl Setting for Log {
    fn read(at: &At<'_>) -> Option<Self> {
        let path = PathBuf::read(at)?;
        Some(if path.as_os_str() == "stdout" { Self::Stdout } else { Self::File(path) })
    }
}

/// Where records go: an SQLite file, or ClickHouse for several nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Database {
    Sqlite(PathBuf),
    /// A ClickHouse server, with what stays on this machine.
    ClickHouse(ClickHouse),
}

section! {
    /// A ClickHouse server, and what stays on this machine.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ClickHouse(server: ClickHouseServer) {
        pub(crate) server: ClickHouseServer = by(|_| server),
        pub(crate) password_file: Option<PathBuf>,
        pub(crate) ca_file: Option<PathBuf>,
        pub(crate) local: PathBuf,
        pub(crate) spool: PathBuf,
        pub(crate) spool_size: u64,
    }
}

/// The address of a ClickHouse server's HTTP interface, with the database there. Has no password.
#[derive(Clone, Debug, Display, PartialEq, Eq)]
#[display(
    "{}://{user}@{host}:{port}/{database}",
    if *tls { "clickhouses" } else { "clickhouse" }
)]
pub struct ClickHouseServer {
    pub(crate) tls: bool,
    /// The name or address; an IPv6 address in brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) database: String,
}

impl Database {
    /// The SQLite file on this machine: all records, or what a node needs after a restart.
    pub(crate) fn local(&self) -> &Path {
        match self {
            Self::Sqlite(file) => file,
            Self::ClickHouse(clickhouse) => &clickhouse.local,
        }
    }

    pub(crate) const fn clickhouse(&self) -> Option<&ClickHouse> {
        match self {
            Self::Sqlite(_) => None,
            Self::ClickHouse(clickhouse) => Some(clickhouse),
        }
    }

    pub(super) fn is_same_place(&self, other: &Self) -> bool {
        match (self.clickhouse(), other.clickhouse()) {
            (Some(old), Some(new)) => old.server == new.server,
            _ => self == other,
        }
    }

    /// Whether both values of `violations.clickhouse` mean the same. Where the server came or went, the
    /// other key says it.
    pub(super) fn has_same_settings(&self, other: &Self) -> bool {
        self.clickhouse().zip(other.clickhouse()).is_none_or(|(old, new)| {
            let server = old.server.clone();
            *old == ClickHouse { server, ..new.clone() }
        })
    }
}

fn database(violations: &Fields<'_>) -> Option<Database> {
    let at = violations.take("database");
    let text = at.as_ref().and_then(At::text);
    let is_clickhouse = text.is_some_and(|text| scheme(text).is_some());
    if let Some(at) = violations.take("clickhouse").filter(|_| !is_clickhouse) {
        let help = "write 'violations.database: clickhouse://…', or remove this section";
        at.refuse("the database is not a ClickHouse database", help);
    }
    let (at, text) = (&at?, text?);
    if !is_clickhouse {
        if text.contains("://") {
            let message = format!("'{}' is neither a file nor a ClickHouse database", shown(text));
            let help = "name a file for the embedded SQLite database, or write \
                        clickhouse://USER@HOST:8123/DATABASE";
            return at.refused(message, help);
        }
        return PathBuf::read(at).map(Database::Sqlite);
    }
    let server = server(at, text)?;
    let fields = violations.section("clickhouse");
    if let Some(at) = fields.take("ca_file").filter(|_| !server.tls) {
        let help = "write 'violations.database: clickhouses://…', or remove 'ca_file'";
        at.refuse("clickhouse:// has no certificates to verify", help);
    }
    Some(Database::ClickHouse(ClickHouse::read(&fields, server)))
}

/// What follows the scheme of ClickHouse, and whether it has TLS.
fn scheme(text: &str) -> Option<(bool, &str)> {
    let plain = text.strip_prefix("clickhouse://").map(|rest| (false, rest));
    plain.or_else(|| text.strip_prefix("clickhouses://").map(|rest| (true, rest)))
}

fn server(at: &At<'_>, text: &str) -> Option<ClickHouseServer> {
    let (tls, rest) = scheme(text)?;
    let read = address(tls, rest);
    let refuse = |(message, help): (&str, &str)| {
        // A password must not get into a log.
        let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
        let message = format!("'{}': {message}", shown(host));
        let has_password = rest.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'));
        if has_password {
            // Without its place: that would show the line, and so the password.
            let message = format!("{}: {message}", at.path);
            at.sink.push(Diagnostic::error("policy.bad_value", message).help(help));
        } else {
            at.refuse(message, help);
        }
    };
    read.map_err(refuse).ok()
}

/// The address, or what is wrong with it and the repair.
fn address(tls: bool, rest: &str) -> Result<ClickHouseServer, (&'static str, &'static str)> {
    const FORM: &str = "write clickhouse://USER@HOST:8123/DATABASE";
    let is_name = |text: &str| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
    };
    if rest.contains(['?', '#']) {
        return Err(("the URL of a database has no parameters", FORM));
    }
    let (authority, database) = rest.split_once('/').ok_or(("no database is named", FORM))?;
    let (user, place) = match authority.rsplit_once('@') {
        Some((user, place)) => (user, place),
        None => ("default", authority),
    };
    if user.contains(':') {
        let help = "write the password into a file and name it in \
                    'violations.clickhouse.password_file', or set BEADLE_CLICKHOUSE_PASSWORD";
        return Err(("a password does not belong into the URL", help));
    }
    if !is_name(user) {
        return Err(("not the name of a user", FORM));
    }
    let database = database.strip_suffix('/').unwrap_or(database);
    if !is_name(database) {
        return Err(("not the name of a database", FORM));
    }
    let standard = if tls { 8443 } else { 8123 };
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()),
        _ => (place, Some(standard)),
    };
    let port = port.filter(|port| *port > 0).ok_or(("not a port", FORM))?;
    let v6 = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_host = match v6 {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => is_name(host),
    };
    if !is_host {
        return Err(("not a host", FORM));
    }
    let [host, user, database] = [host, user, database].map(str::to_owned);
    Ok(ClickHouseServer { tls, host, port, user, database })
}

#[cfg(test)]
mod tests;
