//! The `people_first` of an enforcement: when crawlers make room for people.

use std::time::Duration;

use crate::rules::{crawlers::Purpose, keys};

use super::{
    findings::Findings,
    names::purpose,
    rate_limits::LONGEST_WAIT,
    shape::At,
    share::{self, Share},
};

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
pub(super) fn read(at: &At<'_>, findings: &mut Findings) -> Option<PeopleFirst> {
    const SHORTEST: Duration = Duration::from_millis(1);
    const LONGEST: Duration = Duration::from_secs(3_600);
    let fields = at.fields(&keys::PEOPLE_FIRST, findings)?;
    let range = SHORTEST..=LONGEST;
    let latency = fields.read("latency", |at, findings| at.duration(range, findings), findings);
    let order = match fields.take("order") {
        Some(_) => fields.each("order", one_purpose, findings),
        None => vec![Purpose::Search],
    };
    Some(PeopleFirst {
        latency,
        errors: fields.value("errors", share::read, Share::parse, findings),
        crawlers_at_once: fields.some_number("crawlers_at_once", findings),
        wait: fields.time("wait", Duration::ZERO..=LONGEST_WAIT, findings),
        order,
        status: fields.value("status", status, |text| text.parse().ok(), findings),
    })
}

fn one_purpose(at: &At<'_>, findings: &mut Findings) -> Option<Purpose> {
    purpose(at.text(findings)?, at, findings)
}

fn status(at: &At<'_>, findings: &mut Findings) -> Option<u16> {
    match at.integer(100..=599, findings)? {
        status @ (429 | 503) => u16::try_from(status).ok(),
        other => {
            let message = format!("{other} does not tell a crawler to come back later");
            findings.refused(at, message, "use 503 or 429")
        }
    }
}
