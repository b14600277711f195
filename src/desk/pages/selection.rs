//! The filter and the order of a list of violations, as the address of a page has them.
//!
//! The database finds records by their number, which is their time, and by the names in its summaries. So the list
//! is sorted by these columns alone, and a page asks for a few names at most.

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use serde::{Deserialize, Serialize};

use super::{
    conditions::condition,
    frame::{Instead, ask},
    link,
    words::{known, sentence},
};
use crate::{
    base::escape,
    desk::admin::View,
    records::{
        record::{Error, Filter, REASONS, Violation},
        tally::{Claimant, FORM},
        violations::Store,
    },
    review::report::terms::{self, Names, Refusal},
};

/// The filter as the page has it. An empty text is no condition.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Wanted {
    pub(super) crawler: String,
    pub(super) site: String,
    pub(super) path: String,
    /// The path without its query, as counts have it.
    pub(super) exact_path: String,
    /// A rule as robots.txt has it, or the code of a reason.
    pub(super) rule: String,
    pub(super) purpose: String,
    pub(super) action: String,
    pub(super) reason: String,
    /// `only` or `without` impostors.
    pub(super) impostors: String,
    pub(super) since: String,
    /// Only earlier violations.
    pub(super) until: String,
    /// The column by which the list is sorted; with a minus in front, the last value comes first.
    pub(super) sort: String,
    /// In a list by names, the name with which the page begins.
    pub(super) from: String,
    /// The page begins behind the violation with this number in the store.
    pub(super) before: String,
    /// How many violations stand on the pages before.
    pub(super) at: String,
}

impl Wanted {
    pub(super) const fn actions(&self) -> [(&'static str, &'static str); 4] {
        [("", "any"), ("log", "logged"), ("throttle", "throttled"), ("block", "blocked")]
    }

    pub(super) fn is_of_forms(&self) -> bool {
        self.reason == FORM
    }

