//! The list of violations, with its filter and its order in the address of the page.

use std::{
    collections::{BTreeSet, HashMap},
    convert::Infallible,
};

use askama::Template;
use axum::extract::State;
use serde::Serialize;

use super::{
    conditions::Asked,
    frame::{Answer, Frame, Instead, ask},
    link,
    occurring::{Field, occurring, total},
    selection::{COLUMNS, Order, Wanted, number},
    try_it::attempt,
    violation::{reading, rule},
    words::second,
};
use crate::{
    desk::admin::{View, html},
    records::{
        record::{Error, Filter, Violation},
        tally::FORM,
        violations::Store,
    },
    review::{
        explanation::PastForms,
        report::number::{count, grouped},
    },
};

/// The violations that the page begins with.
const LATEST: usize = 50;

#[derive(Template)]
#[template(path = "listing.html", config = "src/desk/pages/askama.toml")]
struct Listing {
    frame: Frame,
    wanted: Wanted,
    occurring: Vec<Field>,
    faults: Vec<String>,
    caption: String,
    order: Order,
    columns: Vec<&'static str>,
    rows: Vec<Row>,
    next: Option<String>,
    first: Option<String>,
    /// A command that makes a violation, where there is none.
    attempt: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) time: String,
    /// The site, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) site: Option<String>,
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
    let order = wanted.order(&mut faults);
    let at = number(&wanted.at, "at", &mut faults).unwrap_or(0);
    let noun = if wanted.is_of_forms() { "request" } else { "violation" };
    let (actions, first) = (wanted.actions(), wanted.from.clone());
    let asked = Wanted::asked(&view, filter, &mut faults, move |store, filter| {
        let occurring = occurring(store, &filter)?;
        let field = occurring.iter().find(|field| field.name == order.column);
        let names: Vec<String> = match (field, order.column) {
            (Some(field), _) => field.values.iter().map(|(name, _)| name.clone()).collect(),
            (None, "action") => actions.map(|(value, _)| value.to_owned()).to_vec(),
            (None, _) => vec![String::new()],
        };
        let (shown, next) = order.part(store, &filter, names, &first)?;
        let is_whole = at == 0 && next.is_none();
        let total = match is_whole {
            true => Some(count(shown.len() as u64, noun)),
            false => total(store, &filter, &occurring, noun)?,
        };
        Ok((shown, next, occurring, total))
    });
    let (shown, next, occurring, total) = asked.await?;
    if shown.is_empty() && next.is_none() && faults.is_empty() {
        let missing = occurring.iter().filter_map(|field| field.missing(wanted.value(field.name)));
        faults.extend(missing);
    }
    let mut rows: Vec<Row> = match wanted.is_of_forms() {
        true => rows_of_forms(&view, &shown).await?,
        false => shown.iter().map(|(_, violation)| row(violation)).collect(),
    };
    let sites =
        view.live.get().map_or(0, |live| live.handles.published.load().rulebook.sites().len());
    let recorded = occurring.iter().find(|field| field.name == "site");
    if sites.max(recorded.map_or(0, |field| field.values.len())) > 1 {
        for (row, (_, violation)) in rows.iter_mut().zip(&shown) {
            row.site = Some(violation.site.to_string());
        }
    }
    let end = at + rows.len() as u64;
    let part = (at > 0 || next.is_some()).then_some([at, end]);
    Ok(html(&Listing {
        frame: Frame::new(&view, "/violations"),
        occurring,
        caption: caption(order, total, part),
        columns: columns(rows.first()),
        order,
        next: next.map(|(name, behind)| {
            let behind = behind.map(|number| number.to_string()).unwrap_or_default();
            let place = [("from", &*name), ("before", &behind), ("at", &end.to_string())];
            wanted.list(order, &place)
        }),
        first: (at > 0 || !wanted.before.is_empty()).then(|| wanted.list(order, &[])),
        attempt: attempt(&view).filter(|_| wanted.is_any() && end == 0),
        faults,
        rows,
        wanted,
    }))
}

/// How many violations there are, which of them are shown, and in which order.
fn caption(order: Order, total: Option<String>, part: Option<[u64; 2]>) -> String {
    let part = part.map(|[at, end]| match end {
        end if end == at => "none of them on this page".to_owned(),
        end => format!("showing {}–{}", grouped(at + 1), grouped(end)),
    });
    let order = match (order.column, order.is_descending) {
        ("time", true) => "the latest first".to_owned(),
        ("time", false) => "the oldest first".to_owned(),
        (column, true) => format!("by {column} backwards, of each the latest first"),
        (column, false) => format!("by {column}, of each the latest first"),
    };
    [total, part, Some(order)].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn columns(first: Option<&Row>) -> Vec<&'static str> {
    let site = first.and_then(|row| row.site.as_ref()).map(|_| "site");
    let form = first.and_then(|row| row.form.as_ref()).map(|_| "other form");
    let columns = ["action", "crawler", "standing", "client", "had read", "path"];
    ["time"].into_iter().chain(site).chain(columns).chain(form).chain(["rule"]).collect()
}

impl Row {
    /// A long text as a list has it. Records are escaped, and the page of a record has the whole.
    pub(super) fn cut(&self, text: &str, most: usize) -> String {
        match text.char_indices().nth(most) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.to_owned(),
        }
    }
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

pub(super) fn row(violation: &Violation) -> Row {
    Row {
        id: violation.id.to_string(),
        time: second(violation.time),
        site: None,
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

#[derive(Template)]
#[template(path = "live.html", config = "src/desk/pages/askama.toml")]
struct Latest {
    frame: Frame,
    wanted: Wanted,
    occurring: Vec<Field>,
    faults: Vec<String>,
    rows: Vec<Row>,
    /// Where the script gets what comes next.
    events: String,
    refresh: String,
}

/// The latest violations. A script adds new ones as they come ([`events`](super::events)); without scripts the
/// page is complete, and a link shows it again.
pub(super) async fn latest(
    State(view): State<View>,
    Asked(wanted, mut faults): Asked<Wanted>,
) -> Answer {
    let filter = wanted.filter(&mut faults);
    let filter = Filter { limit: Some(LATEST), before_sequence: None, ..filter };
    let asked = Wanted::asked(&view, filter, &mut faults, |store, filter| {
        Ok((store.query(&filter)?, occurring(store, &filter)?))
    });
    let (listed, occurring) = asked.await?;
    Ok(html(&Latest {
        frame: Frame::new(&view, "/live"),
        occurring,
        faults,
        rows: listed.records.iter().rev().map(|(_, violation)| row(violation)).collect(),
        events: wanted.place("/live/events", &[("after", &listed.end.to_string())]),
        refresh: wanted.place("/live", &[]),
        wanted,
    }))
}
