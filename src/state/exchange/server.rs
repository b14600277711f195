//! The connection to the shared server: to it alone, to the one that Sentinels name, or to the node of
//! a cluster that has the keys.

use std::time::Duration;

use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, IntoConnectionInfo, Pipeline,
    RedisConnectionInfo, TlsCertificates, Value,
    aio::{ConnectionLike, MultiplexedConnection},
};
use tokio::time::timeout;

use crate::formats::valkey::{Endpoint, Mode};

use super::{failure::Failure, replies::Replies, settings::Settings};

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
            Mode::Single => first(&address.hosts, settings).await,
            Mode::Sentinel(master) => {
                let place = master_of(master, settings).await?;
                Self::to(&place, settings).await
            }
            Mode::Cluster => match hint {
                Some(hint) => match Self::to(&hint, settings).await {
                    Err(_) => first(&address.hosts, settings).await,
                    link => link,
                },
                None => first(&address.hosts, settings).await,
            },
        }
    }

    async fn to(place: &Endpoint, settings: &Settings) -> Result<Self, Failure> {
        let open = RedisConnectionInfo::default().set_db(settings.address.database.into());
        connect(place, login(open, settings), settings).await
    }

    /// Sends commands at once, and returns an answer to each.
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
