//! The last rungs and openings of the fleet.

use std::{collections::HashMap, hash::Hash};

use jiff::Timestamp;

use crate::clients::conduct::{LadderKey, Observations, Opening, RungStep};

const MOST: usize = 20_000;

#[derive(Debug, Default)]
pub(super) struct Kept {
    steps: HashMap<LadderKey, RungStep>,
    openings: HashMap<String, Opening>,
}

impl Kept {
    pub(super) fn keep(&mut self, observations: &Observations) {
        keep(&mut self.steps, &observations.steps, |step| (&step.key, step.at));
        keep(&mut self.openings, &observations.openings, |opening| (&opening.site, opening.at));
    }

    pub(super) fn all(&self) -> Observations {
        let mut steps: Vec<RungStep> = self.steps.values().cloned().collect();
        steps.sort_by_key(|step| step.at);
        let mut openings: Vec<Opening> = self.openings.values().cloned().collect();
        openings.sort_by_key(|opening| opening.at);
        Observations { steps, openings, ..Observations::default() }
    }
}

fn keep<K: Clone + Eq + Hash, V: Clone>(
    kept: &mut HashMap<K, V>,
    seen: &[V],
    of: impl Fn(&V) -> (&K, Timestamp),
) {
    if kept.len() > MOST {
        kept.clear();
    }
    for one in seen {
        let (key, at) = of(one);
        if kept.get(key).is_none_or(|known| of(known).1 <= at) {
            kept.insert(key.clone(), one.clone());
        }
    }
}
