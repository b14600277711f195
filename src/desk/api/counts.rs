//! Counts by hour: all requests of crawlers and other programs, told apart as the request says; people, and the
//! visits that operators of crawlers sent; the paths that violations went to, and the networks that they came
//! from.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
};

use axum::response::Response;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::inquiry::{Inquiry, json, text_of};
use crate::{
    base::text::Text,
    desk::admin::problem::Problem,
    records::{
        counts::{Counted, Dimension, Place, Question},
        record::Violation,
        tally::{Claimant, PlaceKind},
    },
    review::report::{Span, terms::counted_spellings},
};

const MOST: usize = 100_000;

/// The values by which counts are told apart, by the name that the request and the answer have.
pub(super) const DIMENSIONS: [(&str, Dimension); 15] = [
    ("site", Dimension::Site),
    ("class", Dimension::Class),
    ("crawler", Dimension::ProductToken),
    ("purpose", Dimension::Purpose),
    ("standing", Dimension::Standing),
    ("verdict", Dimension::Verdict),
    ("action", Dimension::Action),
    ("reason", Dimension::Reason),
    ("edition", Dimension::Edition),
    ("directive", Dimension::Directive),
    ("pattern", Dimension::Pattern),
    ("line", Dimension::Line),
    ("read", Dimension::ReadState),
    HOUR,
    DAY,
];
const HOUR: (&str, Dimension) = ("hour", Dimension::Hour);
const DAY: (&str, Dimension) = ("day", Dimension::Day);

