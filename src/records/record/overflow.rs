//! Records that were not kept: counted exactly, by site, product token and rule.

use std::{cmp::Reverse, collections::HashMap};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    base::text::Text,
    records::record::{Violation, time},
};

/// The most names (site, product token, rule) that have a count of their own; further product
/// tokens count under [`OTHER`].
const NAMES: usize = 4096;
/// The product token that stands for all further ones.
const OTHER: Text = Text::word("other");

/// The number of records of one site, product token and rule that were not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overflow {
    /// The site.
    pub site: Text,
    /// The product token; `other` stands for those without a count of their own.
    pub product_token: Text,
    /// The rule's path pattern.
    pub rule: Text,
    /// The number of records.
    pub count: u64,
    /// The time of the first record.
    #[serde(with = "time::required")]
    pub first: Timestamp,
    /// The time of the last record.
    #[serde(with = "time::required")]
    pub last: Timestamp,
}

#[derive(Debug, Default)]
pub(crate) struct Tally(HashMap<[Text; 3], Overflow>);

impl Tally {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn sum(&self) -> u64 {
        self.0.values().map(|overflow| overflow.count).sum()
    }

    /// The counts, the highest first.
    pub(crate) fn ranked(&self) -> Vec<Overflow> {
        let name = |o: &Overflow| [o.site.clone(), o.product_token.clone(), o.rule.clone()];
        let mut overflow: Vec<_> = self.0.values().cloned().collect();
        overflow.sort_by_cached_key(|o| (Reverse(o.count), name(o)));
        overflow
    }

    pub(crate) fn drain(&mut self) -> Vec<Overflow> {
        self.0.drain().map(|(_, overflow)| overflow).collect()
    }

    pub(crate) fn add(&mut self, violation: &Violation) {
        let Violation { time, site, product_token, robots, .. } = violation;
        let mut name = [site.clone(), product_token.clone(), robots.pattern.clone()];
        if self.0.len() >= NAMES && !self.0.contains_key(&name) {
            name[1] = OTHER; // sites and rules are the policy's, and not that many
        }
        let overflow = self.0.entry(name).or_insert_with_key(|[site, product_token, rule]| {
            let (site, product_token, rule) = (site.clone(), product_token.clone(), rule.clone());
            Overflow { site, product_token, rule, count: 0, first: *time, last: *time }
        });
        overflow.count += 1;
        overflow.last = *time;
    }
}
