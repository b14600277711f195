//! The `preferences` of a site: what its content may be used for
//! (draft-ietf-aipref-vocab, draft-ietf-aipref-attach).

use crate::{
    base::{escape::shown, product_token::ProductToken},
    formats::{
        robots::{Directive, Record, Rule},
        usage::{Carrier, Category, Preference, Statement},
    },
};

use super::{
    fields::Fields,
    mode::Source,
    names::Names,
    pattern,
    shape::At,
    yaml::{Spot, Value},
};

/// What a site says about the use of its content.
#[derive(Clone, Debug, Default)]
pub struct Preferences {
    pub(crate) entries: Vec<Entry>,
    pub(crate) carriers: Vec<Carrier>,
    pub(crate) license: Option<String>,
    /// Whether paths without training are closed to control tokens (default true).
    pub(crate) closes_control_tokens: bool,
    pub(crate) tdm: bool,
    pub(crate) tdm_policy: Option<String>,
}

/// One entry of the list.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The crawlers that it is for; `None` is all.
    pub(crate) tokens: Option<Vec<ProductToken>>,
    /// The paths, as robots.txt has them; empty is the whole site.
    pub(crate) paths: Vec<String>,
    pub(crate) statement: Statement,
    pub(crate) spot: Spot,
}

/// What is said about a path; `None` is the whole site.
pub type Stated<'p> = (Option<&'p str>, Statement);

impl Preferences {
    /// What is said to a crawler, about the whole site and about each path; `None` is any crawler. An
    /// entry for the crawler counts before one for all about the same path. Where a path is about some
    /// categories, the others are as for the paths that begin it, then as for the whole site, because
    /// crawlers read the longest path alone.
    pub(crate) fn stated(&self, name: Option<&str>) -> Vec<Stated<'_>> {
        let is_for = |entry: &&Entry| {
            let of = |tokens: &Vec<ProductToken>, name: &str| {
                tokens.iter().any(|token| token.as_str().eq_ignore_ascii_case(name))
            };
            entry.tokens.as_ref().is_none_or(|tokens| name.is_some_and(|name| of(tokens, name)))
        };
        let mut entries: Vec<&Entry> = self.entries.iter().filter(is_for).collect();
        entries.sort_by_key(|entry| entry.tokens.is_some());
        let over = |below: Statement, entry: &&Entry| entry.statement.over(below);
        let whole = entries.iter().filter(|entry| entry.paths.is_empty());
        let whole = whole.fold(Statement::default(), over);
        let paths =
            entries.iter().flat_map(|entry| entry.paths.iter().map(move |one| (one, entry)));
        let mut paths: Vec<_> = paths.collect();
        paths.sort_by_key(|(path, _)| path.len());
        let mut stated: Vec<Stated<'_>> = Vec::new();
        // The path '/' is longer than no path, and about the same pages.
        if !whole.is_empty() && paths.iter().all(|(path, _)| *path != "/") {
            stated.push((None, whole));
        }
        for path in entries.iter().flat_map(|entry| &entry.paths) {
            if stated.iter().any(|(known, _)| *known == Some(path)) {
                continue;
            }
            let begins = |one: &String| path.starts_with(one) && !one.contains(['*', '$']);
            let around = paths.iter().filter(|(one, _)| *one == path || begins(one));
            let statement = around.fold(whole, |below, (_, entry)| over(below, entry));
            stated.push((Some(path), statement));
        }
        stated
    }

    /// All that is said to crawlers: to those without an entry of their own first, then each other reading.
    pub(crate) fn readings(&self) -> Vec<Vec<Stated<'_>>> {
        let mut readings = vec![self.stated(None)];
        let tokens = self.entries.iter().filter_map(|entry| entry.tokens.as_deref()).flatten();
        for reading in tokens.map(|token| self.stated(Some(token.as_str()))) {
            if !readings.contains(&reading) {
                readings.push(reading);
            }
        }
        readings
    }

    /// The lines of robots.txt for the group of a crawler; `None` is the group for all.
    pub(crate) fn records(&self, name: Option<&str>) -> Vec<Record> {
        let stated = self.stated(name);
        let of = |carrier: &Carrier| -> Vec<Record> {
            let lines = stated.iter().filter_map(|(path, statement)| {
                let value = carrier.write_about(*path, statement)?;
                Record::new(carrier.as_str(), &value).ok()
            });
            lines.collect()
        };
        self.carriers.iter().flat_map(of).collect()
    }

    /// The rules for a control token: the paths on which it may not train. Each with its entry, by
    /// number.
    pub(crate) fn closings(&self, name: &str) -> Vec<(Rule, usize)> {
        let train = |statement: &Statement| statement.get(Category::TrainAi);
        let stated = self.stated(Some(name));
        if stated.iter().all(|(_, one)| train(one) != Some(Preference::Disallow)) {
            return Vec::new();
        }
        let is_allowed = |length: usize| {
            let allows = |(path, one): &Stated<'_>| {
                train(one) == Some(Preference::Allow) && path.map_or(1, str::len) == length
            };
            stated.iter().any(allows)
        };
        let rules = stated.iter().filter_map(|(path, statement)| {
            let pattern = path.unwrap_or("/");
            let (directive, pattern) = match train(statement)? {
                Preference::Allow => (Directive::Allow, pattern.to_owned()),
                // A star at the end matches nothing more, but is longer than an equally long allowance.
                Preference::Disallow if is_allowed(pattern.len()) && !pattern.ends_with('$') => {
                    (Directive::Disallow, format!("{pattern}*"))
                }
                Preference::Disallow => (Directive::Disallow, pattern.to_owned()),
            };
            let is_of = |entry: &Entry| match path {
                Some(path) => entry.paths.iter().any(|one| one == path),
                None => entry.paths.is_empty(),
            };
            let number = self.entries.iter().position(is_of).unwrap_or_default();
            Some((Rule::new(directive, &pattern).ok()?, number))
        });
        rules.collect()
    }
}

