//! The keys of `crawlers` and `crawler_sets`.

use super::{
    section::{Absent, Key, Section, Shape},
    values::URL,
};

/// `crawlers[]`.
pub static CRAWLER: Section = Section {
    path: "crawlers[]",
    one_of: &[],
    keys: &[
        Key {
            name: "product_token",
            shape: Shape::Text,
            absent: Absent::Required,
            meaning: "name in robots.txt",
        },
        Key {
            name: "aliases",
            shape: Shape::List(&Shape::Text),
            absent: Absent::Words("none"),
            meaning: "further names",
        },
        Key {
            name: "operator",
            shape: Shape::Text,
            absent: Absent::Words("none"),
            meaning: "operator, for records and `beadle crawlers show`",
        },
        Key {
            name: "purpose",
            shape: Shape::Purpose,
            absent: Absent::Value("other"),
            meaning: "what the crawler collects pages for",
        },
        Key {
            name: "documentation",
            shape: Shape::Text,
            absent: Absent::Words("none"),
            meaning: "URL of the operator's documentation",
        },
        Key {
            name: "kind",
            shape: Shape::Choice(&["crawler", "user-triggered", "automation", "app", "control"]),
            absent: Absent::Value("crawler"),
            meaning: "decides which groups bind it",
        },
        Key {
            name: "falls_back_to",
            shape: Shape::List(&Shape::Text),
            absent: Absent::Words("none"),
            meaning: "groups that it follows if no group names it",
        },
        Key {
            name: "ignores_star",
            shape: Shape::Boolean,
            absent: Absent::Value("false"),
            meaning: "only a group that names it binds it",
        },
        Key {
            name: "user_agent_pattern",
            shape: Shape::Text,
            absent: Absent::Words("none"),
            meaning: "matches the whole User-Agent (first 4 KiB), for a crawler without a name",
        },
        Key {
            name: "ip_ranges",
            shape: Shape::List(&URL),
            absent: Absent::Words("none"),
            meaning: "published lists of its addresses",
        },
        Key {
            name: "ip_format",
            shape: Shape::Text,
            absent: Absent::Words("detected"),
            meaning: "format of these lists",
        },
        Key {
            name: "reverse_dns",
            shape: Shape::List(&Shape::Text),
            absent: Absent::Words("none"),
            meaning: "endings of the names of its addresses: `.bots.example`",
        },
        Key {
            name: "signature_agent",
            shape: URL,
            absent: Absent::Words("none"),
            meaning: "its `Signature-Agent`",
        },
    ],
};

/// `crawler_sets.*`.
pub static CRAWLER_SET: Section = Section {
    path: "crawler_sets.*",
    one_of: &[],
    keys: &[
        Key {
            name: "purposes",
            shape: Shape::List(&Shape::Purpose),
            absent: Absent::Words("none"),
            meaning: "all crawlers with these purposes",
        },
        Key {
            name: "product_tokens",
            shape: Shape::List(&Shape::Text),
            absent: Absent::Words("none"),
            meaning: "single crawlers",
        },
    ],
};
