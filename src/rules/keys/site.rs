//! The keys of a site beside its enforcement.

use super::{
    enforcement::ENFORCEMENT,
    section::{Absent, Key, Section, Shape},
    values::{
        CRAWLER_NAME, HOST, MEDIA_TYPE, PAGE, PATTERN, RECORDS, STATUS, STEPS, TARGET, TIME, URL,
    },
};

/// `sites[]`.
pub static SITE: Section = Section {
    path: "sites[]",
    one_of: &[],
    keys: &[
        Key {
            name: "hosts",
            shape: Shape::Some(&HOST),
            absent: Absent::Required,
            meaning: "exact names, with or without a port, or `\"*.example.com\"` for all names \
                      below it. The first host names the site in records. Names with a port \
                      precede those without, exact names precede wildcards, longer wildcards \
                      precede shorter ones",
        },
        Key {
            name: "default",
            shape: Shape::Boolean,
            absent: Absent::Value("false"),
            meaning: "also take requests for hosts of no site. Without a default site, such \
                      requests get 421",
        },
        Key {
            name: "origin",
            shape: Shape::Either(&[Shape::Some(&URL), Shape::Section(&ORIGIN)]),
            absent: Absent::Required,
            meaning: "server for the requests: `http://host:port` or `https://host:port`; several \
                      as a list. The default ports are 80 and 443. Beadle verifies the \
                      certificate of an `https` origin with the system's authorities",
        },
        Key {
            name: "underscore_fields",
            shape: Shape::Boolean,
            absent: Absent::Value("false"),
            meaning: "send request fields with an underscore in their name to the origin, with \
                      exceptions",
        },
        Key {
            name: "request_fields",
            shape: Shape::Mapping(&Shape::Text),
            absent: Absent::Words("none"),
            meaning: "fields of requests to the origin, each with its value, in place of what a \
                      client sends",
        },
        Key {
            name: "via",
            shape: Shape::Boolean,
            absent: Absent::Value("true"),
            meaning: "add `Via` to requests. nginx as the origin compresses nothing for such \
                      requests, unless it has `gzip_proxied any`",
        },
        Key {
            name: "rewrite_location",
            shape: Shape::Boolean,
            absent: Absent::Value("true"),
            meaning: "name the site in a `Location` or `Content-Location` of the origin that \
                      names the address of the origin. A `Destination` of the site by `https` is \
                      one by `http` for an origin without TLS",
        },
        Key {
            name: "timeouts",
            shape: Shape::Section(&SITE_TIMEOUTS),
            absent: Absent::Words("those of `server.timeouts`"),
            meaning: "time limits of the site's origin",
        },
        Key {
            name: "robots_txt",
            shape: Shape::Section(&ROBOTS_TXT),
            absent: Absent::Words("a file without rules"),
            meaning: "the rules that Beadle publishes and enforces",
        },
        Key {
            name: "robots_tag",
            shape: Shape::List(&Shape::Section(&TAG_RULE)),
            absent: Absent::Words("none"),
            meaning: "tags for responses",
        },
        Key {
            name: "robots_tag_legacy",
            shape: Shape::Boolean,
            absent: Absent::Value("true"),
            meaning: "send `X-Robots-Tag` too",
        },
        Key {
            name: "enforcement",
            shape: Shape::Section(&ENFORCEMENT),
            absent: Absent::Value("mode: log"),
            meaning: "action for violations",
        },
    ],
};

