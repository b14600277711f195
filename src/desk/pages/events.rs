//! Violations as server-sent events (HTML standard, §9.2), each an object of JSON.
//!
//! ```text
//! records stored? ─▶ the next ones from the database ─▶ some events ─▶ the client
//! every POLL          at most BATCH, of the last REACH       WAITING at most
//! ```
//! The id of an event is the number of its record in the store. A browser that lost the connection
//! sends the last one as `Last-Event-ID`, and the next stream goes on there. There are [`MOST`] streams
//! at a time. One ends with its connection (a minute at most), with its client, with a client that reads
//! nothing, and when the program drains.

use std::{convert::Infallible, fmt::Write, sync::atomic::Ordering, time::Duration};

use axum::{
    Extension,
    body::{Body, Bytes},
    extract::{Query, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use futures_util::stream;
use serde::Deserialize;
use tokio::{
    sync::{Semaphore, SemaphorePermit, mpsc},
    time::{sleep, timeout},
};

use super::{listing::row, selection::Wanted};
use crate::{
    desk::admin::{Ending, View},
    records::{
        record::{Error, Filter, Listing},
        violations::Store,
    },
};

/// The most streams at a time: a quarter of the connections of the listener.
const MOST: usize = 16;

/// The time between two looks at the number of stored records.
const POLL: Duration = Duration::from_millis(500);

/// The looks without news after which a number shows that the stream lives. Then the database is read,
/// too: another instance may write to it.
const QUIET: u32 = 20;

/// The most events at once. Of more, the latest are sent.
const BATCH: usize = 100;

/// The most records that a stream goes back.
const REACH: u64 = 10_000;

/// The chunks that wait for the client.
const WAITING: usize = 2;

/// The time that a client has to read a chunk.
const PATIENCE: Duration = Duration::from_secs(10);

/// The beginning of a stream: the time, in milliseconds, until a browser opens the next one.
const HELLO: &str = "retry: 1000\n\n";

static STREAMS: Semaphore = Semaphore::const_new(MOST);

#[derive(Deserialize)]
pub(super) struct Start {
    after: Option<u64>,
}

pub(super) async fn stream(
    State(view): State<View>,
    Extension(ending): Extension<Ending>,
    Query(wanted): Query<Wanted>,
    Query(start): Query<Start>,
    fields: HeaderMap,
) -> Response {
    let later = |why: &'static str| {
        (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "10")], why).into_response()
    };
    let mut faults = Vec::new();
    let filter = wanted.filter(&mut faults);
    if let Some(fault) = faults.into_iter().next() {
        return (StatusCode::BAD_REQUEST, fault).into_response();
    }
    if view.database.is_none() {
        let why = "The policy names no database. Set violations.database.\n";
        return (StatusCode::NOT_FOUND, why).into_response();
    }
    if !view.ready.load(Ordering::Acquire) {
        return later("The program is starting or ending.\n");
    }
    let Ok(slot) = STREAMS.try_acquire() else {
        return later("Too many live views are open. Close one of them.\n");
    };
    let last = fields.get("last-event-id").and_then(|id| id.to_str().ok()?.trim().parse().ok());
    let (sender, chunks) = mpsc::channel(WAITING);
    let follower = Follower { view, filter, after: last.or(start.after), sender, _slot: slot };
    tokio::spawn(follower.run(ending));
    let fields = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    let chunks = stream::unfold(chunks, |mut chunks| async move {
        let chunk = chunks.recv().await?;
        Some((Ok::<_, Infallible>(chunk), chunks))
    });
    (fields, Body::from_stream(chunks)).into_response()
}

struct Follower {
    view: View,
    filter: Filter,
    /// The last record that was sent or passed over; `None` begins with the next one stored.
    after: Option<u64>,
    sender: mpsc::Sender<Bytes>,
    _slot: SemaphorePermit<'static>,
}

impl Follower {
    async fn run(mut self, mut ending: Ending) {
        let sender = self.sender.clone();
        tokio::select! {
            () = self.follow() => {}
            () = sender.closed() => {}
            () = ending.begins() => {}
        }
    }

    /// Sends what is stored until the program drains, or the client reads nothing.
    async fn follow(&mut self) {
        if !self.send(HELLO.to_owned()).await {
            return;
        }
        let (mut seen, mut quiet) = (None, 0);
        while self.view.ready.load(Ordering::Acquire) {
            // Read first: what is stored meanwhile is news at the next look.
            let stored = Some(self.view.sink.counts().stored);
            if stored != seen || quiet >= QUIET {
                let Some(text) = self.news().await else {
                    sleep(POLL).await;
                    continue;
                };
                let text = match text.is_empty() && quiet >= QUIET {
                    // A number without an event: the next stream goes on there, although the filter
                    // passed over all records before it.
                    true => format!("id: {}\n\n", self.after.unwrap_or_default()),
                    false => text,
                };
                if !text.is_empty() {
                    quiet = 0;
                    if !self.send(text).await {
                        return;
                    }
                }
                seen = stored;
            }
            quiet += 1;
            sleep(POLL).await;
        }
    }

    async fn send(&self, text: String) -> bool {
        matches!(timeout(PATIENCE, self.sender.send(text.into())).await, Ok(Ok(())))
    }

    async fn news(&mut self) -> Option<String> {
        let (filter, after) = (self.filter.clone(), self.after);
        let database = self.view.database.clone()?;
        let asked = move || records_after(&database.open()?, &filter, after);
        match tokio::task::spawn_blocking(asked).await {
            Ok(Ok((listing, has_gap))) => {
                self.after = Some(listing.end);
                Some(events(&listing, has_gap))
            }
            Ok(Err(error)) => {
                tracing::debug!(%error, "live view not answered");
                None
            }
            Err(error) => {
                tracing::error!(%error, "live view not answered");
                None
            }
        }
    }
}

fn records_after(
    store: &Store,
    filter: &Filter,
    after: Option<u64>,
) -> Result<(Listing, bool), Error> {
    let latest = store.query(&Filter { limit: Some(0), ..Filter::default() })?.end;
    // A number beyond the latest is of a database that is gone.
    let Some(after) = after.filter(|after| *after <= latest) else {
        return Ok((Listing { end: latest, ..Listing::default() }, false));
    };
    let from = after.max(store.reach_back(latest, REACH));
    let next = Filter { after_sequence: Some(from), limit: Some(BATCH), ..filter.clone() };
    let listing = store.query(&next)?;
    let last = listing.records.last().map_or(from, |(sequence, _)| *sequence);
    if listing.records.len() < BATCH || last >= latest {
        return Ok((listing, from > after));
    }
    // More than a page shows: the latest ones.
    let listing = store.query(&Filter { limit: Some(BATCH), ..filter.clone() })?;
    let first = listing.records.first().map_or(last, |(sequence, _)| *sequence);
    Ok((listing, from > after || first > last))
}

fn events(listing: &Listing, has_gap: bool) -> String {
    let mut text = if has_gap { "event: gap\ndata: {}\n\n" } else { "" }.to_owned();
    for (sequence, violation) in &listing.records {
        // JSON has no line end outside its texts, and writes those in texts as `\n`.
        if let Ok(json) = serde_json::to_string(&row(violation)) {
            let _ = write!(text, "id: {sequence}\ndata: {json}\n\n");
        }
    }
    text
}
