//! The `people_first` of an enforcement: when crawlers make room for people.

use std::time::Duration;

use crate::rules::crawlers::Purpose;

use super::{names::purpose, shape::At, share::Share};

/// When crawlers make room for people.
#[derive(Clone, Debug)]
pub struct PeopleFirst {
    /// The time to the head of a response that people may wait; `None` goes by the usual times.
    pub latency: Option<Duration>,
    /// The share of failed responses at which the limit falls (default 5%).
    pub errors: Share,
    /// The most requests of crawlers at the origin at one time; `None` adapts alone.
    pub crawlers_at_once: Option<u32>,
    /// How long a crawler's request may wait for room (default 0).
    pub wait: Duration,
    /// The purposes that come first, in this order (default search).
    pub order: Vec<Purpose>,
    /// The status for a crawler that is put off (default 503).
    pub status: u16,
}

/// Reads the section.
pub(super) fn read(at: &At<'_>) -> Option<PeopleFirst> {
    let fields = at.fields()?;
    Some(PeopleFirst {
        latency: fields.find("latency"),
        errors: fields.get("errors"),
        crawlers_at_once: fields.find("crawlers_at_once"),
        wait: fields.get("wait"),
        order: fields.each("order", purpose),
        status: fields.get_with("status", status),
    })
}

fn status(at: &At<'_>) -> Option<u16> {
    match at.integer(100..=599)? {
        status @ (429 | 503) => u16::try_from(status).ok(),
        other => {
            let message = format!("{other} does not tell a crawler to come back later");
            at.refused(message, "use 503 or 429")
        }
    }
}
