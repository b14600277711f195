//! The address of a Valkey or Redis server that several nodes share: URL → value → text.
//!
//! ```text
//! redis://USER@HOST:PORT/DATABASE                 one server
//! redis+sentinel://HOST:PORT,HOST:PORT/MASTER     the server that Sentinels name
//! redis+cluster://HOST:PORT,HOST:PORT             a cluster, entered by any of these nodes
//! ```
//! `rediss` is the same with TLS; `valkey` and `valkeys` are other words for both. A URL with a
//! password is refused: people copy policies into tickets.
//!
//! May use: the base alone. Must not know: policy, redis, how a connection is made.

use std::fmt;

const PORT: u16 = 6_379;
const SENTINEL_PORT: u16 = 26_379;
const MOST_HOSTS: usize = 32;

/// The address of a shared server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// How the hosts lead to the server.
    pub mode: Mode,
    /// Whether connections use TLS.
    pub tls: bool,
    /// The user; `None` is the server's default user.
    pub user: Option<String>,
    /// The hosts, at least one.
    pub hosts: Vec<Endpoint>,
    /// The number of the database.
    pub database: u16,
}

/// How hosts lead to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The host is the server.
    Single,
    /// The hosts are Sentinels, which know the server with this name.
    Sentinel(String),
    /// The hosts belong to a cluster.
    Cluster,
}

/// A host with its port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// The name or the address, without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// What is wrong with a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The fault. It never holds a part of the URL.
    pub message: &'static str,
    /// The repair.
    pub help: &'static str,
}

impl Address {
    /// Reads a URL.
    ///
    /// # Errors
    /// The URL names no server, or it has a password.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        const EXAMPLE: &str = "write for example redis://valkey.internal:6379";
        let fault = |message, help| Err(Fault { message, help });
        if text.bytes().any(|octet| octet <= b' ' || octet == 0x7f) {
            return fault("a URL has no spaces", EXAMPLE);
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            return fault("not the URL of a Valkey or Redis server", EXAMPLE);
        };
        let (base, kind) = scheme.split_once('+').unwrap_or((scheme, ""));
        let tls = match base {
            "redis" | "valkey" => false,
            "rediss" | "valkeys" => true,
            _ => return fault("not the URL of a Valkey or Redis server", EXAMPLE),
        };
        if rest.contains(['?', '#']) {
            return fault("the URL has parameters", "write it without '?' and '#'");
        }
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, hosts) = match authority.rsplit_once('@') {
            Some((user, hosts)) => (Some(user), hosts),
            None => (None, authority),
        };
        if user.is_some_and(|user| user.contains(':')) {
            let help = "write the user alone, and the password into 'password_file' or \
                        BEADLE_FLEET_PASSWORD";
            return fault("the URL has a password", help);
        }
        let user = user.filter(|user| !user.is_empty()).map(str::to_owned);
        let (mode, database) = match kind {
            "" => (Mode::Single, path),
            "cluster" => (Mode::Cluster, path),
            "sentinel" => match path.split_once('/').unwrap_or((path, "")) {
                ("", _) => {
                    let help = "write for example redis+sentinel://10.0.0.1:26379/mymaster";
                    return fault("the URL names no master", help);
                }
                (master, database) => (Mode::Sentinel(master.to_owned()), database),
            },
            _ => {
                return fault("unknown kind of server", "write '+sentinel', '+cluster' or neither");
            }
        };
        let port = if kind == "sentinel" { SENTINEL_PORT } else { PORT };
        let hosts: Option<Vec<_>> = hosts.split(',').map(|host| endpoint(host, port)).collect();
        let Some(hosts) = hosts.filter(|hosts| hosts.len() <= MOST_HOSTS) else {
            return fault("the URL has no valid host", EXAMPLE);
        };
        if mode == Mode::Single && hosts.len() > 1 {
            let help = "name one server, or write redis+sentinel:// or redis+cluster://";
            return fault("several hosts", help);
        }
        let database = match database {
            "" => Some(0),
            digits => digits.parse().ok().filter(|number| *number == 0 || mode != Mode::Cluster),
        };
        match database {
            Some(database) => Ok(Self { mode, tls, user, hosts, database }),
            None if mode == Mode::Cluster => {
                fault("a cluster has one database", "write the URL without a path")
            }
            None => fault("the path is not the number of a database", "write for example /0"),
        }
    }
}

