//! A review as a document.

use super::model::{CrawlerRow, Exchange, LEAST_JUDGED, NO_NAME, PathRow, Review, RuleRow};
use crate::{
    records::{record::rule_line, tally::FORM},
    review::report::{
        Cell, Count, Document, Section, Table, Tally,
        number::{change, count, grouped, ratio, share},
        span::over_time,
    },
};

const MOST_NEW: usize = 5;

pub(crate) fn document(review: &Review<'_>, most: usize) -> Document {
    let mut sections = vec![glance(review)];
    if review.total.all.requests > 0 {
        let over_time =
            over_time("Violations", &review.axis, &review.bars, |count| count.violations);
        sections.extend([highlights(review), over_time]);
        sections.extend([crawlers(review, most), conduct(review, most)]);
    }
    sections.extend([rules(review, most), paths(review, most)]);
    if !review.operators.is_empty() {
        sections.push(operators(review, most));
    }
    sections.retain(|section| !section.table.rows.is_empty() || !section.remarks.is_empty());
    let site = review.site.as_ref().map(|site| format!(" for {site}")).unwrap_or_default();
    Document { title: format!("Beadle report{site}"), lead: review.lead(), sections }
}

impl Review<'_> {
    /// The span in words, and what is compared.
    pub(crate) fn lead(&self) -> Vec<String> {
        let span = &self.span;
        let length = span.length();
        let mut lead = vec![format!("{}: {length}, against the {length} before.", span.in_words())];
        if self.total.all.requests == 0 && self.people.0 == 0 {
            lead.push("Nothing was counted in this time.".to_owned());
        }
        if !self.is_compared {
            lead.push(format!(
                "Nothing was counted in the {length} before, so nothing is compared."
            ));
        } else if let Some(first) = self.first_counts {
            lead.push(format!("The first counts are of {}.", first.strftime("%F")));
        }
        lead
    }

    /// The change to a number from the one of the span before; `-` where nothing is compared.
    pub(crate) fn change(&self, now: u64, before: Option<u64>) -> String {
        let before = before.filter(|_| self.is_compared);
        before.map_or_else(|| "-".to_owned(), |before| change(now, before))
    }
}

impl CrawlerRow<'_> {
    /// The product token, or that there is none; of impostors, whom they claim to be.
    pub(crate) fn name(&self) -> String {
        if self.is_nameless() {
            return "(no name)".to_owned();
        }
        self.claimant.name(&self.product_token)
    }

    pub(crate) fn is_nameless(&self) -> bool {
        self.product_token == NO_NAME
    }
}

impl RuleRow {
    /// The rule as robots.txt has it, else the reason.
    pub(crate) fn text(&self) -> String {
        if let Some(reason) = &self.reason {
            return reason.to_string();
        }
        let (directive, pattern) = (self.directive.as_str(), self.pattern.as_str());
        rule_line(directive, pattern).unwrap_or_else(|| format!("{directive}: {pattern}"))
    }
}

impl PathRow {
    /// The path, unless it stands for those beyond the limit of an hour.
    pub(crate) fn path(&self) -> Option<&str> {
        Some(self.path.as_str()).filter(|path| *path != "…")
    }
}

fn glance(review: &Review<'_>) -> Section {
    let (now, before) = (&review.total, &review.total_before);
    let row = |name: &str, now: u64, before: u64| -> [Cell; 4] {
        let before = Some(before).filter(|_| review.is_compared);
        let then = before.map_or_else(|| Cell::number("-"), Cell::from);
        [name.into(), now.into(), then, Cell::Number(review.change(now, before))]
    };
    let of = |tally: &Tally| share(tally.all.violations, tally.all.requests);
    let then = if review.is_compared { of(before) } else { "-".to_owned() };
    let rows = [
        row("Requests of crawlers and other programs", now.all.requests, before.all.requests),
        row("Violations", now.all.violations, before.all.violations),
        [
            "  share of the requests".into(),
            Cell::Number(of(now)),
            Cell::Number(then),
            Cell::number(""),
        ],
        row("  by clients that never read robots.txt", now.never, before.never),
        row("  by clients that read an older edition", now.older, before.older),
        row("  by clients that read this edition", now.current, before.current),
        row("  by impostors", now.contradicted_violations, before.contradicted_violations),
        row("Requests refused by Beadle", now.refused, before.refused),
        row("Fetches of robots.txt", now.fetches, before.fetches),
        row("Requests of people", review.people.0, review.people.1),
    ];
    let table = Table::new(["", "now", "before", "change"], rows.len(), rows);
    let mut section = Section::new("At a glance", table);
    if now.limited > 0 {
        section = section.remark(format!(
            "{} beyond the rate limits of the policy, which are no violations.",
            count(now.limited, "request")
        ));
    }
    if now.forms == 0 {
        return section;
    }
    section.remark(format!(
        "{} for other forms of closed paths, which are no violations: beadle violations --reason {FORM}",
        count(now.forms, "request")
    ))
}

