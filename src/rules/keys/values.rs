//! The shapes of values that several sections share.

use crate::formats::robots::Steps;

use super::section::{Form, Shape};

/// The actions for a single request.
pub const ACTIONS: [&str; 4] = ["pass", "log", "throttle", "block"];

/// The reasons of a decision about a single request.
pub const REASONS: [&str; 10] = [
    "robots.allow",
    "robots.disallow",
    "robots.disallow.hidden",
    "robots.disallow.grace",
    "robots.disallow.spared",
    "robots.form",
    "claim.contradicted",
    "enforcement.off",
    "robots.unbound",
    "robots.robots_txt",
];

/// The steps by which an origin makes another path of the one sent.
pub const STEPS: [&str; Steps::NAMED.len()] = {
    let mut names = [""; Steps::NAMED.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = Steps::NAMED[at].0;
        at += 1;
    }
    names
};

#[rustfmt::skip]
pub(super) const EVENTS: [&str; 18] = [
    "new_offender", "violation_rate", "impostors", "reload_refused", "robots_quarantined",
    "breaker_open", "crawlers_put_off", "store_trouble", "certificate_expiring",
    "certificate_not_renewed", "new_crawlers", "list_refused", "robots_rewritten", "robots_refused",
    "edge_refuses", "edge_ignores", "tags_lost", "stale",
];

const fn form(pattern: &'static str, example: &'static str) -> Shape {
    Shape::Form(Form { pattern, example, least: "", most: "" })
}

pub(super) const FILE: Shape = form("^[^\\u0000]+$", "data/file");
pub(super) const SOCKET: Shape = form("^[^\\s/]+:[0-9]{1,5}$", "127.0.0.1:8443");
pub(super) const NETWORK: Shape = form("^[0-9A-Fa-f.:]+(/[0-9]{1,3})?$", "192.0.2.0/24");
pub(super) const ADDRESS: Shape = form("^[0-9A-Fa-f.:\\[\\]]+$", "192.0.2.53");
pub(super) const HOST: Shape = form("^(\\*\\.)?[A-Za-z0-9_.:-]+$", "www.example.com");
/// A time of day, with its zone (RFC 3339).
pub(super) const INSTANT: Shape = form("^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ]", "2026-12-04T14:00:00Z");
pub(super) const URL: Shape = form("^\\s*https?://[^\\s/]", "https://www.example.com");
pub(super) const HTTPS: Shape = form("^https://[^\\s/]", "https://ca.example.com/directory");
pub(super) const SHARED: Shape = form(
    "^(redis|rediss|valkey|valkeys)(\\+(sentinel|cluster))?://[^\\s?#]+$",
    "rediss://valkey.internal:6379",
);
pub(super) const NAME: Shape = form("^[A-Za-z0-9._-]{1,64}$", "edge-1");
pub(super) const EMAIL: Shape = form("^(mailto:)?[^\\s@,:?]+@[^\\s@,:?]+$", "admin@example.com");
pub(super) const MAIL_SERVER: Shape = form("^[^\\s/@]+$", "smtp.example.com:587");
pub(super) const WEEKLY: Shape = form(
    "^(day|monday|tuesday|wednesday|thursday|friday|saturday|sunday) ([01][0-9]|2[0-3]):[0-5][0-9]$",
    "monday 08:00",
);
/// A time with its unit, both ends included.
pub(super) const fn time(least: &'static str, most: &'static str) -> Shape {
    let pattern = "^[0-9]+\\s*(ms|s|m|h|d)\\s*$";
    Shape::Form(Form { pattern, example: "1h", least, most })
}
/// A limit for a part of a connection.
pub(super) const LIMIT: Shape = time("1s", "1d");
/// The time that a request may wait. It holds its connection.
pub(super) const WAIT: Shape = Shape::Form(Form {
    pattern: "^[0-9]+\\s*(ms|s)\\s*$",
    example: "2s",
    least: "0s",
    most: "10s",
});
/// A size with its unit, both ends included.
pub(super) const fn size(least: &'static str, most: &'static str) -> Shape {
    let pattern = "^[0-9]+\\s*(kB|MB|GB|TB|KiB|MiB|GiB|TiB)\\s*$";
    Shape::Form(Form { pattern, example: "2GiB", least, most })
}
pub(super) const SHARE: Shape = form("^[0-9]{1,3}(\\.[0-9])?\\s*%$", "10%");
pub(super) const PURPOSE: Shape = form("^[a-z-]+$", "search");
pub(super) const PACE: Shape = form("^[0-9]+/[0-9]+[smhdSMHD]?$", "1/10s");
pub(super) const PATTERN: Shape = form("^[/*]", "/private/");
/// A path with or without a query.
pub(super) const TARGET: Shape = form("^/[!-\"$-~]*$", "/healthz");
/// The path of a page below a folder.
pub(super) const PAGE: Shape = form("^(/[!-\"$-:<->@-~]+){2,}$", "/docs/start");
pub(super) const MEDIA_TYPE: Shape = form("^[^\\s/]+/[^\\s/]+$", "application/pdf");
/// A status code, or all with the same first digit.
pub(super) const STATUS: Shape =
    Shape::Either(&[Shape::Integer(200, 599), form("^[2-5]xx$", "4xx")]);
pub(super) const COUNT: Shape = Shape::Integer(1, 1_000_000);
pub(super) const STANDING: Shape =
    Shape::Choice(&["confirmed", "contradicted", "unverifiable", "unknown"]);
const WORDS: Shape = Shape::Either(&[Shape::Text, Shape::Number(-1_000_000_000, 1_000_000_000)]);
pub(super) const FIELDS: Shape = Shape::Mapping(&WORDS);
/// Lines of robots.txt that are no rules.
pub(super) const RECORDS: Shape = Shape::List(&Shape::Mapping(&WORDS));
