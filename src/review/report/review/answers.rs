//! What the database is asked for a review, and the review that is made of its answers.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
};

use jiff::{SignedDuration, Timestamp};

use super::model::{CrawlerRow, Exchange, NO_NAME, OperatorRow, PathRow, Review, RuleRow};
use crate::{
    base::text::Text,
    records::{
        counts::{Counted, Dimension, Place, Question, Referral},
        record::Error,
        tally::{Claimant, PlaceKind},
        violations::Store,
    },
    review::report::{Axis, Count, Span, TALLIED_BY, Tally},
    rules::crawlers::{Catalogue, Crawler},
};

/// By what counts are told apart for [`rules`](super::rules).
pub(crate) const RULES_BY: [Dimension; 5] =
    [Dimension::Site, Dimension::Directive, Dimension::Pattern, Dimension::Line, Dimension::Reason];

/// The paths that a review shows at most.
const MOST_PATHS: usize = 1_000;
/// The paths of the time before among which they are looked for.
pub(super) const MOST_PATHS_BEFORE: usize = 100_000;

#[derive(Clone, Debug)]
pub(crate) struct Answers {
    pub(crate) span: Span,
    /// The only site that was asked for.
    pub(crate) site: Option<String>,
    pub(crate) now: Period,
    pub(crate) before: Period,
    /// The counts of the span by product token, [`Span::period`] and standing, in this order.
    pub(crate) times: Vec<Counted>,
    /// The first hour with counts, of any site.
    pub(crate) first_counts: Option<Timestamp>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Period {
    /// The counts by [`TALLIED_BY`](crate::review::report::TALLIED_BY).
    pub(crate) crawlers: Vec<Counted>,
    /// The counts by site, directive, pattern, line and reason.
    pub(crate) rules: Vec<Counted>,
    /// The paths with the most violations, up to a bound.
    pub(crate) paths: Vec<Place>,
    pub(crate) people: u64,
    /// The visits of people that operators of crawlers sent.
    pub(crate) referrals: Vec<Referral>,
}

impl Answers {
    /// The answers of a database about `span`, on one site or on all of them.
    pub(crate) fn of(store: &Store, span: Span, site: Option<String>) -> Result<Self, Error> {
        let of = |question: Question| Question { site: site.clone(), ..question };
        let (here, before) = (of(span.question()), of(span.question_before()));
        let times = vec![Dimension::ProductToken, span.period(), Dimension::Standing];
        Ok(Self {
            span,
            now: Period::of(store, &here, MOST_PATHS)?,
            before: Period::of(store, &before, MOST_PATHS_BEFORE)?,
            times: store.counted(&Question { by: times, ..here })?,
            first_counts: store.first_counted_hour()?,
            site,
        })
    }
}

impl Period {
    fn of(store: &Store, question: &Question, paths: usize) -> Result<Self, Error> {
        let by = |by: &[Dimension]| Question { by: by.to_vec(), ..question.clone() };
        let people = store.people(question)?;
        Ok(Self {
            crawlers: store.counted(&by(&TALLIED_BY))?,
            rules: store.counted(&by(&RULES_BY))?,
            paths: store.places(PlaceKind::Path, question, paths)?,
            people: people.iter().map(|one| one.requests).sum(),
            referrals: store.referrals(question)?,
        })
    }
}

impl<'c> Review<'c> {
    /// The review of these answers. Operators are those of the catalogue.
    pub(crate) fn of(answers: &Answers, catalogue: &'c Catalogue) -> Self {
        let Answers { span, site, now, before, times, first_counts } = answers;
        let axis = Axis::of(span, *first_counts);
        let crawlers = crawlers(answers, catalogue, axis);
        let mut bars = vec![Count::default(); axis.count()];
        for counted in times {
            let time = counted.key.get(1).and_then(|time| time.parse().ok());
            if let Some(bar) = time.and_then(|time| bars.get_mut(axis.bar(time)?)) {
                *bar += counted.into();
            }
        }
        Self {
            span: *span,
            site: site.clone(),
            is_compared: span.is_compared(*first_counts),
            first_counts: first_counts.filter(|first| *first > span.before),
            total: Tally::of(&now.crawlers),
            total_before: Tally::of(&before.crawlers),
            people: (now.people, before.people),
            rules: rules(&now.rules, &before.rules),
            paths: paths(&now.paths, &before.paths),
            days: days(span, *first_counts, times),
            operators: operators(&crawlers, &now.referrals, &before.referrals),
            crawlers,
            axis,
            bars,
        }
    }
}

/// One row for each product token, whatever its case, and one for its impostors; most violations first,
/// then most requests.
pub(super) fn crawlers<'c>(
    answers: &Answers,
    catalogue: &'c Catalogue,
    axis: Axis,
) -> Vec<CrawlerRow<'c>> {
    let mut rows: HashMap<(String, Claimant), CrawlerRow<'c>> = HashMap::new();
    // The standing comes third, in `TALLIED_BY` and in the counts over time.
    let mut of = |counted: &Counted, add: &dyn Fn(&mut CrawlerRow<'c>)| {
        let claimant = Claimant::of(counted.key.get(2).map_or("", Text::as_str));
        let token = match counted.key.first() {
            Some(token) if !token.is_empty() => token,
            _ => &NO_NAME,
        };
        let key = (token.to_ascii_lowercase(), claimant);
        add(rows.entry(key).or_insert_with(|| row((token, claimant), catalogue, axis)));
    };
    for counted in &answers.now.crawlers {
        of(counted, &|row| row.now.add(counted));
    }
    for counted in &answers.before.crawlers {
        of(counted, &|row| row.before.add(counted));
    }
    for counted in &answers.times {
        let time = counted.key.get(1).and_then(|time| time.parse().ok());
        of(counted, &|row| {
            if let Some(bar) = time.and_then(|time| row.bars.get_mut(axis.bar(time)?)) {
                *bar += counted.violations;
            }
        });
    }
    let mut rows: Vec<_> = rows.into_values().collect();
    let order = |row: &CrawlerRow<'_>| {
        let (now, before) = (row.now.all, row.before.all);
        let numbers = [now.violations, now.requests, before.violations, before.requests];
        (Reverse(numbers), row.product_token.clone(), row.claimant)
    };
    rows.sort_by_cached_key(order);
    rows
}