    pub(super) fn title(&self) -> &'static str {
        if self.is_of_forms() { "Other forms of closed paths" } else { "Violations" }
    }

    /// The address of `page` without conditions, in the same list.
    pub(super) fn all(&self, page: &str) -> String {
        let reason = if self.is_of_forms() { FORM } else { "" };
        link::with_query(page, &[("reason", reason)])
    }

    pub(super) const fn impostors(&self) -> [(&'static str, &'static str); 3] {
        let [without, only] = Claimant::WORDS;
        [("", "with the others"), (without, "left out"), (only, "alone")]
    }

    pub(super) fn is_any(&self) -> bool {
        self.place("", &[]).is_empty()
    }

    pub(super) fn filter(&self, faults: &mut Vec<String>) -> Filter {
        let before = number(&self.before, "before", faults);
        let rule = condition(&self.rule).and_then(|text| {
            let rule = terms::rule(&text);
            if let Err(Refusal::Term(why)) = &rule {
                faults.push(sentence(why));
            }
            rule.ok()
        });
        let [since, until] = [&self.since, &self.until].map(|text| {
            let text = condition(text)?;
            let time = time(&text);
            if time.is_none() {
                let text = escape::shown(&text);
                faults.push(format!("'{text}' is no day: write it as 2026-11-20."));
            }
            time
        });
        if let (Some(since), Some(until)) = (since, until)
            && let Some(repair) = terms::disorder(since, until, &self.until)
        {
            faults.push(format!("The end is not after the start: {repair}."));
        }
        let path = condition(&self.path).filter(|path| {
            let is_pattern = path.starts_with(['/', '*']);
            if !is_pattern {
                let path = escape::shown(path);
                faults.push(format!("'{path}' is no path: it begins with / or *."));
            }
            is_pattern
        });
        for (kind, text, values) in [
            ("action", &self.action, self.actions().map(|(value, _)| value).to_vec()),
            (
                "choice of impostors",
                &self.impostors,
                self.impostors().map(|(value, _)| value).to_vec(),
            ),
            ("reason", &self.reason, REASONS.into()),
        ] {
            if let Some(text) = condition(text).filter(|text| !values.contains(&text.as_str())) {
                let (text, values) = (escape::shown(&text), values.join(", "));
                let values = values.trim_start_matches(", ");
                faults.push(format!("'{text}' is no {kind}: choose one of {values}."));
            }
        }
        Filter {
            site: condition(&self.site),
            product_token: condition(&self.crawler),
            purpose: condition(&self.purpose),
            claimant: Claimant::of_word(self.impostors.trim()),
            path,
            exact_path: condition(&self.exact_path),
            rule,
            since,
            until,
            action: condition(&self.action),
            reason: condition(&self.reason),
            before_sequence: before,
            ..Filter::default()
        }
    }

    /// The answer of the database about the filter with the names that it means. A name that nobody
    /// knows is a fault.
    pub(super) async fn asked<T: Send + 'static>(
        view: &View,
        filter: Filter,
        faults: &mut Vec<String>,
        question: impl FnOnce(&Store, Filter) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Instead> {
        let published = view.live.get().map(|live| live.handles.published.load_full());
        let asked = ask(view, move |store| {
            let (mut filter, mut faults) = (filter, Vec::new());
            if let Some(published) = &published {
                let names = Names::from(&*published.rulebook);
                let site = filter.site.as_deref().map(|text| names.site(store, text));
                let crawler = filter.product_token.as_deref();
                let crawler = crawler.map(|text| names.product_token(store, text));
                let purpose = filter.purpose.as_deref().map(|text| names.purpose(store, text));
                filter.site = known(site, &mut faults)?.or(filter.site);
                filter.product_token = known(crawler, &mut faults)?.or(filter.product_token);
                filter.purpose = known(purpose, &mut faults)?.or(filter.purpose);
            }
            Ok((faults, question(store, filter)?))
        });
        let (unknown, answer) = asked.await?;
        faults.extend(unknown);
        Ok(answer)
    }

    /// The conditions on violations, without the place in the list.
    fn conditions(&self) -> [(&'static str, &str); 11] {
        [
            ("crawler", &self.crawler),
            ("site", &self.site),
            ("path", &self.path),
            ("exact_path", &self.exact_path),
            ("rule", &self.rule),
            ("purpose", &self.purpose),
            ("action", &self.action),
            ("reason", &self.reason),
            ("impostors", &self.impostors),
            ("since", &self.since),
            ("until", &self.until),
        ]
    }

    /// The address of `path` with this filter and more parameters.
    pub(super) fn place(&self, path: &str, more: &[(&str, &str)]) -> String {
        link::with_query(path, &[&self.conditions()[..], more].concat())
    }

    /// The address of the list with this filter, in this order, at this place.
    pub(super) fn list(&self, order: Order, place: &[(&str, &str)]) -> String {
        let sort = [("sort", &*order.name())];
        link::with_query("/violations", &[&self.conditions()[..], &sort, place].concat())
    }

    pub(super) fn value(&self, name: &str) -> &str {
        let found = self.conditions().into_iter().find(|(one, _)| *one == name);
        found.map_or("", |(_, value)| value.trim())
    }

    pub(super) fn order(&self, faults: &mut Vec<String>) -> Order {
        Order::of(&self.sort).unwrap_or_else(|| {
            let (sort, columns) = (escape::shown(&self.sort), COLUMNS.join(", "));
            faults.push(format!(
                "The list has no order '{sort}': choose one of {columns}, with a minus for the other way."
            ));
            Order::LATEST
        })
    }

    /// The type of a field for a day. A text that is none stays in the field, so that a person
    /// can repair it.
    pub(super) fn day_type(&self, text: &str) -> &'static str {
        let is_day = text.is_empty() || text.parse::<Date>().is_ok();
        if is_day { "date" } else { "text" }
    }
}

