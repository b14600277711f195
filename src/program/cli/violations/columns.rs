//! A record as a row of a table.

use crate::{
    program::console::{Cell, Colour, Column, Table},
    records::record::{Robots, rule_line},
    rules::policy::{ClientIp, Policy},
};

use super::forms::Entry;

/// The columns of a listing, and how times are shown in them.
#[derive(Debug)]
pub(super) struct Columns {
    columns: Vec<Column>,
    has_site: bool,
    /// Whether the records are of other forms of closed paths.
    pub(super) has_form: bool,
    has_short_times: bool,
}

/// The time: with year, zone and a `T`, so that it can be copied into an option.
const TIME: Column = text("TIME", 0, 20);
/// The time on a narrow screen.
const SHORT_TIME: Column = text("TIME (UTC)", 0, 14);
const CLIENT: Column = text("CLIENT", 6, 15);
const NETWORK: Column = text("NETWORK", 6, 16);
const SITE: Column = text("SITE", 9, 16);
const FORM: Column = text("OTHER FORM", 3, 15);

const fn text(heading: &'static str, rank: u8, least: usize) -> Column {
    Column { heading, rank, least, is_number: false }
}

impl Columns {
    /// The columns for the records of a policy; `has_site` if these may be of several sites,
    /// `has_form` if they are of other forms of closed paths.
    pub(super) fn new(policy: &Policy, has_site: bool, has_form: bool) -> Self {
        let client = match policy.violations.client_ip {
            ClientIp::Network => NETWORK,
            ClientIp::Full | ClientIp::Hash => CLIENT,
        };
        let mut columns = vec![
            TIME,
            text("ACTION", 1, 8),
            text("CRAWLER", 2, 14),
            text("STANDING", 5, 12),
            client,
            text("READ", 4, 7),
            Column { is_number: true, ..text("STATUS", 8, 6) },
        ];
        columns.extend(has_site.then_some(SITE));
        columns.push(text("PATH", 3, 15));
        columns.extend(has_form.then_some(FORM));
        columns.push(text("RULE (LINE)", 7, 24));
        Self { columns, has_site, has_form, has_short_times: false }
    }

    /// The table for these records. Times are short where that saves a cell from a cut.
    pub(super) fn table(
        &mut self,
        entries: &[Entry<'_>],
        width: Option<usize>,
        has_colours: bool,
        more_rows: bool,
    ) -> Table {
        let rows =
            |columns: &Self| -> Vec<_> { entries.iter().map(|entry| columns.row(entry)).collect() };
        let mut cells = rows(self);
        if let Some(width) = width
            && (more_rows || !Table::fits(&self.columns, &cells, width))
        {
            self.has_short_times = true;
            if let Some(time) = self.columns.first_mut() {
                *time = SHORT_TIME;
            }
            cells = rows(self);
        }
        Table::fit(&self.columns, &cells, width, has_colours, more_rows)
    }

    /// The row of a record.
    pub(super) fn row(&self, Entry { violation, form }: &Entry<'_>) -> Vec<Cell> {
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
