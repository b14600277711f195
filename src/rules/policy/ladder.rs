//! The `ladder` of an enforcement: how a crawler climbs and comes down.

use std::time::Duration;

use crate::{base::escape::shown, formats::robots::Pace, rules::keys};

use super::{
    findings::Findings,
    shape::{At, Fields},
    share::{self, Share},
    yaml::Value,
};

/// How a crawler climbs and comes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ladder {
    /// The time in which violations are counted (default 1 h).
    pub period: Duration,
    /// The share of violations among a crawler's requests from which it climbs (default 10%).
    pub share: Share,
    /// The least number of violations from which a crawler climbs (default 10).
    pub min_violations: u64,
    /// The pace on the rung `throttle` for a crawler without a pace of its own (default one request
    /// every 10 s).
    pub throttle: Pace,
}

impl Default for Ladder {
    fn default() -> Self {
        Self {
            period: Duration::from_secs(3_600),
            share: Share::TENTH,
            min_violations: 10,
            throttle: Pace::new(1, Duration::from_secs(10))
                .expect("one request every 10 s is a pace"),
        }
    }
}

/// Reads the section; a value that it leaves out has its default.
pub(super) fn read(at: &At<'_>, findings: &mut Findings) -> Ladder {
    let default = Ladder::default();
    let Some(fields) = at.fields(&keys::LADDER, findings) else { return default };
    let minute_to_week = Duration::from_secs(60)..=Duration::from_secs(7 * 86_400);
    let period = fields.duration("period", minute_to_week, findings);
    let share = share::read(&fields, findings);
    let min_violations = fields.count("min_violations", findings);
    Ladder {
        period: period.unwrap_or(default.period),
        share: share.unwrap_or(default.share),
        min_violations: min_violations.unwrap_or(default.min_violations),
        throttle: pace(&fields, findings).unwrap_or(default.throttle),
    }
}

fn pace(fields: &Fields<'_>, findings: &mut Findings) -> Option<Pace> {
    const HELP: &str = "write requests and a time, for example 1/10s or 10/1m";
    let at = fields.take("throttle")?;
    let message = match &at.node.value {
        Value::Integer(n) => format!("{n} is not a pace"),
        Value::Float(n) => format!("{n} is not a pace"),
        _ => {
            let text = at.text(findings)?;
            match Pace::parse(text) {
                Some(pace) => return Some(pace),
                None if is_too_fast(text) => {
                    format!("'{}' is faster than a thousand requests a second", shown(text))
                }
                None => format!("'{}' is not a pace", shown(text)),
            }
        }
    };
    findings.refuse(&at, message, HELP);
    None
}

/// Whether it would be a pace with fewer requests.
fn is_too_fast(text: &str) -> bool {
    text.split_once('/').is_some_and(|(requests, time)| {
        let is_number = requests.bytes().all(|b| b.is_ascii_digit());
        let is_some = requests.bytes().any(|b| b != b'0');
        is_number && is_some && Pace::parse(&format!("1/{time}")).is_some()
    })
}
