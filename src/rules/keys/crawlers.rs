//! The keys of `crawlers` and `crawler_sets`.

use super::{
    section::{
        Absent::{Required, Value, Words},
        NONE, Section,
        Shape::{Boolean, Choice, List, Purpose, Text},
        key,
    },
    values::URL,
};

/// `crawlers[]`.
pub static CRAWLER: Section = Section {
    path: "crawlers[]",
    one_of: &[],
    keys: &[
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
        key("falls_back_to", List(&Text), NONE)
            .means("groups that it follows if no group names it"),
        key("ignores_star", Boolean, Value("false")).means("only a group that names it binds it"),
        key("user_agent_pattern", Text, NONE)
            .means("matches the whole User-Agent (first 4 KiB), for a crawler without a name"),
        key("ip_ranges", List(&URL), NONE).means("published lists of its addresses"),
        key("ip_format", Text, Words("detected")).means("format of these lists"),
        key("reverse_dns", List(&Text), NONE)
            .means("endings of the names of its addresses: `.bots.example`"),
        key("signature_agent", URL, NONE).means("its `Signature-Agent`"),
    ],
};

/// `crawler_sets.*`.
pub static CRAWLER_SET: Section = Section {
    path: "crawler_sets.*",
    one_of: &[],
    keys: &[
        key("purposes", List(&Purpose), NONE).means("all crawlers with these purposes"),
        key("product_tokens", List(&Text), NONE).means("single crawlers"),
    ],
};
