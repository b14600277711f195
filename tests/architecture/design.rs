//! The design as tables: rooms, crates, clocks, effects, sizes.

/// The rooms of the base; every room may use them.
pub(crate) const BASE: [&str; 5] = ["diagnostic", "escape", "fetch", "metrics", "product_token"];
const FORMATS: [&str; 4] = ["robots", "robots_tag", "signature", "crawlers"];

/// The rooms that each room may use beside the base and itself. An arrow only ever points up this
/// table.
pub(crate) const USES: [(&str, &[&str]); 16] = [
    ("robots", &[]),
    ("robots_tag", &[]),
    ("signature", &[]),
    ("crawlers", &["signature"]),
    ("policy", &FORMATS),
    ("enforce", &["robots", "robots_tag", "crawlers", "policy"]),
    ("violations", &["robots"]),
    ("evidence", &["signature", "crawlers", "policy"]),
    ("conduct", &["robots", "crawlers", "policy", "enforce"]),
    ("report", &["robots", "crawlers", "policy", "enforce", "violations"]),
    (
        "publication",
        &["robots", "crawlers", "policy", "enforce", "violations", "evidence", "conduct"],
    ),
    (
        "gate",
        &[
            "robots",
            "signature",
            "crawlers",
            "policy",
            "enforce",
            "violations",
            "evidence",
            "conduct",
            "publication",
        ],
    ),
    ("proxy", &["policy", "enforce", "publication", "gate"]),
    ("admin", &["violations"]),
    (
        "cli",
        &[
            "robots",
            "robots_tag",
            "signature",
            "crawlers",
            "policy",
            "enforce",
            "violations",
            "evidence",
            "report",
            "publication",
            "gate",
            "proxy",
            "admin",
        ],
    ),
    ("main", &["cli"]),
];

/// The places of each direct dependency; it is unknown everywhere else.
pub(crate) const CRATES: [(&str, &[&str]); 39] = [
    ("pingora", &["proxy/"]),
    ("async_trait", &["proxy/"]),
    ("http", &["fetch/", "evidence/", "gate/", "proxy/", "admin/", "cli/"]),
    (
        "bytes",
        &[
            "fetch/",
            "robots/",
            "enforce/",
            "violations/",
            "evidence/",
            "publication/",
            "gate/",
            "proxy/",
        ],
    ),
    ("tokio", &["fetch/", "evidence/", "publication/", "proxy/", "admin/", "cli/"]),
    ("parking_lot", &["violations/", "evidence/", "conduct/", "publication/", "gate/"]),
    ("arc_swap", &["evidence/", "publication/", "gate/"]),
    ("ipnet", &["fetch/", "crawlers/ranges/", "policy/", "evidence/", "gate/", "proxy/"]),
    ("rustls", &["fetch/", "proxy/"]),
    ("regex_automata", &["crawlers/patterns.rs"]),
    ("memchr", &["robots/"]),
    ("sfv", &["robots_tag/", "robots/record.rs", "signature/"]),
    ("serde_yaml", &["policy/yaml.rs"]),
    (
        "serde",
        &["diagnostic", "product_token", "crawlers/", "policy/", "violations/", "report/", "cli/"],
    ),
    ("serde_json", &["diagnostic", "signature/", "crawlers/", "violations/", "report/", "cli/"]),
    ("askama", &["report/html.rs"]),
    ("html5gum", &["robots_tag/head.rs"]),
    ("getrandom", &["gate/privacy.rs"]),
    ("sha2", &["signature/", "crawlers/", "policy/", "enforce/", "evidence/", "report/", "gate/"]),
    ("ring", &["signature/"]),
    ("base64", &["signature/"]),
    (
        "jiff",
        &[
            "enforce/",
            "violations/",
            "evidence/",
            "conduct/",
            "report/",
            "publication/",
            "gate/",
            "proxy/",
            "cli/",
        ],
    ),
    ("strsim", &["crawlers/", "policy/"]),
    ("terminal_size", &["cli/screen.rs"]),
    ("unicode_width", &["report/text.rs"]),
    ("uuid", &["gate/record.rs"]),
    ("zip", &["report/bundle/archive.rs"]),
    ("rusqlite", &["violations/store/"]),
    ("prometheus", &["metrics/"]),
    ("axum", &["admin/", "cli/demo.rs"]),
    ("hyper", &["admin/"]),
    ("hyper_util", &["admin/"]),
    ("clap", &["cli/"]),
    (
        "tracing",
        &[
            "violations/",
            "evidence/",
            "conduct/",
            "publication/",
            "gate/",
            "proxy/",
            "admin/",
            "cli/",
        ],
    ),
    ("tracing_subscriber", &["cli/"]),
    ("reqwest", &["fetch/"]),
    ("url", &["fetch/", "publication/origin_files/"]),
    ("governor", &["conduct/limiter.rs"]),
    ("hickory_resolver", &["evidence/names/"]),
];

/// What reads a clock, and the rooms that may; the others get the time as an argument.
pub(crate) const CLOCKS: [&str; 4] =
    ["Timestamp::now", "SystemTime::now", "Instant::now", "Zoned::now"];
pub(crate) const CLOCK_ROOMS: [&str; 6] =
    ["fetch", "violations", "evidence", "publication", "proxy", "cli"];

/// Sockets, and the rooms that open them; the gate gets requests as data.
pub(crate) const SOCKETS: [&str; 4] = ["TcpStream", "TcpListener", "UdpSocket", "UnixStream"];
pub(crate) const SOCKET_ROOMS: [&str; 3] = ["proxy", "admin", "cli"];

/// What prints; only cli does.
pub(crate) const PRINTING: [&str; 5] = ["println!", "eprintln!", "print!", "eprint!", "dbg!"];

/// What does input or output or waits, and the rooms that do neither.
pub(crate) const EFFECTS: [&str; 8] = [
    "std::fs",
    "File::open",
    "std::process",
    "std::thread::",
    "std::env",
    "tokio::",
    ".await",
    "async fn",
];
pub(crate) const PURE_ROOMS: [&str; 9] = [
    "robots",
    "robots_tag",
    "signature",
    "crawlers",
    "policy",
    "enforce",
    "conduct",
    "report",
    "gate",
];

/// The most lines of a file, and of half of the files.
pub(crate) const MOST_LINES: usize = 450;
pub(crate) const MOST_LINES_OF_HALF: usize = 200;
/// The most lines of a room, and of the proxy: what is not about pingora belongs into the gate.
pub(crate) const MOST_LINES_OF_ROOM: usize = 6_500;
pub(crate) const MOST_LINES_OF_PROXY: usize = 2_500;
