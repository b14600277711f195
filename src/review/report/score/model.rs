//! The facts of a scorecard, and the line of JSON; how a crawler reads robots.txt.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    base::text::Text,
    records::{
        counts::{Counted, Dimension, Question},
        record::{Edition, Error, Fetch},
        tally::{Claimant, Hour},
        violations::Store,
    },
    review::report::{Axis, Count, Span, TALLIED_BY, Tally, number},
    rules::{
        crawlers::{Catalogue, Purpose},
        enforce::Reason,
    },
};

/// The most bytes of robots.txt files that are read for their times in force.
const MOST_EDITIONS: usize = 16 << 20;

/// What one crawler did in a span, and in the one before.
#[derive(Clone, Debug)]
pub(crate) struct Score {
    pub(crate) span: Span,
    pub(crate) site: Option<String>,
    pub(crate) product_token: String,
    pub(super) operator: Option<String>,
    pub(super) purpose: Option<Purpose>,
    pub(crate) now: Tally,
    pub(super) before: Tally,
    /// The requests of its impostors in the span. They count nowhere else.
    pub(crate) impostors: Count,
    /// Whether anything was counted in the span before, of any crawler.
    pub(super) is_compared: bool,
    pub(super) busiest: Option<(Timestamp, u64)>,
    pub(super) reading: Reading,
    /// How it followed changes of robots.txt, the latest first.
    pub(super) following: Vec<Following>,
    pub(crate) axis: Axis,
    pub(super) bars: Vec<Count>,
}

impl Score {
    pub(crate) fn of(
        store: &Store,
        catalogue: &Catalogue,
        span: Span,
        site: Option<String>,
        product_token: String,
    ) -> Result<Self, Error> {
        let of = |question: Question, token: &str, by: &[Dimension]| Question {
            site: site.clone(),
            product_token: Some(token.to_owned()),
            claimant: Some(Claimant::Crawler),
            by: by.to_vec(),
            ..question
        };
        let (here, before) = (span.question(), span.question_before());
        let both = Question { since: span.before, ..here.clone() };
        let entry = catalogue.find(&product_token);
        let names: Vec<String> = match entry {
            Some(entry) => entry.groups().map(|name| name.as_str().to_owned()).collect(),
            None => vec![product_token.clone()],
        };
        let mut counts = Vec::new();
        for name in &names {
            counts.extend(store.counted(&of(both.clone(), name, &READ_BY))?);
        }
        let impostors = Some(Claimant::Impostor);
        let impostors = Question { claimant: impostors, ..of(here.clone(), &product_token, &[]) };
        let impostors = store.counted(&impostors)?;
        let mut fetches = store.fetches_of(&names)?;
        fetches
            .retain(|fetch| site.as_ref().is_none_or(|site| fetch.site.eq_ignore_ascii_case(site)));
        let editions = store.latest_editions(span.before, None, MOST_EDITIONS)?.0;
        let read = Read { span, counts, fetches, editions };
        let first_counts = store.first_counted_hour()?;
        let axis = Axis::of(&span, first_counts);
        let mut bars = vec![Count::default(); axis.count()];
        let mut busiest = None;
        for counted in store.counted(&of(here.clone(), &product_token, &[Dimension::Hour]))? {
            let Some(hour) = counted.key.first().and_then(|hour| hour.parse().ok()) else {
                continue;
            };
            if let Some(bar) = axis.bar(hour).and_then(|bar| bars.get_mut(bar)) {
                *bar += (&counted).into();
            }
            if busiest.is_none_or(|(_, most)| counted.requests > most) {
                busiest = Some((hour, counted.requests));
            }
        }
        Ok(Self {
            operator: entry.and_then(|entry| entry.operator()).map(str::to_owned),
            purpose: entry.map(|entry| entry.purpose()),
            now: Tally::of(&store.counted(&of(here, &product_token, &TALLIED_BY))?),
            before: Tally::of(&store.counted(&of(before, &product_token, &TALLIED_BY))?),
            impostors: impostors.first().map(Count::from).unwrap_or_default(),
            is_compared: span.is_compared(first_counts),
            busiest,
            reading: read.reading(),
            following: read.following(),
            axis,
            bars,
            span,
            site,
            product_token,
        })
    }
}

fn time(time: Timestamp) -> String {
    format!("{time:.0}")
}

fn following(one: &Following) -> Value {
    let Following { site, edition, from, hours, .. } = one;
    json!({ "site": site, "edition": edition, "from": time(*from), "hours": hours })
}