pub(super) fn read(fields: &Fields<'_>, source: Source, names: &Names<'_>) -> Preferences {
    let items = fields.list("preferences");
    let entries: Vec<Entry> = items.iter().filter_map(|at| entry(at, names)).collect();
    refuse_contradictions(&items, &entries);
    if let Some(at) = fields.take("preferences").filter(|_| source == Source::Origin) {
        let message =
            "said in responses alone: 'source: origin' takes the origin's robots.txt as it is";
        at.note("policy.fields_alone", message, "write 'source: merge' to add the lines to it");
    }
    let tdm = fields.take("tdm");
    let tdm_switch = match tdm.as_ref().map(|at| &at.node.value) {
        Some(Value::Bool(is_on)) => Some(*is_on),
        _ => None,
    };
    let is_url = |_: &At<'_>| tdm_switch.is_none();
    let tdm_policy = tdm.filter(is_url).and_then(|at| url(&at, "a policy for mining"));
    Preferences {
        entries,
        carriers: fields.each("carriers", |at| Carrier::named(at.word()?)),
        license: fields.read("license", |at| url(at, "a licence")),
        closes_control_tokens: fields.get("control_tokens"),
        tdm: tdm_switch.unwrap_or_else(|| tdm_policy.is_some()),
        tdm_policy,
    }
}

fn entry(at: &At<'_>, names: &Names<'_>) -> Option<Entry> {
    let known = at.sink.count();
    let fields = at.fields()?;
    let mut statement = Statement::default();
    for category in Category::ALL {
        let said = fields.read(category.as_str(), preference);
        statement = statement.with(category, said);
    }
    if statement.is_empty() {
        if !at.sink.has_errors_after(known) {
            at.refuse("says nothing", "write for example 'train-ai: no'");
        }
        return None;
    }
    let paths = fields.each("paths", path);
    let selected = fields.take("user_agents").map(|at| names.selected(&at.items()));
    let tokens = selected.filter(|one| one.star.is_none()).map(|one| one.tokens());
    Some(Entry { tokens, paths, statement, spot: at.node.spot })
}

pub(super) fn preference(at: &At<'_>) -> Option<Preference> {
    let is_allowed = match &at.node.value {
        Value::Bool(is_allowed) => *is_allowed,
        _ => match at.text()?.to_ascii_lowercase().as_str() {
            "yes" | "y" => true,
            "no" | "n" => false,
            other => {
                let message = format!("'{}' is no preference", shown(other));
                return at.refused(message, "write 'yes' or 'no'");
            }
        },
    };
    Some(if is_allowed { Preference::Allow } else { Preference::Disallow })
}

fn path(at: &At<'_>) -> Option<String> {
    let rule = Rule::new(Directive::Disallow, pattern::read(at)?);
    Some(at.accepted(rule)?.pattern)
}

fn url(at: &At<'_>, of: &str) -> Option<String> {
    let text = at.text()?;
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_url = rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'));
    if !is_url || !text.bytes().all(|b| b.is_ascii_graphic()) || text.contains(['<', '>', '"']) {
        let message = format!("'{}' is not the URL of {of}", shown(text));
        return at.refused(message, "write it in full, https://www.example.com/license.xml");
    }
    Some(text.to_owned())
}

/// Refuses two entries that say different things to the same crawlers about the same path.
fn refuse_contradictions(items: &[At<'_>], entries: &[Entry]) {
    for (at, later) in entries.iter().enumerate() {
        for earlier in &entries[..at] {
            let is_same_path = match earlier.paths.is_empty() {
                true => later.paths.is_empty(),
                false => earlier.paths.iter().any(|path| later.paths.contains(path)),
            };
            let is_same_crawler = match (&earlier.tokens, &later.tokens) {
                (None, None) => true,
                (Some(one), Some(other)) => one.iter().any(|token| other.contains(token)),
                _ => false,
            };
            let differs = |one: &Category| {
                let said = [earlier, later].map(|entry| entry.statement.get(*one));
                matches!(said, [Some(one), Some(other)] if one != other)
            };
            let category = Category::ALL.into_iter().find(differs);
            if let (true, true, Some(category)) = (is_same_path, is_same_crawler, category)
                && let Some(item) = items.iter().find(|item| item.node.spot.line == later.spot.line)
            {
                let (category, line) = (category.as_str(), earlier.spot.line);
                let message = format!("'{category}' is said differently in line {line}");
                let help = "say it once for each path and crawler";
                item.refuse_as("policy.contradiction", message, help);
            }
        }
    }
}
