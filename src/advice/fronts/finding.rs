//! One answer that came through a front, compared with the one that should come.

use std::{collections::HashMap, time::Duration};

use crate::{base::escape, rules::policy::AlertKind};

use super::{
    question::{Asker, Question},
    repairs::Product,
};

/// The most lines of a difference that are kept of each side.
const MOST_LINES: usize = 10;
/// The time beyond `max-age` that a cache may take.
const SLACK: Duration = Duration::from_secs(60);

/// What should come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    RobotsTxt {
        file: Vec<u8>,
        /// How long ago the file that came was replaced; `None` if it never was in force. Zero where it
        /// still is, or says the same.
        replaced: Option<Duration>,
        /// How long caches may keep the file.
        max_age: Duration,
    },
    /// A page of the origin, or a refusal.
    Page {
        /// Whether Beadle refuses it.
        is_refused: bool,
        /// The names of the fields with the site's tags for the answer that came.
        tags: Vec<&'static str>,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The status; 0 is no answer.
    pub(crate) status: u16,
    /// The fields, with names in lower case.
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Whether Beadle got the request. `None` if another node may have got it.
    pub(crate) has_arrived: Option<bool>,
}

/// What a front does to an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) kind: AlertKind,
    /// What is wrong, as a clause.
    pub(crate) text: String,
    pub(crate) status: u16,
    /// The `Server` field that came.
    pub(crate) server: String,
    /// The lines that a front put into robots.txt.
    pub(crate) added: Vec<String>,
    /// The lines that it took out.
    pub(crate) removed: Vec<String>,
    pub(super) product: Option<Product>,
}

impl Seen {
    /// The first value of a field; empty without one.
    pub(crate) fn field(&self, name: &str) -> &str {
        let found = self.fields.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    fn shown(&self) -> String {
        match self.status {
            0 => "gets no answer".to_owned(),
            status => format!("is refused with {status}"),
        }
    }

    /// Whether a front refuses a page with this answer. The status of the origin is none of a front.
    fn is_refusal(&self) -> bool {
        let refuses = matches!(self.status, 0 | 401..=403 | 405 | 406 | 418 | 429 | 451 | 503);
        refuses && self.has_arrived != Some(true)
    }
}

/// What a front does to the answer to a question, if anything.
pub(crate) fn judge(question: &Question, expected: &Expected, seen: &Seen) -> Option<Finding> {
    let target = escape::shown(&question.target);
    let of = |kind, text| {
        let server = escape::shown(seen.field("server"));
        let (added, removed, product) =
            (Vec::new(), Vec::new(), Product::of(|name| seen.field(name)));
        Some(Finding { kind, text, status: seen.status, server, added, removed, product })
    };
    match expected {
        Expected::RobotsTxt { .. } if seen.status != 200 => {
            of(AlertKind::RobotsRefused, format!("robots.txt {}", seen.shown()))
        }
        Expected::RobotsTxt { file, .. } if *file == seen.body => None,
        Expected::RobotsTxt { replaced: Some(ago), max_age, .. } => {
            let text = format!(
                "robots.txt is an old edition, replaced {} s ago (max-age {} s)",
                ago.as_secs(),
                max_age.as_secs()
            );
            let is_stale = *ago > *max_age + SLACK.min(*max_age);
            is_stale.then(|| of(AlertKind::Stale, text)).flatten()
        }
        Expected::RobotsTxt { file, .. } => {
            let (added, removed) = (missing(file, &seen.body), missing(&seen.body, file));
            let text = format!(
                "robots.txt comes changed: {} lines put in, {} taken out",
                added.len(),
                removed.len()
            );
            let bounded = |lines: Vec<&[u8]>| {
                lines.into_iter().take(MOST_LINES).map(escape::shown).collect::<Vec<_>>()
            };
            let finding = of(AlertKind::RobotsRewritten, text)?;
            Some(Finding { added: bounded(added), removed: bounded(removed), ..finding })
        }
        Expected::Page { is_refused: true, .. } => {
            let text = match seen.has_arrived {
                Some(false) => "comes from a cache or around Beadle",
                _ => "comes anyway",
            };
            let is_ignored = matches!(seen.status, 200..=299);
            let text = format!("{target}, which is blocked, {text}");
            is_ignored.then(|| of(AlertKind::EdgeIgnores, text)).flatten()
        }
        Expected::Page { .. } if seen.is_refusal() && question.asker != Asker::Browser => {
            let text = format!("{target}, which the rules allow, {}", seen.shown());
            of(AlertKind::EdgeRefuses, text)
        }
        Expected::Page { tags, .. } => {
            let lost: Vec<&str> =
                tags.iter().copied().filter(|name| seen.field(name).is_empty()).collect();
            let is_page = seen.status == 200 && !lost.is_empty();
            let text = format!("{target} comes without {}", lost.join(" and "));
            is_page.then(|| of(AlertKind::TagsLost, text)).flatten()
        }
    }
}

/// The lines of `other` that `file` lacks, in their order, each as often as it is missing.
fn missing<'o>(file: &'o [u8], other: &'o [u8]) -> Vec<&'o [u8]> {
    let lines = |text: &'o [u8]| text.split(|octet| *octet == b'\n').filter(|one| !one.is_empty());
    let mut known: HashMap<&[u8], usize> = HashMap::new();
    lines(file).for_each(|line| *known.entry(line).or_default() += 1);
    let mut missing: Vec<&[u8]> = lines(other).collect();
    missing.retain(|line| match known.get_mut(*line) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    missing
}
