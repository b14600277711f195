//! The policy in force in words, and its file as it is on disk; the policies that came into force, and what
//! each changed.

use std::{collections::HashSet, path::PathBuf};

use askama::Template;
use axum::extract::State;
use serde::{Deserialize, Serialize};

use self::disk::OnDisk;
pub(super) use self::disk::masked;
use super::{
    changes::Changes,
    conditions::Asked,
    frame::{Answer, Frame, ask, live, work},
    link, words,
};
use crate::{
    base::{escape, product_token::ProductToken},
    desk::admin::{View, html},
    records::record::{Error, PolicyEntry},
    review::report::number,
    rules::policy::{
        Alert, ClickHouse, ClientIp, Database, Destination, Grace, Log, Mode, OnDamage, OtherForms,
        PaceMode, Source,
    },
    state::publication::{PastPolicies, PolicyInForce, summary},
};

mod disk; // the file on disk, without the secrets in its URLs

/// The most crawlers of an override that are named.
const SHOWN: usize = 8;

#[derive(Template)]
#[template(path = "policy.html", config = "src/desk/pages/askama.toml")]
struct Page {
    frame: Frame,
    file: String,
    in_force: PolicyInForce,
    on_disk: OnDisk,
}

pub(super) async fn page(State(view): State<View>) -> Answer {
    let live = live(&view)?;
    let published = live.handles.published.load_full();
    let in_force = published.policy.clone();
    let refusal = live.handles.refused.load_full();
    let file: PathBuf = live.policy_file.clone();
    let moment = live.handles.clock.moment();
    let read = move || OnDisk::read(&file, &published, moment, refusal.as_deref());
    let on_disk = work(read).await?;
    Ok(html(&Page {
        frame: Frame::new(&view, "/policy"),
        file: escape::path(&live.policy_file),
        on_disk,
        in_force,
    }))
}

impl Page {
    fn place(log: &Log) -> String {
        match log {
            Log::Stdout => "standard output".to_owned(),
            Log::File(path) => escape::path(path),
        }
    }

    /// Crawlers, or every one.
    fn crawlers(tokens: &HashSet<ProductToken>, all: bool) -> String {
        let mut names: Vec<String> = tokens.iter().map(ToString::to_string).collect();
        names.sort_unstable();
        let more = names.len().saturating_sub(SHOWN);
        names.truncate(SHOWN);
        if all {
            names.insert(0, "every crawler".to_owned());
        }
        let names = if names.is_empty() { "no crawler".to_owned() } else { names.join(", ") };
        if more > 0 { format!("{names} and {more} more") } else { names }
    }

    fn receiver(alert: &Alert) -> String {
        let kinds: Vec<&str> = alert.on.iter().map(|kind| kind.as_str()).collect();
        let how = match &alert.to {
            Destination::Web { secret_file: Some(file), .. } => {
                format!("signed with {}", escape::path(file))
            }
            _ => format!("as {}", alert.format()),
        };
        format!("{}, {how}: {}", escape::shown(alert.shown().as_ref()), kinds.join(", "))
    }
}

/// The policies of a page, and the steps of the exact search for what each changed.
const ROWS: usize = 20;
const STEPS: usize = 1_000_000;

#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Wanted {
    before: String,
}

#[derive(Template)]
#[template(path = "policy_history.html", config = "src/desk/pages/askama.toml")]
struct History {
    frame: Frame,
    faults: Vec<String>,
    rows: Vec<Row>,
    older: String,
}

struct Row {
    entry: PolicyEntry,
    summary: String,
    changes: Option<Changes>,
}

pub(super) async fn history(
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
    Ok(html(&History { frame, faults, rows, older }))
}
