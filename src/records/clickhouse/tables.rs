//! The tables that rows go to.

use crate::{base::text::words, records::record::COLUMNS};

/// The table of the hours that have records, which the server fills itself.
pub const RECORD_HOURS: &str = "record_hours";

words! {
    /// A table, in the order in which rows are sent. Its number stays the same in every version, for files
    /// that hold rows.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Table {
        /// The bytes of editions.
        Editions = "editions",
        /// The start of each edition at each node.
        Publications = "publications",
        /// Records.
        Violations = "violations",
        /// Requests by series.
        Counts = "counts",
        /// Violations by path and network.
        Places = "places",
        /// Requests of people.
        People = "people",
        /// Visits of people by operator.
        Referrals = "referrals",
        /// Records that were not kept.
        Overflow = "overflow",
        /// The hours with counts; written behind them.
        CountedHours = "counted_hours",
        /// The days of records that were sent again.
        DaysSentAgain = "days_sent_again",
    }
}

impl Table {
    /// The number of the table, from 1 on.
    pub const fn number(self) -> u8 {
        self as u8 + 1
    }

    /// The columns that rows have. Columns that the server computes are not among them.
    pub(super) fn columns(self) -> String {
        let columns = match self {
            Self::Editions => "id, sha256, hex",
            Self::Publications => "site, edition, source, from_, node, run, batch, place",
            Self::Violations => return format!("day, sequence, {COLUMNS}"),
            Self::Counts => {
                "day, hour, site, class, product_token, purpose, standing, verdict, action, reason, \
                 robots_edition, robots_line, robots_directive, robots_pattern, read_state, node, \
                 run, batch, requests, folded, dropped"
            }
            Self::Places => {
                "day, hour, kind, site, product_token, place, node, run, batch, violations"
            }
            Self::People => "day, hour, site, node, run, batch, requests",
            Self::Referrals => "day, hour, site, operator, node, run, batch, visits",
            Self::Overflow => {
                "day, site, product_token, rule, node, run, batch, count, first, last"
            }
            Self::CountedHours => "day, hour, node, run, batch",
            Self::DaysSentAgain => "day",
        };
        columns.to_owned()
    }
}
