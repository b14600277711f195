//! The answer to a question: numbers are added up by groups, then the groups get their texts.

use std::cmp::{Ordering, Reverse};

use hashbrown::HashMap;
use jiff::Timestamp;

use super::{
    Counted, Dimension, Place, Question,
    cells::Counts,
    kinds::{KIND, Keys, Kind, RULE, Rule, find_name},
    table::Table,
};
use crate::{base::text::Text, records::tally::PlaceKind};

/// Stands for requests that are not asked for.
const OUTSIDE: u32 = u32::MAX;
/// The most cells that are kept one beside the other.
const DENSE: usize = 1 << 14;

/// The group of each kind or rule, by the number of it, and the values of each group.
struct Groups<K> {
    numbers: Vec<u32>,
    keys: Keys<K>,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    requests: u64,
    violations: u64,
    folded: u64,
    dropped: u64,
}

/// The sums of a period, by the number of their cell.
enum Cells {
    Dense(Vec<Sum>),
    Sparse(HashMap<usize, Sum>),
}

struct Row {
    period: i64,
    kind: Kind,
    rule: Rule,
    sum: Sum,
}

impl Table {
    pub(crate) fn counted(&mut self, question: &Question) -> Vec<Counted> {
        let [first, until] = question.hours();
        let is_by_hour = question.by.contains(&Dimension::Hour);
        if !is_by_hour {
            self.requests.sum_days(first, until);
        }
        let mut rows = self.rows(question, self.requests.counts(first, until, is_by_hour));
        rows.sort_unstable_by(|one, other| self.compare_rows(&question.by, one, other));
        let counted = |row: Row| Counted {
            key: question.by.iter().map(|dimension| self.value(*dimension, &row)).collect(),
            requests: row.sum.requests,
            violations: row.sum.violations,
            folded: row.sum.folded,
            dropped: row.sum.dropped,
        };
        rows.into_iter().map(counted).collect()
    }

    pub(crate) fn first_hour(&self, question: &Question) -> Option<Timestamp> {
        let [first, until] = question.hours();
        let kinds = self.kinds(question);
        let mut counts = self.requests.counts(first, until, true);
        let found = counts
            .find(|(_, counts)| counts.sums.groups().any(|kind| kinds.of(kind.number).is_some()));
        found.and_then(|(hour, _)| Timestamp::from_millisecond(hour).ok())
    }

    fn rows<'a>(
        &self,
        question: &Question,
        counts: impl Iterator<Item = (i64, &'a Counts)>,
    ) -> Vec<Row> {
        let (kinds, rules) = (self.kinds(question), self.rules(question));
        let violations: Vec<_> =
            self.series.kinds.iter().map(|kind| self.series.is_violation(kind)).collect();
        let width = rules.keys.len();
        let size = kinds.keys.len() * width;
        let length = question.by.iter().find_map(|one| one.period());
        let period = |start: i64| length.map_or(0, |length| start - start.rem_euclid(length));
        let (mut rows, mut cells) = (Vec::new(), Cells::new(size));
        let mut finish = |period: i64, cells: &mut Cells| {
            cells.drain(|cell, sum| {
                let (kind, rule) = (kinds.keys[cell / width], rules.keys[cell % width]);
                rows.push(Row { period, kind, rule, sum });
            });
        };
        let mut now = None;
        for (start, counts) in counts {
            let period = period(start);
            if let Some(before) = now.replace(period).filter(|before| *before != period) {
                finish(before, &mut cells);
            }
            for kind in counts.sums.groups() {
                let Some(group) = kinds.of(kind.number) else { continue };
                let is_violation = violations.get(kind.number as usize).copied();
                let mut add = |cell: usize, requests: u64| {
                    let sum = cells.get(cell);
                    sum.requests += requests;
                    sum.violations += if is_violation == Some(true) { requests } else { 0 };
                };
                if width == 1 {
                    add(group, kind.sum);
                    continue;
                }
                for (rule, requests) in kind.rows() {
                    add(group * width + rules.of(rule).unwrap_or_default(), requests);
                }
            }
            for &((kind, rule), folded, dropped) in &counts.unrecorded {
                let Some(group) = kinds.of(kind) else { continue };
                let sum = cells.get(group * width + rules.of(rule).unwrap_or_default());
                sum.folded += folded;
                sum.dropped += dropped;
            }
        }
        if let Some(last) = now {
            finish(last, &mut cells);
        }
        rows
    }

    /// The groups of kinds: what the question does not tell apart is one.
    fn kinds(&self, question: &Question) -> Groups<Kind> {
        let name = |wanted: &Option<String>| {
            // A name that is nowhere is that of no kind.
            wanted.as_ref().map(|wanted| self.series.name(wanted).unwrap_or(OUTSIDE))
        };
        let wanted = [
            (Dimension::Site, name(&question.site)),
            (Dimension::ProductToken, name(&question.product_token)),
            (Dimension::Purpose, name(&question.purpose)),
        ];
        Groups::of_all(&self.series.kinds, &KIND, &question.by, |kind| {
            let is_wanted = |&(dimension, wanted): &(Dimension, Option<u32>)| {
                wanted.is_none_or(|wanted| find(&KIND, kind, dimension) == Some(wanted))
            };
            wanted.iter().all(is_wanted)
                && (!question.only_violations || self.series.is_violation(kind))
                && question.claimant.is_none_or(|wanted| self.series.claimant(kind) == wanted)
        })
    }

