//! The keys of an enforcement.

use super::{
    section::{Absent, Key, Section, Shape},
    values::{COUNT, CRAWLER_NAME, PACE, SHARE, STANDING, TIME},
};

/// `sites[].enforcement`.
pub static ENFORCEMENT: Section = Section {
    path: "sites[].enforcement",
    one_of: &[],
    keys: &[
        Key {
            name: "mode",
            shape: Shape::Choice(&["off", "log", "throttle", "block", "ladder"]),
            absent: Absent::Value("log"),
            meaning: "action for violations, see below",
        },
        Key {
            name: "overrides",
            shape: Shape::List(&Shape::Section(&OVERRIDE)),
            absent: Absent::Words("none"),
            meaning: "other modes for some crawlers",
        },
        Key {
            name: "block",
            shape: Shape::Section(&BLOCK),
            absent: Absent::Words("see there"),
            meaning: "response to a blocked request",
        },
        Key {
            name: "star_binds",
            shape: Shape::List(&Shape::Choice(&[
                "crawler",
                "user-triggered",
                "automation",
                "app",
                "none",
            ])),
            absent: Absent::Value("[crawler, automation, none]"),
            meaning: "classes of clients that a group for `*` binds",
        },
        Key {
            name: "impostors",
            shape: Shape::Choice(&["log", "block"]),
            absent: Absent::Words("the rules decide"),
            meaning: "action for requests whose claim is contradicted, on every path except \
                      `/robots.txt`. Crawlers with the mode `\"off\"` are not enforced, not even \
                      for impostors",
        },
        Key {
            name: "block_confirmed_search",
            shape: Shape::Boolean,
            absent: Absent::Value("false"),
            meaning: "let a group for `*` block even a confirmed search engine. Otherwise such a \
                      request passes and is recorded with the reason `robots.disallow.spared`",
        },
        Key {
            name: "allow_block_all",
            shape: Shape::Boolean,
            absent: Absent::Value("false"),
            meaning: "permit a policy that blocks every crawler from the whole site",
        },
        Key {
            name: "grace",
            shape: Shape::Choice(&["count", "enforce"]),
            absent: Absent::Value("count"),
            meaning: "requests that only the newest robots.txt disallows, while the crawler may \
                      still use an older one: pass and count them, or treat them as violations",
        },
        Key {
            name: "other_forms",
            shape: Shape::Choice(&["pass", "log", "refuse"]),
            absent: Absent::Words(
                "`refuse` where the crawler would be refused for the plain path, else `log`",
            ),
            meaning: "requests whose path the rules allow, but not another form of it that an origin \
                      may read. They are no violations: Beadle records them with the reason \
                      `robots.form`",
        },
        Key {
            name: "ladder",
            shape: Shape::Section(&LADDER),
            absent: Absent::Words("see there"),
            meaning: "when a crawler climbs",
        },
        Key {
            name: "breaker",
            shape: Shape::Either(&[Shape::Choice(&["off"]), Shape::Section(&BREAKER)]),
            absent: Absent::Words("on with `mode: ladder`, else `\"off\"`"),
            meaning: "when Beadle stops refusing",
        },
        Key {
            name: "crawl_delay",
            shape: Shape::Choice(&["log", "throttle"]),
            absent: Absent::Words("`throttle` in the modes `throttle` and `ladder`, else `log`"),
            meaning: "requests that come too soon: count them, or answer 429 with `Retry-After`. \
                      The mode `block` only counts them by default, because it concerns Disallow. \
                      Rungs above `observe` always answer 429",
        },
    ],
};

/// `sites[].enforcement.overrides[]`.
pub static OVERRIDE: Section = Section {
    path: "sites[].enforcement.overrides[]",
    one_of: &[],
    keys: &[
        Key {
            name: "user_agents",
            shape: Shape::List(&CRAWLER_NAME),
            absent: Absent::Required,
            meaning: "crawlers that the override applies to",
        },
        Key {
            name: "standing",
            shape: Shape::List(&STANDING),
            absent: Absent::Words("every standing"),
            meaning: "apply only to claims with these standings",
        },
        Key {
            name: "mode",
            shape: Shape::Choice(&["off", "log", "throttle", "block"]),
            absent: Absent::Required,
            meaning: "their mode",
        },
    ],
};

/// `sites[].enforcement.block`.
pub static BLOCK: Section = Section {
    path: "sites[].enforcement.block",
    one_of: &[],
    keys: &[
        Key {
            name: "status",
            shape: Shape::OneNumber(&[403, 404, 410, 429, 451]),
            absent: Absent::Value("403"),
            meaning: "429 comes with `Retry-After: 86400`",
        },
        Key {
            name: "content_type",
            shape: Shape::Text,
            absent: Absent::Value("text/plain; charset=utf-8"),
            meaning: "media type of the body",
        },
        Key {
            name: "body",
            shape: Shape::Text,
            absent: Absent::Words("as in the guide"),
            meaning: "text with the placeholders below",
        },
    ],
};

/// `sites[].enforcement.ladder`.
pub static LADDER: Section = Section {
    path: "sites[].enforcement.ladder",
    one_of: &[],
    keys: &[
        Key {
            name: "period",
            shape: TIME,
            absent: Absent::Value("1h"),
            meaning: "period for counting violations; after a good period the crawler comes down \
                      one rung",
        },
        Key {
            name: "share",
            shape: SHARE,
            absent: Absent::Value("10%"),
            meaning: "share of a crawler's GET and POST requests that must be violations before \
                      it climbs",
        },
        Key {
            name: "min_violations",
            shape: COUNT,
            absent: Absent::Value("10"),
            meaning: "number of violations before it climbs",
        },
        Key {
            name: "throttle",
            shape: PACE,
            absent: Absent::Value("1/10s"),
            meaning: "pace above the lowest rung, for a crawler that promises none",
        },
    ],
};

/// `sites[].enforcement.breaker`.
pub static BREAKER: Section = Section {
    path: "sites[].enforcement.breaker",
    one_of: &[],
    keys: &[
        Key {
            name: "share",
            shape: SHARE,
            absent: Absent::Value("50%"),
            meaning: "share of requests that would be refused before the breaker opens; one \
                      network or crawler counts for a fifth of it at most",
        },
        Key {
            name: "min_requests",
            shape: COUNT,
            absent: Absent::Value("200"),
            meaning: "number of requests before the breaker can open",
        },
        Key {
            name: "window",
            shape: TIME,
            absent: Absent::Value("60s"),
            meaning: "time in which requests are counted",
        },
        Key {
            name: "pause",
            shape: TIME,
            absent: Absent::Value("10m"),
            meaning: "how long the breaker stays open",
        },
    ],
};
