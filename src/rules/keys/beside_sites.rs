//! The keys of `violations`, `violations.clickhouse` and `evidence`.

use super::{
    section::{
        Absent::{Value, Words},
        NONE, Section,
        Shape::{self, Boolean, Choice, Integer, List, Text},
        key,
    },
    values::{ADDRESS, CRAWLER_NAME, FILE, NETWORK, SIZE, TIME},
};

/// `violations`.
pub static VIOLATIONS: Section = Section {
    path: "violations",
    one_of: &[],
    keys: &[
        key("database", FILE, NONE).means(
            "an SQLite file, created if missing. Beadle creates a folder beside the policy \
             (`data/`); any other folder must exist. Or a ClickHouse server for several nodes: \
             `clickhouse://USER@HOST:8123/DATABASE`, with TLS \
             `clickhouses://USER@HOST:8443/DATABASE`",
        ),
        key("clickhouse", Shape::Section(&CLICKHOUSE), Words("its defaults"))
            .means("the password of ClickHouse, and what stays on this machine"),
        key("on_damage", Choice(&["keep", "rotate"]), Value("keep")).means(
            "what happens to a damaged database: it stays as it is, or it is moved aside and a new \
             one is started",
        ),
        key("log", FILE, NONE).means("JSON lines, appended. Reopened after log rotation"),
        key("retention", TIME, Value("90d"))
            .means("how long to keep records and counts in the database"),
        key("max_size", SIZE, Value("2GiB")).means(
            "how large the database may become. Then the oldest records go. Units: `kB`, `MB`, \
             `GB`, `TB` and `KiB`, `MiB`, `GiB`, `TiB`",
        ),
        key("queue", Integer(1, 1_000_000), Value("8192")).means(
            "records that may wait to be written (at most 32 MiB). Further records are counted, \
             not kept",
        ),
        key("detail", Integer(0, 1_000_000), Value("1000")).means(
            "full records of one site, crawler and rule in an hour, in the database and in the \
             log. Further violations are only counted",
        ),
        key("redact_query", List(&Text), NONE).means(
            "query parameters whose values are replaced before anything is recorded. `token` also \
             covers `TOKEN`, `token[]`, `user[token]`, and encoded spellings such as `token%3d`. A \
             name that is encoded more than eight times counts as a secret",
        ),
        key("client_ip", Choice(&["full", "network", "hash"]), Value("full"))
            .means("how much of a client's address to record"),
    ],
};

/// `violations.clickhouse`.
pub static CLICKHOUSE: Section = Section {
    path: "violations.clickhouse",
    one_of: &[],
    keys: &[
        key(
            "password_file",
            FILE,
            Words("the environment's `BEADLE_CLICKHOUSE_PASSWORD`, or no password"),
        )
        .means("the file with the password of the user. Read at each start"),
        key("ca_file", FILE, NONE).means("authorities to trust in addition to the public ones"),
        key("local", FILE, Value("data/beadle.db")).means(
            "an SQLite file with what this node needs after a restart: editions, fetches, hosts \
             and quarantine",
        ),
        key("spool", FILE, Value("data/spool"))
            .means("a folder for records that are not sent yet. Each node needs its own"),
        key("spool_size", SIZE, Value("1GiB"))
            .means("how large the spool may become. Then further records are only counted"),
    ],
};

/// `evidence`.
pub static EVIDENCE: Section = Section {
    path: "evidence",
    one_of: &[],
    keys: &[
        key("user_agents", List(&CRAWLER_NAME), Words("all")).means("crawlers to verify"),
        key("ip_ranges", Boolean, Value("true")).means(
            "fetch the address lists that operators publish. `false`: a crawler with a list can be \
             confirmed by other evidence, and is never contradicted",
        ),
        key("reverse_dns", Boolean, Value("true")).means(
            "resolve a client's address to a name and back. `false`: a crawler with reverse DNS \
             names can be confirmed by other evidence, and is never contradicted",
        ),
        key("signatures", Boolean, Value("true")).means(
            "verify signed requests (Web Bot Auth) with the operators' keys. `false`: a request \
             with a signature in the crawler's name that may be valid is never contradicted",
        ),
        key("folder", FILE, NONE)
            .means("keeps the last good copy of each list and key directory for the next start"),
        key("refresh", TIME, Value("1d")).means("how often to fetch the lists"),
        key("name_servers", List(&ADDRESS), Words("the system's")).means("DNS servers for lookups"),
        key("certificate_authorities", FILE, NONE)
            .means("authorities to trust in addition to the public ones"),
        key("allow_addresses", List(&NETWORK), NONE)
            .means("non-public addresses that Beadle may fetch from"),
    ],
};