    fn rules(&self, question: &Question) -> Groups<Rule> {
        Groups::of_all(&self.series.rules, &RULE, &question.by, |_| true)
    }

    fn compare_rows(&self, by: &[Dimension], one: &Row, other: &Row) -> Ordering {
        let compare =
            |dimension: &Dimension| match (one.number(*dimension), other.number(*dimension)) {
                (Some(one), Some(other)) => self.series.compare(*dimension, one, other),
                _ => one.period.cmp(&other.period),
            };
        by.iter().map(compare).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }

    fn value(&self, dimension: Dimension, row: &Row) -> Text {
        if let Some(number) = row.number(dimension) {
            return self.series.text(dimension, number);
        }
        let start = Timestamp::from_millisecond(row.period);
        start.map_or_else(|_| Text::default(), |start| Text::from(start.to_string()))
    }

    pub(crate) fn places(
        &mut self,
        kind: PlaceKind,
        question: &Question,
        limit: usize,
    ) -> Vec<Place> {
        let [first, until] = question.hours();
        self.places.sum_days(first, until);
        let names = &self.owners.names;
        let name = |wanted: &Option<String>| {
            wanted.as_ref().map(|wanted| find_name(names, wanted).unwrap_or(OUTSIDE))
        };
        let (site, product_token) = (name(&question.site), name(&question.product_token));
        let is_owner: Vec<bool> = self
            .owners
            .all
            .iter()
            .map(|owner| {
                owner.kind == kind
                    && site.is_none_or(|site| owner.site == site)
                    && product_token.is_none_or(|token| owner.product_token == token)
                    && question.claimant.is_none_or(|wanted| owner.claimant == wanted)
            })
            .collect();
        let mut sums = vec![0_u64; self.place_names.len()];
        for (_, counts) in self.places.counts(first, until, false) {
            for owner in counts.sums.groups() {
                if is_owner.get(owner.number as usize) != Some(&true) {
                    continue;
                }
                for (place, violations) in owner.rows() {
                    if let Some(sum) = sums.get_mut(place as usize) {
                        *sum += violations;
                    }
                }
            }
        }
        let mut places: Vec<(u64, u32)> =
            sums.into_iter().zip(0..).filter(|(violations, _)| *violations > 0).collect();
        let name = |place: u32| &*self.place_names[place as usize];
        let order = |&(violations, place): &(u64, u32)| (Reverse(violations), name(place));
        let by_order = |one: &(u64, u32), other: &(u64, u32)| order(one).cmp(&order(other));
        if places.len() > limit {
            places.select_nth_unstable_by(limit, by_order);
            places.truncate(limit);
        }
        places.sort_unstable_by(by_order);
        let place = |(violations, place)| Place {
            key: Text::read_back(name(place).to_owned()),
            violations,
        };
        places.into_iter().map(place).collect()
    }
}

impl Row {
    /// The number of a dimension's value; `None` for the period.
    fn number(&self, dimension: Dimension) -> Option<u32> {
        find(&KIND, &self.kind, dimension).or_else(|| find(&RULE, &self.rule, dimension))
    }
}

impl<const N: usize> Groups<[u32; N]> {
    /// The groups of all kinds or rules, whose numbers have these dimensions: what `by` does not tell
    /// apart is one.
    fn of_all(
        all: &Keys<[u32; N]>,
        dimensions: &[Dimension; N],
        by: &[Dimension],
        is_asked_for: impl Fn(&[u32; N]) -> bool,
    ) -> Self {
        let is_told_apart = dimensions.map(|dimension| by.contains(&dimension));
        let mut keys = Keys::default();
        let group = |one: &[u32; N]| match is_asked_for(one) {
            true => {
                let key = std::array::from_fn(|at| if is_told_apart[at] { one[at] } else { 0 });
                keys.insert_full(key).0 as u32 // they are not more than those of which they are groups
            }
            false => OUTSIDE,
        };
        let numbers = all.iter().map(group).collect();
        Self { numbers, keys }
    }
}

impl<K> Groups<K> {
    /// The group of a kind or rule; none for those that are not asked for.
    fn of(&self, number: u32) -> Option<usize> {
        let group = self.numbers.get(number as usize).filter(|group| **group != OUTSIDE)?;
        Some(*group as usize)
    }
}

impl Cells {
    fn new(size: usize) -> Self {
        match size {
            ..=DENSE => Self::Dense(vec![Sum::default(); size]),
            _ => Self::Sparse(HashMap::new()),
        }
    }

    fn get(&mut self, cell: usize) -> &mut Sum {
        match self {
            Self::Dense(cells) => &mut cells[cell],
            Self::Sparse(cells) => cells.entry(cell).or_default(),
        }
    }

    fn drain(&mut self, mut take: impl FnMut(usize, Sum)) {
        match self {
            Self::Dense(cells) => {
                for (cell, sum) in cells.iter_mut().enumerate().filter(|(_, sum)| sum.requests > 0)
                {
                    take(cell, std::mem::take(sum));
                }
            }
            Self::Sparse(cells) => cells.drain().for_each(|(cell, sum)| take(cell, sum)),
        }
    }
}

/// The number of a dimension's value among those of a kind or a rule.
fn find(dimensions: &[Dimension], numbers: &[u32], wanted: Dimension) -> Option<u32> {
    let at = dimensions.iter().position(|dimension| *dimension == wanted)?;
    numbers.get(at).copied()
}