/// `sites[].origin`.
pub static ORIGIN: Section = Section {
    path: "sites[].origin",
    one_of: &["url", "urls"],
    keys: &[
        Key {
            name: "url",
            shape: URL,
            absent: Absent::Words("this or `urls`"),
            meaning: "the origin",
        },
        Key {
            name: "urls",
            shape: Shape::Some(&URL),
            absent: Absent::Words("this or `url`"),
            meaning: "several origins, at most 32, all with `https` or all without",
        },
        Key {
            name: "balance",
            shape: Shape::Choice(&["round-robin", "least-connections"]),
            absent: Absent::Value("round-robin"),
            meaning: "how requests are spread over several origins: one after another, or to the \
                      one with the fewest requests in progress",
        },
        Key {
            name: "protocol",
            shape: Shape::Choice(&["http/1.1", "h2"]),
            absent: Absent::Value("http/1.1"),
            meaning: "how requests go to these origins. `h2` is HTTP/2: without TLS by prior \
                      knowledge, as for gRPC. Beadle's own requests use HTTP/1.1",
        },
        Key {
            name: "health",
            shape: Shape::Section(&HEALTH),
            absent: Absent::Words("see there"),
            meaning: "when an origin gets no requests for a while",
        },
        Key {
            name: "case_insensitive",
            shape: Shape::Boolean,
            absent: Absent::Value("false"),
            meaning: "the origin serves `/PRIVATE/` as `/private/`: Express, IIS, `location ~*` \
                      of nginx. Letters of ASCII only",
        },
        Key {
            name: "decode_depth",
            shape: Shape::Integer(1, 3),
            absent: Absent::Value("1"),
            meaning: "how often the origin decodes `%XX`. With 2, `/%2570rivate/` is judged as \
                      `/private/`: nginx with `proxy_pass http://app$uri`",
        },
        Key {
            name: "forms",
            shape: Shape::Either(&[
                Shape::Choice(&["all", "probe"]),
                Shape::List(&Shape::Choice(&STEPS)),
            ]),
            absent: Absent::Value("all"),
            meaning: "which forms of a path count: those of all steps, those of the steps in this \
                      list, or those that the origin takes by its own answers. Dot segments always \
                      count",
        },
        Key {
            name: "probe_path",
            shape: PAGE,
            absent: Absent::Words("none; required with `forms: probe`"),
            meaning: "static page below a folder that answers 200. With `forms: probe`, Beadle \
                      requests forms of it at the start, after a change, and once a day",
        },
    ],
};

/// `sites[].origin.health`.
pub static HEALTH: Section = Section {
    path: "sites[].origin.health",
    one_of: &[],
    keys: &[
        Key {
            name: "failures",
            shape: Shape::Integer(1, 100),
            absent: Absent::Value("3"),
            meaning: "failures in a row after which an origin is down. A refused connection is \
                      enough",
        },
        Key {
            name: "pause",
            shape: TIME,
            absent: Absent::Value("10s"),
            meaning: "how long an origin that is down gets no request. Then one request tries it. \
                      With `path`, it waits for a good check instead",
        },
        Key {
            name: "path",
            shape: TARGET,
            absent: Absent::Words("no checks"),
            meaning: "path that Beadle requests regularly from each origin. A status from 200 to \
                      399 is good",
        },
        Key {
            name: "interval",
            shape: TIME,
            absent: Absent::Value("5s"),
            meaning: "time between two such requests, with `path`",
        },
        Key {
            name: "timeout",
            shape: TIME,
            absent: Absent::Value("2s"),
            meaning: "most time for one of them, with `path`",
        },
    ],
};

/// `sites[].timeouts`.
pub static SITE_TIMEOUTS: Section = Section {
    path: "sites[].timeouts",
    one_of: &[],
    keys: &[
        Key {
            name: "origin_connect",
            shape: TIME,
            absent: OF_SERVER,
            meaning: "time to connect to the origin, TLS included",
        },
        Key {
            name: "origin_read",
            shape: TIME,
            absent: OF_SERVER,
            meaning: "longest pause between two reads from the origin, and the most time for the \
                      whole head of a response",
        },
        Key {
            name: "origin_write",
            shape: TIME,
            absent: OF_SERVER,
            meaning: "longest pause between two writes to the origin",
        },
        Key {
            name: "tunnel_idle",
            shape: TIME,
            absent: OF_SERVER,
            meaning: "how long a WebSocket or an event stream may be silent",
        },
    ],
};

const OF_SERVER: Absent = Absent::Words("that of `server.timeouts`");