fn endpoint(text: &str, default: u16) -> Option<Endpoint> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']')?;
            let port = if port.is_empty() { None } else { Some(port.strip_prefix(':')?) };
            (host.parse::<std::net::Ipv6Addr>().ok()?.to_string(), port)
        }
        None => {
            let (host, port) = text.split_once(':').map_or((text, None), |(h, p)| (h, Some(p)));
            let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
            (!host.is_empty() && host.chars().all(is_name)).then_some(())?;
            (host.to_owned(), port)
        }
    };
    let port = port.map_or(Some(default), |port| port.parse().ok())?;
    (port > 0).then_some(Endpoint { host, port })
}

/// `host:port`, with brackets around an IPv6 address.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

/// The URL in its usual form. It holds no secret.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.tls { "rediss" } else { "redis" })?;
        f.write_str(match self.mode {
            Mode::Single => "://",
            Mode::Sentinel(_) => "+sentinel://",
            Mode::Cluster => "+cluster://",
        })?;
        if let Some(user) = &self.user {
            write!(f, "{user}@")?;
        }
        for (number, host) in self.hosts.iter().enumerate() {
            write!(f, "{}{host}", if number > 0 { "," } else { "" })?;
        }
        match &self.mode {
            Mode::Sentinel(master) => write!(f, "/{master}/{}", self.database),
            Mode::Single => write!(f, "/{}", self.database),
            Mode::Cluster => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_leads_to_a_server_to_sentinels_or_to_a_cluster() {
        for (text, shown) in [
            ("redis://valkey.internal", "redis://valkey.internal:6379/0"),
            ("rediss://beadle@valkey.internal:6380/3", "rediss://beadle@valkey.internal:6380/3"),
            ("valkeys://[2001:DB8::1]:1/", "rediss://[2001:db8::1]:1/0"),
            ("valkey://[::1]", "redis://[::1]:6379/0"),
            ("redis://@127.0.0.1", "redis://127.0.0.1:6379/0"),
            ("redis+sentinel://a,b:26380/mymaster", "redis+sentinel://a:26379,b:26380/mymaster/0"),
            ("rediss+sentinel://u@a/my/2", "rediss+sentinel://u@a:26379/my/2"),
            ("redis+cluster://a:7000,b", "redis+cluster://a:7000,b:6379"),
            ("redis+cluster://a/0", "redis+cluster://a:6379"),
        ] {
            let address = Address::parse(text).expect(text);
            assert_eq!(address.to_string(), shown, "{text}");
            assert_eq!(Address::parse(shown).as_ref(), Ok(&address), "{shown}");
        }
    }

    #[test]
    fn a_broken_url_is_refused_with_the_repair_and_without_its_text() {
        for (text, message) in [
            ("", "not the URL"),
            ("valkey.internal:6379", "not the URL"),
            ("http://valkey.internal", "not the URL"),
            ("redis://", "no valid host"),
            ("redis://:6379", "no valid host"),
            ("redis://a:0", "no valid host"),
            ("redis://a:66000", "no valid host"),
            ("redis://[::1", "no valid host"),
            ("redis://a/b", "number of a database"),
            ("redis://a,b", "several hosts"),
            ("redis://a b", "no spaces"),
            ("redis://a?protocol=3", "parameters"),
            ("redis+sentinel://a", "no master"),
            ("redis+sentinel://a/my/x", "number of a database"),
            ("redis+cluster://a/1", "one database"),
            ("redis+raft://a", "unknown kind"),
            ("redis://user:T0PSECRET@a", "has a password"),
            ("redis://:T0PSECRET@a", "has a password"),
        ] {
            let fault = Address::parse(text).expect_err(text);
            assert!(fault.message.contains(message), "{text}: {fault:?}");
            assert!(!fault.help.is_empty(), "{text}");
        }
    }
}
