//! The reasons why the shared server does not answer, or not as it should.

use std::fmt;

use redis::{ErrorKind, RedisError, ServerError, ServerErrorKind};

use crate::formats::valkey::Endpoint;

/// A failed exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Occurs when no connection can be made or kept.
    Unreachable(String),
    /// Occurs when the server does not answer in time.
    Late,
    /// Occurs when the server refuses the user or a command.
    Denied(String),
    /// Occurs when the server has no room for writes.
    Full(String),
    /// Occurs when another server of the cluster or the replication has the keys; it may say which.
    Elsewhere(Option<Endpoint>),
    /// Occurs when no Sentinel knows the master.
    NoMaster(String),
    /// Occurs when the server answers with another error, or with what is no answer.
    Odd(String),
}

impl Failure {
    /// The stable code, for logs.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unreachable(_) => "fleet.unreachable",
            Self::Late => "fleet.late",
            Self::Denied(_) => "fleet.denied",
            Self::Full(_) => "fleet.full",
            Self::Elsewhere(_) => "fleet.elsewhere",
            Self::NoMaster(_) => "fleet.no_master",
            Self::Odd(_) => "fleet.odd_answer",
        }
    }

    pub(super) fn of(error: &ServerError) -> Self {
        let text = || match error.details() {
            Some(details) => format!("{} {details}", error.code()),
            None => error.code().to_owned(),
        };
        match (error.kind(), error.code()) {
            (Some(ServerErrorKind::Moved | ServerErrorKind::Ask), _) => {
                // MOVED 3999 127.0.0.1:6381
                let place = error.details().and_then(|details| details.split(' ').next_back());
                Self::Elsewhere(place.and_then(endpoint))
            }
            (Some(ServerErrorKind::ReadOnly), _) => Self::Elsewhere(None),
            (Some(ServerErrorKind::NoPerm), _) | (_, "NOAUTH" | "WRONGPASS" | "NOPERM") => {
                Self::Denied(text())
            }
            (_, "OOM" | "MISCONF") => Self::Full(text()),
            _ => Self::Odd(text()),
        }
    }
}

fn endpoint(text: &str) -> Option<Endpoint> {
    let (host, port) = text.rsplit_once(':')?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    Some(Endpoint { host: host.to_owned(), port: port.parse().ok()? })
}

impl From<RedisError> for Failure {
    fn from(error: RedisError) -> Self {
        if let Ok(error) = ServerError::try_from(error.clone()) {
            return Self::of(&error);
        }
        match error.kind() {
            ErrorKind::AuthenticationFailed => Self::Denied(error.to_string()),
            _ if error.is_timeout() => Self::Late,
            _ if matches!(error.code(), Some("NOAUTH" | "WRONGPASS" | "NOPERM")) => {
                Self::Denied(error.to_string())
            }
            _ => Self::Unreachable(error.to_string()),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(why) => write!(f, "no connection: {why}"),
            Self::Late => f.write_str("no answer in time"),
            Self::Denied(why) => write!(
                f,
                "the server refuses: {why} (check the user, the password and the rights of the user)"
            ),
            Self::Full(why) => {
                write!(f, "the server takes no writes: {why} (give it more memory or disk)")
            }
            Self::Elsewhere(Some(place)) => write!(f, "the keys are at {place}"),
            Self::Elsewhere(None) => f.write_str(
                "this server is a replica and takes no writes (name the primary, or Sentinels)",
            ),
            Self::NoMaster(why) => write!(f, "no Sentinel names the master: {why}"),
            Self::Odd(why) => write!(f, "not the expected answer: {why}"),
        }
    }
}