fn highlights(review: &Review<'_>) -> Section {
    let row = |row: &CrawlerRow<'_>, what: &str, numbers: String| -> [Cell; 3] {
        [row.name().into(), what.into(), numbers.into()]
    };
    let new = review.new_offenders();
    let mut rows: Vec<_> = new
        .iter()
        .take(MOST_NEW)
        .map(|one| row(one, "new offender", count(one.now.all.violations, "violation")))
        .collect();
    if let Some(one) = review.biggest_change() {
        let (before, now) = (one.before.all.violations, one.now.all.violations);
        let numbers = format!("{} -> {}", grouped(before), count(now, "violation"));
        rows.push(row(one, "biggest change", numbers));
    }
    for one in review.best_behaved() {
        let Tally { broken, judged, .. } = one.now;
        let broken = if broken == 0 { "none".to_owned() } else { grouped(broken) };
        let numbers = format!("{broken} of {} against the rules", count(judged, "request"));
        rows.push(row(one, "behaves best", numbers));
    }
    let table = Table::new(["crawler", "", ""], rows.len(), rows);
    let mut section = Section::new("Worth a look", table).remark(format!(
        "\"Behaves best\" is the lowest share of requests against the rules, of crawlers with \
             {LEAST_JUDGED} judged requests or more."
    ));
    if let Some(more) = new.len().checked_sub(MOST_NEW + 1) {
        let sentence = format!("{} more new offenders are not shown.", grouped(more as u64 + 1));
        section = section.remark(sentence);
    }
    section
}

fn crawlers(review: &Review<'_>, most: usize) -> Section {
    let row = |row: &CrawlerRow<'_>| -> [Cell; 6] {
        let Count { requests, violations } = row.now.all;
        let change = review.change(violations, Some(row.before.all.violations));
        [
            row.name().into(),
            requests.into(),
            violations.into(),
            Cell::Number(share(violations, requests)),
            Cell::Number(change),
            Cell::Trend(row.bars.clone()),
        ]
    };
    let headings = ["crawler", "requests", "violations", "share", "change", "trend"];
    let here = review.crawlers.iter().filter(|row| row.now.all.requests > 0);
    Section::new("Crawlers", Table::new(headings, most, here.map(row)))
}

fn conduct(review: &Review<'_>, most: usize) -> Section {
    let row = |row: &CrawlerRow<'_>| -> [Cell; 8] {
        let Tally { all, fetches, never, older, current, too_soon, .. } = &row.now;
        let numbers = [*fetches, *never, *older, *current, *too_soon].map(Cell::from);
        let [fetches, never, older, current, too_soon] = numbers;
        // Nothing was checked where nothing is known.
        let whole = if row.now.confirmed + row.now.contradicted > 0 { all.requests } else { 0 };
        let confirmed = Cell::Number(share(row.now.confirmed, whole));
        let contradicted = Cell::Number(share(row.now.contradicted, whole));
        [row.name().into(), fetches, never, older, current, too_soon, confirmed, contradicted]
    };
    let headings =
        ["crawler", "fetches", "never", "older", "this", "too soon", "confirmed", "false"];
    let here = review.crawlers.iter().filter(|row| row.now.all.requests > 0);
    Section::new("What they had read", Table::new(headings, most, here.map(row))).remark(
        "Fetches of robots.txt; violations after reading never, an older or this edition; requests \
         before the pace allowed them; shares of requests whose claim is confirmed or false. False \
         claims are of impostors, and count only in their own rows.",
    )
}

fn rules(review: &Review<'_>, most: usize) -> Section {
    let first = review.rules.first();
    let has_sites =
        review.rules.iter().any(|row| first.is_some_and(|first| first.site != row.site));
    let largest = first.map_or(0, |row| row.now.violations);
    let row = |row: &RuleRow| -> [Cell; 4] {
        let rule = match has_sites {
            true => format!("{} ({})", row.text(), row.site),
            false => row.text(),
        };
        let Count { violations, .. } = row.now;
        let change = review.change(violations, Some(row.before.violations));
        place(rule, (violations, largest), change)
    };
    let headings = ["rule", "violations", "change", ""];
    Section::new("Rules", Table::new(headings, most, review.rules.iter().map(row)))
}

fn paths(review: &Review<'_>, most: usize) -> Section {
    let largest = review.paths.first().map_or(0, |row| row.now);
    let rows = review.paths.iter().map(|row| -> [Cell; 4] {
        let path = row.path().unwrap_or("other paths").to_owned();
        place(path, (row.now, largest), review.change(row.now, row.before))
    });
    Section::new("Paths", Table::new(["path", "violations", "change", ""], most, rows))
}

fn place(name: String, (violations, most): (u64, u64), change: String) -> [Cell; 4] {
    [Cell::Code(name), violations.into(), Cell::Number(change), Cell::Bar(violations, most)]
}

fn operators(review: &Review<'_>, most: usize) -> Section {
    let rows = review.operators.iter().map(|row| -> [Cell; 5] {
        let per_visit = |one: Exchange| {
            Cell::Number(ratio(one.requests, one.visits).unwrap_or_else(|| "-".to_owned()))
        };
        [
            row.operator.clone().into(),
            row.now.requests.into(),
            row.now.visits.into(),
            per_visit(row.now),
            per_visit(row.before),
        ]
    });
    let headings = ["operator", "requests", "visits", "requests per visit", "before"];
    Section::new("Crawl to refer", Table::new(headings, most, rows)).remark(
        "Requests of an operator's crawlers, and visits of people that its pages sent here.",
    )
}
