//! The facts of a scorecard, and the line of JSON.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::reading::{Following, READ_BY, Read, Reading};
use crate::{
    records::{
        counts::{Dimension, Question},
        record::Error,
        tally::Claimant,
        violations::Store,
    },
    review::report::{Axis, Count, Span, TALLIED_BY, Tally, number},
    rules::crawlers::{Catalogue, Purpose},
};

/// The most bytes of robots.txt files that are read for their times in force.
const MOST_EDITIONS: usize = 16 << 20;

/// What one crawler did in a span, and in the one before.
#[derive(Clone, Debug)]
pub(crate) struct Score {
    pub(crate) span: Span,
    /// The only site that counts.
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
    /// The hour with the most requests.
    pub(super) busiest: Option<(Timestamp, u64)>,
    /// How it reads robots.txt.
    pub(super) reading: Reading,
    /// How it followed changes of robots.txt, the latest first.
    pub(super) following: Vec<Following>,
    /// The bars of charts over time.
    pub(crate) axis: Axis,
    /// The counts for each bar.
    pub(super) bars: Vec<Count>,
}

impl Score {
    /// The scorecard of the crawler with this product token.
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
