//! The `reports` section: reports that Beadle sends by e-mail.

use sha2::{Digest, Sha256};

use super::{
    alerts::{self, Alert, Destination},
    fields::Fields,
    shape::At,
    sites::Site,
    test::known_site,
};

use crate::base::escape::hex;

/// The days of the week, from that of 1970-01-01.
const DAYS: [&str; 7] =
    ["thursday", "friday", "saturday", "sunday", "monday", "tuesday", "wednesday"];
const DAY: i64 = 86_400;

/// A regular report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub(crate) every: Every,
    pub(crate) to: Vec<String>,
    /// The name of its site; `None` is all of them as one.
    pub(crate) site: Option<String>,
}

/// A time of every day or week, in UTC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Every {
    pub(crate) text: String,
    /// The seconds between two times.
    pub(crate) period: i64,
    /// The second since 1970 of one of the times.
    offset: i64,
}

impl Report {
    /// What tells it from others in all nodes of a fleet, whatever its place in the policy.
    pub fn key(&self) -> String {
        let digest = Sha256::digest(format!("{self:?}"));
        hex(digest.iter().take(8))
    }
}

impl Every {
    fn parse(text: &str) -> Option<Self> {
        let (day, time) = text.split_once(' ')?;
        let (hour, minute) = time.split_once(':')?;
        let number = |digits: &str, end| {
            let is_number = digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_digit());
            digits.parse().ok().filter(|number: &i64| is_number && *number < end)
        };
        let days = (0..).zip(DAYS).find(|(_, name)| *name == day).map(|(number, _)| number);
        let (period, days) = if day == "day" { (DAY, 0) } else { (7 * DAY, days?) };
        let offset = days * DAY + number(hour, 24)? * 3_600 + number(minute, 60)? * 60;
        Some(Self { text: text.to_owned(), period, offset })
    }

    /// The last of the times that is not after this second since 1970.
    pub(crate) const fn last(&self, second: i64) -> i64 {
        second - (second - self.offset).rem_euclid(self.period)
    }
}

pub(super) fn read(at: Option<&At<'_>>, sites: &[Site]) -> Vec<Report> {
    let elements = at.map(At::elements).unwrap_or_default();
    elements.iter().filter_map(|at| report(at, sites)).flatten().collect()
}

fn report(at: &At<'_>, sites: &[Site]) -> Option<Vec<Report>> {
    let fields = at.fields()?;
    let (fault, help) = ("is no day with a time of 24 hours", "write for example monday 08:00");
    let every = |at: &At<'_>| at.parsed(Every::parse, fault, help);
    let every = fields.required("every", "write for example 'every: monday 08:00'", every);
    let to = fields.require("to", "name the addresses that get the report");
    let site = |at: &At<'_>| Some(known_site(at.text()?, at, sites)?.name().to_owned());
    let of = fields.each("sites", site);
    let report = Report { every: every?, to: alerts::addresses(&to?), site: None };
    Some(match of.as_slice() {
        [] => vec![report],
        of => of.iter().map(|one| Report { site: Some(one.clone()), ..report.clone() }).collect(),
    })
}

/// Refuses e-mail without a server, and reports and digests without a database.
pub(super) fn check(
    fields: &Fields<'_>,
    (alerts, reports): (&[Alert], &[Report]),
    has_database: bool,
) {
    let emails = alerts.iter().filter_map(|alert| match &alert.to {
        Destination::Email { digest, .. } => Some(digest.is_some()),
        Destination::Web { .. } => None,
    });
    let needs = emails.map(|is_digest| ("alerts", is_digest));
    for (key, needs_database) in needs.chain(reports.iter().map(|_| ("reports", true))) {
        let Some(at) = fields.take(key) else { continue };
        if fields.take("email").is_none() {
            let help = "add the section 'email' with 'server' and 'from'";
            return at.refuse("no mail server", help);
        }
        if needs_database && !has_database {
            let message = "no database, which reports and digests need";
            return at.refuse(message, "set 'violations.database'");
        }
    }
}

#[cfg(test)]
mod tests;
