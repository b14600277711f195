//! One violation, with the whole reasoning behind it.

use std::net::IpAddr;

use askama::Template;
use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::Response,
};

use super::{
    frame::{Answer, Frame, ask, notice},
    link::{self, Link},
    sheet::{Fact, Group, fact, group},
    words,
};
use crate::{
    base::{escape, text::Text},
    desk::admin::{View, html},
    formats::robots::Reading,
    records::{
        record::{Error, Filter, Robots, Violation, rule_line},
        tally::{Claimant, FORM},
        violations::Store,
    },
    review::explanation::{Excerpt, Past},
};

#[derive(Template)]
#[template(path = "violation.html", config = "src/desk/pages/askama.toml")]
struct Page {
    frame: Frame,
    violation: Violation,
    noun: &'static str,
    nouns: &'static str,
    crawler: String,
    sentence: String,
    groups: Vec<Group>,
    excerpt: Option<Excerpt>,
    links: Vec<Link>,
    older: Option<Text>,
    newer: Option<Text>,
}

pub(super) async fn page(State(view): State<View>, Path(id): Path<String>) -> Answer {
    let of = view.clone();
    ask(&view, move |store| shown(&of, store, &id)).await
}

fn shown(view: &View, store: &Store, id: &str) -> Result<Response, Error> {
    let one = Filter { id: Some(id.to_owned()), limit: Some(1), ..Filter::default() };
    let Some((sequence, violation)) = store.query(&one)?.records.pop() else {
        let text = format!(
            "No record has the id {}. It may be older than the retention, or one of many that are \
             only counted (violations.detail).",
            escape::shown(id)
        );
        return Ok(notice(view, StatusCode::NOT_FOUND, "No such violation", &text));
    };
    let of_crawler = || Filter {
        product_token: Some(violation.product_token.to_string()),
        claimant: Some(Claimant::of(&violation.standing)),
        reason: is_of_form(&violation).then(|| FORM.to_owned()),
        limit: Some(1),
        ..Filter::default()
    };
    let first = |filter: &Filter| {
        Ok::<_, Error>(store.query(filter)?.records.pop().map(|(_, other)| other.id))
    };
    let older = first(&Filter { before_sequence: Some(sequence), ..of_crawler() })?;
    let newer = first(&Filter { after_sequence: Some(sequence), ..of_crawler() })?;
    let editions = store.editions_by_id(&violation.robots.edition, Some(&violation.site))?;
    let reading = reading(view, &violation.site, &violation.path);
    let past = editions.first().map(|file| Past::of(&violation, &file.bytes, reading));
    let past = past.unwrap_or_default();
    let crawler = match violation.product_token.as_str() {
        "" | Violation::NAMELESS => "A client without a name".to_owned(),
        token => token.to_owned(),
    };
    let [noun, nouns] = nouns_of(&violation);
    Ok(html(&Page {
        frame: Frame::new(view, "/violations"),
        noun,
        nouns,
        sentence: words::sentences([
            words::reason(&violation.reason),
            words::read(&violation.robots_read),
            words::done(&violation.action),
        ]),
        groups: vec![
            group("Reasons", reasons(&violation, &past)),
            group("Request", request(&violation)),
            group("Client", client(&violation)),
        ],
        excerpt: past.excerpt,
        links: links(&violation, &crawler),
        older,
        newer,
        crawler,
        violation,
    }))
}

/// Whether the record is of another form of a closed path, which is no violation.
fn is_of_form(violation: &Violation) -> bool {
    violation.reason.as_str() == FORM
}

fn nouns_of(violation: &Violation) -> [&'static str; 2] {
    match is_of_form(violation) {
        true => ["Other form", "Other forms"],
        false => ["Violation", "Violations"],
    }
}

/// How the origin of a site reads a path; the usual way if the site is gone.
pub(super) fn reading(view: &View, site: &str, path: &str) -> Reading {
    let Some(live) = view.live.get() else { return Reading::default() };
    let published = live.gate.published();
    let sites = published.rulebook.sites();
    let site = sites.iter().find(|one| one.name.eq_ignore_ascii_case(site));
    site.map_or_else(Reading::default, |site| site.reading_of(path.as_bytes()))
}

pub(super) fn rule(violation: &Violation) -> String {
    let Robots { directive, pattern, .. } = &violation.robots;
    rule_line(directive, pattern).unwrap_or_else(|| violation.reason.to_string())
}

