//! The keys of `server`.

use super::{
    section::{
        Absent::{Required, Value, Words},
        Key, NONE, Section,
        Shape::{self, Boolean, Choice, Either, Integer, List},
        key, section,
    },
    values::{COUNT, EMAIL, FILE, HOST, HTTPS, LIMIT, NETWORK, SOCKET, size, time},
};

pub(super) static SERVER: Section = section("server").keys(&[
    key(
        "listen",
        Shape::Some(&Either(&[SOCKET, Shape::Section(&LISTENER)])),
        Value("0.0.0.0:8080"),
    )
    .means("addresses for requests"),
    key(
        "admin",
        Either(&[SOCKET, Choice(&["off"]), Shape::Section(&ADMIN)]),
        Value("127.0.0.1:9090"),
    )
    .means("address for the desk, metrics and health"),
    key("decide", Either(&[SOCKET, Shape::Section(&DECIDE)]), NONE)
        .means("address where other servers ask whether a request passes"),
    key("trusted_proxies", List(&NETWORK), NONE).means(
        "proxies whose `X-Forwarded-For`, `Forwarded`, `X-Forwarded-Proto` and `X-Forwarded-Host` \
         Beadle believes",
    ),
    key("timeouts", Shape::Section(&TIMEOUTS), Words("see there")).means("time limits"),
    key("limits", Shape::Section(&LIMITS), Words("see there")).means("what one client may take"),
    key("access_log", Either(&[FILE, Shape::Section(&ACCESS_LOG)]), NONE).means(
        "a line for each request: a file, appended, or `stdout`. Reopened after log rotation",
    ),
    key("threads", Integer(1, 1_024), Words("one for each processor")).means("worker threads"),
]);

static LISTENER: Section = section("server.listen[]").keys(&[
    key("address", SOCKET, Required).means("address for requests"),
    key("tls", Shape::Section(&TLS), Words("none: plain HTTP")).means("certificates"),
    key("redirect", Choice(&["https"]), NONE)
        .means("answers every request with a redirect to HTTPS, except challenges of ACME"),
    key("proxy_protocol", Boolean, Value("false")).means(
        "each connection begins with a PROXY protocol header, version 1 or 2, of one of \
         `trusted_proxies`",
    ),
]);

pub(crate) static TLS: Section =
    section("server.listen[].tls").one_of(&["acme", "certificates", "certificate"]).keys(&[
        key("certificate", FILE, NONE).means("the certificate chain, if there is one certificate"),
        KEY_FILE,
        key("certificates", Shape::Sections(&CERTIFICATE), NONE).means(
            "several certificates. A client gets the one for the name that it asks for, else the \
             first",
        ),
        key("acme", Shape::Section(&ACME), NONE)
            .means("certificates that Beadle orders and renews itself"),
    ]);

const KEY_FILE: Key =
    key("key", FILE, Words("the file of `certificate`")).means("the private key of `certificate`");

static CERTIFICATE: Section = section("server.listen[].tls.certificates[]")
    .keys(&[key("certificate", FILE, Required).means("the certificate chain"), KEY_FILE]);

/// `server.listen[].tls.acme`.
pub static ACME: Section = section("server.listen[].tls.acme").keys(&[
    key("contact", List(&EMAIL), NONE).means("e-mail addresses for the authority"),
    key("hosts", List(&HOST), Words("the exact hosts of the sites"))
        .means("hosts to order certificates for"),
    key("directory", HTTPS, Value("https://acme-v02.api.letsencrypt.org/directory"))
        .means("the authority's directory; the default is Let's Encrypt"),
    key("root", FILE, Words("the public authorities"))
        .means("the root certificate of an authority that is not public"),
    key("folder", FILE, Value("data/acme")).means("folder for account, certificates and keys"),
]);

static ADMIN: Section = section("server.admin").keys(&[
    key("address", SOCKET, Value("127.0.0.1:9090"))
        .means("address for the desk, metrics and health"),
    key("hosts", List(&HOST), NONE).means("further hosts that requests may name"),
    key("token_file", FILE, NONE)
        .means("the secret that opens it; an address that is not on loopback needs one"),
    key("edit", Boolean, Value("false")).means(
        "let the desk write the policy file: `robots_txt`, `robots_tag`, `enforcement` and \
         `preferences` of sites. It needs `token_file`",
    ),
]);

static ACCESS_LOG: Section = section("server.access_log").keys(&[
    key("file", FILE, Required).means("a file, appended, or `stdout`. Reopened after log rotation"),
    key("format", Choice(&["json", "combined"]), Value("json"))
        .means("JSON lines, or NCSA's combined form with the host and the decision behind it"),
]);

static DECIDE: Section = section("server.decide").keys(&[
    key("address", SOCKET, Required).means("address for questions; only `trusted_proxies` may ask"),
    key("refuse_status", Integer(400, 499), Words("each refusal has its own"))
        .means("status of all refusals, for a server that knows no other"),
]);

pub(crate) static LIMITS: Section = section("server.limits").keys(&[
    key("header_time", time("1s", "10m"), Value("15s"))
        .means("time for a whole request header, from its first octet on; then 408"),
    // Above this, the parser of the proxy library refuses a header.
    key("header_size", size("4KiB", "1000KiB"), Value("32KiB"))
        .means("largest request header; beyond it 431, or 414 for the request line"),
    key("header_fields", Integer(1, 250), Value("100"))
        .means("most field lines of a request header; beyond it 431"),
    key("body_rate", Integer(1, 1_000_000), Value("500")).means(
        "least octets per second of a request body that Beadle waits for, after ten seconds; then \
         408",
    ),
    key("connections", COUNT, Value("20000"))
        .means("most connections of all clients; further ones wait a second, then get 503"),
    key("connections_per_network", COUNT, Value("1000")).means(
        "most connections of an IPv4 address or a /64 of IPv6; further ones are closed. \
         `trusted_proxies` are exempt",
    ),
    key("requests", COUNT, Words("`connections`, or what the open files allow"))
        .means("most requests of all clients that are at origins at a time; further ones get 503"),
    key("requests_per_network", COUNT, Words("`1000`, or a quarter of `requests`")).means(
        "most requests of an IPv4 address or a /64 of IPv6 that are at origins at a time; further \
         ones get 503. `trusted_proxies` are exempt",
    ),
    key("handshake_time", time("1s", "10m"), Value("10s"))
        .means("time for a TLS handshake, a PROXY protocol header, and the first frame of HTTP/2"),
]);

pub(crate) static TIMEOUTS: Section = section("server.timeouts").keys(&[
    key("client_keepalive", LIMIT, Value("75s")).means("how long to keep idle client connections"),
    key("client_read", LIMIT, Value("60s"))
        .means("longest pause between two reads of a request body"),
    key("client_write", LIMIT, Value("60s")).means("longest pause between two writes to a client"),
    key("origin_connect", LIMIT, Value("5s")).means("time to connect to the origin, TLS included"),
    key("origin_read", LIMIT, Value("60s")).means(
        "longest pause between two reads from the origin, and the most time for the whole head of \
         a response",
    ),
    key("origin_write", LIMIT, Value("60s"))
        .means("longest pause between two writes to the origin"),
    key("origin_keepalive", LIMIT, Value("60s")).means("how long to keep idle origin connections"),
    key("origin_lookup", LIMIT, Value("30s")).means("how often to look up the name of an origin"),
    key("tunnel_idle", LIMIT, Value("1h"))
        .means("how long a WebSocket or an event stream may be silent"),
    key("drain", LIMIT, Value("30s")).means("how long requests may go on after SIGTERM"),
]);
