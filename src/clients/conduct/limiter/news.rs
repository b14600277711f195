//! The requests that the other nodes of a fleet have to hear of.

use std::{collections::HashMap, time::Duration};

use jiff::SignedDuration;

use crate::{
    clients::conduct::{capacity::has_room, observations::PaceCount},
    rules::enforce::Moment,
};

use super::key::{Key, Limit};

/// The most buckets with news. The requests of further ones stay unknown to the other nodes.
const MOST_NEWS: usize = 8_192;

/// The requests that passed since the last collection.
#[derive(Debug, Default)]
pub(super) struct News(HashMap<(Key, Limit), Charges>);

/// The requests in one bucket.
#[derive(Clone, Copy, Debug)]
struct Charges {
    first: Duration,
    requests: u32,
}

impl News {
    /// Adds a request that passed.
    pub(super) fn add(&mut self, key: &Key, limit: Limit, now: Duration) {
        let bucket = (key.clone(), limit);
        if has_room(&self.0, &bucket, MOST_NEWS) {
            let charges = self.0.entry(bucket).or_insert(Charges { first: now, requests: 0 });
            charges.requests = charges.requests.saturating_add(1);
        }
    }

    /// Takes them all.
    pub(super) fn take(&mut self, moment: Moment) -> Vec<PaceCount> {
        let all = std::mem::take(&mut self.0).into_iter();
        all.map(|((key, limit), Charges { first, requests })| {
            let ago = SignedDuration::try_from(moment.steady.saturating_sub(first));
            let at = moment.now.checked_sub(ago.unwrap_or_default()).unwrap_or(moment.now);
            let Key { scope, product_token, outcome, network } = key;
            let Limit { pace, times, burst } = limit;
            PaceCount { scope, product_token, outcome, network, pace, times, burst, at, requests }
        })
        .collect()
    }
}
