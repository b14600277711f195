//! The signals about AI that a site sends.
//!
//! | signal | sent as | defined by |
//! |---|---|---|
//! | `Content-Signal` | a line of robots.txt, a field | contentsignals.org |
//! | `Content-Usage` | a line of robots.txt, a field | draft-ietf-aipref-attach |
//! | RSL | `License` in robots.txt, a `Link` field, an element | RSL 1.0 |
//! | TDMRep | fields, elements, `/.well-known/tdmrep.json` | W3C TDM Reservation Protocol |
//! | ai.txt | `/ai.txt` | Spawning |
//! | `noai`, `noimageai` | robots tags | no standard |

use serde::Serialize;

use crate::{
    base::escape,
    formats::{
        robots::{Matcher, RobotsTxt, Scope},
        robots_tag::read_html,
    },
};

use super::page::{Page, Site};

/// A signal about AI.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Signal {
    /// Its name: `Content-Signal`.
    pub name: &'static str,
    /// Where it is: `robots.txt line 3`, `header field`, `document`, or a file.
    pub place: String,
    /// Its value.
    pub value: String,
}

/// The type of RSL documents.
const RSL: &str = "application/rsl+xml";

/// All signals for a crawler that obeys the groups in `scope`.
pub(super) fn of(
    file: &RobotsTxt,
    matcher: &Matcher,
    scope: Option<Scope>,
    site: &Site,
    page: &Page,
    rules: &[String],
) -> Vec<Signal> {
    let mut signals = of_robots_txt(file, matcher, scope);
    let mut add = |name: &'static str, place: &str, value: &[u8]| {
        signals.push(Signal { name, place: place.to_owned(), value: escape::shown(value) });
    };
    for (name, field) in [
        ("Content-Signal", "Content-Signal"),
        ("Content-Usage", "Content-Usage"),
        ("TDMRep", "tdm-reservation"),
        ("TDMRep policy", "tdm-policy"),
    ] {
        page.values(field).for_each(|value| add(name, "header field", value));
    }
    for link in page.values("Link").filter(|value| contains(value, RSL)) {
        add("RSL", "header field", link);
    }
    if contains(&page.body, RSL) {
        add("RSL", "document", RSL.as_bytes());
    }
    let is_tdm = |name: &str| name.eq_ignore_ascii_case("tdm-reservation");
    for meta in read_html(&page.body, |name| is_tdm(name.as_str())).metas {
        let is_named = matches!(&meta.scope, crate::formats::robots_tag::Scope::Token(name) if is_tdm(name.as_str()));
        if is_named {
            add("TDMRep", "document", meta.content.as_bytes());
        }
    }
    if let Some(file) = &site.tdmrep {
        let text: String = String::from_utf8_lossy(file).split_whitespace().collect();
        add("TDMRep", "/.well-known/tdmrep.json", text.as_bytes());
    }
    if let Some(file) = &site.ai_txt {
        add("ai.txt", "/ai.txt", format!("{} bytes", file.len()).as_bytes());
    }
    for rule in rules.iter().filter(|rule| matches!(rule.as_str(), "noai" | "noimageai")) {
        add("robots tag", "this page", rule.as_bytes());
    }
    signals
}

fn of_robots_txt(file: &RobotsTxt, matcher: &Matcher, scope: Option<Scope>) -> Vec<Signal> {
    let is_obeyed = |name: &str| match matcher.group(name) {
        Some(named) => Some(named) == scope,
        None => matcher.star() == scope,
    };
    let groups = file
        .groups
        .iter()
        .filter(|group| scope.is_some() && group.user_agents.iter().any(|ua| is_obeyed(&ua.name)));
    let records = groups.flat_map(|group| &group.records).chain(&file.records);
    records
        .filter_map(|record| {
            let known = [
                ("content-signal", "Content-Signal"),
                ("content-usage", "Content-Usage"),
                ("license", "RSL"),
            ];
            let (_, name) = known.iter().find(|(key, _)| record.name.eq_ignore_ascii_case(key))?;
            let place = format!("robots.txt line {}", record.line);
            Some(Signal { name, place, value: escape::shown(&record.value) })
        })
        .collect()
}

fn contains(text: &[u8], part: &str) -> bool {
    text.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
}
