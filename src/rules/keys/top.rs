//! The keys of the whole policy, of the sections beside `server` and `sites`, and of tests.

use super::{
    section::{
        Absent::{Required, Value, Words},
        NONE, Section,
        Shape::{self, Boolean, Choice, Either, Integer, List, Mapping, Purpose, Sections, Text},
        key, section,
    },
    server::SERVER,
    site::{SITE, USE},
    values::{
        ACTIONS, ADDRESS, COUNT, EMAIL, EVENTS, FILE, HOST, MAIL_SERVER, NAME, NETWORK, REASONS,
        SHARED, STANDING, URL, WEEKLY, size, time,
    },
};

/// The whole policy.
pub static POLICY: Section = section("").keys(&[
    key("server", Shape::Section(&SERVER), Words("see there"))
        .means("listeners, trusted proxies, timeouts"),
    key("violations", Shape::Section(&VIOLATIONS), Words("JSON lines on standard output"))
        .means("where records go"),
    key("evidence", Shape::Section(&EVIDENCE), Words("none: claims are not checked"))
        .means("how to verify crawlers"),
    key("fleet", Shape::Section(&FLEET), Words("none: one node"))
        .means("the server that several nodes share"),
    key("alerts", Sections(&ALERT), NONE).means("who is told of events"),
    key("reports", Sections(&REPORT), NONE).means("who gets regular reports by e-mail"),
    key("email", Shape::Section(&MAIL), NONE).means("the mail server for alerts and reports"),
    key("catalogue", Either(&[FILE, Shape::Section(&CATALOGUE)]), Words("the built-in catalogue"))
        .means("the file of a newer catalogue, or the section below"),
    key("crawlers", List(&Shape::Section(&CRAWLER)), NONE)
        .means("your own crawlers, in addition to the catalogue"),
    key(
        "crawler_sets",
        Mapping(&Either(&[List(&Shape::SomeCrawlers), Shape::Section(&CRAWLER_SET)])),
        NONE,
    )
    .means("names for groups of crawlers"),
    key("strict", Boolean, Value("true")).means(
        "report a crawler name that is one slip away from a known one as an error (`false`: as a \
         warning)",
    ),
    key("sites", Shape::Some(&Shape::Section(&SITE)), Required)
        .means("the sites that Beadle serves"),
    key("tests", Sections(&TEST), NONE).means("requests and the decisions that you expect"),
    key("test_failures", Choice(&["warn", "refuse"]), Value("warn")).means(
        "what a failed test does: `refuse` also refuses a start or a reload with this policy",
    ),
]);

static TEST: Section = section("tests[]").one_of(&["product_token", "user_agent"]).keys(&[
    key("name", Text, Words("the client and the URL")).means("name of the test"),
    key("user_agent", Text, NONE).means("the whole User-Agent, instead of `product_token`"),
    key("product_token", Text, NONE)
        .means("the crawler that sends the request: its User-Agent is this name"),
    key("url", Text, Required).means("the requested URL"),
    key("site", Text, Words("the only site, else the default site")).means("site of a path"),
    key("client_ip", Text, Words("none: the claim is not checked"))
        .means("the client's address, checked with the copies in `evidence.folder`"),
    key("standing", STANDING, Words("none: the claim is not checked"))
        .means("the result of the check, instead of `client_ip`"),
    key("after", time("0s", "8d"), Words("longer than any crawler remembers"))
        .means("time since the rules came into force. Before, the site had a file without rules"),
    key("expect", Choice(&["allow", "disallow"]), Words("not compared"))
        .means("the verdict of the rules"),
    key("action", Choice(&ACTIONS), Words("not compared"))
        .means("the action. A single request is never throttled"),
    key("line", Integer(1, 1_000_000), Words("not compared"))
        .means("line in robots.txt of the rule that decides"),
    key("reason", Choice(&REASONS), Words("not compared"))
        .means("the reason of the decision, such as `robots.disallow.grace`"),
    key("train_ai", USE, Words("not compared"))
        .means("whether robots.txt lets the crawler train models on it"),
    key("search", USE, Words("not compared"))
        .means("whether robots.txt lets the crawler show it in a search"),
    key("robots_tag", Text, Words("not compared")).means(
        "`Robots-Tag` of the response; empty for none. The order of its members does not matter",
    ),
    key("x_robots_tag", Text, Words("not compared"))
        .means("`X-Robots-Tag` of the response; empty for none"),
]);

