//! The keys of `server`.

use super::{
    section::{Absent, Key, Section, Shape},
    values::{COUNT, EMAIL, FILE, HOST, HTTPS, NETWORK, SIZE, SOCKET, TIME},
};

/// `server`.
pub static SERVER: Section = Section {
    path: "server",
    one_of: &[],
    keys: &[
        Key {
            name: "listen",
            shape: Shape::Some(&Shape::Either(&[SOCKET, Shape::Section(&LISTENER)])),
            absent: Absent::Value("0.0.0.0:8080"),
            meaning: "addresses for requests",
        },
        Key {
            name: "admin",
            shape: Shape::Either(&[SOCKET, Shape::Choice(&["off"]), Shape::Section(&ADMIN)]),
            absent: Absent::Value("127.0.0.1:9090"),
            meaning: "address for the desk, metrics and health",
        },
        Key {
            name: "decide",
            shape: Shape::Either(&[SOCKET, Shape::Section(&DECIDE)]),
            absent: Absent::Words("none"),
            meaning: "address where other servers ask whether a request passes",
        },
        Key {
            name: "trusted_proxies",
            shape: Shape::List(&NETWORK),
            absent: Absent::Words("none"),
            meaning: "proxies whose `X-Forwarded-For`, `Forwarded`, `X-Forwarded-Proto` and \
                      `X-Forwarded-Host` Beadle believes",
        },
        Key {
            name: "timeouts",
            shape: Shape::Section(&TIMEOUTS),
            absent: Absent::Words("see there"),
            meaning: "time limits",
        },
        Key {
            name: "limits",
            shape: Shape::Section(&LIMITS),
            absent: Absent::Words("see there"),
            meaning: "what one client may take",
        },
        Key {
            name: "access_log",
            shape: Shape::Either(&[FILE, Shape::Section(&ACCESS_LOG)]),
            absent: Absent::Words("none"),
            meaning: "a line for each request: a file, appended, or `stdout`. Reopened after log \
                      rotation",
        },
        Key {
            name: "threads",
            shape: Shape::Integer(1, 1_024),
            absent: Absent::Words("one for each processor"),
            meaning: "worker threads",
        },
    ],
};

/// `server.listen[]`.
pub static LISTENER: Section = Section {
    path: "server.listen[]",
    one_of: &[],
    keys: &[
        Key {
            name: "address",
            shape: SOCKET,
            absent: Absent::Required,
            meaning: "address for requests",
        },
        Key {
            name: "tls",
            shape: Shape::Section(&TLS),
            absent: Absent::Words("none: plain HTTP"),
            meaning: "certificates",
        },
        Key {
            name: "redirect",
            shape: Shape::Choice(&["https"]),
            absent: Absent::Words("none"),
            meaning: "answers every request with a redirect to HTTPS, except challenges of ACME",
        },
        Key {
            name: "proxy_protocol",
            shape: Shape::Boolean,
            absent: Absent::Value("false"),
            meaning: "each connection begins with a PROXY protocol header, version 1 or 2, of one \
                      of `trusted_proxies`",
        },
    ],
};

/// `server.listen[].tls`.
pub static TLS: Section = Section {
    path: "server.listen[].tls",
    one_of: &["acme", "certificates", "certificate"],
    keys: &[
        Key {
            name: "certificate",
            shape: FILE,
            absent: Absent::Words("none"),
            meaning: "the certificate chain, if there is one certificate",
        },
        KEY_FILE,
        Key {
            name: "certificates",
            shape: Shape::Sections(&CERTIFICATE),
            absent: Absent::Words("none"),
            meaning: "several certificates. A client gets the one for the name that it asks for, \
                      else the first",
        },
        Key {
            name: "acme",
            shape: Shape::Section(&ACME),
            absent: Absent::Words("none"),
            meaning: "certificates that Beadle orders and renews itself",
        },
    ],
};

const KEY_FILE: Key = Key {
    name: "key",
    shape: FILE,
    absent: Absent::Words("the file of `certificate`"),
    meaning: "the private key of `certificate`",
};

/// `server.listen[].tls.certificates[]`.
pub static CERTIFICATE: Section = Section {
    path: "server.listen[].tls.certificates[]",
    one_of: &[],
    keys: &[
        Key {
            name: "certificate",
            shape: FILE,
            absent: Absent::Required,
            meaning: "the certificate chain",
        },
        KEY_FILE,
    ],
};

/// `server.listen[].tls.acme`.
pub static ACME: Section = Section {
    path: "server.listen[].tls.acme",
    one_of: &[],
    keys: &[
        Key {
            name: "contact",
            shape: Shape::List(&EMAIL),
            absent: Absent::Words("none"),
            meaning: "e-mail addresses for the authority",
        },
        Key {
            name: "hosts",
            shape: Shape::List(&HOST),
            absent: Absent::Words("the exact hosts of the sites"),
            meaning: "hosts to order certificates for",
        },
        Key {
            name: "directory",
            shape: HTTPS,
            absent: Absent::Value("https://acme-v02.api.letsencrypt.org/directory"),
            meaning: "the authority's directory; the default is Let's Encrypt",
        },
        Key {
            name: "root",
            shape: FILE,
            absent: Absent::Words("the public authorities"),
            meaning: "the root certificate of an authority that is not public",
        },
        Key {
            name: "folder",
            shape: FILE,
            absent: Absent::Value("data/acme"),
            meaning: "folder for account, certificates and keys",
        },
    ],
};