/// `sites[].robots_txt`.
pub static ROBOTS_TXT: Section = Section {
    path: "sites[].robots_txt",
    one_of: &[],
    keys: &[
        Key {
            name: "source",
            shape: Shape::Choice(&["policy", "origin", "merge"]),
            absent: Absent::Value("policy"),
            meaning: "whose rules to publish: those of `groups`, the origin's file unchanged, or \
                      both merged",
        },
        Key {
            name: "groups",
            shape: Shape::List(&Shape::Section(&GROUP)),
            absent: Absent::Words("none"),
            meaning: "rules by crawler",
        },
        Key {
            name: "sitemaps",
            shape: Shape::List(&URL),
            absent: Absent::Words("none"),
            meaning: "complete URLs, `https://…`. `{host}` is the requested host",
        },
        Key {
            name: "records",
            shape: RECORDS,
            absent: Absent::Words("none"),
            meaning: "further records for the whole file, such as `License`",
        },
        Key {
            name: "max_age",
            shape: TIME,
            absent: Absent::Value("1h"),
            meaning: "`Cache-Control: max-age` of the file",
        },
        Key {
            name: "cache_window",
            shape: TIME,
            absent: Absent::Value("24h"),
            meaning: "how long a crawler may use the file that it fetched (RFC 9309 §2.4)",
        },
        Key {
            name: "accept_full_disallow",
            shape: Shape::Boolean,
            absent: Absent::Value("false"),
            meaning: "publish an origin's file that closes the whole site to `*` at once, without \
                      quarantine",
        },
        Key {
            name: "vanish_after",
            shape: TIME,
            absent: Absent::Value("24h"),
            meaning: "how long the origin's last rules stay in force after they vanished. `0s` is \
                      not at all",
        },
    ],
};

/// `sites[].robots_txt.groups[]`.
pub static GROUP: Section = Section {
    path: "sites[].robots_txt.groups[]",
    one_of: &[],
    keys: &[
        Key {
            name: "user_agents",
            shape: Shape::Some(&CRAWLER_NAME),
            absent: Absent::Required,
            meaning: "crawlers that the group binds",
        },
        Key {
            name: "disallow",
            shape: Shape::List(&PATTERN),
            absent: Absent::Words("none"),
            meaning: "paths that crawlers must not fetch",
        },
        Key {
            name: "allow",
            shape: Shape::List(&PATTERN),
            absent: Absent::Words("none"),
            meaning: "exceptions",
        },
        Key {
            name: "crawl_delay",
            shape: Shape::Number(0, 86_400),
            absent: Absent::Words("none"),
            meaning: "seconds between two requests, for the crawlers that promise to follow it. 0 \
                      asks for no pace",
        },
        Key {
            name: "records",
            shape: RECORDS,
            absent: Absent::Words("none"),
            meaning: "further records of the group, such as `Content-Signal`",
        },
        Key {
            name: "override",
            shape: Shape::Boolean,
            absent: Absent::Value("false"),
            meaning: "with `source: merge`: ignore the origin's rules for these crawlers",
        },
    ],
};

/// `sites[].robots_tag[]`.
pub static TAG_RULE: Section = Section {
    path: "sites[].robots_tag[]",
    one_of: &[],
    keys: &[
        Key {
            name: "paths",
            shape: Shape::List(&PATTERN),
            absent: Absent::Words("every path"),
            meaning: "patterns as in robots.txt",
        },
        Key {
            name: "content_types",
            shape: Shape::List(&MEDIA_TYPE),
            absent: Absent::Words("every type"),
            meaning: "media types of the response",
        },
        Key {
            name: "statuses",
            shape: Shape::List(&STATUS),
            absent: Absent::Words("every status"),
            meaning: "statuses of the response, 200 to 599. A 304 counts as the response that it refreshes",
        },
        Key {
            name: "rules",
            shape: Shape::Mapping(&Shape::List(&Shape::Text)),
            absent: Absent::Required,
            meaning: "tags such as `noindex` for `*`, a product token, `set:NAME` or `purpose:NAME`. `beadle tags --rules` lists the documented rules",
        },
    ],
};
