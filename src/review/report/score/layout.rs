//! A scorecard as a document.

use std::time::Duration;

use super::model::{Following, Score};
use crate::{
    base::text::Text,
    review::report::{
        Cell, Count, Document, Section, Table,
        number::{change, count, grouped, ratio, share},
        span::over_time,
    },
};

pub(crate) fn document(score: &Score) -> Document {
    let span = &score.span;
    let length = span.length();
    let site = score.site.as_ref().map(|site| format!(" on {site}")).unwrap_or_default();
    let mut lead = vec![format!("{}: {length}, against the {length} before.", span.in_words())];
    if let Some(purpose) = score.purpose {
        let operator = score.operator.as_deref().unwrap_or("unknown operator");
        lead.insert(0, format!("{operator}, {}", purpose.as_str()));
    }
    if score.now.all.requests == 0 {
        lead.push("No request came in this time.".to_owned());
    }
    if !score.is_compared {
        lead.push(format!("Nothing was counted in the {length} before, so nothing is compared."));
    }
    let mut sections = vec![facts(score)];
    if score.now.all.requests > 0 {
        let requests = |count: &Count| count.requests;
        sections.push(over_time("Requests", &score.axis, &score.bars, requests));
    }
    if score.now.all.violations > 0 {
        sections.push(reasons(score));
    }
    if !score.following.is_empty() {
        sections.push(following(score));
    }
    Document { title: format!("Scorecard of {}{site}", score.product_token), lead, sections }
}

fn facts(score: &Score) -> Section {
    let Score { now, before, reading, .. } = score;
    let compared = |now: u64, before: u64| match score.is_compared {
        true => change(now, before),
        false => "-".to_owned(),
    };
    fn row(name: &str, value: impl Into<Cell>, note: impl Into<Cell>) -> [Cell; 3] {
        [name.into(), value.into(), note.into()]
    }
    let none = String::new;
    let rate = ratio(now.all.requests, score.span.hours()).unwrap_or_default();
    let busiest = score.busiest.map_or_else(none, |(hour, requests)| {
        format!("most: {} at {}", grouped(requests), hour.strftime("%F %H:%M"))
    });
    let of_all = Cell::Number(share(now.all.violations, now.all.requests));
    let too_soon = match now.too_soon {
        0 => none(),
        _ => format!("{} of the judged requests", share(now.too_soon, now.judged)),
    };
    // Nothing was checked where nothing is confirmed.
    let checked = if now.confirmed > 0 { now.own() } else { 0 };
    let claims = Cell::Number(share(now.confirmed, checked));
    let open = match now.open() {
        0 => none(),
        open => format!("{} not checked, or without a way to check", count(open, "request")),
    };
    let limited =
        (now.limited > 0).then(|| row("Beyond your limits", now.limited, "no violations"));
    let violations = now.all.violations;
    let rows = [
        row("Requests", now.all.requests, compared(now.all.requests, before.all.requests)),
        row("  an hour", Cell::Number(rate), busiest),
        row("Violations", violations, compared(violations, before.all.violations)),
        row("  share of the requests", of_all, ""),
        row("  had never read robots.txt", now.never, ""),
        row("  had read an older edition", now.older, ""),
        row("  had read this edition", now.current, ""),
        row("Fetches of robots.txt", reading.fetches, often(score)),
        row("Too soon for the pace", now.too_soon, too_soon),
        row("Claim confirmed", claims, open),
        row("Claims of impostors", score.impostors.requests, impostors(score)),
    ];
    let rows = rows.into_iter().chain(limited);
    Section::new("In figures", Table::new(["", "", ""], usize::MAX, rows))
}

/// How often the file is read.
fn often(score: &Score) -> String {
    let reading = score.reading;
    let last = reading.last.map(|last| format!("last {}", last.strftime("%F %H:%M")));
    let interval = reading.interval.map(|interval| format!("usually every {}", duration(interval)));
    let hours = (reading.hours > 1)
        .then(|| format!("in {} of {} hours", reading.hours, score.span.hours()));
    [hours, interval, last].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn impostors(score: &Score) -> String {
    let operator = score.operator.as_deref().unwrap_or("its operator");
    match score.impostors {
        Count { requests: 0, .. } => String::new(),
        Count { violations, .. } => {
            format!("not from {operator}, {}, counted apart", count(violations, "violation"))
        }
    }
}

fn duration(duration: Duration) -> String {
    match duration.as_secs() {
        seconds if seconds < 120 => format!("{seconds} s"),
        seconds if seconds < 7_200 => format!("{} min", seconds / 60),
        seconds if seconds < 172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

fn reasons(score: &Score) -> Section {
    let mut reasons: Vec<(&Text, u64)> =
        score.now.reasons.iter().map(|(reason, number)| (reason, *number)).collect();
    reasons.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    let most = reasons.first().map_or(0, |(_, number)| *number);
    let rows = reasons.iter().map(|(reason, number)| -> [Cell; 3] {
        [Cell::code(reason.as_str()), (*number).into(), Cell::Bar(*number, most)]
    });
    Section::new("Violations by kind", Table::new(["reason", "violations", ""], usize::MAX, rows))
}

fn following(score: &Score) -> Section {
    let row = |one: &Following| -> [Cell; 3] {
        let read = match (one.hours, one.until) {
            (Some(hours), _) => format!("within {}", count(hours, "hour")),
            (None, Some(_)) => "never, until the next change".to_owned(),
            (None, None) => "not yet".to_owned(),
        };
        let edition = format!("{} ({})", one.site, one.edition);
        [edition.into(), one.from.strftime("%F %H:%M").to_string().into(), read.into()]
    };
    let rows = score.following.iter().map(row);
    let table = Table::new(["new edition", "since", "read"], usize::MAX, rows);
    Section::new("Following changes of robots.txt", table)
}
