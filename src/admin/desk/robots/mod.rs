//! The robots.txt of the sites.
//!
//! ```text
//! index       the sites
//! site        the file in force with the hits of each line, its fetches and its history
//! edition     one edition: its bytes, and the difference in meaning to the one before
//! quarantine  the file that waits for a confirmation, and the confirmation
//! ```

use std::sync::Arc;

use axum::{Router, http::StatusCode, response::Response, routing::get};

use serde::Deserialize;

use super::{
    frame::{live, notice},
    number::{grouped, share},
    span::Days,
};
use crate::{admin::view::View, enforce, escape, publication::Snapshot};

mod changes; // a difference in meaning as rows
mod edition; // one edition
mod file; // a file line by line
mod hits; // hits of lines, from the counts
mod index; // the sites
mod quarantine; // the file that waits for a confirmation
mod site; // the file in force

pub(super) fn router() -> Router<View> {
    Router::new()
        .route("/robots", get(index::page))
        .route("/robots/{site}", get(site::page))
        .route("/robots/{site}/quarantine", get(quarantine::page).post(quarantine::publish))
        .route("/robots/{site}/{edition}", get(edition::page))
        .route("/robots/{site}/{edition}/file", get(edition::file))
}

/// The span in the address of a page.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Wanted {
    days: String,
}

impl Wanted {
    fn days(&self) -> Days {
        Days::wanted(&self.days)
    }
}

/// A site in force.
#[derive(Clone)]
struct SiteInForce {
    published: Arc<Snapshot>,
    number: usize,
    name: String,
}

impl SiteInForce {
    /// The site with this name, or a page that says that there is none.
    fn find(view: &View, name: &str) -> Result<Self, Box<Response>> {
        let published = live(view)?.handles.published.load_full();
        let sites = published.rulebook.sites();
        let Some(number) = sites.iter().position(|site| site.name.eq_ignore_ascii_case(name))
        else {
            let text = format!(
                "The policy in force has no site with the name '{}'. A site has the name of its \
                 first host.",
                escape::shown(name)
            );
            return Err(Box::new(notice(view, StatusCode::NOT_FOUND, "No such site", &text)));
        };
        Ok(Self::new(&published, number))
    }

    fn new(published: &Arc<Snapshot>, number: usize) -> Self {
        let name = published.site(number).map(|(site, _)| site.name.clone()).unwrap_or_default();
        Self { published: Arc::clone(published), number, name }
    }

    /// The site. A snapshot never loses one.
    fn site(&self) -> Option<&enforce::Site> {
        self.published.rulebook.sites().get(self.number)
    }

    /// The address of its page.
    fn path(&self) -> String {
        format!("/robots/{}", segment(&self.name))
    }
}

/// The address of a page with a span; empty for the usual one.
fn with_days(path: &str, days: &str) -> String {
    if days.is_empty() { path.to_owned() } else { format!("{path}?days={days}") }
}

/// A text as one segment of a path.
fn segment(text: &str) -> String {
    let mut segment = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                segment.push(char::from(byte));
            }
            other => segment.push_str(&format!("%{other:02X}")),
        }
    }
    segment
}

/// A number with its unit.
fn plural(number: u64, unit: &str) -> String {
    if number == 1 { format!("1 {unit}") } else { format!("{} {unit}s", grouped(number)) }
}

/// A time without parts of a second.
fn shown(at: jiff::Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::segment;

    #[test]
    fn a_segment_keeps_its_text_apart_from_the_path() {
        for (text, expected) in [
            ("www.example.com", "www.example.com"),
            ("::1", "%3A%3A1"),
            ("a/b?c#d %é", "a%2Fb%3Fc%23d%20%25%C3%A9"),
        ] {
            assert_eq!(segment(text), expected);
        }
    }
}
