//! The list of violations, with its filter in the address of the page.

use std::{
    collections::{BTreeSet, HashMap},
    convert::Infallible,
};

use askama::Template;
use axum::{extract::State, response::IntoResponse};
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use serde::{Deserialize, Serialize};

use super::{
    conditions::Asked,
    frame::{Answer, Frame, Instead, ask, condition},
    link,
    time::second,
    violation::{reading, rule},
    words::{known, sentence},
};
use crate::{
    base::escape,
    desk::admin::{View, html},
    records::{
        record::{Error, Filter, Listing as Listed, REASONS, Violation},
        tally::{Claimant, FORM},
        violations::Store,
    },
    review::{
        explanation::PastForms,
        report::{
            number::count,
            terms::{self, Names, Refusal},
        },
    },
};

/// The violations on a page.
const PAGE: usize = 100;

/// The filter as the page has it. An empty text is no condition.
#[derive(Clone, Debug, Default, Deserialize)]
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
    /// Only violations before the one with this number in the store.
    pub(super) before: String,
}

#[derive(Template)]
#[template(path = "listing.html", config = "src/desk/pages/askama.toml")]
struct Listing {
    frame: Frame,
    /// Where the other list is: of violations, or of other forms of closed paths.
    other: String,
    wanted: Wanted,
    actions: Vec<Choice>,
    faults: Vec<String>,
    caption: String,
    rows: Vec<Row>,
    older: Option<String>,
    newest: Option<String>,
}

/// One value of a field of the filter.
pub(super) struct Choice {
    pub(super) value: &'static str,
    pub(super) name: &'static str,
    pub(super) is_here: bool,
}

/// One violation in a list.
#[derive(Serialize)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) time: String,
    pub(super) action: String,
    pub(super) crawler: String,
    pub(super) standing: String,
    pub(super) client: String,
    pub(super) read: &'static str,
    pub(super) path: String,
    /// The other form of the path, in a list of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) form: Option<String>,
    pub(super) rule: String,
}

pub(super) async fn page(
    State(view): State<View>,
    Asked(wanted, mut faults): Asked<Wanted>,
) -> Answer {
    let filter = wanted.filter(&mut faults);
    let filter_before = filter.before_sequence;
    let listed = wanted.listed(&view, filter, &mut faults).await?;
    let has_more = listed.records.len() > PAGE;
    // The latest come last, and one more than the page shows tells that there are older ones.
    let shown = &listed.records[usize::from(has_more)..];
    let first = shown.first().map(|(sequence, _)| *sequence);
    let mut rows: Vec<Row> = match wanted.is_of_forms() {
        true => rows_of_forms(&view, shown).await?,
        false => shown.iter().map(|(_, violation)| row(violation)).collect(),
    };
    rows.reverse();
    let page = Listing {
        frame: Frame::new(&view, "/violations"),
        other: match wanted.is_of_forms() {
            true => "/violations".to_owned(),
            false => link::with_query("/violations", &[("reason", FORM)]),
        },
        actions: wanted.actions(),
        faults,
        caption: wanted.caption(shown.len(), has_more),
        rows,
        older: first.filter(|_| has_more).map(|first| wanted.link(Some(first))),
        newest: filter_before.map(|_| wanted.link(None)),
        wanted,
    };
    Ok(html(&page).into_response())
}

impl Wanted {
    /// The actions to choose from.
    pub(super) fn actions(&self) -> Vec<Choice> {
        let choice = |value, name| Choice { value, name, is_here: value == self.action };
        vec![
            choice("", "any"),
            choice("log", "logged"),
            choice("throttle", "throttled"),
            choice("block", "blocked"),
        ]
    }

    /// Whether the page lists other forms of closed paths.
    pub(super) fn is_of_forms(&self) -> bool {
        self.reason == FORM
    }

