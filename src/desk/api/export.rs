//! All violations of a filter as a stream, in the order of writing, as the command line prints them.
//!
//! A page of records is read at a time, away from the runtime, and no question stays open meanwhile:
//! a slow reader holds neither memory nor the database. An export ends with the last record that was
//! there at its start. One that fails midway ends without the end of its body.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use axum::{
    body::{Body, Bytes, HttpBody},
    http::{HeaderValue, header},
    response::Response,
};
use hyper::body::Frame;
use tokio::sync::{Semaphore, SemaphorePermit, mpsc};

use super::{answer::of_type, inquiry::Inquiry, records::filter};
use crate::{
    desk::admin::problem::{Kind, Problem},
    records::{
        record::{Error, Filter, Violation, csv},
        violations::{Store, jsonl},
    },
};

/// The records that are read at a time.
const PAGE: usize = 500;
/// The pages that wait for a slow reader.
const WAITING: usize = 2;

/// The most exports at a time; each holds a connection of the listener.
const MOST_EXPORTS: usize = 8;
static EXPORTS: Semaphore = Semaphore::const_new(MOST_EXPORTS);

/// Appends the line of a record.
type Push = fn(&mut Vec<u8>, &Violation);

/// All violations as JSON lines.
pub(super) fn json_lines(inquiry: &Inquiry) -> Result<Response, Problem> {
    let name = HeaderValue::from_static("attachment; filename=\"violations.jsonl\"");
    export(inquiry, Vec::new(), jsonl::push, "application/jsonl", name)
}

/// All violations as CSV.
pub(super) fn csv(inquiry: &Inquiry) -> Result<Response, Problem> {
    let name = HeaderValue::from_static("attachment; filename=\"violations.csv\"");
    let mut heading = Vec::new();
    csv::push_row(&mut heading, csv::fields());
    export(inquiry, heading, csv::push, "text/csv; charset=utf-8; header=present", name)
}

fn export(
    inquiry: &Inquiry,
    heading: Vec<u8>,
    push: Push,
    media_type: &'static str,
    name: HeaderValue,
) -> Result<Response, Problem> {
    let slot = EXPORTS.try_acquire().map_err(|_| {
        let detail = format!("{MOST_EXPORTS} exports run at a time (try again after one ended)");
        Problem::new(Kind::Busy, detail)
    })?;
    let store = inquiry.store()?;
    let filter = filter(inquiry, &store)?;
    // What is written from now on belongs to the next export.
    let end = store.query(&Filter { limit: Some(0), ..Filter::default() })?.end;
    let filter = Filter {
        limit: Some(PAGE),
        after_sequence: Some(0),
        before_sequence: Some(end.saturating_add(1)),
        ..filter
    };
    let mut pages = Pages { store, filter, push, is_over: false };
    // A database that can't be read is a problem with a status, as long as nothing is sent.
    let first = pages.next(heading)?;
    let (sender, parts) = mpsc::channel(WAITING);
    tokio::spawn(send(pages, first, sender, slot));
    let mut response = of_type(media_type, Body::new(Parts(parts)));
    response.headers_mut().insert(header::CONTENT_DISPOSITION, name);
    Ok(response)
}

/// The pages of an export.
struct Pages {
    store: Store,
    filter: Filter,
    push: Push,
    is_over: bool,
}

impl Pages {
    /// The lines of the next page, behind those that are there.
    fn next(&mut self, mut lines: Vec<u8>) -> Result<Vec<u8>, Error> {
        let listing = self.store.query(&self.filter)?;
        for (_, violation) in &listing.records {
            (self.push)(&mut lines, violation);
        }
        self.is_over = listing.records.len() < PAGE;
        self.filter.after_sequence = Some(listing.end);
        Ok(lines)
    }
}

/// A part of an export.
enum Part {
    Lines(Vec<u8>),
    /// The last record was sent.
    End,
    Failed(Error),
}

/// Sends the pages until the last one, or until nobody reads them.
async fn send(
    mut pages: Pages,
    mut lines: Vec<u8>,
    reader: mpsc::Sender<Part>,
    _slot: SemaphorePermit<'static>,
) {
    loop {
        if reader.send(Part::Lines(lines)).await.is_err() {
            return;
        }
        if pages.is_over {
            break;
        }
        let read = tokio::task::spawn_blocking(move || {
            let lines = pages.next(Vec::new());
            (pages, lines)
        });
        match read.await {
            Ok((rest, Ok(next))) => (pages, lines) = (rest, next),
            Ok((_, Err(error))) => {
                tracing::warn!(code = error.code(), %error, "export of violations ended early");
                // Whoever has gone needs no reason.
                let _ = reader.send(Part::Failed(error)).await;
                return;
            }
            // It panicked: without an end, the body is broken.
            Err(_) => return,
        }
    }
    let _ = reader.send(Part::End).await;
}

/// The body of an export. Without the last part it breaks off, so that nobody takes it for whole.
struct Parts(mpsc::Receiver<Part>);

impl HttpBody for Parts {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.0.poll_recv(context).map(|part| match part {
            Some(Part::Lines(lines)) => Some(Ok(Frame::data(lines.into()))),
            Some(Part::End) => None,
            Some(Part::Failed(error)) => Some(Err(io::Error::other(error))),
            None => Some(Err(io::ErrorKind::UnexpectedEof.into())),
        })
    }
}
