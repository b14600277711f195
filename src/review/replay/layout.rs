//! The outcome of a replay as a document.

use jiff::Timestamp;

use crate::{
    base::escape::shown,
    formats::access_log::Fault,
    records::{record::rule_line, tally::Claimant},
    review::report::{
        Cell, Document, Section, Table,
        number::{count, grouped, share},
    },
};

use super::{
    merge::WINDOW,
    totals::{Changes, Client, Crawler, OTHER, Rule, Tally, Verdict, date},
};

/// The outcome as a document with up to `most` rows in a table. `basis` says what the logs were judged
/// by, `remarks` what to know about it.
pub(crate) fn document(
    tally: &Tally,
    changes: Option<(&Changes, &str)>,
    basis: &str,
    remarks: &[String],
    most: usize,
) -> Document {
    let mut lead = vec![format!("Judged by {basis}.")];
    if let Some((from, until)) = tally.span {
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
    let all = tally.crawlers();
    let sum =
        |what: &dyn Fn(&Crawler) -> u64| -> u64 { all.iter().map(|(_, _, one)| what(one)).sum() };
    let of = |verdict: Verdict| sum(&|one: &Crawler| one.of(verdict));
    let row = |name: &str, number: u64| -> [Cell; 3] {
        [name.into(), number.into(), Cell::Number(share(number, requests))]
    };
    let mut rows = vec![
        ["Requests of people".into(), tally.people.into(), Cell::number("")],
        row("Requests of crawlers and other programs", requests),
        row("  of crawlers for search engines", tally.search()),
        row("  allowed", of(Verdict::Allow)),
        row("  allowed by an edition still in use", of(Verdict::Grace)),
        row("  for other forms of closed paths", of(Verdict::Form)),
        row("  logged", of(Verdict::Log)),
        row("  throttled", of(Verdict::Throttle)),
        row("  blocked", of(Verdict::Block)),
        row("  confirmed by the lists kept here", sum(&|one: &Crawler| one.confirmed)),
        row("  contradicted by them", sum(&|one: &Crawler| one.contradicted)),
    ];
    let limited = of(Verdict::Limit);
    if limited > 0 {
        rows.push(row("  beyond rate limits, no violations", limited));
    }
    if tally.malformed() > 0 {
        rows.push(["Lines not judged".into(), tally.malformed().into(), Cell::number("")]);
    }
    let table = Table::new(["", "requests", "share"], rows.len(), rows);
    let section = Section::new("At a glance", table);
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
    let is_empty = rows.is_empty();
    let rows = rows.into_iter().map(|(site, client, before, after, change)| -> [Cell; 5] {
        [
            named(tally, &client.shown(), site).into(),
            before.as_str().into(),
            after.as_str().into(),
            change.requests.into(),
            Cell::Code(change.paths.first().cloned().unwrap_or_default()),
        ]
    });
    let table = Table::new(["crawler", "now", "then", "requests", "for example"], most, rows);
    let section = Section::new(format!("What {against} would change"), table);
    if is_empty { section.remark("Nothing: every request is treated alike.") } else { section }
}

fn crawlers(tally: &Tally, most: usize) -> Section {
    let all = tally.crawlers();
    let largest = all.iter().map(|(_, _, one)| one.violations()).max().unwrap_or(0);
    let rows = all.into_iter().map(|(site, client, one)| -> [Cell; 7] {
        [
            named(tally, &client.shown(), site).into(),
            one.requests.into(),
            one.of(Verdict::Log).into(),
            one.of(Verdict::Throttle).into(),
            one.of(Verdict::Block).into(),
            Cell::Number(share(one.violations(), one.requests)),
            Cell::Bar(one.violations(), largest),
        ]
    });
    let headings = ["crawler", "requests", "log", "throttle", "block", "share", ""];
    Section::new("Crawlers", Table::new(headings, most, rows))
}

fn rules(tally: &Tally, most: usize) -> Section {
    let all = tally.rules();
    let largest = all.first().map_or(0, |(_, rule)| rule.violations);
    let rows = all.into_iter().map(|(site, rule)| -> [Cell; 4] {
        let line = if rule.line > 0 { rule.line.to_string() } else { String::new() };
        let named = named(tally, &rule_text(rule), site);
        let bar = Cell::Bar(rule.violations, largest);
        [Cell::Code(named), Cell::Number(line), rule.violations.into(), bar]
    });
    Section::new("Rules", Table::new(["rule", "line", "violations", ""], most, rows))
}

fn rule_text(rule: &Rule) -> String {
    if !rule.reason.is_empty() {
        return rule.reason.clone();
    }
    let pattern = shown(rule.pattern.as_bytes());
    rule_line(&rule.directive, &pattern).unwrap_or_else(|| format!("{}: {pattern}", rule.directive))
}

fn paths(tally: &Tally, most: usize) -> Section {
    let all = tally.paths();
    let largest = all.first().map_or(0, |(_, _, violations)| *violations);
    let rows = all.into_iter().map(|(site, path, violations)| -> [Cell; 3] {
        let path = if path == OTHER.as_bytes() { "other paths".to_owned() } else { shown(path) };
        let path = named(tally, &path, site);
        [Cell::Code(path), violations.into(), Cell::Bar(violations, largest)]
    });
    Section::new("Paths", Table::new(["path", "violations", ""], most, rows))
}

fn days(tally: &Tally) -> Section {
    const MOST_DAYS: usize = 31;
    let largest = tally.days.values().map(|day| day.violations).max().unwrap_or(0);
    let left_out = tally.days.len().saturating_sub(MOST_DAYS);
    let rows = tally.days.iter().skip(left_out).map(|(day, counts)| -> [Cell; 4] {
        [
            date(*day).into(),
            counts.requests.into(),
            counts.violations.into(),
            Cell::Bar(counts.violations, largest),
        ]
    });
    let table = Table::new(["day", "requests", "violations", ""], MOST_DAYS, rows);
    let section = Section::new("Days", table);
    match left_out {
        0 => section,
        days => section.remark(format!("The last days; {} are before them.", grouped(days as u64))),
    }
}

fn readers(tally: &Tally, most: usize) -> Section {
    let mut all = tally.crawlers();
    let broke = |one: &Crawler| one.violations() > 0;
    // Impostors are no crawlers that read a file.
    all.retain(|(_, client, _)| client.claimant == Claimant::Crawler);
    let silent = all.iter().filter(|(_, _, one)| one.fetches == 0 && broke(one)).count();
    all.retain(|(_, _, one)| one.fetches > 0);
    all.sort_by_key(|(_, _, one)| std::cmp::Reverse(one.fetches));
    let rows = all.into_iter().map(|(site, client, one)| -> [Cell; 4] {
        let [first, last] = match one.read {
            Some((first, last)) => [first, last].map(time),
            None => ["-"; 2].map(str::to_owned),
        };
        [named(tally, &client.shown(), site).into(), one.fetches.into(), first.into(), last.into()]
    });
    let table = Table::new(["crawler", "fetches", "first", "last"], most, rows);
    let section = Section::new("Who read robots.txt", table);
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
        let (log, line, text) = &one.example;
        let place = format!("{log}:{line}");
        [meaning(code).into(), one.count.into(), place.into(), Cell::code(text.as_str())]
    });
    let table = Table::new(["reason", "lines", "for example", ""], usize::MAX, rows);
    Section::new("Lines not judged", table)
}

fn meaning(code: &str) -> &str {
    match code {
        "unknown_host" => "a host that no site has",
        "host" => "no valid host",
        "target" => "no valid target: the proxy answers 400",
        _ => Fault::ALL
            .into_iter()
            .find(|one| one.as_str() == code)
            .map_or(code, |one| one.meaning()),
    }
}

impl Client<'_> {
    fn shown(self) -> String {
        match self.name {
            "" | OTHER => self.name.to_owned(),
            name => self.claimant.name(name),
        }
    }
}

fn time(time: Timestamp) -> String {
    time.strftime("%F %H:%M").to_string()
}

/// A name, with its site where there are several.
fn named(tally: &Tally, name: &str, site: &str) -> String {
    let name = match name {
        "" => "(no name)",
        OTHER => "other names",
        name => name,
    };
    if tally.has_sites() { format!("{name} ({site})") } else { name.to_owned() }
}
