//! The latest violations. A script adds new ones as they come ([`events`](super::events)); without
//! scripts the page is complete, and a link shows it again.

use askama::Template;
use axum::extract::State;

use super::{
    conditions::Asked,
    frame::{Answer, Frame},
    listing::{Row, row},
    occurring::{Field, occurring},
    selection::Wanted,
};
use crate::{
    desk::admin::{View, html},
    records::record::Filter,
};

/// The violations that the page begins with.
const SHOWN: usize = 50;

#[derive(Template)]
#[template(path = "live.html", config = "src/desk/pages/askama.toml")]
struct Page {
    frame: Frame,
    wanted: Wanted,
    occurring: Vec<Field>,
    faults: Vec<String>,
    rows: Vec<Row>,
    /// Where the script gets what comes next.
    events: String,
    refresh: String,
}

pub(super) async fn page(
    State(view): State<View>,
    Asked(wanted, mut faults): Asked<Wanted>,
) -> Answer {
    let filter = wanted.filter(&mut faults);
    let filter = Filter { limit: Some(SHOWN), before_sequence: None, ..filter };
    let asked = Wanted::asked(&view, filter, &mut faults, |store, filter| {
        Ok((store.query(&filter)?, occurring(store, &filter)?))
    });
    let (listed, occurring) = asked.await?;
    let page = Page {
        frame: Frame::new(&view, "/live"),
        occurring,
        faults,
        rows: listed.records.iter().rev().map(|(_, violation)| row(violation)).collect(),
        events: wanted.place("/live/events", &[("after", &listed.end.to_string())]),
        refresh: wanted.place("/live", &[]),
        wanted,
    };
    Ok(html(&page))
}
