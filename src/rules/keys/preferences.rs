//! The keys of what may be used for what.

use super::{
    section::{
        Absent::{self, Words},
        Section,
        Shape::{self, Boolean, Choice, Either, List},
        key,
    },
    values::{CRAWLER_NAME, PATTERN},
};

/// A preference: allowed or not.
pub(super) const USE: Shape = Either(&[Choice(&["yes", "no", "y", "n"]), Boolean]);
const UNSAID: Absent = Words("nothing is said");

/// `sites[].preferences[]`.
pub static PREFERENCE: Section = Section {
    path: "sites[].preferences[]",
    one_of: &[],
    keys: &[
        key("paths", List(&PATTERN), Words("the whole site")).means("patterns as in robots.txt"),
        key("user_agents", List(&CRAWLER_NAME), Words("all crawlers"))
            .means("crawlers that the preference is for"),
        key("train-ai", USE, UNSAID).means("train models that generate content"),
        key("search", USE, UNSAID).means("search that leads people to the pages"),
        key("ai-input", USE, UNSAID)
            .means("input of a model at the moment of an answer; only `Content-Signal` can say it"),
    ],
};
