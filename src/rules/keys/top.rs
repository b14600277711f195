//! The keys of the whole policy, and of its tests.

use super::{
    crawlers::{CRAWLER, CRAWLER_SET},
    fleet::FLEET,
    records::{ALERT, EVIDENCE, VIOLATIONS},
    section::{Absent, Key, Section, Shape},
    server::SERVER,
    site::SITE,
    values::{ACTIONS, FILE, REASONS, STANDING, TIME},
};

/// The whole policy.
pub static POLICY: Section = Section {
    path: "",
    one_of: &[],
    keys: &[
        Key {
            name: "server",
            shape: Shape::Section(&SERVER),
            absent: Absent::Words("see there"),
            meaning: "listeners, trusted proxies, timeouts",
        },
        Key {
            name: "violations",
            shape: Shape::Section(&VIOLATIONS),
            absent: Absent::Words("JSON lines on standard output"),
            meaning: "where records go",
        },
        Key {
            name: "evidence",
            shape: Shape::Section(&EVIDENCE),
            absent: Absent::Words("none: claims are not checked"),
            meaning: "how to verify crawlers",
        },
        Key {
            name: "fleet",
            shape: Shape::Section(&FLEET),
            absent: Absent::Words("none: one node"),
            meaning: "the server that several nodes share",
        },
        Key {
            name: "alerts",
            shape: Shape::Sections(&ALERT),
            absent: Absent::Words("none"),
            meaning: "who is told of events",
        },
        Key {
            name: "catalogue",
            shape: FILE,
            absent: Absent::Words("the built-in catalogue"),
            meaning: "a newer catalogue",
        },
        Key {
            name: "crawlers",
            shape: Shape::List(&Shape::Section(&CRAWLER)),
            absent: Absent::Words("none"),
            meaning: "your own crawlers, in addition to the catalogue",
        },
        Key {
            name: "crawler_sets",
            shape: Shape::Mapping(&Shape::Either(&[
                Shape::List(&Shape::SomeCrawlers),
                Shape::Section(&CRAWLER_SET),
            ])),
            absent: Absent::Words("none"),
            meaning: "names for groups of crawlers",
        },
        Key {
            name: "strict",
            shape: Shape::Boolean,
            absent: Absent::Value("true"),
            meaning: "report a crawler name that is one slip away from a known one as an error \
                      (`false`: as a warning)",
        },
        Key {
            name: "sites",
            shape: Shape::Some(&Shape::Section(&SITE)),
            absent: Absent::Required,
            meaning: "the sites that Beadle serves",
        },
        Key {
            name: "tests",
            shape: Shape::Sections(&TEST),
            absent: Absent::Words("none"),
            meaning: "requests and the decisions that you expect",
        },
        Key {
            name: "test_failures",
            shape: Shape::Choice(&["warn", "refuse"]),
            absent: Absent::Value("warn"),
            meaning: "what a failed test does: `refuse` also refuses a start or a reload with \
                      this policy",
        },
    ],
};

/// `tests[]`.
pub static TEST: Section = Section {
    path: "tests[]",
    one_of: &["product_token", "user_agent"],
    keys: &[
        Key {
            name: "name",
            shape: Shape::Text,
            absent: Absent::Words("the client and the URL"),
            meaning: "name of the test",
        },
        Key {
            name: "user_agent",
            shape: Shape::Text,
            absent: Absent::Words("none"),
            meaning: "the whole User-Agent, instead of `product_token`",
        },
        Key {
            name: "product_token",
            shape: Shape::Text,
            absent: Absent::Words("none"),
            meaning: "the crawler that sends the request: its User-Agent is this name",
        },
        Key {
            name: "url",
            shape: Shape::Text,
            absent: Absent::Required,
            meaning: "the requested URL",
        },
        Key {
            name: "site",
            shape: Shape::Text,
            absent: Absent::Words("the only site, else the default site"),
            meaning: "site of a path",
        },
        Key {
            name: "client_ip",
            shape: Shape::Text,
            absent: Absent::Words("none: the claim is not checked"),
            meaning: "the client's address, checked with the copies in `evidence.folder`",
        },
        Key {
            name: "standing",
            shape: STANDING,
            absent: Absent::Words("none: the claim is not checked"),
            meaning: "the result of the check, instead of `client_ip`",
        },
        Key {
            name: "after",
            shape: TIME,
            absent: Absent::Words("longer than any crawler remembers"),
            meaning: "time since the rules came into force. Before, the site had a file without \
                      rules",
        },
        Key {
            name: "expect",
            shape: Shape::Choice(&["allow", "disallow"]),
            absent: Absent::Words("not compared"),
            meaning: "the verdict of the rules",
        },
        Key {
            name: "action",
            shape: Shape::Choice(&ACTIONS),
            absent: Absent::Words("not compared"),
            meaning: "the action. A single request is never throttled",
        },
        Key {
            name: "line",
            shape: Shape::Integer(1, 1_000_000),
            absent: Absent::Words("not compared"),
            meaning: "line in robots.txt of the rule that decides",
        },
        Key {
            name: "reason",
            shape: Shape::Choice(&REASONS),
            absent: Absent::Words("not compared"),
            meaning: "the reason of the decision, such as `robots.disallow.grace`",
        },
        Key {
            name: "robots_tag",
            shape: Shape::Text,
            absent: Absent::Words("not compared"),
            meaning: "`Robots-Tag` of the response; empty for none. The order of its members does \
                      not matter",
        },
        Key {
            name: "x_robots_tag",
            shape: Shape::Text,
            absent: Absent::Words("not compared"),
            meaning: "`X-Robots-Tag` of the response; empty for none",
        },
    ],
};
