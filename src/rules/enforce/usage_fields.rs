//! What responses say about the use of their content, by path (draft-ietf-aipref-attach §2, TDMRep).

use crate::{
    formats::{
        robots::Pattern,
        usage::{Carrier, Category, Preference, Statement},
    },
    rules::policy::Preferences,
};

/// The fields of a site's responses.
#[derive(Debug)]
pub struct UsageFields {
    rows: Vec<Row>,
    /// The value of `Link` for the licence.
    pub link: Option<String>,
    has_tdm: bool,
    /// `/.well-known/tdmrep.json`.
    pub tdmrep: Option<String>,
}

#[derive(Debug)]
struct Row {
    pattern: Option<Pattern>,
    statement: Statement,
    content_usage: Option<String>,
}

/// What a response says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Said<'s> {
    /// The statement.
    pub statement: Statement,
    /// The statement as `Content-Usage`.
    pub content_usage: Option<&'s str>,
    /// `tdm-reservation`.
    pub tdm_reservation: Option<bool>,
}

impl UsageFields {
    /// The fields of these preferences; `None` without any.
    pub fn compile(preferences: &Preferences) -> Option<Self> {
        let stated = preferences.stated_in_responses();
        let rows = stated.iter().map(|(path, statement)| Row {
            pattern: path.map(|path| Pattern::compile(path.as_bytes())),
            statement: *statement,
            content_usage: Carrier::ContentUsage.write(statement),
        });
        let link = |url| format!("<{url}>; rel=\"license\"; type=\"application/rsl+xml\"");
        let link = preferences.license.as_ref().map(link);
        let mut rows: Vec<Row> = rows.collect();
        // The longest path decides.
        rows.sort_by_key(|row| std::cmp::Reverse(row.specificity()));
        let has_tdm = preferences.tdm;
        let tdmrep = has_tdm.then(|| tdmrep(&stated));
        (!rows.is_empty() || link.is_some()).then_some(Self { rows, link, has_tdm, tdmrep })
    }

    /// What the response to a request for this path says. `path` is the judged form of the target.
    pub fn at(&self, path: &[u8]) -> Said<'_> {
        let row = self.rows.iter().find(|row| row.matches(path));
        let Some(row) = row else { return Said::default() };
        let train = row.statement.get(Category::TrainAi).filter(|_| self.has_tdm);
        Said {
            statement: row.statement,
            content_usage: row.content_usage.as_deref(),
            tdm_reservation: train.map(|train| train == Preference::Disallow),
        }
    }
}

impl Row {
    fn matches(&self, path: &[u8]) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| pattern.matches(path))
    }

    fn specificity(&self) -> Option<u32> {
        self.pattern.as_ref().map(Pattern::specificity)
    }
}

/// The file of TDMRep: the longest locations first, since the first one that matches may count.
fn tdmrep(stated: &[(Option<&str>, Statement)]) -> String {
    let mut rows: Vec<(&str, Preference)> = stated
        .iter()
        .filter_map(|(path, one)| Some((path.unwrap_or("/"), one.get(Category::TrainAi)?)))
        .collect();
    rows.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
    let rows = rows.iter().map(|(path, train)| {
        let reservation = u8::from(*train == Preference::Disallow);
        serde_json::json!({ "location": path, "tdm-reservation": reservation })
    });
    serde_json::Value::Array(rows.collect()).to_string()
}
