//! The keys of `violations`, `violations.clickhouse`, `evidence` and `alerts`.

use super::{
    section::{Absent, Key, Section, Shape},
    values::{ADDRESS, COUNT, CRAWLER_NAME, EVENTS, FILE, NETWORK, SIZE, TIME, URL},
};

/// `violations`.
pub static VIOLATIONS: Section = Section {
    path: "violations",
    one_of: &[],
    keys: &[
        Key {
            name: "database",
            shape: FILE,
            absent: Absent::Words("none"),
            meaning: "an SQLite file, created if missing. Beadle creates a folder beside the \
                      policy (`data/`); any other folder must exist. Or a ClickHouse server for \
                      several nodes: `clickhouse://USER@HOST:8123/DATABASE`, with TLS \
                      `clickhouses://USER@HOST:8443/DATABASE`",
        },
        Key {
            name: "clickhouse",
            shape: Shape::Section(&CLICKHOUSE),
            absent: Absent::Words("its defaults"),
            meaning: "the password of ClickHouse, and what stays on this machine",
        },
        Key {
            name: "on_damage",
            shape: Shape::Choice(&["keep", "rotate"]),
            absent: Absent::Value("keep"),
            meaning: "what happens to a damaged database: it stays as it is, or it is moved aside \
                      and a new one is started",
        },
        Key {
            name: "log",
            shape: FILE,
            absent: Absent::Words("none"),
            meaning: "JSON lines, appended. Reopened after log rotation",
        },
        Key {
            name: "retention",
            shape: TIME,
            absent: Absent::Value("90d"),
            meaning: "how long to keep records and counts in the database",
        },
        Key {
            name: "max_size",
            shape: SIZE,
            absent: Absent::Value("2GiB"),
            meaning: "how large the database may become. Then the oldest records go. Units: `kB`, \
                      `MB`, `GB`, `TB` and `KiB`, `MiB`, `GiB`, `TiB`",
        },
        Key {
            name: "queue",
            shape: Shape::Integer(1, 1_000_000),
            absent: Absent::Value("8192"),
            meaning: "records that may wait to be written (at most 32 MiB). Further records are \
                      counted, not kept",
        },
        Key {
            name: "detail",
            shape: Shape::Integer(0, 1_000_000),
            absent: Absent::Value("1000"),
            meaning: "full records of one site, crawler and rule in an hour, in the database and \
                      in the log. Further violations are only counted",
        },
        Key {
            name: "redact_query",
            shape: Shape::List(&Shape::Text),
            absent: Absent::Words("none"),
            meaning: "query parameters whose values are replaced before anything is recorded. \
                      `token` also covers `TOKEN`, `token[]`, `user[token]`, and encoded \
                      spellings such as `token%3d`. A name that is encoded more than eight times \
                      counts as a secret",
        },
        Key {
            name: "client_ip",
            shape: Shape::Choice(&["full", "network", "hash"]),
            absent: Absent::Value("full"),
            meaning: "how much of a client's address to record",
        },
    ],
};

/// `violations.clickhouse`.
pub static CLICKHOUSE: Section = Section {
    path: "violations.clickhouse",
    one_of: &[],
    keys: &[
        Key {
            name: "password_file",
            shape: FILE,
            absent: Absent::Words("the environment's `BEADLE_CLICKHOUSE_PASSWORD`, or no password"),
            meaning: "the file with the password of the user. Read at each start",
        },
        Key {
            name: "ca_file",
            shape: FILE,
            absent: Absent::Words("none"),
            meaning: "authorities to trust in addition to the public ones",
        },
        Key {
            name: "local",
            shape: FILE,
            absent: Absent::Value("data/beadle.db"),
            meaning: "an SQLite file with what this node needs after a restart: editions, fetches, \
                      hosts and quarantine",
        },
        Key {
            name: "spool",
            shape: FILE,
            absent: Absent::Value("data/spool"),
            meaning: "a folder for records that are not sent yet. Each node needs its own",
        },
        Key {
            name: "spool_size",
            shape: SIZE,
            absent: Absent::Value("1GiB"),
            meaning: "how large the spool may become. Then further records are only counted",
        },
    ],
};

/// `evidence`.
pub static EVIDENCE: Section = Section {
    path: "evidence",
    one_of: &[],
    keys: &[
        Key {
            name: "user_agents",
            shape: Shape::List(&CRAWLER_NAME),
            absent: Absent::Words("all"),
            meaning: "crawlers to verify",
        },
        Key {
            name: "ip_ranges",
            shape: Shape::Boolean,
            absent: Absent::Value("true"),
            meaning: "fetch the address lists that operators publish. `false`: a crawler with a \
                      list can be confirmed by other evidence, and is never contradicted",
        },
        Key {
            name: "reverse_dns",
            shape: Shape::Boolean,
            absent: Absent::Value("true"),
            meaning: "resolve a client's address to a name and back. `false`: a crawler with \
                      reverse DNS names can be confirmed by other evidence, and is never \
                      contradicted",
        },
        Key {
            name: "signatures",
            shape: Shape::Boolean,
            absent: Absent::Value("true"),
            meaning: "verify signed requests (Web Bot Auth) with the operators' keys. `false`: a \
                      request with a signature in the crawler's name that may be valid is never \
                      contradicted",
        },
        Key {
            name: "folder",
            shape: FILE,
            absent: Absent::Words("none"),
            meaning: "keeps the last good copy of each list and key directory for the next start",
        },
        Key {
            name: "refresh",
            shape: TIME,
            absent: Absent::Value("1d"),
            meaning: "how often to fetch the lists",
        },
        Key {
            name: "name_servers",
            shape: Shape::List(&ADDRESS),
            absent: Absent::Words("the system's"),
            meaning: "DNS servers for lookups",
        },
        Key {
            name: "certificate_authorities",
            shape: FILE,
            absent: Absent::Words("none"),
            meaning: "authorities to trust in addition to the public ones",
        },
        Key {
            name: "allow_addresses",
            shape: Shape::List(&NETWORK),
            absent: Absent::Words("none"),
            meaning: "non-public addresses that Beadle may fetch from",
        },
    ],
};

/// `alerts[]`.
pub static ALERT: Section = Section {
    path: "alerts[]",
    one_of: &[],
    keys: &[
        Key {
            name: "url",
            shape: URL,
            absent: Absent::Required,
            meaning: "where events go, `https://` or `http://`; may be a private address",
        },
        Key {
            name: "secret_file",
            shape: FILE,
            absent: Absent::Required,
            meaning: "the secret that signs events, 16 bytes at least; not readable by every user",
        },
        Key {
            name: "on",
            shape: Shape::Some(&Shape::Choice(&EVENTS)),
            absent: Absent::Words("all"),
            meaning: "the events to send",
        },
        Key {
            name: "violations_per_minute",
            shape: COUNT,
            absent: Absent::Value("600"),
            meaning: "violations at a site in one minute, above which `violation_rate` is sent",
        },
        Key {
            name: "impostors_per_minute",
            shape: COUNT,
            absent: Absent::Value("60"),
            meaning: "requests of impostors at a site in one minute, above which `impostors` is \
                      sent",
        },
    ],
};