/// `server.admin`.
pub static ADMIN: Section = Section {
    path: "server.admin",
    one_of: &[],
    keys: &[
        Key {
            name: "address",
            shape: SOCKET,
            absent: Absent::Value("127.0.0.1:9090"),
            meaning: "address for the desk, metrics and health",
        },
        Key {
            name: "hosts",
            shape: Shape::List(&HOST),
            absent: Absent::Words("none"),
            meaning: "further hosts that requests may name",
        },
        Key {
            name: "token_file",
            shape: FILE,
            absent: Absent::Words("none"),
            meaning: "the secret that opens it; an address that is not on loopback needs one",
        },
    ],
};

/// `server.access_log`.
pub static ACCESS_LOG: Section = Section {
    path: "server.access_log",
    one_of: &[],
    keys: &[
        Key {
            name: "file",
            shape: FILE,
            absent: Absent::Required,
            meaning: "a file, appended, or `stdout`. Reopened after log rotation",
        },
        Key {
            name: "format",
            shape: Shape::Choice(&["json", "combined"]),
            absent: Absent::Value("json"),
            meaning: "JSON lines, or NCSA's combined form with the host and the decision behind it",
        },
    ],
};

/// `server.decide`.
pub static DECIDE: Section = Section {
    path: "server.decide",
    one_of: &[],
    keys: &[
        Key {
            name: "address",
            shape: SOCKET,
            absent: Absent::Required,
            meaning: "address for questions; only `trusted_proxies` may ask",
        },
        Key {
            name: "refuse_status",
            shape: Shape::Integer(400, 499),
            absent: Absent::Words("each refusal has its own"),
            meaning: "status of all refusals, for a server that knows no other",
        },
    ],
};

/// `server.limits`.
pub static LIMITS: Section = Section {
    path: "server.limits",
    one_of: &[],
    keys: &[
        Key {
            name: "header_time",
            shape: TIME,
            absent: Absent::Value("15s"),
            meaning: "time for a whole request header, from its first octet on; then 408",
        },
        Key {
            name: "header_size",
            shape: SIZE,
            absent: Absent::Value("32KiB"),
            meaning: "largest request header; beyond it 431, or 414 for the request line",
        },
        Key {
            name: "header_fields",
            shape: Shape::Integer(1, 250),
            absent: Absent::Value("100"),
            meaning: "most field lines of a request header; beyond it 431",
        },
        Key {
            name: "body_rate",
            shape: Shape::Integer(1, 1_000_000),
            absent: Absent::Value("500"),
            meaning: "least octets per second of a request body that Beadle waits for, after ten \
                      seconds; then 408",
        },
        Key {
            name: "connections",
            shape: COUNT,
            absent: Absent::Value("20000"),
            meaning: "most connections of all clients; further ones wait a second, then get 503",
        },
        Key {
            name: "connections_per_network",
            shape: COUNT,
            absent: Absent::Value("1000"),
            meaning: "most connections of an IPv4 address or a /64 of IPv6; further ones are \
                      closed. `trusted_proxies` are exempt",
        },
        Key {
            name: "requests",
            shape: COUNT,
            absent: Absent::Words("`connections`, or what the open files allow"),
            meaning: "most requests of all clients that are at origins at a time; further ones get \
                      503",
        },
        Key {
            name: "requests_per_network",
            shape: COUNT,
            absent: Absent::Words("`1000`, or a quarter of `requests`"),
            meaning: "most requests of an IPv4 address or a /64 of IPv6 that are at origins at a \
                      time; further ones get 503. `trusted_proxies` are exempt",
        },
        Key {
            name: "handshake_time",
            shape: TIME,
            absent: Absent::Value("10s"),
            meaning: "time for a TLS handshake, a PROXY protocol header, and the first frame of \
                      HTTP/2",
        },
    ],
};

/// `server.timeouts`.
pub static TIMEOUTS: Section = Section {
    path: "server.timeouts",
    one_of: &[],
    keys: &[
        Key {
            name: "client_keepalive",
            shape: TIME,
            absent: Absent::Value("75s"),
            meaning: "how long to keep idle client connections",
        },
        Key {
            name: "client_read",
            shape: TIME,
            absent: Absent::Value("60s"),
            meaning: "longest pause between two reads of a request body",
        },
        Key {
            name: "client_write",
            shape: TIME,
            absent: Absent::Value("60s"),
            meaning: "longest pause between two writes to a client",
        },
        Key {
            name: "origin_connect",
            shape: TIME,
            absent: Absent::Value("5s"),
            meaning: "time to connect to the origin, TLS included",
        },
        Key {
            name: "origin_read",
            shape: TIME,
            absent: Absent::Value("60s"),
            meaning: "longest pause between two reads from the origin, and the most time for the \
                      whole head of a response",
        },
        Key {
            name: "origin_write",
            shape: TIME,
            absent: Absent::Value("60s"),
            meaning: "longest pause between two writes to the origin",
        },
        Key {
            name: "origin_keepalive",
            shape: TIME,
            absent: Absent::Value("60s"),
            meaning: "how long to keep idle origin connections",
        },
        Key {
            name: "origin_lookup",
            shape: TIME,
            absent: Absent::Value("30s"),
            meaning: "how often to look up the name of an origin",
        },
        Key {
            name: "tunnel_idle",
            shape: TIME,
            absent: Absent::Value("1h"),
            meaning: "how long a WebSocket or an event stream may be silent",
        },
        Key {
            name: "drain",
            shape: TIME,
            absent: Absent::Value("30s"),
            meaning: "how long requests may go on after SIGTERM",
        },
    ],
};
