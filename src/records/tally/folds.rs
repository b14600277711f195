//! The number of violations that are recorded in full, for each crawler, rule and hour.
//!
//! The counters are in memory only: after a restart, each hour starts anew.

use std::{collections::BTreeMap, hash::BuildHasher};

use hashbrown::{DefaultHashBuilder, HashTable};

use super::{
    claimant::Claimant,
    invented_names::OTHER,
    rollup::{Hour, SeriesKey},
};
use crate::base::text::Text;

/// The most counters; what comes further shares one for each site.
const MOST: usize = 16_384;
/// The most log lines about one hour.
const MOST_LINES: usize = 20;

#[derive(Debug)]
pub(super) struct Folds {
    detail: u64,
    table: HashTable<Fold>,
    hasher: DefaultHashBuilder,
    hour: Hour,
    /// The folded violations that no log line has told, by hour, site and product token.
    untold: BTreeMap<(Hour, Text, Text), u64>,
}

/// The violations of one site, product token and rule in one hour.
#[derive(Debug)]
struct Fold {
    hour: Hour,
    site: Box<str>,
    product_token: Box<str>,
    claimant: Claimant,
    rule: Box<str>,
    seen: u64,
}

impl Folds {
    pub(super) fn new(detail: u64) -> Self {
        Self {
            detail,
            table: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            hour: Hour::default(),
            untold: BTreeMap::new(),
        }
    }

    /// Counts a violation, and returns whether it is beyond the number of full records.
    pub(super) fn is_beyond(&mut self, hour: Hour, key: &SeriesKey<'_>) -> bool {
        self.sweep(hour);
        let detail = self.detail;
        let fold = self.fold(hour, Claimant::of(key.standing), key);
        fold.seen += 1;
        let is_beyond = fold.seen > detail;
        if is_beyond {
            self.note(hour, key);
        }
        is_beyond
    }

    fn fold(&mut self, hour: Hour, claimant: Claimant, key: &SeriesKey<'_>) -> &mut Fold {
        let (site, mut product_token, mut rule) = (key.site, key.product_token, key.pattern);
        let hash = |site: &str, token: &str, rule: &str| {
            self.hasher.hash_one((hour, site, token, claimant, rule))
        };
        let is_full = self.table.len() >= MOST;
        let is = |fold: &Fold, token: &str, rule: &str| {
            fold.hour == hour
                && fold.claimant == claimant
                && *fold.product_token == *token
                && *fold.rule == *rule
                && *fold.site == *site
        };
        let mut hashed = hash(site, product_token, rule);
        if is_full && self.table.find(hashed, |fold| is(fold, product_token, rule)).is_none() {
            (product_token, rule) = (OTHER, "");
            hashed = hash(site, product_token, rule);
        }
        let hasher = &self.hasher;
        let rehash = |fold: &Fold| {
            let Fold { hour, site, product_token, claimant, rule, .. } = fold;
            hasher.hash_one((*hour, &**site, &**product_token, *claimant, &**rule))
        };
        let entry = self.table.entry(hashed, |fold| is(fold, product_token, rule), rehash);
        let new = || Fold {
            hour,
            site: site.into(),
            product_token: product_token.into(),
            claimant,
            rule: rule.into(),
            seen: 0,
        };
        entry.or_insert_with(new).into_mut()
    }

    /// Removes the counters of hours that are over. Around the turn of an hour, requests of both
    /// hours come.
    fn sweep(&mut self, hour: Hour) {
        if self.hour != hour {
            self.hour = hour;
            self.table.retain(|fold| fold.hour.is_near(hour));
        }
    }

    fn note(&mut self, hour: Hour, key: &SeriesKey<'_>) {
        let known = self.untold.iter_mut().find(|((at, site, token), _)| {
            *at == hour && *site == *key.site && *token == *key.product_token
        });
        if let Some((_, count)) = known {
            *count += 1;
            return;
        }
        let name = |site, token| (hour, site, token);
        let is_full = self.untold.len() >= MOST_LINES;
        let name = match is_full {
            true => name(Text::default(), Text::default()),
            false => name(key.site.into(), key.product_token.into()),
        };
        *self.untold.entry(name).or_default() += 1;
    }

    /// Takes what no log line has told of other hours than `now`.
    pub(super) fn tell(&mut self, now: Option<Hour>) -> Vec<Folded> {
        let is_over = |hour: Hour| now.is_none_or(|now| hour != now);
        let told = self.untold.extract_if(.., |(hour, ..), _| is_over(*hour));
        told.map(|((hour, site, product_token), count)| Folded { hour, site, product_token, count })
            .collect()
    }
}

/// The folded violations of one crawler in one hour; without names, of all further ones.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Folded {
    pub(super) hour: Hour,
    pub(super) site: Text,
    pub(super) product_token: Text,
    pub(super) count: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::tally::tests::key;

    #[test]
    fn each_crawler_rule_and_hour_has_its_own_detail() {
        let mut folds = Folds::new(3);
        let hour = Hour::numbered;
        let keys = [key("a", "GPTBot", "/x"), key("a", "GPTBot", "/y"), key("b", "GPTBot", "/x")];
        for turn in 0..5 {
            for key in &keys {
                // Around the turn of the hour, requests of both hours come.
                for (at, seen) in [(7, 2 * turn + 1), (8, turn + 1), (7, 2 * turn + 2)] {
                    assert_eq!(folds.is_beyond(hour(at), key), seen > 3, "{seen} at {at}");
                }
            }
        }
        let told = folds.tell(Some(hour(8)));
        let counts: Vec<_> = told.iter().map(|one| (one.site.as_str(), one.count)).collect();
        assert_eq!(counts, [("a", 2 * (10 - 3)), ("b", 10 - 3)]);
        assert!(folds.tell(Some(hour(8))).is_empty());
        assert_eq!(folds.tell(None).len(), 2);
        assert!(!folds.is_beyond(hour(20), &keys[0]) && folds.table.len() == 1, "swept");
    }

    #[test]
    fn impostors_take_none_of_the_crawlers_detail() {
        let mut folds = Folds::new(2);
        let (own, hour) = (key("a", "GPTBot", "/x"), Hour::numbered(7));
        let impostor = SeriesKey { standing: "contradicted", ..own };
        let beyond = [(); 9].map(|()| folds.is_beyond(hour, &impostor));
        assert_eq!(beyond.iter().filter(|is_beyond| **is_beyond).count(), 7);
        assert_eq!([(); 3].map(|()| folds.is_beyond(hour, &own)), [false, false, true]);
    }

    #[test]
    fn without_detail_every_violation_is_folded() {
        let mut folds = Folds::new(0);
        assert!(folds.is_beyond(Hour::numbered(1), &key("a", "GPTBot", "/x")));
    }

    #[test]
    fn counters_are_bounded_and_log_lines_too() {
        let mut folds = Folds::new(1);
        let hour = Hour::numbered(1);
        let names: Vec<String> = (0..MOST + 100).map(|number| format!("Bot{number}")).collect();
        let beyond = |folds: &mut Folds| {
            names.iter().filter(|name| folds.is_beyond(hour, &key("a", name, "/"))).count()
        };
        assert_eq!((beyond(&mut folds), folds.table.len()), (99, MOST + 1));
        assert_eq!(beyond(&mut folds), MOST + 100);
        let told = folds.tell(None);
        assert_eq!(told.len(), MOST_LINES + 1);
        assert_eq!(told.iter().map(|one| one.count).sum::<u64>(), MOST as u64 + 199);
    }
}
