//! The connection to the shared server: to it alone, to the one that Sentinels name, or to the node of
//! a cluster that has the keys.

use std::time::Duration;

use derive_more::Display;
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, ErrorKind, FromRedisValue, IntoConnectionInfo,
    Pipeline, RedisConnectionInfo, RedisError, ServerError, ServerErrorKind, TlsCertificates,
    Value,
    aio::{ConnectionLike, MultiplexedConnection},
    from_redis_value,
};
use tokio::time::timeout;

use crate::formats::valkey::{Endpoint, Mode};

use super::settings::Settings;

/// A failed exchange.
#[derive(Clone, Debug, Display, PartialEq, Eq)]
pub enum Failure {
    /// Occurs when no connection can be made or kept.
    #[display("no connection: {_0}")]
    Unreachable(String),
    /// Occurs when the server does not answer in time.
    #[display("no answer in time")]
    Late,
    /// Occurs when the server refuses the user or a command.
    #[display("the server refuses: {_0} (check the user, the password and the rights of the user)")]
    Denied(String),
    /// Occurs when the server has no room for writes.
    #[display("the server takes no writes: {_0} (give it more memory or disk)")]
    Full(String),
    /// Occurs when another server of the cluster or the replication has the keys; it may say which.
    #[display("{}", elsewhere(_0.as_ref()))]
    Elsewhere(Option<Endpoint>),
    /// Occurs when no Sentinel knows the master.
    #[display("no Sentinel names the master: {_0}")]
    NoMaster(String),
    /// Occurs when the server answers with another error, or with what is no answer.
    #[display("not the expected answer: {_0}")]
    Odd(String),
}

fn elsewhere(place: Option<&Endpoint>) -> String {
    let replica = "this server is a replica and takes no writes (name the primary, or Sentinels)";
    place.map_or_else(|| replica.to_owned(), |place| format!("the keys are at {place}"))
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

const CONNECT: Duration = Duration::from_secs(3);
/// The most time for an answer. A server that takes two seconds for everything is still of use.
const ANSWER: Duration = Duration::from_secs(5);

pub(super) struct Link {
    connection: MultiplexedConnection,
    pub(super) place: Endpoint,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "link to {}", self.place)
    }
}

impl Link {
    /// Connects. `hint` is the server that another one named.
    pub(super) async fn open(settings: &Settings, hint: Option<Endpoint>) -> Result<Self, Failure> {
        let address = &settings.address;
        match &address.mode {
            Mode::Sentinel(master) => Self::to(&master_of(master, settings).await?, settings).await,
            mode => {
                if let (Mode::Cluster, Some(hint)) = (mode, hint)
                    && let Ok(link) = Self::to(&hint, settings).await
                {
                    return Ok(link);
                }
                first(&address.hosts, settings).await
            }
        }
    }

    async fn to(place: &Endpoint, settings: &Settings) -> Result<Self, Failure> {
        let open = RedisConnectionInfo::default().set_db(settings.address.database.into());
        connect(place, login(open, settings), settings).await
    }

    pub(super) async fn ask(&mut self, commands: &Pipeline) -> Result<Vec<Value>, Failure> {
        let answer = self.connection.req_packed_commands(commands, 0, commands.len());
        match timeout(ANSWER, answer).await {
            Err(_) => Err(Failure::Late),
            Ok(answer) => Ok(answer?),
        }
    }
}

