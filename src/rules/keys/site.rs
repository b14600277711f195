//! The keys of a site.

use super::{
    section::{
        Absent::{self, Required, Value, Words},
        NONE, Section,
        Shape::{self, Boolean, Choice, Either, Integer, List, Mapping, Number, OneNumber, Text},
        key, section,
    },
    values::{
        COUNT, FIELDS, HOST, INSTANT, LIMIT, MEDIA_TYPE, PACE, PAGE, PATTERN, PURPOSE, RECORDS,
        SHARE, STANDING, STATUS, STEPS, TARGET, URL, WAIT, time,
    },
};

/// `sites[]`.
pub static SITE: Section = section("sites[]").keys(&[
    key("hosts", Shape::Some(&HOST), Required).means(
        "exact names, with or without a port, or `\"*.example.com\"` for all names below it. The \
         first host names the site in records. Names with a port precede those without, exact \
         names precede wildcards, longer wildcards precede shorter ones",
    ),
    key("default", Boolean, Value("false")).means(
        "also take requests for hosts of no site. Without a default site, such requests get 421",
    ),
    key("origin", Either(&[Shape::Some(&URL), Shape::Section(&ORIGIN)]), Required).means(
        "server for the requests: `http://host:port` or `https://host:port`; several as a list. \
         The default ports are 80 and 443. Beadle verifies the certificate of an `https` origin \
         with the system's authorities",
    ),
    key("underscore_fields", Boolean, Value("false")).means(
        "send request fields with an underscore in their name to the origin, with exceptions",
    ),
    key("request_fields", FIELDS, NONE).means(
        "fields of requests to the origin, each with its value, in place of what a client sends",
    ),
    key("via", Boolean, Value("true")).means(
        "add `Via` to requests. nginx as the origin compresses nothing for such requests, unless \
         it has `gzip_proxied any`",
    ),
    key("rewrite_location", Boolean, Value("true")).means(
        "name the site in a `Location` or `Content-Location` of the origin that names the address \
         of the origin. A `Destination` of the site by `https` is one by `http` for an origin \
         without TLS",
    ),
    key("timeouts", Shape::Section(&SITE_TIMEOUTS), Words("those of `server.timeouts`"))
        .means("time limits of the site's origin"),
    key("robots_txt", Shape::Section(&ROBOTS_TXT), Words("a file without rules"))
        .means("the rules that Beadle publishes and enforces"),
    key("robots_tag", List(&Shape::Section(&TAG_RULE)), NONE).means("tags for responses"),
    key("robots_tag_legacy", Boolean, Value("true")).means("send `X-Robots-Tag` too"),
    key("preferences", List(&Shape::Section(&PREFERENCE)), NONE)
        .means("what the content may be used for, in robots.txt and in fields of responses"),
    key("license", URL, Words("no licence"))
        .means("address of a licence for crawlers (RSL), in robots.txt and in `Link`"),
    key(
        "carriers",
        List(&Choice(&["content-usage", "content-signal"])),
        Value("[content-usage, content-signal]"),
    )
    .means("the lines of robots.txt that say the preferences"),
    key("control_tokens", Boolean, Value("true")).means(
        "close the paths with `train-ai: no` to names that only stand in robots.txt, such as \
         Google-Extended",
    ),
    key("tdm", Either(&[Boolean, URL]), Value("false")).means(
        "reserve text and data mining where `train-ai` is `no` (TDMRep): the field \
         `tdm-reservation`, and `/.well-known/tdmrep.json`. The address of a policy is sent with \
         it, as `tdm-policy`",
    ),
    key("enforcement", Shape::Section(&ENFORCEMENT), Value("mode: log"))
        .means("action for violations"),
    key("watch", Shape::Section(&WATCH), NONE)
        .means("look at the public address of the site from outside"),
]);

static WATCH: Section = section("sites[].watch").keys(&[
    key("url", URL, Required).means(
        "public address of the site, through the servers in front: `https://www.example.com`. Its \
         host is one of `hosts`",
    ),
    key("every", time("1s", "1d"), Value("15m"))
        .means("most time between two rounds. A random part of it, a fifth at most, is left out"),
    key("pages", List(&TARGET), Words("`/`, and a page that the rules refuse"))
        .means("pages to fetch beside `/robots.txt`"),
    key(
        "user_agents",
        List(&Shape::SomeCrawlers),
        Words("the usual ones and the first of `groups`"),
    )
    .means("crawlers to fetch as, one in each round"),
]);

