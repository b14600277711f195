//! The list of violations, with its filter in the address of the page.

use askama::Template;
use axum::{
    extract::{Query, State},
    response::{IntoResponse, Response},
};
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use serde::Deserialize;
use url::form_urlencoded::Serializer;

use super::{
    frame::{Frame, ask, html},
    number::grouped,
    violation::rule,
};
use crate::{
    admin::view::View,
    escape,
    violations::{Filter, Violation},
};

/// The violations on a page.
const PAGE: usize = 100;

/// The filter as the page has it. An empty text is no condition.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    crawler: String,
    site: String,
    path: String,
    purpose: String,
    action: String,
    since: String,
    /// Only violations before the one with this number in the store.
    before: Option<u64>,
}

#[derive(Template)]
#[template(path = "listing.html", config = "src/admin/askama.toml")]
struct Listing {
    frame: Frame,
    wanted: Wanted,
    actions: Vec<Choice>,
    faults: Vec<String>,
    caption: String,
    rows: Vec<Row>,
    older: Option<String>,
    newest: Option<String>,
}

struct Choice {
    value: &'static str,
    name: &'static str,
    is_here: bool,
}

struct Row {
    id: String,
    time: String,
    action: String,
    crawler: String,
    standing: String,
    client: String,
    read: &'static str,
    path: String,
    rule: String,
}

pub(super) async fn page(State(view): State<View>, Query(wanted): Query<Wanted>) -> Response {
    let (filter, faults) = wanted.filter();
    let listed = match ask(&view, move |store| store.query(&filter)).await {
        Ok(listed) => listed,
        Err(notice) => return notice,
    };
    let has_more = listed.records.len() > PAGE;
    // The latest come last, and one more than the page shows tells that there are older ones.
    let shown = &listed.records[usize::from(has_more)..];
    let first = shown.first().map(|(sequence, _)| *sequence);
    let choice = |value, name| Choice { value, name, is_here: value == wanted.action };
    let page = Listing {
        frame: Frame::new(&view, "/violations"),
        actions: vec![
            choice("", "any"),
            choice("log", "logged"),
            choice("throttle", "throttled"),
            choice("block", "blocked"),
        ],
        faults,
        caption: caption(shown.len(), has_more),
        rows: shown.iter().rev().map(|(_, violation)| row(violation)).collect(),
        older: first.filter(|_| has_more).map(|first| wanted.link(Some(first))),
        newest: wanted.before.map(|_| wanted.link(None)),
        wanted,
    };
    html(&page).into_response()
}

impl Wanted {
    /// The filter, and what is wrong with it.
    fn filter(&self) -> (Filter, Vec<String>) {
        let mut faults = Vec::new();
        let text = |text: &String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let since = text(&self.since).and_then(|text| {
            let since = time(&text);
            if since.is_none() {
                let text = escape::shown(&text);
                faults.push(format!("'{text}' is no day: write it as 2026-11-20."));
            }
            since
        });
        let path = text(&self.path).filter(|path| {
            let is_pattern = path.starts_with(['/', '*']);
            if !is_pattern {
                let path = escape::shown(path);
                faults.push(format!("'{path}' is no path: it begins with / or *."));
            }
            is_pattern
        });
        let filter = Filter {
            site: text(&self.site),
            product_token: text(&self.crawler),
            purpose: text(&self.purpose),
            path,
            since,
            action: text(&self.action),
            limit: Some(PAGE + 1),
            before_sequence: self.before,
            ..Filter::default()
        };
        (filter, faults)
    }

    /// The type of the field for a day. A text that is none stays in the field, so that a person
    /// can repair it.
    fn since_type(&self) -> &'static str {
        let is_day = self.since.is_empty() || self.since.parse::<Date>().is_ok();
        if is_day { "date" } else { "text" }
    }

    /// The page with this filter, from before a violation or from the latest on.
    fn link(&self, before: Option<u64>) -> String {
        let mut query = Serializer::new(String::new());
        for (name, value) in [
            ("crawler", &self.crawler),
            ("site", &self.site),
            ("path", &self.path),
            ("purpose", &self.purpose),
            ("action", &self.action),
            ("since", &self.since),
        ] {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        if let Some(before) = before {
            query.append_pair("before", &before.to_string());
        }
        match query.finish() {
            none if none.is_empty() => "/violations".to_owned(),
            query => format!("/violations?{query}"),
        }
    }
}

/// A time, or the begin of a day.
fn time(text: &str) -> Option<Timestamp> {
    let day = || Some(text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp());
    text.parse().ok().or_else(day)
}

fn caption(shown: usize, has_more: bool) -> String {
    let shown = grouped(shown as u64);
    if has_more {
        format!("{shown}, the latest first; there are older ones")
    } else {
        format!("{shown}, the latest first")
    }
}

fn row(violation: &Violation) -> Row {
    Row {
        id: violation.id.to_string(),
        time: violation.time.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        action: violation.action.to_string(),
        crawler: violation.product_token.to_string(),
        standing: violation.standing.to_string(),
        client: violation.client_ip.to_string(),
        read: violation.robots_read.state.as_str(),
        path: violation.path.to_string(),
        rule: rule(violation),
    }
}