static VIOLATIONS: Section = section("violations").keys(&[
    key("database", FILE, NONE).means(
        "an SQLite file, created if missing. Beadle creates a folder beside the policy (`data/`); \
         any other folder must exist. Or a ClickHouse server for several nodes: \
         `clickhouse://USER@HOST:8123/DATABASE`, with TLS `clickhouses://USER@HOST:8443/DATABASE`",
    ),
    key("clickhouse", Shape::Section(&CLICKHOUSE), Words("its defaults"))
        .means("the password of ClickHouse, and what stays on this machine"),
    key("on_damage", Choice(&["keep", "rotate"]), Value("keep")).means(
        "what happens to a damaged database: it stays as it is, or it is moved aside and a new one \
         is started",
    ),
    key("log", FILE, NONE).means("JSON lines, appended. Reopened after log rotation"),
    key("retention", time("1h", "3650d"), Value("90d"))
        .means("how long to keep records and counts in the database"),
    key("max_size", size("16MiB", "16TiB"), Value("2GiB")).means(
        "how large the database may become. Then the oldest records go. Units: `kB`, `MB`, `GB`, \
         `TB` and `KiB`, `MiB`, `GiB`, `TiB`",
    ),
    key("queue", Integer(1, 1_000_000), Value("8192")).means(
        "records that may wait to be written (at most 32 MiB). Further records are counted, not \
         kept",
    ),
    key("detail", Integer(0, 1_000_000), Value("1000")).means(
        "full records of one site, crawler and rule in an hour, in the database and in the log. \
         Further violations are only counted",
    ),
    key("redact_query", List(&Text), NONE).means(
        "query parameters whose values are replaced before anything is recorded. `token` also \
         covers `TOKEN`, `token[]`, `user[token]`, and encoded spellings such as `token%3d`. A \
         name that is encoded more than eight times counts as a secret",
    ),
    key("client_ip", Choice(&["full", "network", "hash"]), Value("full"))
        .means("how much of a client's address to record"),
]);

static CLICKHOUSE: Section = section("violations.clickhouse").keys(&[
    key(
        "password_file",
        FILE,
        Words("the environment's `BEADLE_CLICKHOUSE_PASSWORD`, or no password"),
    )
    .means("the file with the password of the user. Read at each start"),
    key("ca_file", FILE, NONE).means("authorities to trust in addition to the public ones"),
    key("local", FILE, Value("data/beadle.db")).means(
        "an SQLite file with what this node needs after a restart: editions, fetches, hosts and \
         quarantine",
    ),
    key("spool", FILE, Value("data/spool"))
        .means("a folder for records that are not sent yet. Each node needs its own"),
    key("spool_size", size("16MiB", "16TiB"), Value("1GiB"))
        .means("how large the spool may become. Then further records are only counted"),
]);

static EVIDENCE: Section = section("evidence").keys(&[
    key("user_agents", List(&Shape::Crawlers), Words("all")).means("crawlers to verify"),
    key("ip_ranges", Boolean, Value("true")).means(
        "fetch the address lists that operators publish. `false`: a crawler with a list can be \
         confirmed by other evidence, and is never contradicted",
    ),
    key("reverse_dns", Boolean, Value("true")).means(
        "resolve a client's address to a name and back. `false`: a crawler with reverse DNS names \
         can be confirmed by other evidence, and is never contradicted",
    ),
    key("signatures", Boolean, Value("true")).means(
        "verify signed requests (Web Bot Auth) with the operators' keys. `false`: a request with a \
         signature in the crawler's name that may be valid is never contradicted",
    ),
    key("folder", FILE, NONE)
        .means("keeps the last good copy of each list and key directory for the next start"),
    key("refresh", time("1h", "7d"), Value("1d")).means("how often to fetch the lists"),
    key("name_servers", List(&ADDRESS), Words("the system's")).means("DNS servers for lookups"),
    key("certificate_authorities", FILE, NONE)
        .means("authorities to trust in addition to the public ones"),
    key("allow_addresses", List(&NETWORK), NONE)
        .means("non-public addresses that Beadle may fetch from"),
]);

static FLEET: Section = section("fleet").keys(&[
    key("shared", SHARED, Required).means(
        "the Valkey or Redis server that all nodes share: `redis://`, `rediss://` with TLS, \
         `+sentinel` or `+cluster`. The URL has no password",
    ),
    key("node", NAME, Words("`BEADLE_FLEET_NODE`, else the host's name"))
        .means("name of this node, different from those of all others"),
    key("password_file", FILE, Words("`BEADLE_FLEET_PASSWORD`, else no password"))
        .means("file of the server's password; not readable by every user"),
    key("ca_file", FILE, Words("the system's authorities"))
        .means("PEM file of the authorities that the server's certificate comes from"),
    key("prefix", NAME, Value("beadle")).means(
        "what every key on the server begins with, at most 32 characters. Two fleets on one server \
         have two prefixes",
    ),
    key("alone", Choice(&["excuse", "judge"]), Value("excuse")).means(
        "what a node does with violations while it hears nothing of the others: it excuses them, \
         or it judges by the rules that it knows",
    ),
]);