    /// The name of the list.
    pub(super) fn title(&self) -> &'static str {
        if self.is_of_forms() { "Other forms of closed paths" } else { "Violations" }
    }

    /// The address of `page` without conditions, in the same list.
    pub(super) fn all(&self, page: &str) -> String {
        let reason = if self.is_of_forms() { FORM } else { "" };
        link::with_query(page, &[("reason", reason)])
    }

    fn caption(&self, shown: usize, has_more: bool) -> String {
        let noun = if self.is_of_forms() { "request" } else { "violation" };
        let shown = count(shown as u64, noun);
        let older = if has_more { "; there are older ones" } else { "" };
        format!("{shown}, the latest first{older}")
    }

    /// Whether impostors are listed.
    pub(super) fn impostors(&self) -> Vec<Choice> {
        let choice = |value, name| Choice { value, name, is_here: value == self.impostors };
        let [without, only] = Claimant::WORDS;
        vec![choice("", "with the others"), choice(without, "left out"), choice(only, "alone")]
    }

    /// Whether the filter has no condition.
    pub(super) fn is_any(&self) -> bool {
        self.place("", ("", "")).is_empty()
    }

    /// The filter. What is wrong with it is a fault.
    pub(super) fn filter(&self, faults: &mut Vec<String>) -> Filter {
        let before = condition(&self.before).and_then(|text| {
            let before = text.parse().ok();
            if before.is_none() {
                let text = escape::shown(&text);
                faults.push(format!("'{text}' is no number of a record: leave 'before' out."));
            }
            before
        });
        let rule = condition(&self.rule).and_then(|text| {
            let rule = terms::rule(&text);
            if let Err(Refusal::Term(why)) = &rule {
                faults.push(sentence(why));
            }
            rule.ok()
        });
        let since = condition(&self.since).and_then(|text| {
            let since = time(&text);
            if since.is_none() {
                let text = escape::shown(&text);
                faults.push(format!("'{text}' is no day: write it as 2026-11-20."));
            }
            since
        });
        let path = condition(&self.path).filter(|path| {
            let is_pattern = path.starts_with(['/', '*']);
            if !is_pattern {
                let path = escape::shown(path);
                faults.push(format!("'{path}' is no path: it begins with / or *."));
            }
            is_pattern
        });
        let values = |choices: Vec<Choice>| choices.iter().map(|one| one.value).collect::<Vec<_>>();
        for (kind, text, values) in [
            ("action", &self.action, values(self.actions())),
            ("choice of impostors", &self.impostors, values(self.impostors())),
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
            action: condition(&self.action),
            reason: condition(&self.reason),
            limit: Some(PAGE + 1),
            before_sequence: before,
            ..Filter::default()
        }
    }

    /// The records that the filter lists. A name that nobody knows is a fault.
    pub(super) async fn listed(
        &self,
        view: &View,
        filter: Filter,
        faults: &mut Vec<String>,
    ) -> Result<Listed, Instead> {
        let rulebook = view.live.get().map(|live| live.handles.published.load_full());
        let (site, crawler, purpose) =
            (condition(&self.site), condition(&self.crawler), condition(&self.purpose));
        let asked = ask(view, move |store| {
            let (mut filter, mut faults) = (filter, Vec::new());
            if let Some(published) = &rulebook {
                let names = Names::from(&*published.rulebook);
                let site = site.map(|text| names.site(store, &text));
                let crawler = crawler.map(|text| names.product_token(store, &text));
                let purpose = purpose.map(|text| names.purpose(store, &text));
                filter.site = known(site, &mut faults)?.or(filter.site);
                filter.product_token = known(crawler, &mut faults)?.or(filter.product_token);
                filter.purpose = known(purpose, &mut faults)?.or(filter.purpose);
            }
            Ok((faults, store.query(&filter)?))
        });
        let (unknown, listed) = asked.await?;
        faults.extend(unknown);
        Ok(listed)
    }

    /// The address of `path` with this filter and one parameter more.
    pub(super) fn place(&self, path: &str, more: (&str, &str)) -> String {
        let Self {
            crawler,
            site,
            path: wanted,
            exact_path,
            rule,
            purpose,
            action,
            reason,
            impostors,
            since,
            before: _,
        } = self;
        let parameters = [
            ("crawler", &**crawler),
            ("site", site),
            ("path", wanted),
            ("exact_path", exact_path),
            ("rule", rule),
            ("purpose", purpose),
            ("action", action),
            ("reason", reason),
            ("impostors", impostors),
            ("since", since),
            more,
        ];
        link::with_query(path, &parameters)
    }

    /// The type of the field for a day. A text that is none stays in the field, so that a person
    /// can repair it.
    pub(super) fn since_type(&self) -> &'static str {
        let is_day = self.since.is_empty() || self.since.parse::<Date>().is_ok();
        if is_day { "date" } else { "text" }
    }

    /// The page with this filter, from before a violation or from the latest on.
    fn link(&self, before: Option<u64>) -> String {
        let before = before.map(|before| before.to_string()).unwrap_or_default();
        self.place("/violations", ("before", &before))
    }
}

/// A time, or the begin of a day.
fn time(text: &str) -> Option<Timestamp> {
    let day = || Some(text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp());
    text.parse().ok().or_else(day)
}

/// The rows of records of other forms, with these forms as the stored editions tell them.
async fn rows_of_forms(view: &View, shown: &[(u64, Violation)]) -> Result<Vec<Row>, Instead> {
    let ids: BTreeSet<String> =
        shown.iter().map(|(_, one)| one.robots.edition.to_string()).collect();
    let read = move |store: &Store| -> Result<HashMap<String, Vec<u8>>, Error> {
        let mut files = HashMap::new();
        for id in ids {
            let edition = store.editions_by_id(&id, None)?.into_iter().next();
            files.extend(edition.map(|edition| (id, edition.bytes.to_vec())));
        }
        Ok(files)
    };
    let files = ask(view, read).await?;
    let mut forms = PastForms::default();
    let rows = shown.iter().map(|(_, violation)| {
        let file = || Ok::<_, Infallible>(files.get(violation.robots.edition.as_str()).cloned());
        let Ok(form) = forms.of(violation, reading(view, &violation.site, &violation.path), file);
        Row { form: Some(form.unwrap_or_else(|| "-".to_owned())), ..row(violation) }
    });
    Ok(rows.collect())
}

/// The row of a violation.
pub(super) fn row(violation: &Violation) -> Row {
    Row {
        id: violation.id.to_string(),
        time: second(violation.time),
        action: violation.action.to_string(),
        crawler: violation.product_token.to_string(),
        standing: violation.standing.to_string(),
        client: violation.client_ip.to_string(),
        read: violation.robots_read.state.as_str(),
        path: violation.path.to_string(),
        form: None,
        rule: rule(violation),
    }
}
