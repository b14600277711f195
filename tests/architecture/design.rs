//! The design as tables: rooms, crates, clocks, effects, sizes.

/// The rooms of the base; every room may use them.
pub(crate) const BASE: [&str; 6] =
    ["diagnostic", "escape", "fetch", "metrics", "product_token", "text"];
const FORMATS: [&str; 4] = ["robots", "robots_tag", "signature", "crawlers"];

/// The rooms that each room may use beside the base and itself. An arrow only ever points up this
/// table.
pub(crate) const USES: [(&str, &[&str]); 28] = [
    ("robots", &[]),
    ("robots_tag", &[]),
    ("signature", &[]),
    ("crawlers", &["signature"]),
    ("policy", &FORMATS),
    ("enforce", &["robots", "robots_tag", "crawlers", "policy"]),
    ("comparison", &["robots", "robots_tag", "crawlers", "policy", "enforce"]),
    ("import", &["robots", "crawlers", "policy"]),
    ("starter", &["crawlers", "policy"]),
    ("tally", &[]),
    ("counts", &["tally"]),
    ("record", &["robots", "tally"]),
    ("violations", &["robots", "tally", "counts", "record"]),
    ("evidence", &["signature", "crawlers", "policy"]),
    ("conduct", &["robots", "crawlers", "policy", "enforce"]),
    ("report", &["robots", "crawlers", "policy", "enforce", "violations"]),
    ("audit", &["robots", "robots_tag", "crawlers", "policy", "enforce", "report"]),
    ("alerts", &["policy"]),
    (
        "publication",
        &["robots", "crawlers", "policy", "enforce", "violations", "evidence", "conduct", "alerts"],
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
    ("explanation", &["robots", "crawlers", "enforce", "violations", "publication", "gate"]),
    (
        "trial",
        &[
            "robots",
            "crawlers",
            "policy",
            "enforce",
            "violations",
            "publication",
            "gate",
            "explanation",
        ],
    ),
    ("proxy", &["policy", "enforce", "publication", "gate"]),
    ("admin", &["violations", "report", "publication", "gate"]),
    (
        "desk",
        &[
            "robots",
            "crawlers",
            "policy",
            "enforce",
            "violations",
            "evidence",
            "report",
            "alerts",
            "publication",
            "explanation",
            "trial",
            "admin",
        ],
    ),
    ("api", &["robots", "policy", "enforce", "violations", "report", "admin"]),
    (
        "cli",
        &[
            "robots",
            "robots_tag",
            "signature",
            "crawlers",
            "policy",
            "enforce",
            "comparison",
            "import",
            "starter",
            "audit",
            "violations",
            "evidence",
            "conduct",
            "report",
            "alerts",
            "publication",
            "gate",
            "explanation",
            "trial",
            "proxy",
            "admin",
            "desk",
            "api",
        ],
    ),
    ("main", &["cli"]),
];

/// The places of each direct dependency; it is unknown everywhere else.
pub(crate) const CRATES: [(&str, &[&str]); 43] = [
    ("pingora", &["proxy/"]),
    ("async_trait", &["proxy/"]),
    (
        "http",
        &[
            "fetch/",
            "evidence/",
            "gate/",
            "explanation/",
            "proxy/",
            "admin/",
            "desk/",
            "api/",
            "cli/demo.rs",
        ],
    ),
    (
        "bytes",
        &[
            "fetch/",
            "robots/",
            "enforce/",
            "record/",
            "violations/",
            "evidence/",
            "publication/",
            "gate/",
            "proxy/",
        ],
    ),
    (
        "tokio",
        &[
            "fetch/",
            "evidence/",
            "alerts/",
            "publication/",
            "proxy/",
            "admin/",
            "desk/",
            "api/",
            "cli/",
        ],
    ),
    (
        "parking_lot",
        &["tally/", "counts/", "violations/", "evidence/", "conduct/", "publication/", "gate/"],
    ),
    ("arc_swap", &["evidence/", "publication/", "gate/"]),
    ("ipnet", &["fetch/", "crawlers/ranges/", "policy/", "evidence/", "gate/", "proxy/"]),
    ("rustls", &["fetch/", "publication/certificates.rs", "proxy/"]),
    ("regex_automata", &["crawlers/patterns.rs"]),
    ("x509_parser", &["publication/certificates.rs"]),
    ("memchr", &["robots/", "record/path_pattern.rs"]),
    ("sfv", &["robots_tag/", "robots/record.rs", "signature/"]),
    ("serde_yaml", &["policy/yaml.rs", "import/anubis.rs"]),
    (
        "serde",
        &[
            "diagnostic",
            "product_token",
            "text",
            "crawlers/",
            "policy/",
            "comparison/",
            "import/",
            "audit/",
            "tally/",
            "record/",
            "violations/",
            "report/",
            "explanation/",
            "trial/",
            "admin/",
            "desk/",
            "api/",
            "cli/",
        ],
    ),
    (
        "serde_json",
        &[
            "diagnostic",
            "signature/",
            "crawlers/",
            "import/",
            "record/",
            "violations/",
            "alerts/",
            "report/",
            "admin/",
            "desk/",
            "api/",
            "cli/",
        ],
    ),
    ("askama", &["report/html.rs", "admin/", "desk/"]),
    ("plotters", &["desk/"]),
    ("html5gum", &["robots_tag/head.rs"]),
    ("getrandom", &["gate/privacy.rs", "admin/"]),
    (
        "sha2",
        &[
            "signature/",
            "crawlers/",
            "policy/",
            "enforce/",
            "evidence/",
            "report/",
            "gate/",
            "admin/",
            "api/",
        ],
    ),
    ("ring", &["signature/", "alerts/"]),
    ("base64", &["signature/", "alerts/", "api/"]),
    (
        "jiff",
        &[
            "enforce/",
            "comparison/",
            "tally/",
            "counts/",
            "record/",
            "violations/",
            "evidence/",
            "conduct/",
            "report/",
            "alerts/",
            "publication/",
            "gate/",
            "explanation/",
            "trial/",
            "proxy/",
            "admin/",
            "desk/",
            "api/",
            "cli/",
        ],
    ),
    ("strsim", &["crawlers/", "policy/"]),
    ("terminal_size", &["cli/screen.rs"]),
    ("unicode_width", &["report/text.rs", "cli/violations/table.rs"]),
    (
        "uuid",
        &[
            "gate/record.rs",
            "violations/store/appender.rs",
            "alerts/webhook.rs",
            "report/terms/id.rs",
        ],
    ),
    ("hashbrown", &["tally/", "counts/"]),
    ("zip", &["report/bundle/archive.rs"]),
    ("rusqlite", &["violations/store/"]),
    ("rustix", &["cli/store/disk.rs"]),
    ("prometheus", &["metrics/"]),
    ("axum", &["admin/", "desk/", "api/", "cli/demo.rs"]),
    ("hyper", &["admin/", "desk/", "api/"]),
    ("hyper_util", &["admin/"]),
    ("clap", &["cli/"]),
    (
        "tracing",
        &[
            "tally/",
            "record/",
            "violations/",
            "evidence/",
            "conduct/",
            "alerts/",
            "publication/",
            "gate/",
            "proxy/",
            "admin/",
            "desk/",
            "api/",
            "cli/",
        ],
    ),
    ("tracing_subscriber", &["cli/"]),
    ("reqwest", &["fetch/"]),
    ("url", &["fetch/", "publication/origin_files/", "admin/", "desk/", "api/"]),
    ("governor", &["conduct/limiter.rs"]),
    ("hickory_resolver", &["evidence/names/"]),
];

/// What reads a clock, and the rooms that may; the others get the time as an argument.
pub(crate) const CLOCKS: [&str; 4] =
    ["Timestamp::now", "SystemTime::now", "Instant::now", "Zoned::now"];
pub(crate) const CLOCK_ROOMS: [&str; 7] =
    ["fetch", "violations", "evidence", "alerts", "publication", "proxy", "cli"];

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
pub(crate) const PURE_ROOMS: [&str; 16] = [
    "robots",
    "robots_tag",
    "signature",
    "crawlers",
    "policy",
    "enforce",
    "comparison",
    "import",
    "starter",
    "audit",
    "record",
    "conduct",
    "report",
    "gate",
    "explanation",
    "trial",
];

/// The most lines of a file, and of half of the files.
pub(crate) const MOST_LINES: usize = 450;
pub(crate) const MOST_LINES_OF_HALF: usize = 200;
/// The most lines of a room, and of the proxy: what is not about pingora belongs into the gate.
pub(crate) const MOST_LINES_OF_ROOM: usize = 6_500;
pub(crate) const MOST_LINES_OF_PROXY: usize = 2_500;
