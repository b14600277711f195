//! A difference in meaning as the rows of a page.

use crate::{
    advice::comparison::{Difference, differences_within},
    formats::robots::{Access, RobotsTxt},
    review::report::difference::{Change, crawlers, remark},
};

/// The most rows of a page.
const MOST_ROWS: usize = 200;
/// The most samples that are compared: well under a second.
const MOST_SAMPLES: usize = 100_000;

/// What a page says about two files with too many rules and groups.
const PARTIAL: &str = "Not all crawlers are compared: the files have too many rules and groups for a \
                       page. 'beadle diff' compares all.";

/// A difference in meaning.
pub(super) struct Changes {
    pub(super) rows: Vec<ChangeRow>,
    pub(super) remark: Option<String>,
}

/// A path that some crawlers may fetch under one file and not under the other.
pub(super) struct ChangeRow {
    pub(super) crawlers: String,
    pub(super) change: Change,
    pub(super) is_closed: bool,
}

impl Changes {
    /// The difference from `before` to `after`.
    pub(super) fn of(before: &RobotsTxt, after: &RobotsTxt) -> Self {
        let mut found = differences_within(before, after, MOST_SAMPLES);
        let more = found.rows.len().saturating_sub(MOST_ROWS);
        found.rows.truncate(MOST_ROWS);
        found.omitted += more;
        let row = |row: Difference| ChangeRow {
            crawlers: crawlers(&row.tokens),
            change: Change::of(&row),
            is_closed: row.after.access == Access::Disallow,
        };
        let remark = match found.is_partial {
            true => Some(PARTIAL.to_owned()),
            false => remark(&found),
        };
        Self { rows: found.rows.into_iter().map(row).collect(), remark }
    }
}