static ORIGIN: Section = section("sites[].origin").one_of(&["url", "urls"]).keys(&[
    key("url", URL, Words("this or `urls`")).means("the origin"),
    key("urls", Shape::Some(&URL), Words("this or `url`"))
        .means("several origins, at most 32, all with `https` or all without"),
    key("balance", Choice(&["round-robin", "least-connections"]), Value("round-robin")).means(
        "how requests are spread over several origins: one after another, or to the one with the \
         fewest requests in progress",
    ),
    key("protocol", Choice(&["http/1.1", "h2"]), Value("http/1.1")).means(
        "how requests go to these origins. `h2` is HTTP/2: without TLS by prior knowledge, as for \
         gRPC. Beadle's own requests use HTTP/1.1",
    ),
    key("health", Shape::Section(&HEALTH), Words("see there"))
        .means("when an origin gets no requests for a while"),
    key("case_insensitive", Boolean, Value("false")).means(
        "the origin serves `/PRIVATE/` as `/private/`: Express, IIS, `location ~*` of nginx. \
         Letters of ASCII only",
    ),
    key("decode_depth", Integer(1, 3), Value("1")).means(
        "how often the origin decodes `%XX`. With 2, `/%2570rivate/` is judged as `/private/`: \
         nginx with `proxy_pass http://app$uri`",
    ),
    key("forms", Either(&[Choice(&["all", "probe"]), List(&Choice(&STEPS))]), Value("all")).means(
        "which forms of a path count: those of all steps, those of the steps in this list, or \
         those that the origin takes by its own answers. Dot segments always count",
    ),
    key("probe_path", PAGE, Words("none; required with `forms: probe`")).means(
        "static page below a folder that answers 200. With `forms: probe`, Beadle requests forms \
         of it at the start, after a change, and once a day",
    ),
]);

static HEALTH: Section = section("sites[].origin.health").keys(&[
    key("failures", Integer(1, 100), Value("3"))
        .means("failures in a row after which an origin is down. A refused connection is enough"),
    key("pause", time("1s", "1h"), Value("10s")).means(
        "how long an origin that is down gets no request. Then one request tries it. With `path`, \
         it waits for a good check instead",
    ),
    key("path", TARGET, Words("no checks")).means(
        "path that Beadle requests regularly from each origin. A status from 200 to 399 is good",
    ),
    key("interval", time("1s", "1h"), Value("5s"))
        .means("time between two such requests, with `path`"),
    key("timeout", time("1s", "1h"), Value("2s")).means("most time for one of them, with `path`"),
]);

static SITE_TIMEOUTS: Section = section("sites[].timeouts").keys(&[
    key("origin_connect", LIMIT, OF_SERVER).means("time to connect to the origin, TLS included"),
    key("origin_read", LIMIT, OF_SERVER).means(
        "longest pause between two reads from the origin, and the most time for the whole head of \
         a response",
    ),
    key("origin_write", LIMIT, OF_SERVER).means("longest pause between two writes to the origin"),
    key("tunnel_idle", LIMIT, OF_SERVER)
        .means("how long a WebSocket or an event stream may be silent"),
]);

const OF_SERVER: Absent = Words("that of `server.timeouts`");

pub(crate) static ROBOTS_TXT: Section = section("sites[].robots_txt").keys(&[
    key("source", Choice(&["policy", "origin", "merge"]), Value("policy")).means(
        "whose rules to publish: those of `groups`, the origin's file unchanged, or both merged",
    ),
    key("groups", List(&Shape::Section(&GROUP)), NONE).means("rules by crawler"),
    key("sitemaps", List(&URL), NONE)
        .means("complete URLs, `https://…`. `{host}` is the requested host"),
    key("records", RECORDS, NONE).means("further records for the whole file, such as `License`"),
    key("max_age", time("1s", "1d"), Value("1h")).means("`Cache-Control: max-age` of the file"),
    key("cache_window", time("0s", "7d"), Value("24h"))
        .means("how long a crawler may use the file that it fetched (RFC 9309 §2.4)"),
    key("accept_full_disallow", Boolean, Value("false")).means(
        "publish an origin's file that closes the whole site to `*` at once, without quarantine",
    ),
    key("vanish_after", time("0s", "7d"), Value("24h")).means(
        "how long the origin's last rules stay in force after they vanished. `0s` is not at all",
    ),
]);

static GROUP: Section = section("sites[].robots_txt.groups[]").keys(&[
    key("user_agents", Shape::Some(&Shape::Crawlers), Required)
        .means("crawlers that the group binds"),
    key("disallow", List(&PATTERN), NONE).means("paths that crawlers must not fetch"),
    key("allow", List(&PATTERN), NONE).means("exceptions"),
    key("crawl_delay", Number(0, 86_400), NONE).means(
        "seconds between two requests, for the crawlers that promise to follow it. 0 asks for no \
         pace",
    ),
    key("records", RECORDS, NONE).means("further records of the group, such as `Content-Signal`"),
    key("override", Boolean, Value("false"))
        .means("with `source: merge`: ignore the origin's rules for these crawlers"),
]);

