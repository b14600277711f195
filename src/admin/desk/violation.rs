//! One violation, with all that is known about it.

use askama::Template;
use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};

use super::frame::{Frame, ask, html, notice};
use crate::{
    admin::view::View,
    escape,
    violations::{Filter, ReadState, Robots, RobotsRead, Violation, rule_line},
};

#[derive(Template)]
#[template(path = "violation.html", config = "src/admin/askama.toml")]
struct Page {
    frame: Frame,
    id: String,
    crawler: String,
    path: String,
    sentence: String,
    groups: Vec<Group>,
    links: Vec<Link>,
}

struct Group {
    name: &'static str,
    facts: Vec<Fact>,
}

struct Fact {
    name: &'static str,
    value: String,
    is_mono: bool,
}

struct Link {
    path: String,
    name: String,
}

pub(super) async fn page(State(view): State<View>, Path(id): Path<String>) -> Response {
    let filter = Filter { id: Some(id.clone()), limit: Some(1), ..Filter::default() };
    let listed = match ask(&view, move |store| store.query(&filter)).await {
        Ok(listed) => listed,
        Err(notice) => return notice,
    };
    let Some((_, violation)) = listed.records.first() else {
        let text = format!(
            "No record has the id {}. It may be older than the retention, or one of many that are \
             only counted (violations.detail).",
            escape::shown(&id)
        );
        return notice(&view, StatusCode::NOT_FOUND, "No such violation", &text);
    };
    let crawler = match violation.product_token.as_str() {
        "" => "A client without a name".to_owned(),
        token => token.to_owned(),
    };
    let page = Page {
        frame: Frame::new(&view, ""),
        id: violation.id.to_string(),
        sentence: sentence(violation),
        path: violation.path.to_string(),
        groups: groups(violation),
        links: links(violation, &crawler),
        crawler,
    };
    html(&page).into_response()
}

/// The broken rule, or the reason if no rule was broken.
pub(super) fn rule(violation: &Violation) -> String {
    let Robots { directive, pattern, .. } = &violation.robots;
    rule_line(directive, pattern).unwrap_or_else(|| violation.reason.to_string())
}

/// The violation in one or two sentences.
fn sentence(violation: &Violation) -> String {
    let what = match violation.reason.as_str() {
        "robots.disallow" => "The rules disallow this path.",
        "robots.disallow.evasion" => {
            "The path as written is allowed, but origins read it as one that the rules disallow."
        }
        "robots.disallow.hidden" => {
            "The User-Agent is too long or has too many names, so every group counts; one disallows \
             the path."
        }
        "claim.contradicted" => "The evidence contradicts who the client says it is.",
        "robots.crawl_delay" => "The request came before the crawl delay was over.",
        "ladder.throttle" => "The request came before the pace of the crawler's rung allows it.",
        "breaker.open" => "It would have been refused, but the breaker was open.",
        _ => "",
    };
    let knew = match violation.robots_read.state {
        ReadState::Never => "The crawler had not been seen to read robots.txt.",
        ReadState::Older => "The crawler had read an older edition of robots.txt.",
        ReadState::Current => "The crawler had read this edition of robots.txt.",
    };
    let done = match violation.action.as_str() {
        "log" => "It was recorded and passed.",
        "throttle" => "It was asked to come later.",
        "block" => "It was refused.",
        _ => "",
    };
    [what, knew, done].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
}

fn groups(violation: &Violation) -> Vec<Group> {
    let Violation { robots, robots_read, .. } = violation;
    let text = |name, value: &str| Fact { name, value: shown(value), is_mono: false };
    let mono = |name, value: &str| Fact { name, value: shown(value), is_mono: true };
    let list = |texts: &[crate::violations::Text]| {
        texts.iter().map(|text| text.as_str()).collect::<Vec<_>>().join(", ")
    };
    vec![
        Group {
            name: "Request",
            facts: vec![
                text("time", &violation.time.to_string()),
                text("site", &violation.site),
                mono(
                    "method and path",
                    &format!("{} {}", violation.method.as_str(), violation.path.as_str()),
                ),
                text("host", &violation.host),
                text("status", &violation.status.to_string()),
            ],
        },
        Group {
            name: "Client",
            facts: vec![
                mono("address", &violation.client_ip),
                mono("User-Agent", &violation.user_agent),
                text("product tokens", &list(&violation.product_tokens)),
                text("judged as", &violation.product_token),
                text("operator", violation.operator.as_deref().unwrap_or_default()),
                text("purpose", violation.purpose.as_deref().unwrap_or_default()),
                text("standing", &standing(violation)),
            ],
        },
        Group {
            name: "Judgement",
            facts: vec![
                text("verdict", &violation.verdict),
                mono("rule", &rule(violation)),
                text(
                    "line in robots.txt",
                    &robots.line.map(|line| line.to_string()).unwrap_or_default(),
                ),
                text("group", &list(&robots.group)),
                mono("edition", &robots.edition),
                text("had read", &read(robots_read)),
                mono("reason", &violation.reason),
                text("action", &violation.action),
                mono("id", &violation.id),
            ],
        },
    ]
}

fn shown(value: &str) -> String {
    if value.is_empty() { "–".to_owned() } else { value.to_owned() }
}

fn standing(violation: &Violation) -> String {
    match violation.evidence.as_deref() {
        Some(evidence) => format!("{} by {evidence}", violation.standing.as_str()),
        None => violation.standing.to_string(),
    }
}

fn read(read: &RobotsRead) -> String {
    let at = read.at.map(|at| format!(", at {at:.0}")).unwrap_or_default();
    match (read.state, &read.edition) {
        (ReadState::Never, _) => "nothing".to_owned(),
        (ReadState::Older, edition) => {
            format!("an older edition, {}{at}", edition.as_deref().unwrap_or("unknown"))
        }
        (ReadState::Current, _) => format!("this edition{at}"),
    }
}

fn links(violation: &Violation, crawler: &str) -> Vec<Link> {
    let link = |parameter: &str, value: &str, name: String| {
        let value: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
        Link { path: format!("/violations?{parameter}={value}"), name }
    };
    let mut links = Vec::new();
    if !violation.product_token.is_empty() {
        links.push(link("crawler", &violation.product_token, format!("All of {crawler}")));
    }
    links.push(link(
        "path",
        &format!("{}$", violation.path.as_str()),
        "All at this path".to_owned(),
    ));
    links
}
