//! The fetches that the other nodes of a fleet have to hear of.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::clients::conduct::{capacity::has_room, network::Network};

use super::fetch::Fetches;

/// The most rows. Of further ones, only their time is told.
const MOST_ROWS: usize = 65_536;

/// The rows that changed since the last collection.
#[derive(Debug, Default)]
pub(super) struct News {
    rows: HashMap<Key, Fetches>,
    forgotten: Option<Timestamp>,
}

/// Site, product token and network.
type Key = (String, String, Network);

impl News {
    /// Adds rows in place of earlier ones.
    pub(super) fn add(&mut self, rows: &[Fetches]) {
        for row in rows {
            let key = (row.site.clone(), row.product_token.to_ascii_lowercase(), row.network);
            if has_room(&self.rows, &key, MOST_ROWS) {
                self.rows.insert(key, row.clone());
            } else {
                self.forgotten = self.forgotten.max(Some(row.last));
            }
        }
    }

    /// Takes all rows, and the time until which others were left out.
    pub(super) fn take(&mut self) -> (Vec<Fetches>, Option<Timestamp>) {
        let Self { rows, forgotten } = std::mem::take(self);
        (rows.into_values().collect(), forgotten)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{crawlers::Outcome, enforce::EditionId};

    #[test]
    fn rows_beyond_the_limit_are_told_as_forgotten() {
        let at = |second| Timestamp::from_second(second).expect("a time");
        let row = |number: u32, second| Fetches {
            site: "a.example".to_owned(),
            product_token: "GPTBot".to_owned(),
            network: Network::V4(number),
            outcome: Outcome::Unknown,
            edition: EditionId::of(b""),
            first: at(second),
            last: at(second),
            count: 1,
            interval: None,
        };
        let mut news = News::default();
        (0..MOST_ROWS as u32).for_each(|number| news.add(&[row(number, 1)]));
        news.add(&[row(0, 2), row(u32::MAX, 3), row(u32::MAX - 1, 2)]);
        let (rows, forgotten) = news.take();
        assert_eq!((rows.len(), forgotten), (MOST_ROWS, Some(at(3))));
        assert!(rows.iter().any(|row| row.last == at(2)), "a known one is replaced");
        assert_eq!(news.take(), (Vec::new(), None));
    }
}
