//! The policies that came into force, and what each changed.

use askama::Template;
use axum::extract::State;
use serde::{Deserialize, Serialize};

use crate::{
    desk::{
        admin::{View, html},
        pages::{
            changes::Changes,
            conditions::Asked,
            frame::{Answer, Frame, ask, live},
            link, time,
        },
    },
    records::record::{Error, PolicyEntry},
    state::publication::{PastPolicies, summary},
};

const ROWS: usize = 20;
const STEPS: usize = 1_000_000;

#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
pub(in crate::desk::pages) struct Wanted {
    before: String,
}

#[derive(Template)]
#[template(path = "policy_history.html", config = "src/desk/pages/askama.toml")]
struct Page {
    frame: Frame,
    faults: Vec<String>,
    rows: Vec<Row>,
    /// The page of older policies; empty for none.
    older: String,
}

struct Row {
    entry: PolicyEntry,
    summary: String,
    changes: Option<Changes>,
}

pub(in crate::desk::pages) async fn page(
    State(view): State<View>,
    Asked(wanted, faults): Asked<Wanted>,
) -> Answer {
    let file = live(&view)?.policy_file.clone();
    let before = wanted.before.parse().ok();
    let (rows, has_more) = ask(&view, move |store| {
        let entries = store.policies(None, before, ROWS + 1)?;
        let mut past = PastPolicies::new(store, &file, STEPS);
        let row = |(at, entry)| {
            let change = past.change(entry, entries.get(at + 1))?;
            Ok::<_, Error>(Row {
                entry: entry.clone(),
                summary: summary(&change),
                changes: change.ok().map(|found| Changes::of(&found, "Against the one before")),
            })
        };
        let first = entries.iter().enumerate().take(ROWS);
        let rows = first.map(row).collect::<Result<Vec<_>, _>>()?;
        Ok((rows, entries.len() > ROWS))
    })
    .await?;
    let last = rows.last().filter(|_| has_more).map(|row| row.entry.id.to_string());
    let older = last.map(|last| link::with_query("/policy/history", &[("before", &last)]));
    let (frame, older) = (Frame::new(&view, "/policy"), older.unwrap_or_default());
    Ok(html(&Page { frame, faults, rows, older }))
}
