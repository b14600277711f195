//! The audits as a document.

use crate::{
    base::escape,
    review::report::{Cell, Document, Kind, Section, Table},
};

use super::instructions::Audit;

/// The most rows of a table.
const MOST: usize = 500;

/// The audits as a document of tables, a section for each page.
pub fn document(audits: &[Audit]) -> Document {
    let tokens: Vec<&str> = audits.iter().map(|audit| audit.product_token.as_str()).collect();
    let token = tokens.first().copied().unwrap_or_default();
    let conflicts: usize = audits.iter().map(|audit| audit.conflicts.len()).sum();
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    Document {
        title: format!(
            "What {} page{} tell{} {token}",
            audits.len(),
            plural(audits.len()),
            if audits.len() == 1 { "s" } else { "" }
        ),
        lead: vec![format!("{conflicts} contradiction{}.", plural(conflicts))],
        sections: audits.iter().map(section).collect(),
    }
}

fn section(audit: &Audit) -> Section {
    let mut rows: Vec<[Cell; 2]> = Vec::new();
    let mut add = |label: &str, text: String| rows.push([label.into(), Cell::from(text)]);
    let file = &audit.robots_txt;
    let by = file.rule.as_ref().map_or_else(|| "no rule".to_owned(), Clone::clone);
    add("robots.txt", format!("{} by {by}", file.verdict));
    for source in &audit.sources {
        add(source.source, source.rules.join(", "));
    }
    let rules = if audit.rules.is_empty() { "no rule".to_owned() } else { audit.rules.join(", ") };
    add("together", rules);
    for signal in &audit.signals {
        add(signal.name, format!("{} ({})", signal.value, signal.place));
    }
    let columns = [("Source", Kind::Name), ("Says", Kind::Code)];
    let table = Table::new(columns).with(MOST, rows);
    let heading = format!("{} (status {})", escape::shown(&audit.url), audit.status);
    let section = Section::new(heading, table);
    let section = audit.conflicts.iter().fold(section, |section, conflict| {
        section.remark(format!(
            "Contradiction: {} [{}]. Repair: {}.",
            conflict.message, conflict.code, conflict.help
        ))
    });
    match audit.signals.is_empty() {
        true => section.remark("No signal about AI."),
        false => section,
    }
}
