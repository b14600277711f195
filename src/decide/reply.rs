//! The reply to a question: 200 with the tags of the site, or the refusal.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use hyper::body::{Body, Frame, SizeHint};

use crate::{
    enforce::TagFields,
    gate::{Answer, REFUSAL_MARK},
};

use super::question::Fault;

const ROBOTS_TAG: HeaderName = HeaderName::from_static("robots-tag");
const X_ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

/// The body of a reply, in one piece.
#[derive(Debug, Default)]
pub(super) struct Page(Bytes);

impl Body for Page {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let all = std::mem::take(&mut self.0);
        Poll::Ready((!all.is_empty()).then(|| Ok(Frame::data(all))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.len() as u64)
    }
}

fn empty(status: u16) -> Response<Page> {
    let mut reply = Response::new(Page::default());
    *reply.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::FORBIDDEN);
    reply
}

/// The request passes, and its answer gets these tags. Each field has one line: most servers can
/// copy no more.
pub(super) fn pass(tags: Option<&TagFields>) -> Response<Page> {
    let mut reply = empty(200);
    let fields = reply.headers_mut();
    let mut set = |name, text: &str| {
        // The policy has no other value.
        if let Ok(value) = HeaderValue::from_str(text) {
            fields.insert(name, value);
        }
    };
    if let Some(tags) = tags {
        tags.robots_tag.iter().for_each(|value| set(ROBOTS_TAG, value));
        match tags.x_robots_tag.as_deref() {
            None | Some([]) => {}
            Some([line]) => set(X_ROBOTS_TAG, line),
            // The rules for all crawlers come first; behind a name, they would be for it alone.
            Some(lines) => set(X_ROBOTS_TAG, &lines.join(", ")),
        }
    }
    reply
}

/// The refusal. `status` replaces its own, `mark` fetches it.
pub(super) fn refuse(
    answer: Answer,
    status: Option<u16>,
    mark: Option<HeaderValue>,
) -> Response<Page> {
    let mut reply = empty(status.unwrap_or_else(|| answer.status.as_u16()));
    let fields = reply.headers_mut();
    for (name, value) in answer.fields {
        fields.append(name, value);
    }
    if let Some(mark) = mark {
        fields.insert(REFUSAL_MARK, mark);
    }
    *reply.body_mut() = Page(answer.body);
    reply
}

/// The reply to a question without a decision. `status` replaces the status of a client's request
/// that can't be judged; a server that asks wrongly gets the true one.
pub(super) fn fail(fault: Fault, status: Option<u16>) -> Response<Page> {
    let status = status.filter(|_| matches!(fault, Fault::Refused(_)));
    let mut reply = empty(status.unwrap_or_else(|| fault.status()));
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    reply.headers_mut().insert(header::CONTENT_TYPE, plain);
    *reply.body_mut() = Page(Bytes::from_static(fault.message().as_bytes()));
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tags_of_all_crawlers_come_first_in_one_line() {
        let lines = ["noindex, unavailable_after: 2027-01-01", "googlebot: noarchive"];
        let tags = TagFields {
            robots_tag: Some("*;noindex".to_owned()),
            x_robots_tag: Some(lines.map(str::to_owned).to_vec()),
        };
        let reply = pass(Some(&tags));
        assert_eq!(reply.status(), 200);
        assert_eq!(reply.headers()["robots-tag"], "*;noindex");
        let joined = "noindex, unavailable_after: 2027-01-01, googlebot: noarchive";
        assert_eq!(reply.headers()["x-robots-tag"], joined);
        assert!(pass(None).headers().is_empty());
    }

    #[test]
    fn another_status_stands_for_refusals_of_clients_only() {
        let refused = Fault::Refused(crate::gate::Refusal::UnknownHost);
        for (fault, status, expected) in [
            (refused, None, 421),
            (refused, Some(403), 403),
            (Fault::MissingField, Some(403), 400),
            (Fault::UntrustedPeer, Some(401), 403),
        ] {
            assert_eq!(fail(fault, status).status(), expected, "{fault:?}");
        }
    }
}