fn row<'c>(
    (token, claimant): (&Text, Claimant),
    catalogue: &'c Catalogue,
    axis: Axis,
) -> CrawlerRow<'c> {
    let entry = catalogue.find(token).filter(|_| *token != NO_NAME);
    let own = entry.map(|entry| entry.product_token().as_str());
    let spelling = own.filter(|own| own.eq_ignore_ascii_case(token));
    CrawlerRow {
        product_token: spelling.map_or_else(|| token.clone(), Text::from),
        claimant,
        entry,
        now: Tally::default(),
        before: Tally::default(),
        bars: vec![0; axis.count()],
    }
}

/// The most days that are listed without counts.
const MOST_EMPTY_DAYS: i64 = 400;
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// A rule of a site, or the reason where no rule is broken.
type RuleKey<'a> = (String, &'a str, &'a str, Option<&'a Text>);

/// One row for each rule that was broken, whatever its line: from counts by
/// [`RULES_BY`](super::RULES_BY) of a span and of the one before.
pub(crate) fn rules(now: &[Counted], before: &[Counted]) -> Vec<RuleRow> {
    let mut rows: BTreeMap<RuleKey<'_>, RuleRow> = BTreeMap::new();
    let periods = [now, before].into_iter().enumerate();
    for (period, counted) in
        periods.flat_map(|(period, all)| all.iter().map(move |one| (period, one)))
    {
        let [site, directive, pattern, line, reason] = counted.key.as_slice() else { continue };
        let reason = directive.is_empty().then_some(reason);
        let line: Option<u32> = line.parse().ok().filter(|&line| line > 0);
        let key = (site.to_ascii_lowercase(), directive.as_str(), pattern.as_str(), reason);
        let row = rows.entry(key).or_insert_with(|| RuleRow {
            site: site.clone(),
            directive: directive.clone(),
            pattern: pattern.clone(),
            line,
            reason: reason.cloned(),
            now: Count::default(),
            before: Count::default(),
        });
        row.line = row.line.filter(|_| row.line == line);
        *(if period == 0 { &mut row.now } else { &mut row.before }) += counted.into();
    }
    let is_broken = |row: &RuleRow| row.now.violations + row.before.violations > 0;
    let mut rows: Vec<_> = rows.into_values().filter(is_broken).collect();
    // Stable: equal numbers stay in the order of their names.
    rows.sort_by_key(|row| Reverse([row.now.violations, row.before.violations]));
    rows
}

