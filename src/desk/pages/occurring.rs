//! The values that occur among violations, from the counts: what the filter suggests, and how many
//! violations a list has. No record is read for it.

use std::{cmp::Reverse, collections::HashMap};

use jiff::Timestamp;

use crate::{
    base::escape::shown,
    records::{
        counts::{Dimension, Question},
        record::{Error, Filter, Violation, rule_line},
        violations::Store,
    },
    review::report::{
        number::{count, grouped},
        terms::counted_spellings,
    },
};

/// The most values that a field suggests, and the longest one.
const SUGGESTED: usize = 40;
const LONGEST: usize = 100;
/// The most values that a sentence names.
const NAMED: usize = 8;
/// Of so many records, those that summaries can't tell apart are counted one by one.
const FEW: u64 = 20_000;

/// The fields of the filter with values to suggest.
const FIELDS: [(&str, &[Dimension]); 4] = [
    ("crawler", &[Dimension::ProductToken]),
    ("site", &[Dimension::Site]),
    ("purpose", &[Dimension::Purpose]),
    ("rule", &[Dimension::Directive, Dimension::Pattern]),
];

/// The values of a field with their numbers of records, most first.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) values: Vec<(String, u64)>,
}

impl Field {
    pub(super) fn suggested(&self) -> impl Iterator<Item = (&str, String)> {
        let short = self.values.iter().filter(|(value, _)| value.len() <= LONGEST);
        short.take(SUGGESTED).map(|(value, number)| (value.as_str(), grouped(*number)))
    }

    /// That no record has this value, and which ones records have.
    pub(super) fn missing(&self, text: &str) -> Option<String> {
        let is_there = self.values.iter().any(|(value, _)| value.eq_ignore_ascii_case(text));
        if text.is_empty() || is_there || self.values.is_empty() {
            return None;
        }
        let named = self.values.iter().take(NAMED);
        let named = named.map(|(value, number)| format!("{} ({})", shown(value), grouped(*number)));
        let named = named.collect::<Vec<_>>().join(", ");
        let (name, text) = (self.name, shown(text));
        Some(format!("No record has the {name} '{text}'. There are records of {named}."))
    }
}

/// The values among the records of a filter. Each field is counted without its own condition.
pub(super) fn occurring(store: &Store, filter: &Filter) -> Result<Vec<Field>, Error> {
    FIELDS.iter().map(|(name, by)| field(store, filter, name, by)).collect()
}

fn field(
    store: &Store,
    filter: &Filter,
    name: &'static str,
    by: &[Dimension],
) -> Result<Field, Error> {
    let is_of_forms = filter.is_of_forms();
    let unless = |own: &str, wanted: &Option<String>| wanted.clone().filter(|_| name != own);
    let question = Question {
        since: filter.since.unwrap_or(Timestamp::MIN),
        until: filter.until.unwrap_or(Timestamp::MAX),
        by: [&[Dimension::Action, Dimension::Reason], by].concat(),
        site: unless("site", &filter.site),
        purpose: unless("purpose", &filter.purpose),
        claimant: filter.claimant,
        only_violations: !is_of_forms,
        ..Question::default()
    };
    let mut values: HashMap<String, u64> = HashMap::new();
    for product_token in counted_spellings(unless("crawler", &filter.product_token)) {
        for one in store.counted(&Question { product_token, ..question.clone() })? {
            let [action, reason, rest @ ..] = one.key.as_slice() else { continue };
            let same = |wanted: &Option<String>, found: &str| {
                wanted.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(found))
            };
            let value = match (name, rest) {
                ("rule", [directive, pattern]) => rule_line(directive, pattern),
                ("crawler", [token]) if token.is_empty() => Some(Violation::NAMELESS.to_owned()),
                (_, [value]) => Some(value.to_string()),
                _ => None,
            };
            let value = value.unwrap_or_else(|| reason.to_string());
            let all = if is_of_forms { one.requests } else { one.violations };
            let recorded = all.saturating_sub(one.folded + one.dropped);
            let is_one = same(&filter.action, action) && same(&filter.reason, reason);
            if recorded > 0 && is_one && action.as_str() != "pass" && !value.is_empty() {
                *values.entry(value).or_default() += recorded;
            }
        }
    }
    let mut values: Vec<_> = values.into_iter().collect();
    values.sort_by(|(a, one), (b, other)| (Reverse(one), a).cmp(&(Reverse(other), b)));
    Ok(Field { name, values })
}

/// The number of records that the filter lists; `None` if it takes a look at every record.
pub(super) fn total(
    store: &Store,
    filter: &Filter,
    occurring: &[Field],
    noun: &str,
) -> Result<Option<String>, Error> {
    let filter = Filter { before_sequence: None, ..filter.clone() };
    let reason = filter.reason.clone().filter(|_| filter.is_of_forms());
    let is_summed = filter.reason == reason
        && (&filter.claimant, &filter.rule, &filter.exact_path) == (&None, &None, &None);
    let summed = Filter { claimant: None, rule: None, exact_path: None, reason, ..filter.clone() };
    let most = store.count_records(&summed)?;
    if is_summed || most <= FEW {
        let exact = if is_summed { most } else { store.count_records(&filter)? };
        return Ok(Some(count(exact, noun)));
    }
    if filter.path.is_some() || filter.exact_path.is_some() {
        return Ok(None);
    }
    let wanted = filter.rule.as_ref().map(|broken| {
        let line = rule_line(broken.directive, &broken.pattern);
        line.or_else(|| broken.reason.clone()).unwrap_or_default()
    });
    let rules = occurring.iter().filter(|one| one.name == "rule").flat_map(|one| &one.values);
    let rules = rules.filter(|(rule, _)| wanted.as_ref().is_none_or(|wanted| wanted == rule));
    let about = rules.map(|(_, number)| number).sum();
    Ok(Some(format!("about {}", count(about, noun))))
}