type By = Vec<(&'static str, Dimension)>;

/// The numbers of one key, with their names.
struct Row<'a, const N: usize> {
    by: &'a By,
    key: &'a [Text],
    numbers: [(&'static str, u64); N],
}

pub(super) fn counts(inquiry: &Inquiry) -> Result<Response, Problem> {
    let by = by(inquiry, &DIMENSIONS)?;
    let only_violations = inquiry.query.flag("only_violations")?;
    let (span, store) = (inquiry.span()?, inquiry.store()?);
    let tells = |dimension| by.iter().any(|(_, one)| *one == dimension);
    // Who is told apart by standing is not told apart by claimant, too.
    let is_by_standing = tells(Dimension::Standing);
    let is_by_claimant = tells(Dimension::ProductToken) && !is_by_standing;
    let crawler = inquiry.crawler(&store)?;
    // The numbers of a crawler are without its impostors.
    let is_own = crawler.is_some() && !is_by_claimant && !is_by_standing;
    let asked = by.iter().map(|(_, dimension)| *dimension);
    let question = Question {
        by: asked.chain(is_by_claimant.then_some(Dimension::Standing)).collect(),
        claimant: is_own.then_some(Claimant::Crawler),
        site: inquiry.site(&store)?,
        purpose: inquiry.purpose(&store)?,
        only_violations,
        ..span.question()
    };
    let mut counts: BTreeMap<Vec<Text>, Counted> = BTreeMap::new();
    for product_token in counted_spellings(crawler) {
        for one in store.counted(&Question { product_token, ..question.clone() })? {
            let sums = counts.entry(key(&by, &one)).or_default();
            sums.requests += one.requests;
            sums.violations += one.violations;
            sums.folded += one.folded;
            sums.dropped += one.dropped;
        }
    }
    if counts.len() > MOST {
        let detail = format!(
            "these are {} counts, and an answer has {MOST} at most (name fewer dimensions, or a \
             shorter span)",
            counts.len()
        );
        return Err(Problem::value("by", detail));
    }
    let rows = counts.iter().map(|(key, one)| {
        let numbers = [
            ("requests", one.requests),
            ("violations", one.violations),
            ("folded", one.folded),
            ("dropped", one.dropped),
        ];
        Row { by: &by, key, numbers }
    });
    of_span(&span, HashMap::from([("counts", rows.collect::<Vec<_>>())]))
}

/// What was counted in a span, by its name.
fn of_span(span: &Span, counted: impl Serialize) -> Result<Response, Problem> {
    #[derive(Serialize)]
    struct Answer<T> {
        from: String,
        until: String,
        #[serde(flatten)]
        counted: T,
    }
    json(&Answer { from: text_of(span.from), until: text_of(span.until), counted })
}

/// The dimensions that the request names. A count is of an hour or of a day.
fn by(inquiry: &Inquiry, known: &[(&'static str, Dimension)]) -> Result<By, Problem> {
    let by = inquiry.query.words("by", known)?;
    if by.contains(&HOUR) && by.contains(&DAY) {
        return Err(Problem::value("by", "'hour' and 'day' exclude each other (name one of them)"));
    }
    Ok(by)
}

/// The values of a count, as the answer has them; of impostors, their standing follows.
fn key(by: &By, one: &Counted) -> Vec<Text> {
    let value = |((_, dimension), value): (&(&str, Dimension), &Text)| match dimension {
        Dimension::ProductToken if value.is_empty() => Text::word(Violation::NAMELESS),
        _ => value.clone(),
    };
    let claimant = one.key.get(by.len()).and_then(|standing| Claimant::of(standing).standing());
    by.iter().zip(&one.key).map(value).chain(claimant.map(Text::word)).collect()
}

/// A value of a dimension. What is not there is `null`.
fn value(dimension: Dimension, value: &str) -> Value {
    match dimension {
        Dimension::Line => value.parse().ok().filter(|line: &u64| *line > 0).into(),
        Dimension::Day => value.split('T').next().into(),
        _ => Some(value).filter(|value| !value.is_empty()).into(),
    }
}

impl<const N: usize> Serialize for Row<'_, N> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self { by, key, numbers } = self;
        let values = by.iter().zip(*key);
        let values = values.map(|((name, dimension), text)| (*name, value(*dimension, text)));
        let standing = key.get(by.len()).map(|standing| ("standing", standing.as_str().into()));
        let numbers = numbers.map(|(name, number)| (name, number.into()));
        to.collect_map(values.chain(standing).chain(numbers))
    }
}

pub(super) const OF_PEOPLE: [(&str, Dimension); 3] = [("site", Dimension::Site), HOUR, DAY];

pub(super) fn people(inquiry: &Inquiry) -> Result<Response, Problem> {
    let by = by(inquiry, &OF_PEOPLE)?;
    let (span, store) = (inquiry.span()?, inquiry.store()?);
    let question = Question {
        by: by.iter().map(|(_, dimension)| *dimension).collect(),
        site: inquiry.site(&store)?,
        ..span.question()
    };
    let people = store.people(&question)?;
    let people = people.iter().map(|one| Row {
        by: &by,
        key: &one.key,
        numbers: [("requests", one.requests)],
    });
    of_span(&span, HashMap::from([("people", people.collect::<Vec<_>>())]))
}

pub(super) fn referrals(inquiry: &Inquiry) -> Result<Response, Problem> {
    let (span, store) = (inquiry.span()?, inquiry.store()?);
    let question = Question { site: inquiry.site(&store)?, ..span.question() };
    let visits = store.referrals(&question)?.into_iter();
    let rows = visits
        .map(|one| json!({ "operator": one.operator, "site": one.site, "visits": one.visits }));
    of_span(&span, HashMap::from([("referrals", rows.collect::<Vec<_>>())]))
}

pub(super) const OF_PLACES: [&str; 5] = ["site", "crawler", "since", "until", "limit"];

/// The places of an answer: usually, and at most.
const PLACES: (usize, usize) = (100, 1_000);

pub(super) fn paths(inquiry: &Inquiry) -> Result<Response, Problem> {
    places(inquiry, PlaceKind::Path, ("path", "paths"))
}

pub(super) fn networks(inquiry: &Inquiry) -> Result<Response, Problem> {
    places(inquiry, PlaceKind::Network, ("network", "networks"))
}

/// The places of a kind with the most violations, most first, by its names for one and for several.
fn places(
    inquiry: &Inquiry,
    kind: PlaceKind,
    (one, several): (&str, &str),
) -> Result<Response, Problem> {
    let limit = inquiry.query.number("limit", PLACES.0, 1..=PLACES.1)?;
    let (span, store) = (inquiry.span()?, inquiry.store()?);
    let crawler = inquiry.crawler(&store)?;
    // The places of a crawler are without those of its impostors.
    let claimant = crawler.is_some().then_some(Claimant::Crawler);
    let question = Question { site: inquiry.site(&store)?, claimant, ..span.question() };
    let spellings = counted_spellings(crawler);
    // Only of one spelling the first ones are the first of all.
    let most = if spellings.len() == 1 { limit + 1 } else { usize::MAX };
    let mut sums: HashMap<Text, u64> = HashMap::new();
    for product_token in spellings {
        let question = Question { product_token, ..question.clone() };
        for Place { key, violations } in store.places(kind, &question, most)? {
            *sums.entry(key).or_default() += violations;
        }
    }
    let mut places: Vec<(Text, u64)> = sums.into_iter().collect();
    places.sort_by(|(a, one), (b, other)| (Reverse(one), &**a).cmp(&(Reverse(other), &**b)));
    let shown = places.iter().take(limit);
    let shown = shown.map(|(key, violations)| json!({ one: key, "violations": violations }));
    of_span(&span, json!({ several: shown.collect::<Vec<_>>(), "more": places.len() > limit }))
}
