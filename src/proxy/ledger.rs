//! Who has read which robots.txt: the last edition that each crawler fetched of each site.
//!
//! Kept in memory and, through the violations room, in the database, so that it survives a
//! restart. It is kept by claim: nobody proves here that a fetch came from whom it says.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
};

use jiff::Timestamp;

use crate::violations::{Fetch, ReadState, RobotsRead, Text};

/// The most pairs of site and crawler that are remembered. A client can invent names; what finds
/// no room is not remembered, and its records say `never`.
const MAX_ENTRIES: usize = 50_000;

/// The fetches seen so far.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    fetches: RwLock<HashMap<(String, String), (String, Timestamp)>>,
}

impl Ledger {
    /// What was seen before a restart.
    pub(super) fn remembering(fetches: Vec<Fetch>) -> Self {
        let entry = |fetch: Fetch| {
            let key = key(&fetch.site, &fetch.product_token);
            (key, (fetch.edition.to_string(), fetch.at))
        };
        Self { fetches: RwLock::new(fetches.into_iter().map(entry).collect()) }
    }

    /// Notes a fetch; returns it in the form that is kept.
    pub(super) fn note(&self, site: &str, token: &str, edition: &str, at: Timestamp) -> Fetch {
        let key = key(site, token);
        let mut fetches = self.fetches.write().unwrap_or_else(PoisonError::into_inner);
        if fetches.len() < MAX_ENTRIES || fetches.contains_key(&key) {
            fetches.insert(key, (edition.to_owned(), at));
        }
        Fetch { site: site.into(), product_token: token.into(), edition: edition.into(), at }
    }

    /// What a crawler had read when it came for a page under `edition`.
    pub(super) fn read_by(&self, site: &str, token: &str, edition: &str) -> RobotsRead {
        let fetches = self.fetches.read().unwrap_or_else(PoisonError::into_inner);
        match fetches.get(&key(site, token)) {
            None => RobotsRead { state: ReadState::Never, edition: None, at: None },
            Some((read, at)) => RobotsRead {
                state: if read == edition { ReadState::Current } else { ReadState::Older },
                edition: Some(Text::from(read.as_str())),
                at: Some(*at),
            },
        }
    }
}

fn key(site: &str, token: &str) -> (String, String) {
    (site.to_owned(), token.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crawler_has_read_never_an_older_or_the_current_edition() {
        let ledger = Ledger::default();
        assert_eq!(ledger.read_by("a", "GPTBot", "e1").state, ReadState::Never);
        let fetch = ledger.note("a", "GPTBot", "e1", Timestamp::UNIX_EPOCH);
        assert_eq!(ledger.read_by("a", "gptbot", "e1").state, ReadState::Current);
        assert_eq!(ledger.read_by("a", "GPTBot", "e2").state, ReadState::Older);
        assert_eq!(ledger.read_by("b", "GPTBot", "e1").state, ReadState::Never);
        let after_restart = Ledger::remembering(vec![fetch]);
        assert_eq!(after_restart.read_by("a", "GPTBot", "e1").state, ReadState::Current);
    }
}
