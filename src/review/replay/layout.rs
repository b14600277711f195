//! The outcome of a replay as a document.

use jiff::Timestamp;

use crate::{
    base::escape::shown,
    records::{record::rule_line, tally::Claimant},
    review::report::{
        Cell, Document, Kind, Section, Table,
        number::{count, grouped, share},
    },
};

use super::{
    changes::Changes,
    merge::WINDOW,
    totals::{Client, Crawler, OTHER, RuleKey, Tally, date},
};

/// The outcome as a document with up to `most` rows in a table. `basis` says what the logs were judged
/// by, `remarks` what to know about it.
pub fn document(
    tally: &Tally,
    changes: Option<(&Changes, &str)>,
    basis: &str,
    remarks: &[String],
    most: usize,
) -> Document {
    let mut lead = vec![format!("Judged by {basis}.")];
    if let Some((from, until)) = tally.span {
        let time = |time: Timestamp| time.strftime("%F %H:%M").to_string();
        lead.push(format!("{} to {} UTC.", time(from), time(until)));
    }
    lead.extend(remarks.iter().cloned());
    let mut sections = vec![glance(tally)];
    if let Some((changes, against)) = changes {
        sections.push(changed(tally, changes, against, most));
    }
    sections.extend([crawlers(tally, most), rules(tally, most), paths(tally, most)]);
    sections.extend([days(tally), readers(tally, most), malformed(tally)]);
    sections.retain(|section| !section.table.rows.is_empty() || !section.remarks.is_empty());
    Document { title: "Beadle replay".to_owned(), lead, sections }
}

fn glance(tally: &Tally) -> Section {
    let requests = tally.requests();
    let sum =
        |what: fn(&Crawler) -> u64| tally.crawlers().iter().map(|(_, _, one)| what(one)).sum();
    let row = |name: &str, number: u64| -> [Cell; 3] {
        [name.into(), grouped(number).into(), share(number, requests).into()]
    };
    let mut rows = vec![
        ["Requests of people".into(), grouped(tally.people).into(), "".into()],
        row("Requests of crawlers and other programs", requests),
        row("  of crawlers for search engines", tally.search()),
        row("  allowed", sum(|one| one.allow)),
        row("  allowed by an edition still in use", sum(|one| one.grace)),
        row("  for other forms of closed paths", sum(|one| one.forms)),
        row("  logged", sum(|one| one.log)),
        row("  throttled", sum(|one| one.throttle)),
        row("  blocked", sum(|one| one.block)),
        row("  confirmed by the lists kept here", sum(|one| one.confirmed)),
        row("  contradicted by them", sum(|one| one.contradicted)),
    ];
    let limited = sum(|one| one.limited);
    if limited > 0 {
        rows.push(row("  beyond rate limits, no violations", limited));
    }
    if tally.malformed() > 0 {
        rows.push(["Lines not judged".into(), grouped(tally.malformed()).into(), "".into()]);
    }
    let columns = [("", Kind::Name), ("requests", Kind::Number), ("share", Kind::Number)];
    let section = Section::new("At a glance", Table::new(columns).with(rows.len(), rows));
    if tally.late == 0 {
        return section;
    }
    section.remark(format!(
        "{} came more than {} seconds after later ones and {} judged at the later time.",
        count(tally.late, "line"),
        WINDOW / 1_000_000,
        if tally.late == 1 { "was" } else { "were" }
    ))
}

fn changed(tally: &Tally, changes: &Changes, against: &str, most: usize) -> Section {
    let rows = changes.rows();
    let has_sites = tally.has_sites();
    let columns = [
        ("crawler", Kind::Name),
        ("now", Kind::Name),
        ("then", Kind::Name),
        ("requests", Kind::Number),
        ("for example", Kind::Code),
    ];
    let is_empty = rows.is_empty();
    let row = |(site, client, before, after, change): (
        &str,
        Client<'_>,
        super::Verdict,
        super::Verdict,
        &super::Change,
    )|
     -> [Cell; 5] {
        [
            named(&client.shown(), site, has_sites).into(),
            before.as_str().into(),
            after.as_str().into(),
            grouped(change.requests).into(),
            change.paths.first().cloned().unwrap_or_default().into(),
        ]
    };
    let table = Table::new(columns).with(most, rows.into_iter().map(row));
    let section = Section::new(format!("What {against} would change"), table);
    if is_empty { section.remark("Nothing: every request is treated alike.") } else { section }
}

fn crawlers(tally: &Tally, most: usize) -> Section {
    let has_sites = tally.has_sites();
    let all = tally.crawlers();
    let largest = all.iter().map(|(_, _, one)| one.violations()).max().unwrap_or(0);
    let rows = all.into_iter().map(|(site, client, one)| -> [Cell; 7] {
        [
            named(&client.shown(), site, has_sites).into(),
            grouped(one.requests).into(),
            grouped(one.log).into(),
            grouped(one.throttle).into(),
            grouped(one.block).into(),
            share(one.violations(), one.requests).into(),
            Cell::Bar(one.violations(), largest),
        ]
    });
    let columns = [
        ("crawler", Kind::Name),
        ("requests", Kind::Number),
        ("log", Kind::Number),
        ("throttle", Kind::Number),
        ("block", Kind::Number),
        ("share", Kind::Number),
        ("", Kind::Bar),
    ];
    Section::new("Crawlers", Table::new(columns).with(most, rows))
}

