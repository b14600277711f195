//! Sentences on standard error: what a listing leaves out, and why it is empty.

use jiff::{RoundMode, Timestamp, TimestampRound, Unit};

use super::{
    record_source::{Source, Unrecorded},
    selection::{described, noun},
};
use crate::{
    program::console::{Error, remark},
    records::record::{Filter, Listing},
    review::report::{number, terms::id},
    rules::policy::Policy,
};

pub(super) fn unreadable(count: u64) {
    if count > 0 {
        remark(&format!("skipped {}", number::count(count, "invalid line")));
    }
}

pub(super) fn nothing(
    policy: &Policy,
    source: &Source,
    filter: &Filter,
    unrecorded: Unrecorded,
) -> Result<(), Error> {
    if let Some(wanted) = &filter.id {
        let alone = Filter { id: filter.id.clone(), ..Filter::default() };
        let is_there = !source.list(&alone)?.records.is_empty();
        let why = match is_there {
            true => "its record does not meet the other filters".to_owned(),
            false => {
                let retention = source.hours().map(|_| policy.violations.retention);
                id::absence(wanted, retention, Timestamp::now())
            }
        };
        remark(&format!("no record with the id {wanted}: {why}"));
    } else if unrecorded.sum() > 0 {
        remark(&format!("no records{}", described(filter)));
        self::unrecorded(filter, unrecorded);
    } else {
        remark(&format!("no {}{}", noun(filter), described(filter)));
    }
    Ok(())
}

/// Says how many violations have no record, so that no listing shows them.
pub(super) fn unrecorded(filter: &Filter, count: Unrecorded) {
    if count.sum() > 0 {
        let (count_all, which) = match (&filter.path, &filter.rule) {
            (None, None) => (" (count all with --by crawler)", ""),
            (Some(_), _) => ("", ", on any path"),
            (None, Some(_)) => ("", ", under any rule"),
        };
        remark(&format!(
            "{} without a record{which}: {}{count_all}",
            number::count(count.sum(), "violation"),
            causes(count)
        ));
    }
}

pub(super) fn more(filter: &Filter, listing: &Listing) {
    if listing.more > 0 {
        let all = listing.records.len() as u64 + listing.more;
        remark(&format!(
            "{} more{} (list all with --limit {all}, or count them with --by crawler)",
            listing.more,
            described(filter)
        ));
    }
}

pub(super) fn hours(filter: &Filter) {
    let full = |time: Timestamp| time.as_millisecond().rem_euclid(3_600_000) == 0;
    if filter.since.is_none_or(full) && filter.until.is_none_or(full) {
        return;
    }
    let end = |word: &str, time: Option<Timestamp>, mode| {
        let Some(time) = time else { return String::new() };
        let hour = time.round(TimestampRound::new().smallest(Unit::Hour).mode(mode));
        format!(" {word} {:.0}", hour.unwrap_or(time))
    };
    let since = end("from", filter.since, RoundMode::Floor);
    let until = end("to", filter.until, RoundMode::Ceil);
    remark(&format!("whole hours are counted:{since}{until}"));
}

/// Says how many of the counted violations have no record.
pub(super) fn counted_alone(count: Unrecorded) {
    if count.sum() > 0 {
        remark(&format!("{} of them without a record: {}", count.sum(), causes(count)));
    }
}

/// Says how many violations are missing in a count of records.
pub(super) fn not_counted(filter: &Filter, count: Unrecorded) {
    if count.sum() > 0 {
        let which = match (&filter.path, &filter.rule, &filter.action) {
            (Some(_), ..) => ", on any path",
            (None, Some(_), _) => ", under any rule",
            (None, None, Some(_)) => ", of this action",
            (None, None, None) => "",
        };
        remark(&format!(
            "not counted here: {} without a record{which}: {}",
            number::count(count.sum(), "violation"),
            causes(count)
        ));
    }
}

fn causes(count: Unrecorded) -> String {
    let causes = [
        (count.folded, "beyond 'violations.detail' or 'violations.max_size'"),
        (count.dropped, "dropped, because they found no room"),
    ];
    let causes = causes.iter().filter(|(count, _)| *count > 0);
    causes.map(|(count, cause)| format!("{count} {cause}")).collect::<Vec<_>>().join(", ")
}