/// A number in the address; `None` for none. What is none is a fault.
pub(super) fn number(text: &str, name: &str, faults: &mut Vec<String>) -> Option<u64> {
    let text = condition(text)?;
    let number = text.parse().ok();
    if number.is_none() {
        let text = escape::shown(&text);
        faults.push(format!("'{text}' is no number of a record: leave '{name}' out."));
    }
    number
}

fn time(text: &str) -> Option<Timestamp> {
    let day = || Some(text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp());
    text.parse().ok().or_else(day)
}

const PAGE: usize = 100;
/// The most names of which a page asks for the violations.
const MOST_NAMES: usize = 20;
pub(super) const COLUMNS: [&str; 4] = ["time", "site", "action", "crawler"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) column: &'static str,
    pub(super) is_descending: bool,
}

/// The records of a page with their numbers, and where the next page begins: with a name, and behind
/// a record.
pub(super) type Part = (Vec<(u64, Violation)>, Option<(String, Option<u64>)>);

impl Order {
    pub(super) const LATEST: Self = Self { column: "time", is_descending: true };

    /// The order as an address names it; an empty text is the usual one.
    pub(super) fn of(text: &str) -> Option<Self> {
        let column = COLUMNS.into_iter().find(|name| *name == text.trim_start_matches('-'));
        let order = column.map(|column| Self { column, is_descending: text.starts_with('-') });
        order.or_else(|| text.is_empty().then_some(Self::LATEST))
    }

    pub(super) fn name(self) -> String {
        let minus = if self.is_descending { "-" } else { "" };
        if self == Self::LATEST { String::new() } else { format!("{minus}{}", self.column) }
    }

    /// The order that a click on the heading of `column` leads to.
    pub(super) fn after_click(self, column: &'static str) -> Self {
        let is_here = self.column == column;
        Self { column, is_descending: if is_here { !self.is_descending } else { column == "time" } }
    }

    /// A page of the list. `names` are all names of the column; the page begins with `first`.
    pub(super) fn part(
        self,
        store: &Store,
        filter: &Filter,
        mut names: Vec<String>,
        first: &str,
    ) -> Result<Part, Error> {
        let first = first.to_ascii_lowercase();
        names.sort_by_cached_key(|name| name.to_ascii_lowercase());
        if self.is_descending {
            names.reverse();
        }
        let is_before = |name: &String| {
            let name = name.to_ascii_lowercase();
            !first.is_empty() && if self.is_descending { name > first } else { name < first }
        };
        let mut names = names.into_iter().skip_while(is_before);
        let (mut records, mut behind) = (Vec::new(), filter.before_sequence);
        for name in names.by_ref().take(MOST_NAMES) {
            // One more than the page has tells whether there are more.
            let most = PAGE + 1 - records.len();
            let filter = self.of_name(filter, &name, behind.take(), most);
            let mut found = store.query(&filter)?.records;
            if filter.after_sequence.is_none() {
                found.reverse();
            }
            let has_more = found.len() == most;
            found.truncate(most - 1);
            let last = found.last().map(|(number, _)| *number);
            records.extend(found);
            if has_more {
                return Ok((records, Some((name, last))));
            }
        }
        Ok((records, names.next().map(|name| (name, None))))
    }

    /// The filter for the records of one name: the latest ones, unless the oldest come first.
    fn of_name(self, filter: &Filter, name: &str, behind: Option<u64>, most: usize) -> Filter {
        let filter = Filter { limit: Some(most), before_sequence: behind, ..filter.clone() };
        let name = Some(name.to_owned());
        match self.column {
            "site" => Filter { site: name, ..filter },
            "crawler" => Filter { product_token: name, ..filter },
            "action" => Filter { action: name, ..filter },
            _ if self.is_descending => filter,
            _ => {
                let after_sequence = Some(behind.unwrap_or(0));
                Filter { after_sequence, before_sequence: None, ..filter }
            }
        }
    }
}