async fn first(hosts: &[Endpoint], settings: &Settings) -> Result<Link, Failure> {
    let mut failure = Failure::Unreachable("no host".to_owned());
    for host in hosts {
        match Link::to(host, settings).await {
            Ok(link) => return Ok(link),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// The master, as the first Sentinel that knows it says.
async fn master_of(master: &str, settings: &Settings) -> Result<Endpoint, Failure> {
    let mut failure = Failure::NoMaster("none is named".to_owned());
    for sentinel in &settings.address.hosts {
        match ask_sentinel(sentinel, master, settings).await {
            Ok(Some(place)) => return Ok(place),
            Ok(None) => failure = Failure::NoMaster(format!("{sentinel} knows no '{master}'")),
            Err(error) => failure = Failure::NoMaster(format!("{sentinel}: {error}")),
        }
    }
    Err(failure)
}

async fn ask_sentinel(
    sentinel: &Endpoint,
    master: &str,
    settings: &Settings,
) -> Result<Option<Endpoint>, Failure> {
    let open = RedisConnectionInfo::default();
    let mut question = Pipeline::new();
    question.cmd("SENTINEL").arg("get-master-addr-by-name").arg(master);
    let mut link = connect(sentinel, open.clone(), settings).await?;
    let mut answer = answer_of(&mut link, &question).await;
    if matches!(answer, Err(Failure::Denied(_))) && settings.password.is_some() {
        // A Sentinel may have the password of its server.
        link = connect(sentinel, login(open, settings), settings).await?;
        answer = answer_of(&mut link, &question).await;
    }
    Ok(answer?.map(|(host, port)| Endpoint { host, port }))
}

fn login(mut open: RedisConnectionInfo, settings: &Settings) -> RedisConnectionInfo {
    if let Some(user) = &settings.address.user {
        open = open.set_username(user);
    }
    if let Some(password) = &settings.password {
        open = open.set_password(password);
    }
    open
}

async fn answer_of(link: &mut Link, question: &Pipeline) -> Result<Option<(String, u16)>, Failure> {
    Replies::new(link.ask(question).await?).next()
}

async fn connect(
    place: &Endpoint,
    login: RedisConnectionInfo,
    settings: &Settings,
) -> Result<Link, Failure> {
    let Endpoint { host, port } = place.clone();
    let is_secure = settings.address.tls;
    let address = match is_secure {
        false => ConnectionAddr::Tcp(host, port),
        true => ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None },
    };
    let info = address.into_connection_info()?.set_redis_settings(login.set_skip_set_lib_name());
    let client = match is_secure {
        false => Client::open(info)?,
        true => {
            let root_cert = settings.authorities.clone();
            Client::build_with_tls(info, TlsCertificates { client_tls: None, root_cert })?
        }
    };
    // The deadlines are ours.
    let config = AsyncConnectionConfig::new().set_connection_timeout(None);
    let config = config.set_response_timeout(None);
    let connecting = client.get_multiplexed_async_connection_with_config(&config);
    match timeout(CONNECT, connecting).await {
        Err(_) => Err(Failure::Unreachable(format!("{place} does not answer"))),
        Ok(connection) => Ok(Link { connection: connection?, place: place.clone() }),
    }
}

/// The answers to the commands of a pipeline, read without a guess: another form is a failure.
#[derive(Debug)]
pub(super) struct Replies(std::vec::IntoIter<Value>);

impl Replies {
    pub(super) fn new(values: Vec<Value>) -> Self {
        Self(values.into_iter())
    }

    pub(super) fn next<T: FromRedisValue>(&mut self) -> Result<T, Failure> {
        match self.0.next() {
            None => Err(Failure::Odd("too few answers".to_owned())),
            Some(Value::ServerError(error)) => Err(Failure::of(&error)),
            Some(value) => from_redis_value(value).map_err(|error| Failure::Odd(error.to_string())),
        }
    }

    /// Takes answers that say no more than that nothing failed.
    pub(super) fn skip(&mut self, count: usize) -> Result<(), Failure> {
        (0..count).try_for_each(|_| self.next::<Value>().map(drop))
    }

    /// The fields of a hash with their values. Fields that another program wrote may be no text: they are
    /// left out.
    pub(super) fn fields(&mut self) -> Result<Vec<(String, Vec<u8>)>, Failure> {
        let fields: Vec<(Vec<u8>, Vec<u8>)> = self.next()?;
        let named = |(name, value)| Some((String::from_utf8(name).ok()?, value));
        Ok(fields.into_iter().filter_map(named).collect())
    }

    /// Members with their scores, which are written with a point or an exponent if they are large.
    pub(super) fn scored(&mut self) -> Result<Vec<(Vec<u8>, i64)>, Failure> {
        let members: Vec<(Vec<u8>, f64)> = self.next()?;
        Ok(members.into_iter().map(|(member, score)| (member, score as i64)).collect())
    }

    /// The entries of a stream, each with its id and its only text.
    pub(super) fn entries(&mut self) -> Result<Vec<(String, Vec<u8>)>, Failure> {
        type Entry = (String, Vec<(Vec<u8>, Vec<u8>)>);
        let streams: Vec<(String, Vec<Entry>)> = self.next()?;
        let entries = streams.into_iter().flat_map(|(_, entries)| entries);
        Ok(entries.filter_map(|(id, fields)| Some((id, fields.into_iter().next()?.1))).collect())
    }

    /// Microseconds of the answer to TIME.
    pub(super) fn time(&mut self) -> Result<i64, Failure> {
        let (seconds, micros): (i64, i64) = self.next()?;
        Ok(seconds.saturating_mul(1_000_000).saturating_add(micros))
    }
}