/// The scorecard as one object, with a line feed.
pub(crate) fn json_line(score: &Score) -> String {
    let Score { now, before, reading, axis, .. } = score;
    let bar = |(at, Count { requests, violations }): (usize, &Count)| json!({ "from": time(axis.start(at)), "requests": requests, "violations": violations });
    let hour = |(hour, requests)| json!({ "hour": time(hour), "requests": requests });
    let bars = score.bars.iter().enumerate().skip(axis.uncounted());
    let line = json!({
        "kind": "score",
        "product_token": score.product_token,
        "operator": score.operator,
        "purpose": score.purpose,
        "site": score.site,
        "from": time(score.span.from),
        "until": time(score.span.until),
        "requests": now.all.requests,
        "violations": now.all.violations,
        "before": before.all,
        "compared": score.is_compared,
        "reasons": now.reasons,
        "read": now.read(),
        "requests_per_hour": number::quotient(now.all.requests, score.span.hours()),
        "busiest_hour": score.busiest.map(hour),
        "robots_txt": {
            "fetches": reading.fetches,
            "hours": reading.hours,
            "last": reading.last.map(time),
            "usual_seconds": reading.interval.map(|interval| interval.as_secs()),
        },
        "following": score.following.iter().map(following).collect::<Vec<_>>(),
        "too_soon": now.too_soon,
        "limited": now.limited,
        "judged": now.judged,
        "broken": now.broken,
        "confirmed": now.confirmed,
        "contradicted": score.impostors.requests,
        "trend": bars.map(bar).collect::<Vec<_>>(),
    });
    format!("{line}\n")
}

/// By what counts are told apart to see what was read, and when.
pub(super) const READ_BY: [Dimension; 4] =
    [Dimension::Hour, Dimension::Site, Dimension::Reason, Dimension::Edition];

const HOUR: i64 = 3_600_000;
/// The most changes of robots.txt that are told.
const MOST_CHANGES: usize = 20;

/// What the database knows about a crawler's reading, under every name that it obeys in robots.txt: it may
/// fetch the file under any of them.
pub(super) struct Read {
    pub(super) span: Span,
    /// The counts of both spans by [`READ_BY`].
    pub(super) counts: Vec<Counted>,
    pub(super) fetches: Vec<Fetch>,
    /// The editions that were in force in both spans.
    pub(super) editions: Vec<Edition>,
}

/// How a crawler reads robots.txt, under any name that it obeys there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) fetches: u64,
    pub(super) hours: u64,
    /// The time of the last fetch, as far as it is known.
    pub(super) last: Option<Timestamp>,
    /// The usual time between two fetches by one network: the median of all networks.
    pub(super) interval: Option<Duration>,
}

/// How a crawler followed one change of a site's robots.txt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Following {
    pub(super) site: Text,
    pub(super) edition: Text,
    pub(super) from: Timestamp,
    /// The end of the edition's time in force, if it came within the span.
    pub(super) until: Option<Timestamp>,
    /// The hours after which it had fetched the new edition; counts are kept by hour, so it may have
    /// been up to an hour earlier. `None` if it did not.
    pub(super) hours: Option<u64>,
}

struct Fetched<'a> {
    hour: Hour,
    site: &'a Text,
    edition: &'a Text,
    count: u64,
}

