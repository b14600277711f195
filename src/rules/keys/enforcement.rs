//! The keys of an enforcement.

use super::{
    section::{
        Absent::{Required, Value, Words},
        NONE, Section,
        Shape::{self, Boolean, Choice, Either, List, OneNumber, Text},
        key, section,
    },
    values::{COUNT, FIELDS, INSTANT, PACE, PATTERN, PURPOSE, SHARE, STANDING, WAIT, time},
};

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

pub(super) static OVERRIDE: Section = section("sites[].enforcement.overrides[]").keys(&[
    key("user_agents", List(&Shape::Crawlers), Required)
        .means("crawlers that the override applies to"),
    key("standing", List(&STANDING), Words("every standing"))
        .means("apply only to claims with these standings"),
    key("mode", Choice(&["off", "log", "throttle", "block"]), Required).means("their mode"),
    key("until", INSTANT, Words("for good"))
        .means("when the entry ends (RFC 3339). Beadle then decides as if it were not there"),
]);

pub(super) static RATE_LIMIT: Section = section("sites[].enforcement.rate_limits[]").keys(&[
    key("user_agents", List(&Shape::Crawlers), Required).means(
        "crawlers that the limit is for; `*` is every client that a group for `*` would bind, but \
         no user-triggered fetcher",
    ),
    key("requests", PACE, Words("any number, with `concurrent`"))
        .means("requests in a time of at most a day, for example `60/1m`"),
    key("burst", Shape::Integer(1, 10_000), Value("1")).means("requests that may come at once"),
    key("concurrent", Shape::Integer(1, 10_000), Words("any number"))
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

pub(super) static QUIET: Section = section("sites[].enforcement.quiet[]").keys(&[
    key("user_agents", List(&Shape::Crawlers), Required).means("crawlers that send no alerts"),
    key("until", INSTANT, Words("for good"))
        .means("when the entry ends (RFC 3339). Alerts about later violations follow again"),
]);

pub(super) static PEOPLE_FIRST: Section = section("sites[].enforcement.people_first").keys(&[
    key("latency", time("1ms", "1h"), Words("the usual time of each class of paths, and a tenth"))
        .means("time to the head of a response that nine of ten requests of people may take"),
    key("errors", SHARE, Value("5%"))
        .means("share of failed responses (5xx, 429 or none) at which the limit falls"),
    key("crawlers_at_once", Shape::Integer(1, 10_000), Words("as many as the origin takes"))
        .means("most requests of crawlers at the origin at one time"),
    key("wait", WAIT, Value("0s")).means(
        "time that a request of a crawler may wait for room before it is put off; at most 10 s",
    ),
    key("order", List(&PURPOSE), Value("[search]"))
        .means("purposes of crawlers that come first, in this order; then the others"),
    key("status", OneNumber(&[503, 429]), Value("503"))
        .means("status for a crawler that is put off, with `Retry-After`"),
]);

pub(crate) static BLOCK: Section = section("sites[].enforcement.block").keys(&[
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
