//! The operator's policy: one YAML file, read, validated and from then on immutable.
//!
//! [`read`] turns bytes into a [`Policy`] whose every value is already meaningful, or into all the
//! findings that stand against it, each with file, line, column and repair. It refuses to guess:
//! an unknown key, a key written twice or a value of the wrong type is an error. The reference of
//! all keys is in the README; [`DEFAULT_LISTEN`] and its neighbours are the defaults. The one other
//! file that a policy can name, its catalogue, is opened by whoever asks ([`read_with`]).
//!
//! May use: diagnostic, escape, product_token, robots, robots_tag, crawlers.
//! Must not know: how a request looks, what a rulebook is, any clock, file or socket.

use std::{
    collections::HashSet,
    fmt, io,
    net::SocketAddr,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
    time::Duration,
};

use ipnet::IpNet;

use crate::{
    crawlers::{Catalogue, Class, Outcome},
    diagnostic::Diagnostic,
    product_token::ProductToken,
    robots,
    robots_tag::RobotsTag,
};

mod block;
mod catalogue;
mod check;
mod enforcement;
mod evidence;
mod groups;
mod ladder;
mod names;
mod robots_tag_rules;
mod robots_txt;
mod server;
mod shape;
mod sites;
mod yaml;

pub use block::{Block, Piece, Slot, Template};
pub use catalogue::{
    BUILT_IN as BUILT_IN_CATALOGUE, MAX_BYTES as MAX_CATALOGUE_BYTES,
    built_in as built_in_catalogue, built_in_file as built_in_catalogue_file,
    read_file as read_catalogue_file,
};
pub use enforcement::Grace;
pub use evidence::Evidence;
pub use ladder::{Breaker, Ladder, PaceMode, Share};
pub use robots_txt::Source;
pub use yaml::MAX_BYTES;

/// Where the proxy listens when the policy does not say.
pub const DEFAULT_LISTEN: &str = "0.0.0.0:8080";
/// Where the admin listener is when the policy does not say.
pub const DEFAULT_ADMIN: &str = "127.0.0.1:9090";
/// How long records are kept when the policy does not say: 90 days.
pub const DEFAULT_RETENTION: Duration = Duration::from_secs(90 * 86_400);
/// `Cache-Control: max-age` of robots.txt when the policy does not say. RFC 9309 §2.4 lets
/// crawlers keep the file for up to 24 hours.
pub const DEFAULT_ROBOTS_MAX_AGE: Duration = Duration::from_secs(3_600);
/// How long a crawler may go by the robots.txt that it fetched when the policy does not say: 24
/// hours (RFC 9309 §2.4).
pub const DEFAULT_CACHE_WINDOW: Duration = Duration::from_secs(86_400);
/// After how long published lists are fetched again when the policy does not say: 24 hours.
pub const DEFAULT_EVIDENCE_REFRESH: Duration = Duration::from_secs(86_400);

/// A validated policy.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Listeners and their limits. A change needs a restart.
    pub server: Server,
    /// Where records go. A change needs a restart.
    pub violations: Violations,
    /// What is looked at to tell crawlers from impostors; `None` is nothing.
    pub evidence: Option<Evidence>,
    /// The file that stands in the place of the built-in catalogue; `None` is the built-in one.
    pub catalogue_file: Option<PathBuf>,
    /// The crawlers that are known, with the operator's own.
    pub catalogue: Arc<Catalogue>,
    /// The sites, in the policy's order; their hosts are distinct.
    pub sites: Vec<Site>,
    /// The first 12 hexadecimal digits of the SHA-256 of the file's bytes, followed by those of the
    /// catalogue file, where there is one.
    pub fingerprint: String,
}

/// Why a text is no policy: everything that is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Findings(pub Vec<Diagnostic>);

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|finding| writeln!(f, "{finding}"))
    }
}

impl std::error::Error for Findings {}

/// Reads a policy from a text alone. Warnings are dropped; [`read`] returns them.
impl FromStr for Policy {
    type Err = Findings;

    fn from_str(text: &str) -> Result<Self, Findings> {
        let (policy, findings) = read("policy", text.as_bytes());
        policy.ok_or(Findings(findings))
    }
}

