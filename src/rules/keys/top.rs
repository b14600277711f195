//! The keys of the whole policy, and of its tests.

use super::{
    beside_sites::{
        ALERT, CATALOGUE, CRAWLER, CRAWLER_SET, EVIDENCE, FLEET, MAIL, REPORT, VIOLATIONS,
    },
    section::{
        Absent::{Required, Value, Words},
        NONE, Section,
        Shape::{self, Boolean, Choice, Either, Integer, List, Mapping, Text},
        key, section,
    },
    server::SERVER,
    site::{SITE, USE},
    values::{ACTIONS, FILE, REASONS, STANDING, time},
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
    key("alerts", Shape::Sections(&ALERT), NONE).means("who is told of events"),
    key("reports", Shape::Sections(&REPORT), NONE).means("who gets regular reports by e-mail"),
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
    key("tests", Shape::Sections(&TEST), NONE).means("requests and the decisions that you expect"),
    key("test_failures", Choice(&["warn", "refuse"]), Value("warn")).means(
        "what a failed test does: `refuse` also refuses a start or a reload with this policy",
    ),
]);

pub(super) static TEST: Section = section("tests[]")
    .one_of(&["product_token", "user_agent"])
    .keys(&[
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