impl Read {
    /// The fetches of robots.txt in the counts.
    fn fetched(&self) -> impl Iterator<Item = Fetched<'_>> {
        self.counts.iter().filter_map(|counted| {
            let Counted { key, requests, .. } = counted;
            let [hour, site, reason, edition] = key.as_slice() else { return None };
            let is_fetch = reason.as_str() == Reason::RobotsTxt.as_str();
            let hour = Hour::of(hour.parse().ok()?);
            is_fetch.then_some(Fetched { hour, site, edition, count: *requests })
        })
    }

    /// How often the crawler read the file in the span.
    pub(super) fn reading(&self) -> Reading {
        let first = Hour::of(self.span.from);
        let (mut fetches, mut hours) = (0, BTreeSet::new());
        for one in self.fetched().filter(|one| one.hour >= first) {
            fetches += one.count;
            hours.insert(one.hour);
        }
        let last = self.fetches.iter().map(|fetch| fetch.last);
        let mut intervals: Vec<_> =
            self.fetches.iter().filter_map(|fetch| fetch.interval).collect();
        intervals.sort_unstable();
        Reading {
            fetches,
            hours: hours.len() as u64,
            last: last.filter(|last| *last < self.span.until).max(),
            interval: intervals.get(intervals.len() / 2).copied(),
        }
    }

    /// The changes of robots.txt on sites that the crawler visited, and when it fetched the new edition.
    pub(super) fn following(&self) -> Vec<Following> {
        let sites = self.counts.iter().filter_map(|counted| counted.key.get(1));
        let visited: BTreeSet<String> = sites.map(|site| site.to_ascii_lowercase()).collect();
        let mut by_site: BTreeMap<String, Vec<&Edition>> = BTreeMap::new();
        for edition in &self.editions {
            let site = edition.site.to_ascii_lowercase();
            if visited.contains(&site) {
                by_site.entry(site).or_default().push(edition);
            }
        }
        let mut all = Vec::new();
        for editions in by_site.values_mut() {
            editions.sort_by_key(|edition| edition.from);
            for pair in editions.windows(2) {
                let [older, newer] = pair else { continue };
                let is_change = older.id != newer.id && newer.from >= self.span.before;
                if is_change && newer.from < self.span.until {
                    all.push(self.change(newer));
                }
            }
        }
        all.sort_by_key(|one| std::cmp::Reverse(one.from));
        all.truncate(MOST_CHANGES);
        all
    }

    fn change(&self, newer: &Edition) -> Following {
        let until = newer.until.filter(|until| *until < self.span.until);
        let is_it = |one: &Fetched<'_>| {
            one.site.eq_ignore_ascii_case(&newer.site)
                && *one.edition == newer.id
                && one.hour >= Hour::of(newer.from)
        };
        let first = self.fetched().filter(is_it).map(|one| one.hour).min();
        let hours = first.map(|hour| {
            let end = (hour.as_millisecond() + HOUR).min(self.span.until.as_millisecond());
            let after = end.saturating_sub(newer.from.as_millisecond()).max(1);
            (after + HOUR - 1).div_euclid(HOUR).unsigned_abs()
        });
        Following {
            site: newer.site.clone(),
            edition: newer.id.clone(),
            from: newer.from,
            until: until.filter(|until: &Timestamp| *until > newer.from),
            hours,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::robots::OriginFile;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    fn edition(id: &'static str, from: &str, until: Option<&str>) -> Edition {
        Edition {
            site: Text::word("a.example"),
            id: Text::word(id),
            sha256: Text::default(),
            bytes: bytes::Bytes::new(),
            source: Text::word("policy"),
            origin_file: OriginFile::Unknown,
            from: at(from),
            until: until.map(at),
        }
    }

    fn fetched(hour: &'static str, edition: &'static str) -> Counted {
        let key = [hour, "A.example", "robots.robots_txt", edition].map(Text::word).to_vec();
        Counted { key, requests: 2, ..Counted::default() }
    }

    fn fetch(last: &str, hours: u64) -> Fetch {
        Fetch {
            site: Text::word("a.example"),
            product_token: Text::word("GPTBot"),
            network: Text::word("192.0.2.0/24"),
            standing: Text::word("unknown"),
            edition: Text::word("b"),
            first: at("2026-11-01T00:00:00Z"),
            last: at(last),
            count: 3,
            interval: Some(Duration::from_secs(hours * 3_600)),
        }
    }

    fn read() -> Read {
        let now = at("2026-11-22T10:31:00Z");
        let visit = ["2026-11-20T09:00:00Z", "a.example", "robots.allow", ""].map(Text::word);
        Read {
            span: Span::new(at("2026-11-15T10:31:00Z"), now, now),
            counts: vec![
                fetched("2026-11-10T01:00:00Z", "a"),
                fetched("2026-11-16T03:00:00Z", "a"),
                fetched("2026-11-16T16:00:00Z", "b"),
                fetched("2026-11-16T20:00:00Z", "b"),
                Counted { key: visit.to_vec(), requests: 9, ..Counted::default() },
            ],
            fetches: vec![fetch("2026-11-16T20:10:00Z", 4), fetch("2026-11-16T16:00:00Z", 9)],
            editions: vec![
                edition("a", "2026-11-01T00:00:00Z", Some("2026-11-16T12:30:00Z")),
                edition("b", "2026-11-16T12:30:00Z", Some("2026-11-20T00:00:00Z")),
                edition("c", "2026-11-20T00:00:00Z", Some("2026-11-21T00:00:00Z")),
                edition("d", "2026-11-21T00:00:00Z", None),
            ],
        }
    }

    #[test]
    fn fetches_are_counted_in_the_span_alone() {
        let found = read().reading();
        assert_eq!((found.fetches, found.hours), (6, 3));
        assert_eq!(found.last, Some(at("2026-11-16T20:10:00Z")));
        assert_eq!(found.interval, Some(Duration::from_secs(9 * 3_600)));
    }

    #[test]
    fn a_change_is_followed_by_the_first_fetch_of_the_new_edition() {
        let read = read();
        let found = read.following();
        let found: Vec<_> = found
            .iter()
            .map(|one| (one.edition.as_str(), one.hours, one.until.is_some()))
            .collect();
        // The fetch between 16:00 and 17:00 came at most four and a half hours after 12:30.
        assert_eq!(found, [("d", None, false), ("c", None, true), ("b", Some(5), true)]);
        let elsewhere = Read { counts: Vec::new(), ..read };
        assert!(elsewhere.following().is_empty(), "a site that it never visited");
    }
}
