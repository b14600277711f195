//! `beadle violations`: the recorded violations, listed or counted.

use std::{
    io::Write,
    time::{Duration, SystemTime},
};

use jiff::Timestamp;

pub(super) use self::selection::Args;
use self::{
    listing::{Columns, Entry, Forms, Printer},
    record_source::Source,
    selection::{By, Format},
};
use crate::{
    program::console::{Error, Exit, load_with_database, remark},
    records::record::Filter,
    rules::policy::Policy,
};

mod count_rows; // violations counted by one value
mod listing; // records as text, JSON lines or CSV
mod record_source; // the database with its counts by hour, or the JSON lines
mod remarks; // sentences on standard error
mod selection; // the options, and the filter that they are

/// The time between two queries with --follow.
const POLL: Duration = Duration::from_millis(250);
const PAGE: usize = 1_000;
/// How long after the end of a span a record of it may still be written.
const WRITTEN: Duration = Duration::from_secs(10);

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let policy = load_with_database(&args.config)?;
    let source = Source::of(&policy)?;
    let filter = selection::filter(args, &policy, &source, Timestamp::now())?;
    match args.by {
        Some(by) => count(by, args.format, &source, &selection::counted(by, filter), out),
        None => list(args, &policy, &source, filter, out),
    }
}

fn list(
    args: &Args,
    policy: &Policy,
    source: &Source,
    mut filter: Filter,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let is_whole = filter.limit.is_none();
    // A follower gets the last seconds later: another node may still send records of them.
    let before_sequence = (!args.follow).then_some(u64::MAX);
    let first =
        Filter { limit: Some(PAGE), after_sequence: Some(0), before_sequence, ..filter.clone() };
    let mut page = if is_whole { first } else { filter.clone() };
    let mut listing = source.list(&page)?;
    let has_some = !listing.records.is_empty() || listing.more > 0;
    let mut forms = Forms::new(policy, source);
    let entries = forms.entries(&listing.records)?;
    // Without a reason, only a record that its id names is of another form.
    let has_forms = filter.is_of_forms() || entries.iter().any(Entry::is_of_form);
    let has_sites = policy.sites.len() > 1 && filter.site.is_none();
    let columns = Columns::new(policy, has_sites, has_forms);
    let printer = Printer::start((args.format, args.follow), columns, &entries, out)?;
    printer.print(&entries, out)?;
    let mut unreadable = listing.unreadable;
    while is_whole && listing.records.len() == PAGE {
        page.after_sequence = Some(listing.end);
        listing = source.list(&page)?;
        unreadable += listing.unreadable;
        printer.print(&forms.entries(&listing.records)?, out)?;
    }
    out.flush()?;
    let unrecorded = source.unrecorded(&filter)?;
    remarks::unreadable(unreadable);
    match has_some || args.follow {
        true => remarks::unrecorded(&filter, unrecorded),
        false => remarks::nothing(policy, source, &filter, unrecorded)?,
    }
    remarks::more(&filter, &listing);
    let mut is_found = has_some || (unrecorded.sum() > 0 && filter.path.is_none());
    if args.follow {
        filter.limit = None;
        filter.after_sequence = Some(listing.end);
        let is_over = |until: Timestamp| SystemTime::from(until) + WRITTEN < SystemTime::now();
        while !filter.until.is_some_and(is_over) {
            std::thread::sleep(POLL);
            let listing = source.list(&filter)?;
            filter.after_sequence = Some(listing.end);
            is_found |= !listing.records.is_empty();
            printer.print(&forms.entries(&listing.records)?, out)?;
            out.flush()?;
        }
    }
    Ok(if is_found { Exit::Findings } else { Exit::Fine })
}

fn count(
    by: By,
    format: Format,
    source: &Source,
    filter: &Filter,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let is_by_hour = source.hours().is_some() && count_rows::can_answer(by, filter);
    let counts = match is_by_hour {
        true => count_rows::of_hours(by, source, filter)?,
        false => count_rows::of_records(by, source, filter)?,
    };
    if counts.violations > 0 || format == Format::Csv {
        counts.print(by, (format, filter), out)?;
        out.flush()?;
    }
    remarks::unreadable(counts.unreadable);
    let unrecorded = source.unrecorded(filter)?;
    if is_by_hour {
        remarks::hours(filter);
        remarks::counted_alone(unrecorded);
    } else {
        remarks::not_counted(filter, unrecorded);
    }
    if counts.violations == 0 {
        let is_unknown = !is_by_hour && unrecorded.sum() > 0;
        let what = if is_unknown { "records" } else { selection::noun(filter) };
        remark(&format!("no {what}{}", selection::described(filter)));
        let is_found = is_unknown && filter.path.is_none();
        return Ok(if is_found { Exit::Findings } else { Exit::Fine });
    }
    if counts.more > 0 {
        remark(&format!(
            "{} more (show all with --limit {})",
            counts.more,
            counts.rows.len() + counts.more
        ));
    }
    Ok(Exit::Findings)
}
