//! The keys of a site beside its enforcement.

use super::{
    enforcement::ENFORCEMENT,
    section::{
        Absent::{self, Required, Value, Words},
        NONE, Section,
        Shape::{self, Boolean, Choice, Either, Integer, List, Mapping, Number, Text},
        key, section,
    },
    values::{
        FIELDS, HOST, LIMIT, MEDIA_TYPE, PAGE, PATTERN, RECORDS, STATUS, STEPS, TARGET, URL, time,
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

pub(super) static WATCH: Section = section("sites[].watch").keys(&[
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

pub(super) static ORIGIN: Section = section("sites[].origin").one_of(&["url", "urls"]).keys(&[
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

pub(super) static HEALTH: Section = section("sites[].origin.health").keys(&[
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

pub(super) static SITE_TIMEOUTS: Section = section("sites[].timeouts").keys(&[
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

pub(super) static GROUP: Section = section("sites[].robots_txt.groups[]").keys(&[
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

pub(super) static TAG_RULE: Section = section("sites[].robots_tag[]").keys(&[
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

pub(super) static PREFERENCE: Section = section("sites[].preferences[]").keys(&[
    key("paths", List(&PATTERN), Words("the whole site")).means("patterns as in robots.txt"),
    key("user_agents", List(&Shape::Crawlers), Words("all crawlers"))
        .means("crawlers that the preference is for"),
    key("train-ai", USE, UNSAID).means("train models that generate content"),
    key("search", USE, UNSAID).means("search that leads people to the pages"),
    key("ai-input", USE, UNSAID)
        .means("input of a model at the moment of an answer; only `Content-Signal` can say it"),
]);