/// The `server` section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Sockets that take requests; at least one.
    pub listen: Vec<Listener>,
    /// Socket of metrics and health.
    pub admin: Option<SocketAddr>,
    /// Whose `Forwarded` and `X-Forwarded-*` are believed.
    pub trusted_proxies: Vec<IpNet>,
    /// Limits in time.
    pub timeouts: Timeouts,
    /// Worker threads of the proxy; `None` is one for each processor.
    pub threads: Option<usize>,
}

/// A socket that takes requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// Address and port.
    pub address: SocketAddr,
    /// Certificate and key, where TLS is spoken.
    pub tls: Option<Tls>,
}

/// PEM files of a TLS listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// The certificate chain.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// How long things may take. Every one is set, because the proxy library has no limit of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// An idle client connection is kept this long (default 75 s).
    pub client_keepalive: Duration,
    /// Between two reads of a request body (default 60 s).
    pub client_read: Duration,
    /// Between two writes to a client (default 60 s).
    pub client_write: Duration,
    /// To connect to an origin, TLS included (default 5 s).
    pub origin_connect: Duration,
    /// Between two reads from an origin (default 60 s).
    pub origin_read: Duration,
    /// Between two writes to an origin (default 60 s).
    pub origin_write: Duration,
    /// An idle connection to an origin is kept this long (default 60 s).
    pub origin_keepalive: Duration,
    /// An origin's name is looked up again after this long (default 30 s).
    pub origin_lookup: Duration,
    /// Requests under way at SIGTERM may go on this long (default 30 s).
    pub drain: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            client_keepalive: seconds(75),
            client_read: seconds(60),
            client_write: seconds(60),
            origin_connect: seconds(5),
            origin_read: seconds(60),
            origin_write: seconds(60),
            origin_keepalive: seconds(60),
            origin_lookup: seconds(30),
            drain: seconds(30),
        }
    }
}

/// The `violations` section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violations {
    /// The SQLite file.
    pub database: Option<PathBuf>,
    /// The JSON lines.
    pub log: Option<Log>,
    /// How long records are kept in the database.
    pub retention: Duration,
    /// How many records may wait to be written.
    pub queue: usize,
    /// Query parameters whose values are replaced before anything is recorded.
    pub redact_query: Vec<String>,
    /// How much of a client's address is recorded.
    pub client_ip: ClientIp,
}

/// How much of a client's address is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientIp {
    /// All of it.
    Full,
    /// Its network: /24 of IPv4, /48 of IPv6.
    Network,
    /// A hash with a key that changes each day and is never written down.
    Hash,
}

/// Where JSON lines go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Log {
    /// Appended to a file.
    File(PathBuf),
    /// Standard output.
    Stdout,
}

/// Hosts that share an origin, robots rules, tag rules and enforcement.
#[derive(Clone, Debug)]
pub struct Site {
    /// The hosts, lower case without port; the first names the site.
    pub hosts: Vec<Host>,
    /// Whether requests for hosts of no site come here.
    pub default: bool,
    /// Where requests are forwarded to.
    pub origin: Origin,
    /// The robots.txt to publish.
    pub robots_txt: RobotsTxt,
    /// The tags to set, in the policy's order.
    pub robots_tag: Vec<TagRule>,
    /// Whether tags are sent in `X-Robots-Tag` too.
    pub robots_tag_legacy: bool,
    /// What happens to violations.
    pub enforcement: Enforcement,
}

impl Site {
    /// The site's name in records and metrics: its first host.
    pub fn name(&self) -> &str {
        self.hosts.first().map_or("default", Host::as_str)
    }
}

/// A host of a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// Exactly this host.
    Exact(String),
    /// `*.example.com`: every host below `example.com`, held without the star, with the dot.
    Below(String),
}

impl Host {
    /// The host; of a wildcard, the part after the star.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Exact(host) => host,
            Self::Below(suffix) => suffix.trim_start_matches('.'),
        }
    }
}

/// Where a site's requests go.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// Whether TLS is spoken to it.
    pub tls: bool,
    /// Name or address, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
}

/// `http://host:port`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "https" } else { "http" };
        if self.host.contains(':') {
            write!(f, "{scheme}://[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{scheme}://{}:{}", self.host, self.port)
        }
    }
}

