//! What responses say about the use of their content, by path (draft-ietf-aipref-attach §2, TDMRep).

use std::cmp::Reverse;

use crate::{
    formats::{
        robots::Pattern,
        usage::{Carrier, Category, Preference, Statement},
    },
    rules::policy::{Preferences, Stated},
};

/// The fields of a site's responses.
#[derive(Debug)]
pub struct UsageFields {
    /// What crawlers read, each in an order of its own: the longest path first.
    readings: Vec<Vec<Row>>,
    pub(crate) link: Option<String>,
    has_tdm: bool,
    /// `tdm-policy`, where mining is reserved.
    tdm_policy: Option<String>,
    pub(crate) tdmrep: Option<String>,
}

#[derive(Debug)]
struct Row {
    pattern: Option<Pattern>,
    statement: Statement,
}

/// What a response says.
#[derive(Clone, Debug, Default)]
pub struct Said<'s> {
    pub(crate) statement: Statement,
    pub(crate) content_usage: Option<String>,
    pub(crate) tdm_reservation: Option<bool>,
    pub(crate) tdm_policy: Option<&'s str>,
}

impl UsageFields {
    /// The fields of these preferences; `None` without any.
    pub fn compile(preferences: &Preferences) -> Option<Self> {
        let readings = preferences.readings();
        let link = |url| format!("<{url}>; rel=\"license\"; type=\"application/rsl+xml\"");
        let mut fields = Self {
            readings: readings.iter().map(|stated| rows(stated)).collect(),
            link: preferences.license.as_ref().map(link),
            has_tdm: preferences.tdm,
            tdm_policy: preferences.tdm_policy.clone(),
            tdmrep: None,
        };
        if fields.readings.iter().all(Vec::is_empty) && fields.link.is_none() {
            return None;
        }
        let paths = readings.iter().flatten().map(|(path, _)| path.unwrap_or("/"));
        fields.tdmrep = fields.has_tdm.then(|| fields.tdmrep(paths.collect()));
        Some(fields)
    }

    /// What the response to a request for this path says: what every crawler reads in robots.txt. `path`
    /// is the judged form of the target.
    pub fn at(&self, path: &[u8]) -> Said<'_> {
        let each = self.readings.iter().map(|rows| statement(rows, path));
        let statement = each.reduce(common).unwrap_or_default();
        let train = statement.get(Category::TrainAi).filter(|_| self.has_tdm);
        let is_reserved = train == Some(Preference::Disallow);
        Said {
            statement,
            content_usage: Carrier::ContentUsage.write(&statement),
            tdm_reservation: train.map(|_| is_reserved),
            tdm_policy: self.tdm_policy.as_deref().filter(|_| is_reserved),
        }
    }

    pub(crate) fn fields(&self, path: &[u8]) -> Vec<(&'static str, String)> {
        let said = self.at(path);
        let reserved = said.tdm_reservation.map(|is| u8::from(is).to_string());
        let all = [
            ("Content-Usage", said.content_usage),
            ("tdm-reservation", reserved),
            ("tdm-policy", said.tdm_policy.map(str::to_owned)),
            ("Link", self.link.clone()),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// The file of TDMRep: the longest locations first, since the first one that matches may count.
    fn tdmrep(&self, mut paths: Vec<&str>) -> String {
        paths.sort_unstable();
        paths.dedup();
        let row = |path: &str| {
            // A path of which this pattern is the longest: stars match themselves.
            let itself = path.strip_suffix('$').map_or_else(|| format!("{path} "), str::to_owned);
            Some((path.to_owned(), self.at(itself.as_bytes()).tdm_reservation?))
        };
        let mut rows: Vec<(String, bool)> = paths.into_iter().filter_map(row).collect();
        rows.sort_by_key(|(path, is_reserved)| Reverse((path.len(), *is_reserved)));
        let rows = rows.into_iter().map(|(path, is_reserved)| {
            let mut row = serde_json::json!(
                { "location": path, "tdm-reservation": u8::from(is_reserved) }
            );
            if let Some(policy) = self.tdm_policy.as_deref().filter(|_| is_reserved) {
                row["tdm-policy"] = policy.into();
            }
            row
        });
        serde_json::Value::Array(rows.collect()).to_string()
    }
}

/// A row for each path about which `Content-Usage` says something.
fn rows(stated: &[Stated<'_>]) -> Vec<Row> {
    let says = |(_, one): &&Stated<'_>| Carrier::ContentUsage.write(one).is_some();
    let row = |(path, statement): &Stated<'_>| Row {
        pattern: path.map(|path| Pattern::compile(path.as_bytes())),
        statement: *statement,
    };
    let mut rows: Vec<Row> = stated.iter().filter(says).map(row).collect();
    rows.sort_by_key(|row| Reverse(row.specificity()));
    rows
}

/// What the row with the longest path says; the stricter preference of equally long ones.
fn statement(rows: &[Row], path: &[u8]) -> Statement {
    let mut matching = rows.iter().filter(|row| row.matches(path));
    let Some(longest) = matching.next() else { return Statement::default() };
    let equal = matching.take_while(|row| row.specificity() == longest.specificity());
    equal.fold(longest.statement, |so_far, row| so_far.combine(row.statement))
}

fn common(one: Statement, other: Statement) -> Statement {
    Category::ALL.into_iter().fold(one, |so_far, category| {
        so_far.with(category, one.get(category).filter(|said| other.get(category) == Some(*said)))
    })
}

impl Row {
    fn matches(&self, path: &[u8]) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| pattern.matches(path))
    }

    fn specificity(&self) -> Option<u32> {
        self.pattern.as_ref().map(Pattern::specificity)
    }
}
