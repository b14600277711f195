//! The design as tables: rooms, crates, clocks, effects, sizes.

/// The streets with their rooms, and the most lines of each. A room may use those before it, as far as
/// its doc says so. The lines only ever shrink, but for a reason in the commit.
pub(crate) const STREETS: [(&str, &[&str], usize); 12] = [
    ("base", &BASE, 3_464),
    (
        "formats",
        &["framing", "access_log", "usage", "robots", "probe", "robots_tag", "signature", "valkey"],
        13_722,
    ),
    ("rules", &["crawlers", "keys", "policy", "enforce"], 17_750),
    ("advice", &["lint", "comparison", "import", "starter", "manual", "fronts", "edit"], 7_989),
    (
        "records",
        &["tally", "record", "counts", "lines", "spool", "clickhouse", "forward", "violations"],
        14_781,
    ),
    ("clients", &["evidence", "conduct"], 7_956),
    ("outside", &["mail", "tls", "alerts", "acme", "remote"], 3_751),
    ("state", &["fleet", "publication", "exchange"], 9_829),
    ("serving", &["gate", "edge", "proxy", "decide"], 8_165),
    ("review", &["report", "explanation", "replay", "trial", "audit", "proposal"], 10_366),
    ("desk", &["admin", "pages", "api"], 8_270),
    ("program", &["console", "service", "cli"], 9_380),
];

/// The rooms of the base; every room may use them.
pub(crate) const BASE: [&str; 11] = [
    "connections",
    "diagnostic",
    "escape",
    "fetch",
    "metrics",
    "product_token",
    "secret_file",
    "stamp",
    "text",
    "version",
    "whole_file",
];

/// All rooms, each before those that may use it.
pub(crate) fn rooms() -> impl Iterator<Item = &'static str> {
    STREETS.iter().flat_map(|(_, rooms, _)| rooms.iter().copied())
}

/// The places of each direct dependency; it is unknown everywhere else.
pub(crate) const CRATES: [(&str, &str); 68] = [
    ("pingora", "edge/ proxy/"),
    ("async_trait", "edge/ proxy/"),
    ("h2", "edge/"),
    ("futures_core", "edge/"),
    ("instant_acme", "acme/"),
    ("lettre", "mail/"),
    ("listenfd", "service/sockets.rs"),
    ("command_fds", "service/successor.rs"),
    ("sd_notify", "service/systemd.rs"),
    ("ppp", "edge/"),
    (
        "http",
        "fetch/ evidence/ gate/ explanation/ edge/ proxy/ decide/ admin/ pages/ api/ cli/demo.rs \
         replay/",
    ),
    (
        "bytes",
        "fetch/ robots/ enforce/ record/ clickhouse/ violations/ evidence/ publication/ exchange/ \
         gate/ edge/ proxy/ decide/ replay/",
    ),
    (
        "tokio",
        "connections/ tls/ acme/ fetch/ clickhouse/ evidence/ mail/ alerts/ remote/ publication/ \
         exchange/ edge/ proxy/ decide/ admin/ pages/ api/ console/ service/ cli/",
    ),
    (
        "parking_lot",
        "alerts/relay.rs tls/ tally/ counts/ lines/ forward/ violations/ evidence/ conduct/ \
         publication/ gate/ edge/ admin/",
    ),
    ("arc_swap", "tls/ evidence/ publication/ gate/"),
    ("ipnet", "fetch/ crawlers/ranges/ policy/ evidence/ gate/ edge/ decide/"),
    ("rustls", "fetch/ tls/ proxy/"),
    ("rcgen", "tls/stand_in.rs"),
    ("regex_automata", "crawlers/patterns.rs"),
    ("aho_corasick", "robots/arrange.rs"),
    ("x509_parser", "tls/pair.rs"),
    ("mimalloc", "main.rs"),
    ("memchr", "text access_log/ crawlers/ robots/ record/path_pattern.rs replay/"),
    ("sfv", "robots_tag/ usage/ signature/"),
    ("granit_parser", "edit/layout.rs"),
    ("similar", "edit/"),
    ("serde_yaml", "policy/yaml.rs import/anubis.rs version/build.rs"),
    (
        "serde",
        "access_log/ acme/ diagnostic product_token text crawlers/ policy/ comparison/ \
         import/ audit/ tally/ record/ forward/ clickhouse/ conduct/ fleet/ violations/ report/ \
         explanation/ trial/ proposal/ admin/ pages/ api/ console/ cli/ replay/",
    ),
    (
        "serde_json",
        "acme/ diagnostic signature/ crawlers/ keys/ import/ record/ clickhouse/ fleet/ exchange/ \
         violations/ alerts/ report/ audit/ admin/ pages/ api/ console/ cli/ access_log/ replay/ \
         enforce/ trial/ policy/catalogue_file.rs version/build.rs",
    ),
    ("askama", "report/html.rs admin/ pages/"),
    ("html5gum", "robots_tag/head.rs crawlers/ranges/html.rs"),
    ("getrandom", "gate/record.rs gate/handover.rs admin/"),
    ("sha2", "signature/ crawlers/ policy/ enforce/ evidence/ report/ gate/ admin/ pages/ api/"),
    ("ring", "signature/ alerts/ remote/ evidence/own_requests.rs"),
    ("base64", "signature/ alerts/ remote/ api/"),
    (
        "jiff",
        "tls/ acme/ policy/ enforce/ comparison/ tally/ counts/ record/ clickhouse/ forward/ violations/ \
         evidence/ conduct/ fleet/ exchange/ report/ alerts/ publication/ gate/ explanation/ \
         trial/ proposal/ edge/ proxy/ admin/ pages/ api/ console/ service/ cli/ access_log/ replay/",
    ),
    ("strsim", "crawlers/ policy/"),
    (
        "derive_more",
        "diagnostic fetch/ product_token text probe/ robots/ robots_tag/ signature/ crawlers/ policy/ \
         enforce/ comparison/ edit/ fronts/ import/ tally/ record/ clickhouse/ forward/ violations/ \
         mail/ tls/ alerts/ remote/ fleet/ publication/ exchange/ gate/ report/ explanation/ replay/ \
         console/",
    ),
    ("terminal_size", "console/output.rs"),
    ("unicode_width", "diagnostic/snippet.rs report/terminal.rs report/grid.rs"),
    (
        "uuid",
        "exchange/member.rs gate/record.rs forward/forwarder.rs violations/store/appender.rs \
         alerts/event.rs report/terms/id.rs",
    ),
    ("crc32fast", "spool"),
    ("hashbrown", "tally/ counts/ record/block/ replay/"),
    ("indexmap", "tally/ counts/ record/block/"),
    ("flate2", "replay/log_file.rs"),
    ("zstd", "replay/log_file.rs"),
    ("zip", "report/bundle/archive.rs"),
    ("redis", "exchange/"),
    ("rusqlite", "lines/database.rs spool violations/store/"),
    ("rustix", "cli/store.rs cli/serve.rs service/descriptors.rs lines/database.rs"),
    ("prometheus", "metrics/"),
    ("axum", "admin/ pages/ api/ cli/demo.rs"),
    ("hyper", "decide/ admin/"),
    ("http_body_util", "decide/"),
    ("hyper_util", "decide/ admin/"),
    ("futures_util", "pages/ api/"),
    ("tokio_util", "admin/"),
    ("clap", "manual/ console/ cli/"),
    ("clap_complete", "console/ cli/"),
    ("clap_mangen", "manual/"),
    (
        "tracing",
        "decide/ connections/ tls/ acme/ tally/ record/ lines/ spool forward/ violations/ evidence/ \
         conduct/ alerts/ publication/ exchange/ gate/ edge/ proxy/ console/log_lines.rs \
         console/config.rs admin/ pages/ api/ service/ cli/",
    ),
    ("tracing_subscriber", "console/"),
    ("tracing_appender", "console/"),
    ("reqwest", "fetch/"),
    ("url", "signature/ fetch/ clickhouse/ remote/ publication/origin_files/ admin/ pages/ api/"),
    ("encoding_rs", "publication/origin_files/body.rs"),
    ("hickory_resolver", "evidence/names/"),
    ("lru", "evidence/names/cache.rs"),
];

