//! The keys of `catalogue`, `crawlers` and `crawler_sets`.

use super::{
    section::{
        Absent::{Required, Value, Words},
        NONE, Section,
        Shape::{Boolean, Choice, List, Purpose, Sections, Text},
        key,
    },
    values::{FILE, TIME, URL},
};

/// `catalogue`, if it is more than a file.
pub static CATALOGUE: Section = Section {
    path: "catalogue",
    one_of: &[],
    keys: &[
        key("file", FILE, Words("the built-in catalogue")).means("a newer catalogue"),
        key("follow", Sections(&FOLLOW), NONE)
            .means("lists of crawlers that others maintain, each fetched regularly"),
        key("folder", FILE, Words("`catalogue` beside the database"))
            .means("keeps the last good copy of each list, and the names that you accept"),
    ],
};

/// `catalogue.follow[]`.
pub static FOLLOW: Section = Section {
    path: "catalogue.follow[]",
    one_of: &[],
    keys: &[
        key("url", URL, Required).means("where to fetch it; `http://` is for this machine alone"),
        key("format", Choice(&["ai-robots-json"]), Required)
            .means("its format: robots.json of ai.robots.txt"),
        key("every", TIME, Value("1d")).means("how often to fetch it, from 1 hour to 7 days"),
    ],
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