fn reasons(violation: &Violation, past: &Past) -> Vec<Fact> {
    let Violation { robots, robots_read, .. } = violation;
    let rule = past.rule.clone().unwrap_or_else(|| match robots.line {
        Some(line) => format!("{}   (robots.txt line {line})", rule(violation)),
        None => rule(violation),
    });
    let mut facts = vec![text("verdict", &violation.verdict), mono("rule", &rule)];
    if let Some(over) = &past.over {
        facts.push(mono("over", over));
    }
    facts.push(text("group", &list(&robots.group)));
    if let Some(form) = &past.form {
        facts.push(mono("an origin may read the path as", form));
    }
    let of = |name, id: &str| match id {
        "" => mono(name, id),
        id => Fact { link: link::edition(&violation.site, id), ..mono(name, id) },
    };
    facts.push(of("edition", &robots.edition));
    match (&robots_read.edition, robots_read.at) {
        (Some(id), at) => {
            facts.push(of("edition it had read", id));
            facts.extend(at.map(|at| text("read at", &format!("{at:.0}"))));
        }
        (None, _) => facts.push(text("edition it had read", "none")),
    }
    let standing = words::standing(&violation.standing, violation.evidence.as_deref());
    facts.push(text("claim", standing));
    facts.push(mono("reason", &violation.reason));
    facts
}

fn request(violation: &Violation) -> Vec<Fact> {
    let status = match violation.status {
        0 => "none: the client or the origin was gone".to_owned(),
        status => status.to_string(),
    };
    vec![
        text("time", &violation.time.to_string()),
        text("site", &violation.site),
        mono("method and path", &format!("{} {}", &*violation.method, &*violation.path)),
        text("host", &violation.host),
        text("action", &violation.action),
        text("answered with status", &status),
        mono("decision id", &violation.id),
    ]
}

fn client(violation: &Violation) -> Vec<Fact> {
    let standing = match violation.evidence.as_deref() {
        Some(evidence) => format!("{} by {evidence}", &*violation.standing),
        None => violation.standing.to_string(),
    };
    vec![
        mono("address", &violation.client_ip),
        mono("User-Agent", &violation.user_agent),
        text("product tokens", &list(&violation.product_tokens)),
        text("judged as", &violation.product_token),
        text("operator", violation.operator.as_deref().unwrap_or_default()),
        text("purpose", violation.purpose.as_deref().unwrap_or_default()),
        text("standing", &standing),
    ]
}

fn text(name: &str, value: &str) -> Fact {
    fact(name, if value.is_empty() { "–" } else { value })
}

fn mono(name: &str, value: &str) -> Fact {
    Fact { class: "mono", ..text(name, value) }
}

fn list(texts: &[Text]) -> String {
    texts.iter().map(|text| text.as_str()).collect::<Vec<_>>().join(", ")
}

fn links(violation: &Violation, crawler: &str) -> Vec<Link> {
    let [_, nouns] = nouns_of(violation);
    let reason = if is_of_form(violation) { FORM } else { "" };
    let list =
        |parameter: &str, value: &str| link::violations(&[(parameter, value), ("reason", reason)]);
    let mut links = vec![Link::to(try_it(violation), "Try this request now")];
    let token = &*violation.product_token;
    if !matches!(token, "" | Violation::NAMELESS) {
        links.push(Link::to(link::crawler(token, &[]), format!("About {crawler}")));
        links.push(Link::to(list("crawler", token), format!("{nouns} by {crawler}")));
    }
    let path = format!("{}$", &*violation.path);
    links.push(Link::to(list("path", &path), format!("{nouns} at this path")));
    links
}

/// The decision about the recorded request by the rules of today. A record may have a network or a
/// hash in place of the address.
fn try_it(violation: &Violation) -> String {
    let octets = violation.path.path_octets();
    let path = octets.and_then(|octets| String::from_utf8(octets).ok());
    let path = path.unwrap_or_else(|| violation.path.to_string());
    let host = match &*violation.host {
        address if address.contains(':') => format!("[{address}]"),
        name => name.to_owned(),
    };
    let user_agent = escape::original(&violation.user_agent);
    let user_agent = user_agent.and_then(|octets| String::from_utf8(octets).ok());
    let url = format!("https://{host}{path}");
    let address = violation.client_ip.parse::<IpAddr>().map(|_| &*violation.client_ip);
    let parameters = [
        ("user_agent", user_agent.as_deref().unwrap_or(&violation.user_agent)),
        ("url", &url),
        ("address", address.unwrap_or_default()),
    ];
    link::with_query("/try", &parameters)
}
