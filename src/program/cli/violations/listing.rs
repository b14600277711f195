//! A listing: records with their forms, as rows of a table, JSON lines or CSV.

use std::io::Write;

use super::{record_source::Source, selection::Format};
use crate::{
    formats::robots::Reading,
    program::console::Error,
    records::{
        record::{Robots, Violation, csv, rule_line},
        tally::FORM,
        violations::jsonl,
    },
    review::{
        explanation::PastForms,
        report::{
            Screen,
            grid::{Cell, Colour, Column, Grid},
        },
    },
    rules::policy::{ClientIp, Policy},
};

pub(super) enum Printer {
    Text(Columns, Grid),
    Json,
    /// Whether the records are of other forms of closed paths.
    Csv(bool),
}

impl Printer {
    /// Prints the heading, if there is one, and keeps the widths that fit the first records. With
    /// `is_open`, other records will follow.
    pub(super) fn start(
        (format, is_open): (Format, bool),
        mut columns: Columns,
        entries: &[Entry<'_>],
        out: &mut dyn Write,
    ) -> Result<Self, Error> {
        match format {
            Format::Json => Ok(Self::Json),
            Format::Csv => {
                let mut line = Vec::new();
                let form = columns.has_form.then_some("form");
                csv::push_row(&mut line, csv::fields().chain(form.map(str::to_owned)));
                out.write_all(&line)?;
                Ok(Self::Csv(columns.has_form))
            }
            Format::Text => {
                let grid = columns.grid(entries, Screen::of_standard_output(), is_open);
                if is_open || !entries.is_empty() {
                    writeln!(out, "{}", grid.heading())?;
                }
                Ok(Self::Text(columns, grid))
            }
        }
    }

    pub(super) fn print(&self, entries: &[Entry<'_>], out: &mut dyn Write) -> Result<(), Error> {
        let mut line = Vec::new();
        for entry in entries {
            let Entry { violation, form } = entry;
            line.clear();
            match self {
                Self::Text(columns, grid) => {
                    line.extend(grid.line(&columns.row(entry)).bytes());
                    line.push(b'\n');
                }
                Self::Json if entry.is_of_form() => {
                    jsonl::push_with_form(&mut line, violation, form.as_deref());
                }
                Self::Json => jsonl::push(&mut line, violation),
                Self::Csv(has_form) => {
                    let form = has_form.then(|| form.clone().unwrap_or_default());
                    csv::push_row(&mut line, csv::cells(violation).into_iter().chain(form));
                }
            }
            out.write_all(&line)?;
        }
        Ok(())
    }
}

#[derive(Debug)]
pub(super) struct Columns {
    columns: Vec<Column>,
    has_site: bool,
    /// Whether the records are of other forms of closed paths.
    has_form: bool,
    has_short_times: bool,
}

/// The time: with year, zone and a `T`, so that it can be copied into an option.
const TIME: Column = Column::text("TIME", 0, 20);
/// The time on a narrow screen.
const SHORT_TIME: Column = Column::text("TIME (UTC)", 0, 14);

impl Columns {
    /// The columns for the records of a policy; `has_site` if these may be of several sites,
    /// `has_form` if they are of other forms of closed paths.
    pub(super) fn new(policy: &Policy, has_site: bool, has_form: bool) -> Self {
        let client = match policy.violations.client_ip {
            ClientIp::Network => Column::text("NETWORK", 6, 16),
            ClientIp::Full | ClientIp::Hash => Column::text("CLIENT", 6, 15),
        };
        let mut columns = vec![
            TIME,
            Column::text("ACTION", 1, 8),
            Column::text("CRAWLER", 2, 14),
            Column::text("STANDING", 5, 12),
            client,
            Column::text("READ", 4, 7),
            Column::number("STATUS", 8, 6),
        ];
        columns.extend(has_site.then_some(Column::text("SITE", 9, 16)));
        columns.push(Column::text("PATH", 3, 15));
        columns.extend(has_form.then_some(Column::text("OTHER FORM", 3, 15)));
        columns.push(Column::text("RULE (LINE)", 7, 24));
        Self { columns, has_site, has_form, has_short_times: false }
    }

    /// The columns for these records. Times are short where that saves a cell from a cut.
    fn grid(&mut self, entries: &[Entry<'_>], screen: Screen, more_rows: bool) -> Grid {
        let rows =
            |columns: &Self| -> Vec<_> { entries.iter().map(|entry| columns.row(entry)).collect() };
        let mut cells = rows(self);
        if let Some(width) = screen.width
            && (more_rows || !Grid::fits(&self.columns, &cells, width))
        {
            self.has_short_times = true;
            if let Some(time) = self.columns.first_mut() {
                *time = SHORT_TIME;
            }
            cells = rows(self);
        }
        Grid::fit(&self.columns, &cells, screen, more_rows)
    }

    fn row(&self, Entry { violation, form }: &Entry<'_>) -> Vec<Cell> {
        let format = if self.has_short_times { "%m-%d %H:%M:%S" } else { "%Y-%m-%dT%H:%M:%SZ" };
        let plain = |text: &str| Cell::from(text.to_owned());
        let mut row = vec![
            Cell::from(violation.time.strftime(format).to_string()),
            Cell { colour: colour(&violation.action), ..plain(&violation.action) },
            plain(&violation.product_token),
            plain(&violation.standing),
            plain(&violation.client_ip),
            plain(violation.robots_read.state.as_str()),
            Cell::from(violation.status.to_string()),
        ];
        row.extend(self.has_site.then(|| plain(&violation.site)));
        row.push(plain(&violation.path));
        row.extend(self.has_form.then(|| plain(form.as_deref().unwrap_or("-"))));
        row.push(broken(&violation.robots, &violation.reason));
        row
    }
}

fn colour(action: &str) -> Colour {
    match action {
        "block" => Colour::Red,
        "throttle" => Colour::Yellow,
        _ => Colour::None,
    }
}

/// The broken rule or pace with its line, or the reason if neither was broken.
fn broken(robots: &Robots, reason: &str) -> Cell {
    let Some(rule) = rule_line(&robots.directive, &robots.pattern) else {
        return Cell::from(reason.to_owned());
    };
    let line = robots.line.map_or_else(|| "-".to_owned(), |line| line.to_string());
    let kept_end = line.len() + 3;
    Cell { text: format!("{rule} ({line})"), kept_end, ..Cell::default() }
}

#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) violation: &'a Violation,
    /// The form of the path that the rule closes, if the record is of one and it is known.
    pub(super) form: Option<String>,
}

impl Entry<'_> {
    pub(super) fn is_of_form(&self) -> bool {
        self.violation.reason.as_str() == FORM
    }
}

pub(super) struct Forms<'a> {
    policy: &'a Policy,
    source: &'a Source,
    past: PastForms,
}