/// The `robots_txt` section.
#[derive(Clone, Debug)]
pub struct RobotsTxt {
    /// The policy's own file as values, ready to be written; without groups where the origin's is
    /// published as it is.
    pub file: robots::RobotsTxt,
    /// For each group of `file` in order, for each rule in order: the line in the policy.
    pub rule_lines: Vec<Vec<u32>>,
    /// `Cache-Control: max-age`.
    pub max_age: Duration,
    /// Whose rules are published.
    pub source: Source,
    /// For each group of `file`: whether it stands in the place of what the origin's file says to
    /// those it names. Counts where the two are merged.
    pub overriding: Vec<bool>,
    /// How long a crawler may go by what it fetched (RFC 9309 §2.4).
    pub cache_window: Duration,
    /// Whether an origin's file that closes the whole site to `*` is taken without asking.
    pub accept_full_disallow: bool,
}

/// One entry of the `robots_tag` section.
#[derive(Clone, Debug)]
pub struct TagRule {
    /// Paths it applies to; empty is every path.
    pub paths: Vec<robots::Pattern>,
    /// Media types it applies to; empty is every type.
    pub content_types: Vec<MediaRange>,
    /// Status codes it applies to; empty is every status.
    pub statuses: Vec<StatusRange>,
    /// What it says.
    pub tag: RobotsTag,
}

/// `type/subtype` or `type/*`, lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaRange {
    /// The type.
    pub main: String,
    /// The subtype; `None` is any.
    pub sub: Option<String>,
}

/// A range of status codes, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusRange {
    /// The least code.
    pub from: u16,
    /// The greatest code.
    pub to: u16,
}

/// The `enforcement` section.
#[derive(Clone, Debug)]
pub struct Enforcement {
    /// What happens to a violation that no override names; on the ladder, at its bottom.
    pub mode: Mode,
    /// By which a crawler that no override names goes from rung to rung; `None` where `mode` alone
    /// says what happens.
    pub ladder: Option<Ladder>,
    /// When nothing is refused any more; `None` is never.
    pub breaker: Option<Breaker>,
    /// What happens to a request that comes sooner than the crawler has promised; `None` leaves it
    /// to the mode.
    pub crawl_delay: Option<PaceMode>,
    /// Exceptions by crawler; the first that names the crawler wins.
    pub overrides: Vec<Override>,
    /// How a block is answered.
    pub block: Block,
    /// The classes of client that a `*` group binds.
    pub star_binds: Vec<Class>,
    /// What happens to clients that are proven not to be who they say, whatever they ask for;
    /// `None` leaves them to the rules.
    pub impostors: Option<Mode>,
    /// Whether rules for `*` alone may block a search engine that is proven to be one.
    pub block_confirmed_search: bool,
    /// What happens to requests that the newest robots.txt alone disallows.
    pub grace: Grace,
}

/// What happens to a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Nothing: the request is not judged.
    Off,
    /// It is recorded and passes.
    Log,
    /// The same, and who comes sooner than it has promised is told to wait.
    Throttle,
    /// It is recorded and refused.
    Block,
}

impl Mode {
    /// The mode as the policy writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Log => "log",
            Self::Throttle => "throttle",
            Self::Block => "block",
        }
    }
}

/// A mode for some crawlers.
#[derive(Clone, Debug)]
pub struct Override {
    /// The crawlers; empty together with `all` is nobody.
    pub tokens: HashSet<ProductToken>,
    /// Whether it names `*`, every crawler.
    pub all: bool,
    /// In which standing it applies to them; empty is in any.
    pub standings: Vec<Outcome>,
    /// What happens to their violations.
    pub mode: Mode,
}

/// Reads a policy that names no other file. The findings come in the order of their place; a policy
/// comes with them only if none is an error.
///
/// `file` is the name that findings show.
pub fn read(file: &str, bytes: &[u8]) -> (Option<Policy>, Vec<Diagnostic>) {
    read_with(file, bytes, &mut |_| Err(io::Error::other("no other file is read here")))
}

/// Reads a policy as [`read`] does, and the catalogue that it names with `open`, which is asked once
/// at most. Findings about that file show its name.
pub fn read_with(
    file: &str,
    bytes: &[u8],
    open: &mut dyn FnMut(&Path) -> io::Result<Vec<u8>>,
) -> (Option<Policy>, Vec<Diagnostic>) {
    let (policy, mut findings) = check::read(bytes, open);
    findings.sort_by_key(|one| (one.place.file.is_some(), one.place.line, one.place.column));
    let in_file = |one: Diagnostic| if one.place.file.is_some() { one } else { one.in_file(file) };
    (policy, findings.into_iter().map(in_file).collect())
}
