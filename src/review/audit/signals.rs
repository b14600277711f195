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
        robots::{Matcher, Pattern, Record, RobotsTxt, Scope, Target},
        robots_tag::read_html,
        usage::{Carrier, Category, Preference, Statement},
    },
};

use super::page::{Page, Site};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Signal {
    /// Its name: `Content-Signal`.
    pub(crate) name: &'static str,
    /// Where it is: `robots.txt line 3`, `header field`, `document`, or a file.
    pub(crate) place: String,
    pub(crate) value: String,
    #[serde(skip)]
    pub(crate) statement: Statement,
    #[serde(skip)]
    pub(crate) line: Option<u32>,
}

const RSL: &str = "application/rsl+xml";

/// All signals for a crawler that obeys the groups in `scope`.
pub(super) fn of(
    file: &RobotsTxt,
    matcher: &Matcher,
    scope: Option<Scope>,
    target: &Target<'_>,
    site: &Site,
    page: &Page,
    rules: &[String],
) -> Vec<Signal> {
    let mut signals = of_robots_txt(file, matcher, scope, target);
    let mut add = |name: &'static str, place: &str, value: &[u8], statement: Statement| {
        let (place, value) = (place.to_owned(), escape::shown(value));
        signals.push(Signal { name, place, value, statement, line: None });
    };
    let nothing = Statement::default();
    for carrier in Carrier::ALL {
        let lines: Vec<&[u8]> = page.values(carrier.as_str()).collect();
        if !lines.is_empty() {
            let statement = carrier.read_lines(lines.iter().copied());
            add(carrier.as_str(), "header field", &lines.join(&b", "[..]), statement);
        }
    }
    for value in page.values("tdm-reservation") {
        add("TDMRep", "header field", value, reserved(&String::from_utf8_lossy(value)));
    }
    for value in page.values("tdm-policy") {
        add("TDMRep policy", "header field", value, nothing);
    }
    for link in page.values("Link").filter(|value| contains(value, RSL)) {
        add("RSL", "header field", link, nothing);
    }
    if contains(&page.body, RSL) {
        add("RSL", "document", RSL.as_bytes(), nothing);
    }
    let is_tdm = |name: &str| name.eq_ignore_ascii_case("tdm-reservation");
    for meta in read_html(&page.body, |name| is_tdm(name.as_str())).metas {
        let is_named = matches!(&meta.scope, crate::formats::robots_tag::Scope::Token(name) if is_tdm(name.as_str()));
        if is_named {
            add("TDMRep", "document", meta.content.as_bytes(), reserved(&meta.content));
        }
    }
    if let Some(file) = &site.tdmrep {
        let text: String = String::from_utf8_lossy(file).split_whitespace().collect();
        add("TDMRep", "/.well-known/tdmrep.json", text.as_bytes(), of_tdm_file(file, target));
    }
    if let Some(file) = &site.ai_txt {
        add("ai.txt", "/ai.txt", format!("{} bytes", file.len()).as_bytes(), nothing);
    }
    for rule in rules.iter().filter(|rule| matches!(rule.as_str(), "noai" | "noimageai")) {
        // The source of the rule states it.
        add("robots tag", "this page", rule.as_bytes(), nothing);
    }
    signals
}

/// The records that apply to the page, and the licences.
fn of_robots_txt(
    file: &RobotsTxt,
    matcher: &Matcher,
    scope: Option<Scope>,
    target: &Target<'_>,
) -> Vec<Signal> {
    let usages = Carrier::ALL
        .into_iter()
        .filter_map(|carrier| Some(matcher.usage_as_written(scope?, carrier, target).records));
    let usages = usages.flatten().map(|one| (one.carrier.as_str(), &one.record, one.statement));
    let licences = file.records.iter().filter(|one| one.name.eq_ignore_ascii_case("license"));
    let licences = licences.map(|record| ("RSL", record, Statement::default()));
    let signal = |(name, record, statement): (_, &Record, _)| Signal {
        name,
        place: format!("robots.txt line {}", record.line),
        value: escape::shown(&record.value),
        statement,
        line: Some(record.line),
    };
    usages.chain(licences).map(signal).collect()
}

/// What a value of `tdm-reservation` states.
fn reserved(value: &str) -> Statement {
    let says = match value.trim() {
        "1" => Some(Preference::Disallow),
        "0" => Some(Preference::Allow),
        _ => None,
    };
    Statement::default().with(Category::TrainAi, says)
}

/// What the rule with the longest location states about a page.
fn of_tdm_file(file: &[u8], target: &Target<'_>) -> Statement {
    let rules: Vec<serde_json::Value> = serde_json::from_slice(file).unwrap_or_default();
    let applying = rules.iter().filter_map(|rule| {
        let pattern = Pattern::new(rule.get("location")?.as_str()?).ok()?;
        let value = rule.get("tdm-reservation")?.to_string();
        pattern.matches(target.judged()).then(|| (pattern.specificity(), value))
    });
    // Of equally long ones the reservation.
    let longest = applying.max();
    longest.map_or_else(Statement::default, |(_, value)| reserved(value.trim_matches('"')))
}

fn contains(text: &[u8], part: &str) -> bool {
    text.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
}