impl<'a> Forms<'a> {
    pub(super) fn new(policy: &'a Policy, source: &'a Source) -> Self {
        Self { policy, source, past: PastForms::default() }
    }

    pub(super) fn entries<'r>(
        &mut self,
        records: &'r [(u64, Violation)],
    ) -> Result<Vec<Entry<'r>>, Error> {
        let entry = |(_, violation): &'r (u64, Violation)| {
            let mut sites = self.policy.sites.iter();
            let site = sites.find(|site| site.name().eq_ignore_ascii_case(&violation.site));
            let reading = site.map_or_else(Reading::default, |site| site.reading);
            let file = || self.source.edition(&violation.robots.edition);
            let form = self.past.of(violation, reading, file)?;
            Ok(Entry { violation, form })
        };
        records.iter().map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::text::Text;

    #[test]
    fn a_violation_names_its_rule_its_pace_or_its_reason() {
        let broken = |directive: &str, pattern: &str, line: Option<u32>| {
            let (directive, pattern) = (directive.into(), pattern.into());
            let group = Text::list(["*"]);
            let robots = Robots { edition: "".into(), directive, pattern, line, group };
            let cell = broken(&robots, "ladder.throttle");
            let end = cell.text.len() - cell.kept_end;
            (cell.text[..end].to_owned(), cell.text[end..].to_owned())
        };
        for (directive, pattern, line, expected) in [
            ("disallow", "/private/", Some(7), ("Disallow: /private/", " (7)")),
            ("crawl-delay", "2.5", Some(4), ("Crawl-delay: 2.5", " (4)")),
            ("request-rate", "10/1m", None, ("Request-rate: 10/1m", " (-)")),
            ("", "", None, ("ladder.throttle", "")),
        ] {
            let expected = (expected.0.to_owned(), expected.1.to_owned());
            assert_eq!(broken(directive, pattern, line), expected);
        }
    }
}
