//! The audits as a document.

use crate::{
    base::escape,
    review::report::{Cell, Document, Section, Table},
};

use super::{
    instructions::{Audit, Row},
    said::{Conflict, Use},
};

const MOST: usize = 500;
const MOST_NAMES: usize = 3;

pub(crate) fn document(audits: &[Audit]) -> Document {
    let token = audits.first().map_or("", |audit| audit.product_token.as_str());
    let conflicts: usize = audits.iter().map(|audit| audit.conflicts.len()).sum();
    let tell = if audits.len() == 1 { "tells" } else { "tell" };
    Document {
        title: format!("What {} {tell} {token}", counted(audits.len(), "page")),
        lead: vec![format!("{}.", counted(conflicts, "contradiction"))],
        sections: audits.iter().map(section).collect(),
    }
}

fn section(audit: &Audit) -> Section {
    let mut rows: Vec<[Cell; 2]> = Vec::new();
    let mut add = |label: &str, text: String| rows.push([label.into(), Cell::Code(text)]);
    let file = &audit.robots_txt;
    let by = file.rule.as_deref().unwrap_or("no rule");
    add("robots.txt", format!("{} by {by}", file.verdict));
    for source in &audit.sources {
        add(source.source, source.rules.join(", "));
    }
    let rules = if audit.rules.is_empty() { "no rule".to_owned() } else { audit.rules.join(", ") };
    add("together", rules);
    for signal in &audit.signals {
        add(signal.name, format!("{} ({})", signal.value, signal.place));
    }
    let table = Table::new(["Source", "Says"], MOST, rows);
    let heading = format!("{} (status {})", escape::shown(&audit.url), audit.status);
    let section = Section::new(heading, table);
    let remarks = audit.conflicts.iter().map(|conflict| sentence("Contradiction", conflict));
    let section = remarks.fold(section, Section::remark);
    if audit.signals.is_empty() { section.remark("No signal about AI.") } else { section }
}

/// The answers for many crawlers as a document, a table for each page with its status.
pub(crate) fn matrix(pages: &[(u16, Vec<Row>)]) -> Document {
    let rows = || pages.iter().flat_map(|(_, rows)| rows);
    let crawlers = pages.iter().map(|(_, rows)| rows.len()).max().unwrap_or_default();
    Document {
        title: format!(
            "What {} may do, on {}",
            counted(crawlers, "crawler"),
            counted(pages.len(), "page")
        ),
        lead: vec![
            "A line is one of robots.txt. A carrier without a line is a field or an element of the \
             page, or a file of the site. 'unsaid' is what no carrier says."
                .to_owned(),
            format!("{}.", counted(together(rows()).len(), "contradiction")),
        ],
        sections: pages.iter().map(|(status, rows)| matrix_of(*status, rows)).collect(),
    }
}

fn matrix_of(status: u16, rows: &[Row]) -> Section {
    let url = rows.first().map_or("", |row| row.url.as_str());
    let cells = |row: &Row| {
        let of = |about| Cell::Code(row.shown(about));
        [row.product_token.as_str().into(), of(Use::Crawl), of(Use::TrainAi), of(Use::Search)]
    };
    let headings = ["Crawler", "Crawl", "Train", "Search"];
    let table = Table::new(headings, MOST, rows.iter().map(cells));
    let section = Section::new(format!("{url} (status {status})"), table);
    contradictions(rows).into_iter().fold(section, Section::remark)
}

/// The contradictions of one page as sentences, each with the crawlers that it confuses.
pub(crate) fn contradictions(rows: &[Row]) -> Vec<String> {
    let of = |(conflict, names): (&Conflict, Vec<&str>)| {
        let shown = escape::first_of(names.into_iter().map(str::to_owned), MOST_NAMES);
        sentence(&format!("Contradiction for {shown}"), conflict)
    };
    together(rows.iter()).into_iter().map(of).collect()
}

fn sentence(what: &str, Conflict { message, code, help }: &Conflict) -> String {
    format!("{what}: {message} [{code}]. Repair: {help}.")
}

/// The contradictions of all rows, each once for a page, with the crawlers that they confuse.
fn together<'r>(rows: impl Iterator<Item = &'r Row>) -> Vec<(&'r Conflict, Vec<&'r str>)> {
    let mut found: Vec<(&Row, &Conflict, Vec<&str>)> = Vec::new();
    for row in rows {
        for conflict in &row.conflicts {
            let known =
                found.iter_mut().find(|(of, other, _)| of.url == row.url && *other == conflict);
            match known {
                Some((_, _, names)) => names.push(&row.product_token),
                None => found.push((row, conflict, vec![&row.product_token])),
            }
        }
    }
    found.into_iter().map(|(_, conflict, names)| (conflict, names)).collect()
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