pub(super) fn paths(now: &[Place], before: &[Place]) -> Vec<PathRow> {
    let is_complete = before.len() < MOST_PATHS_BEFORE;
    let before: HashMap<&str, u64> =
        before.iter().map(|place| (place.key.as_str(), place.violations)).collect();
    let row = |place: &Place| PathRow {
        path: place.key.clone(),
        now: place.violations,
        before: before.get(place.key.as_str()).copied().or_else(|| is_complete.then_some(0)),
    };
    now.iter().map(row).collect()
}

/// The days of a span, from the first counts on; of a very long span, those with counts.
pub(super) fn days(
    span: &Span,
    first: Option<Timestamp>,
    times: &[Counted],
) -> BTreeMap<Timestamp, Count> {
    let begin = |time: Timestamp| {
        let day = time.as_second().div_euclid(DAY.as_secs()) * DAY.as_secs();
        Timestamp::from_second(day).unwrap_or(time)
    };
    let mut days: BTreeMap<Timestamp, Count> = BTreeMap::new();
    for counted in times {
        if let Some(time) = counted.key.get(1).and_then(|time| time.parse().ok()) {
            *days.entry(begin(time)).or_default() += counted.into();
        }
    }
    let first = first.unwrap_or(span.from).clamp(span.from, span.until);
    let length = span.until.duration_since(first).as_hours() / 24;
    if length <= MOST_EMPTY_DAYS {
        let next = |day: &Timestamp| day.checked_add(DAY).ok();
        let all = std::iter::successors(Some(begin(first)), next);
        for day in all.take_while(|day| *day < span.until) {
            days.entry(day).or_default();
        }
    }
    days
}

/// One row for each operator that sent crawlers or people.
pub(super) fn operators(
    crawlers: &[CrawlerRow<'_>],
    now: &[Referral],
    before: &[Referral],
) -> Vec<OperatorRow> {
    let mut rows: BTreeMap<String, OperatorRow> = BTreeMap::new();
    let mut of = |operator: &str, add: &dyn Fn(&mut OperatorRow)| {
        let row = rows.entry(operator.to_lowercase()).or_insert_with(|| OperatorRow {
            operator: operator.to_owned(),
            now: Exchange::default(),
            before: Exchange::default(),
        });
        add(row);
    };
    for row in crawlers {
        if let Some(operator) = row.entry.and_then(Crawler::operator) {
            of(operator, &|sum| {
                sum.now.requests += row.now.own();
                sum.before.requests += row.before.own();
            });
        }
    }
    for referral in now {
        of(&referral.operator, &|sum| sum.now.visits += referral.visits);
    }
    for referral in before {
        of(&referral.operator, &|sum| sum.before.visits += referral.visits);
    }
    let is_there = |row: &OperatorRow| row.now != Exchange::default();
    let mut rows: Vec<_> = rows.into_values().filter(is_there).collect();
    rows.sort_by_key(|row| Reverse([row.now.requests, row.now.visits]));
    rows
}