static ALERT: Section = section("alerts[]").one_of(&["email_to", "url"]).keys(&[
    key("url", URL, NONE)
        .means("where events go, `https://` or `http://`; may be a private address"),
    key("format", Choice(&["json", "slack", "teams", "discord", "ntfy"]), Value("json"))
        .means("what the receiver at `url` reads"),
    key("secret_file", FILE, NONE).means(
        "the secret that signs events, 16 bytes at least; not readable by every user. Required \
         with `format: json`",
    ),
    key("email_to", Shape::Some(&EMAIL), NONE)
        .means("e-mail addresses, in place of `url`. The section `email` names the server"),
    key("digest", time("1s", "1d"), Words("each event at once"))
        .means("how long to collect events for one e-mail. Needs `violations.database`"),
    key("on", Shape::Some(&Choice(&EVENTS)), Words("all")).means("the events to send"),
    key("violations_per_minute", COUNT, Value("600"))
        .means("violations at a site in one minute, above which `violation_rate` is sent"),
    key("impostors_per_minute", COUNT, Value("60"))
        .means("requests of impostors at a site in one minute, above which `impostors` is sent"),
]);

static REPORT: Section = section("reports[]").keys(&[
    key("every", WEEKLY, Required)
        .means("when to send the report, in UTC: a day of the week or `day`, and the time"),
    key("to", Shape::Some(&EMAIL), Required).means("e-mail addresses"),
    key("sites", List(&HOST), Words("all, as one"))
        .means("hosts of the sites, each with its report"),
]);

static MAIL: Section = section("email").keys(&[
    key("server", MAIL_SERVER, Required)
        .means("the SMTP server. Without a port, the usual one of `tls`: 587, 465 or 25"),
    key("tls", Choice(&["starttls", "implicit", "none"]), Value("starttls"))
        .means("how to encrypt the connection. Beadle never falls back to an open one"),
    key("from", EMAIL, Required).means("the sender's address"),
    key("username", Text, Words("no login")).means("the user at the server"),
    key("password_file", FILE, NONE)
        .means("the file with the user's password; not readable by every user"),
]);

/// `catalogue`, if it is more than a file.
static CATALOGUE: Section = section("catalogue").keys(&[
    key("file", FILE, Words("the built-in catalogue")).means("a newer catalogue"),
    key("follow", Sections(&FOLLOW), NONE)
        .means("lists of crawlers that others maintain, each fetched regularly"),
    key("folder", FILE, Words("`catalogue` beside the database"))
        .means("keeps the last good copy of each list, and the names that you accept"),
]);

static FOLLOW: Section = section("catalogue.follow[]").keys(&[
    key("url", URL, Required).means("where to fetch it; `http://` is for this machine alone"),
    key("format", Choice(&["ai-robots-json"]), Required)
        .means("its format: robots.json of ai.robots.txt"),
    key("every", time("1h", "7d"), Value("1d"))
        .means("how often to fetch it, from 1 hour to 7 days"),
]);

static CRAWLER: Section = section("crawlers[]").keys(&[
    key("product_token", Text, Required).means("name in robots.txt"),
    key("aliases", List(&Text), NONE).means("further names"),
    key("operator", Text, NONE).means("operator, for records and `beadle crawlers show`"),
    key("purpose", Purpose, Value("other")).means("what the crawler collects pages for"),
    key("documentation", Text, NONE).means("URL of the operator's documentation"),
    key(
        "kind",
        Choice(&["crawler", "user-triggered", "automation", "app", "control"]),
        Value("crawler"),
    )
    .means("decides which groups bind it"),
    key("governs", List(&Purpose), Words("its purpose, with `kind: control`"))
        .means("uses of copies that a control token governs"),
    key("falls_back_to", List(&Text), NONE).means("groups that it follows if no group names it"),
    key("ignores_star", Boolean, Value("false")).means("only a group that names it binds it"),
    key("user_agent_pattern", Text, NONE)
        .means("matches the whole User-Agent (first 4 KiB), for a crawler without a name"),
    key("ip_ranges", List(&URL), NONE).means("published lists of its addresses"),
    key("ip_format", Text, Words("detected")).means("format of these lists"),
    key("reverse_dns", List(&Text), NONE)
        .means("endings of the names of its addresses: `.bots.example`"),
    key("signature_agent", URL, NONE).means("its `Signature-Agent`"),
]);

static CRAWLER_SET: Section = section("crawler_sets.*").keys(&[
    key("purposes", List(&Purpose), NONE).means("all crawlers with these purposes"),
    key("product_tokens", List(&Text), NONE).means("single crawlers"),
]);