static TAG_RULE: Section = section("sites[].robots_tag[]").keys(&[
    key("paths", List(&PATTERN), Words("every path")).means("patterns as in robots.txt"),
    key("content_types", List(&MEDIA_TYPE), Words("every type"))
        .means("media types of the response"),
    key("statuses", List(&STATUS), Words("every status")).means(
        "statuses of the response, 200 to 599. A 304 counts as the response that it refreshes",
    ),
    key("rules", Mapping(&List(&Text)), Required).means(
        "tags such as `noindex` for `*`, a product token, `set:NAME` or `purpose:NAME`. `beadle \
         tags --rules` lists the documented rules",
    ),
]);

/// A preference: allowed or not.
pub(super) const USE: Shape = Either(&[Choice(&["yes", "no", "y", "n"]), Boolean]);
const UNSAID: Absent = Words("nothing is said");

static PREFERENCE: Section = section("sites[].preferences[]").keys(&[
    key("paths", List(&PATTERN), Words("the whole site")).means("patterns as in robots.txt"),
    key("user_agents", List(&Shape::Crawlers), Words("all crawlers"))
        .means("crawlers that the preference is for"),
    key("train-ai", USE, UNSAID).means("train models that generate content"),
    key("search", USE, UNSAID).means("search that leads people to the pages"),
    key("ai-input", USE, UNSAID)
        .means("input of a model at the moment of an answer; only `Content-Signal` can say it"),
]);

pub(crate) static ENFORCEMENT: Section = section("sites[].enforcement").keys(&[
    key("mode", Choice(&["off", "log", "throttle", "block", "ladder"]), Value("log"))
        .means("action for violations, see below"),
    key("overrides", List(&Shape::Section(&OVERRIDE)), NONE).means("other modes for some crawlers"),
    key("rate_limits", List(&Shape::Section(&RATE_LIMIT)), NONE)
        .means("how many requests crawlers may send to the origin"),
    key("quiet", List(&Shape::Section(&QUIET)), NONE)
        .means("crawlers without alerts about their violations"),
    key("people_first", Shape::Section(&PEOPLE_FIRST), Words("crawlers make no room"))
        .means("let crawlers take what people leave of the origin; `{}` adapts"),
    key("block", Shape::Section(&BLOCK), Words("see there")).means("response to a blocked request"),
    key(
        "star_binds",
        List(&Choice(&["crawler", "user-triggered", "automation", "app", "none"])),
        Value("[crawler, automation, none]"),
    )
    .means("classes of clients that a group for `*` binds"),
    key("impostors", Choice(&["log", "block"]), Words("the rules decide")).means(
        "action for requests whose claim is contradicted, on every path except `/robots.txt`. \
         Crawlers with the mode `\"off\"` are not enforced, not even for impostors",
    ),
    key("block_confirmed_search", Boolean, Value("false")).means(
        "let a group for `*` block even a confirmed search engine. Otherwise such a request passes \
         and is recorded with the reason `robots.disallow.spared`",
    ),
    key("allow_block_all", Boolean, Value("false"))
        .means("permit a policy that blocks every crawler from the whole site"),
    key("grace", Choice(&["count", "enforce"]), Value("count")).means(
        "requests that only the newest robots.txt disallows, while the crawler may still use an \
         older one: pass and count them, or treat them as violations",
    ),
    key(
        "other_forms",
        Choice(&["pass", "log", "refuse"]),
        Words("`refuse` where the crawler would be refused for the plain path, else `log`"),
    )
    .means(
        "requests whose path the rules allow, but not another form of it that an origin may read. \
         They are no violations: Beadle records them with the reason `robots.form`",
    ),
    key("ladder", Shape::Section(&LADDER), Words("see there")).means("when a crawler climbs"),
    key(
        "breaker",
        Either(&[Choice(&["off"]), Shape::Section(&BREAKER)]),
        Words("on with `mode: ladder`, else `\"off\"`"),
    )
    .means("when Beadle stops refusing"),
    key(
        "crawl_delay",
        Choice(&["log", "throttle"]),
        Words("`throttle` in the modes `throttle` and `ladder`, else `log`"),
    )
    .means(
        "requests that come too soon: count them, or answer 429 with `Retry-After`. The mode \
         `block` only counts them by default, because it concerns Disallow. Rungs above `observe` \
         always answer 429",
    ),
]);

