//! The tables that rows go to.

use crate::records::record::COLUMNS;

/// The table of the hours that have records, which the server fills itself.
pub const RECORD_HOURS: &str = "record_hours";

/// A table. Its number stays the same in every version, for files that hold rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// The bytes of editions.
    Editions = 1,
    /// The start of each edition at each node.
    Publications = 2,
    /// Records.
    Violations = 3,
    /// Requests by series.
    Counts = 4,
    /// Violations by path and network.
    Places = 5,
    /// Requests of people.
    People = 6,
    /// Visits of people by operator.
    Referrals = 7,
    /// Records that were not kept.
    Overflow = 8,
    /// The hours with counts; written behind them.
    CountedHours = 9,
    /// The days of records that were sent again.
    DaysSentAgain = 10,
}

impl Table {
    /// All tables, in the order in which the rows of a batch are sent.
    pub const ALL: [Self; 10] = [
        Self::Editions,
        Self::Publications,
        Self::Violations,
        Self::Counts,
        Self::Places,
        Self::People,
        Self::Referrals,
        Self::Overflow,
        Self::CountedHours,
        Self::DaysSentAgain,
    ];

    /// The name in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Editions => "editions",
            Self::Publications => "publications",
            Self::Violations => "violations",
            Self::Counts => "counts",
            Self::Places => "places",
            Self::People => "people",
            Self::Referrals => "referrals",
            Self::Overflow => "overflow",
            Self::CountedHours => "counted_hours",
            Self::DaysSentAgain => "days_sent_again",
        }
    }

    /// The number of the table.
    pub const fn number(self) -> u8 {
        self as u8
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