/// The names of crates that a room hands on to others as its own.
pub(crate) const HANDED_ON: [&str; 2] = ["prometheus::IntCounter", "prometheus::IntGauge"];

/// What reads a clock, and the rooms that may; the others get the time as an argument.
pub(crate) const CLOCKS: [&str; 7] = [
    "Timestamp::now",
    "SystemTime::now",
    "Instant::now",
    "Zoned::now",
    "SystemTime::elapsed",
    "Instant::elapsed",
    ".elapsed(",
];
pub(crate) const CLOCK_ROOMS: &str = "fetch forward lines violations evidence alerts publication edge \
    proxy decide service cli acme";

/// Sockets, and the rooms that open them; the gate gets requests as data. Addresses are data, too, and
/// looking one up opens no socket of ours.
pub(crate) const SOCKETS: [&str; 3] = ["std::net", "std::os::unix::net", "tokio::net"];
pub(crate) const SOCKET_ROOMS: &str = "connections edge proxy decide admin service cli";
pub(crate) const ADDRESSES: [&str; 6] = [
    "std::net::IpAddr",
    "std::net::Ipv4Addr",
    "std::net::Ipv6Addr",
    "std::net::SocketAddr",
    "std::net::AddrParseError",
    "tokio::net::lookup_host",
];

/// What prints; only cli does.
pub(crate) const PRINTING: [&str; 5] = ["println!", "eprintln!", "print!", "eprint!", "dbg!"];

/// What does input or output or waits, and the rooms that do neither.
pub(crate) const EFFECTS: [&str; 13] = [
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
    "std::os",
    "std::fs",
    "std::process",
    "std::thread",
    "std::env",
    "std::time::Instant",
    "std::time::SystemTime",
    "tokio",
    ".await",
    "async",
];
pub(crate) const PURE_ROOMS: &str = "framing access_log usage robots probe robots_tag signature crawlers keys \
    valkey policy enforce lint comparison import starter audit manual fronts edit record conduct fleet report gate \
    explanation trial";

/// The most lines of a file, and of half of the files.
pub(crate) const MOST_LINES: usize = 450;
pub(crate) const MOST_LINES_OF_HALF: usize = 200;
/// The most lines of the proxy: what is not about pingora belongs into the gate, what is about connections
/// into the edge.
pub(crate) const MOST_LINES_OF_PROXY: usize = 2_500;
