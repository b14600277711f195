//! The `people_first` of an enforcement: when crawlers make room for people.

use std::time::Duration;

use crate::rules::crawlers::Purpose;

use super::{names::purpose, shape::At, share::Share};

/// When crawlers make room for people.
#[derive(Clone, Debug)]
pub struct PeopleFirst {
    pub(crate) latency: Option<Duration>,
    pub(crate) errors: Share,
    pub(crate) crawlers_at_once: Option<u32>,
    pub(crate) wait: Duration,
    pub(crate) order: Vec<Purpose>,
    pub(crate) status: u16,
}

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
