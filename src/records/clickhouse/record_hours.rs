//! The hours in which there can be records that a filter selects.

use super::{condition::Conditions, reader::Reader, tables::RECORD_HOURS, window::Range};
use crate::records::record::{Error, Filter};

impl Reader {
    /// The parts of the range in which there can be records that the filter selects, in order.
    ///
    /// The server adds a record's hour a moment after the record. A follower may not miss it, so a short
    /// range is read in any case.
    pub(super) fn parts(&self, filter: &Filter, range: Range) -> Result<Vec<Range>, Error> {
        let mut conditions = Conditions::default();
        conditions.require_names(filter);
        if conditions.is_empty() || range.is_short() {
            return Ok(vec![range]);
        }
        let [first, last] = range.days();
        conditions.require(format_args!("day BETWEEN {first} AND {last}"));
        let sql = format!("SELECT DISTINCT hour FROM {RECORD_HOURS}{conditions} ORDER BY hour");
        let hours = joined(self.all(&sql)?.into_iter().map(|(hour,)| hour));
        let parts = hours.into_iter().map(|[first, last]| Range::of_hours(first, last));
        Ok(parts.map(|part| part.within(range)).filter(|part| !part.is_empty()).collect())
    }
}

/// The first and the last hour of each row of hours without a gap.
fn joined(hours: impl Iterator<Item = u32>) -> Vec<[u32; 2]> {
    let mut joined: Vec<[u32; 2]> = Vec::new();
    for hour in hours {
        match joined.last_mut() {
            Some([_, last]) if last.checked_add(1) == Some(hour) => *last = hour,
            _ => joined.push([hour, hour]),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_without_a_gap_are_one_part() {
        for (hours, parts) in [
            (vec![], vec![]),
            (vec![7], vec![[7, 7]]),
            (vec![1, 2, 3, 5, 8, 9], vec![[1, 3], [5, 5], [8, 9]]),
            (vec![u32::MAX - 1, u32::MAX], vec![[u32::MAX - 1, u32::MAX]]),
        ] {
            assert_eq!(joined(hours.into_iter()), parts);
        }
    }
}