fn rules(tally: &Tally, most: usize) -> Section {
    let has_sites = tally.has_sites();
    let all = tally.rules();
    let largest = all.first().map_or(0, |(_, _, violations)| *violations);
    let rows = all.into_iter().map(|(site, rule, violations)| -> [Cell; 4] {
        let line = if rule.line > 0 { rule.line.to_string() } else { String::new() };
        let rule = named(&rule_text(rule), site, has_sites);
        [rule.into(), line.into(), grouped(violations).into(), Cell::Bar(violations, largest)]
    });
    let columns = [
        ("rule", Kind::Code),
        ("line", Kind::Number),
        ("violations", Kind::Number),
        ("", Kind::Bar),
    ];
    Section::new("Rules", Table::new(columns).with(most, rows))
}

fn rule_text(rule: &RuleKey) -> String {
    if !rule.reason.is_empty() {
        return rule.reason.to_string();
    }
    let pattern = shown(rule.pattern.as_bytes());
    rule_line(&rule.directive, &pattern).unwrap_or_else(|| format!("{}: {pattern}", rule.directive))
}

fn paths(tally: &Tally, most: usize) -> Section {
    let has_sites = tally.has_sites();
    let all = tally.paths();
    let largest = all.first().map_or(0, |(_, _, violations)| *violations);
    let rows = all.into_iter().map(|(site, path, violations)| -> [Cell; 3] {
        let path = match path == OTHER.as_bytes() {
            true => "other paths".to_owned(),
            false => shown(path),
        };
        let path = named(&path, site, has_sites);
        [path.into(), grouped(violations).into(), Cell::Bar(violations, largest)]
    });
    let columns = [("path", Kind::Code), ("violations", Kind::Number), ("", Kind::Bar)];
    Section::new("Paths", Table::new(columns).with(most, rows))
}

fn days(tally: &Tally) -> Section {
    /// The days that a page shows.
    const MOST_DAYS: usize = 31;
    let largest = tally.days.values().map(|day| day.violations).max().unwrap_or(0);
    let left_out = tally.days.len().saturating_sub(MOST_DAYS);
    let rows = tally.days.iter().skip(left_out).map(|(day, counts)| -> [Cell; 4] {
        [
            date(*day).into(),
            grouped(counts.requests).into(),
            grouped(counts.violations).into(),
            Cell::Bar(counts.violations, largest),
        ]
    });
    let columns = [
        ("day", Kind::Name),
        ("requests", Kind::Number),
        ("violations", Kind::Number),
        ("", Kind::Bar),
    ];
    let section = Section::new("Days", Table::new(columns).with(MOST_DAYS, rows));
    match left_out {
        0 => section,
        days => section.remark(format!("The last days; {} are before them.", grouped(days as u64))),
    }
}

fn readers(tally: &Tally, most: usize) -> Section {
    let has_sites = tally.has_sites();
    let mut all = tally.crawlers();
    let broke = |one: &Crawler| one.violations() > 0;
    // Impostors are no crawlers that read a file.
    all.retain(|(_, client, _)| client.claimant == Claimant::Crawler);
    let silent = all.iter().filter(|(_, _, one)| one.fetches == 0 && broke(one)).count();
    all.retain(|(_, _, one)| one.fetches > 0);
    all.sort_by_key(|(_, _, one)| std::cmp::Reverse(one.fetches));
    let rows = all.into_iter().map(|(site, client, one)| -> [Cell; 4] {
        let time = |time: Option<Timestamp>| {
            time.map_or_else(|| "-".to_owned(), |time| time.strftime("%F %H:%M").to_string())
        };
        [
            named(&client.shown(), site, has_sites).into(),
            grouped(one.fetches).into(),
            time(one.read.map(|(first, _)| first)).into(),
            time(one.read.map(|(_, last)| last)).into(),
        ]
    });
    let columns = [
        ("crawler", Kind::Name),
        ("fetches", Kind::Number),
        ("first", Kind::Name),
        ("last", Kind::Name),
    ];
    let section = Section::new("Who read robots.txt", Table::new(columns).with(most, rows));
    match silent {
        0 => section,
        1 => section.remark("1 crawler broke rules and never read robots.txt."),
        several => section.remark(format!(
            "{} crawlers broke rules and never read robots.txt.",
            grouped(several as u64)
        )),
    }
}

fn malformed(tally: &Tally) -> Section {
    let rows = tally.malformed.iter().map(|(code, one)| -> [Cell; 4] {
        let example = one.examples.first();
        let place = example.map(|one| format!("{}:{}", one.file, one.line)).unwrap_or_default();
        let text = example.map(|one| one.text.clone()).unwrap_or_default();
        [meaning(code).into(), grouped(one.count).into(), place.into(), text.into()]
    });
    let columns = [
        ("reason", Kind::Name),
        ("lines", Kind::Number),
        ("for example", Kind::Name),
        ("", Kind::Code),
    ];
    Section::new("Lines not judged", Table::new(columns).with(usize::MAX, rows))
}

/// The reason as a phrase.
fn meaning(code: &str) -> &str {
    let faults = crate::formats::access_log::Fault::ALL.into_iter();
    let own = match code {
        "unknown_host" => Some("a host that no site has"),
        "host" => Some("no valid host"),
        "target" => Some("no valid target: the proxy answers 400"),
        _ => None,
    };
    own.or_else(|| faults.clone().find(|one| one.as_str() == code).map(|one| one.meaning()))
        .unwrap_or(code)
}

impl Client<'_> {
    fn shown(self) -> String {
        match self.name {
            "" | OTHER => self.name.to_owned(),
            name => self.claimant.name(name),
        }
    }
}

/// A name, with its site where there are several.
fn named(name: &str, site: &str, has_sites: bool) -> String {
    let name = match name {
        "" => "(no name)",
        OTHER => "other names",
        name => name,
    };
    if has_sites { format!("{name} ({site})") } else { name.to_owned() }
}