static OVERRIDE: Section = section("sites[].enforcement.overrides[]").keys(&[
    key("user_agents", List(&Shape::Crawlers), Required)
        .means("crawlers that the override applies to"),
    key("standing", List(&STANDING), Words("every standing"))
        .means("apply only to claims with these standings"),
    key("mode", Choice(&["off", "log", "throttle", "block"]), Required).means("their mode"),
    key("until", INSTANT, Words("for good"))
        .means("when the entry ends (RFC 3339). Beadle then decides as if it were not there"),
]);

static RATE_LIMIT: Section = section("sites[].enforcement.rate_limits[]").keys(&[
    key("user_agents", List(&Shape::Crawlers), Required).means(
        "crawlers that the limit is for; `*` is every client that a group for `*` would bind, but \
         no user-triggered fetcher",
    ),
    key("requests", PACE, Words("any number, with `concurrent`"))
        .means("requests in a time of at most a day, for example `60/1m`"),
    key("burst", Integer(1, 10_000), Value("1")).means("requests that may come at once"),
    key("concurrent", Integer(1, 10_000), Words("any number"))
        .means("requests that may be at the origin at one time"),
    key("wait", WAIT, Value("0s")).means(
        "time that a request may wait for its turn under `requests` before it gets 429; at most 10 \
         s",
    ),
    key("paths", List(&PATTERN), Words("every path"))
        .means("path patterns of the requests that count, in any form of the path"),
    key("together", Boolean, Value("false"))
        .means("count all these crawlers as one. Otherwise each has the limit for itself"),
    key("mode", Choice(&["log", "throttle"]), Value("throttle"))
        .means("a request beyond the limit: count it, or answer 429 with `Retry-After`"),
    key("publish", Boolean, Value("false")).means(
        "write the limit into robots.txt as `Crawl-delay` and `Request-rate`. Beadle never judges \
         a crawler by these lines",
    ),
    key("until", INSTANT, Words("for good"))
        .means("when the entry ends (RFC 3339). Beadle then decides as if it were not there"),
]);

static QUIET: Section = section("sites[].enforcement.quiet[]").keys(&[
    key("user_agents", List(&Shape::Crawlers), Required).means("crawlers that send no alerts"),
    key("until", INSTANT, Words("for good"))
        .means("when the entry ends (RFC 3339). Alerts about later violations follow again"),
]);

static PEOPLE_FIRST: Section = section("sites[].enforcement.people_first").keys(&[
    key("latency", time("1ms", "1h"), Words("the usual time of each class of paths, and a tenth"))
        .means("time to the head of a response that nine of ten requests of people may take"),
    key("errors", SHARE, Value("5%"))
        .means("share of failed responses (5xx, 429 or none) at which the limit falls"),
    key("crawlers_at_once", Integer(1, 10_000), Words("as many as the origin takes"))
        .means("most requests of crawlers at the origin at one time"),
    key("wait", WAIT, Value("0s")).means(
        "time that a request of a crawler may wait for room before it is put off; at most 10 s",
    ),
    key("order", List(&PURPOSE), Value("[search]"))
        .means("purposes of crawlers that come first, in this order; then the others"),
    key("status", OneNumber(&[503, 429]), Value("503"))
        .means("status for a crawler that is put off, with `Retry-After`"),
]);

static BLOCK: Section = section("sites[].enforcement.block").keys(&[
    key("status", OneNumber(&[401, 402, 403, 404, 410, 429, 451]), Value("403"))
        .means("429 comes with `Retry-After: 86400`, and 401 needs `WWW-Authenticate`"),
    key("fields", FIELDS, NONE)
        .means("fields of the response, each with its value: terms, a licence, a price"),
    key("content_type", Text, Value("text/plain; charset=utf-8")).means("media type of the body"),
    key("body", Text, Words("as in the guide")).means("text with the placeholders below"),
]);

pub(crate) static LADDER: Section = section("sites[].enforcement.ladder").keys(&[
    key("period", time("1m", "7d"), Value("1h")).means(
        "period for counting violations; after a good period the crawler comes down one rung",
    ),
    key("share", SHARE, Value("10%")).means(
        "share of a crawler's GET and POST requests that must be violations before it climbs",
    ),
    key("min_violations", COUNT, Value("10")).means("number of violations before it climbs"),
    key("throttle", PACE, Value("1/10s"))
        .means("pace above the lowest rung, for a crawler that promises none"),
]);

pub(crate) static BREAKER: Section = section("sites[].enforcement.breaker").keys(&[
    key("share", SHARE, Value("50%")).means(
        "share of requests that would be refused before the breaker opens; one network or crawler \
         counts for a fifth of it at most",
    ),
    key("min_requests", COUNT, Value("200"))
        .means("number of requests before the breaker can open"),
    key("window", time("1s", "1h"), Value("60s")).means("time in which requests are counted"),
    key("pause", time("1s", "1d"), Value("10m")).means("how long the breaker stays open"),
]);
