//! The reply to a question: 200 with the tags and the preferences of the site, or the refusal.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use http_body_util::Full;

use crate::{
    rules::enforce::TagFields,
    serving::gate::{Answer, REFUSAL_MARK, Replaced},
};

use super::question::Fault;

/// The octets of a reply's fields. nginx reads a head of one page of memory, 4 KiB, by default; a longer
/// one is no reply for it.
const HEAD_SIZE: usize = 3_500;

const ROBOTS_TAG: HeaderName = HeaderName::from_static("robots-tag");
const X_ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

/// The body of a reply, in one piece.
pub(super) type Page = Full<Bytes>;

fn empty(status: u16) -> Response<Page> {
    let mut reply = Response::new(Page::default());
    *reply.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::FORBIDDEN);
    reply
}

/// The tags of a reply, each field in one line: most servers can copy no more. Returns whether the head
/// has room for them. A refusal without tags is still a refusal; one that a server can't read is none.
fn set_tags(
    reply: &mut Response<Page>,
    tags: impl IntoIterator<Item = (HeaderName, String)>,
) -> bool {
    let fields = reply.headers_mut();
    let mut size: usize = fields.iter().map(|(name, value)| length(name, value.len())).sum();
    let mut has_all = true;
    for (name, text) in tags {
        let longer = size + length(&name, text.len());
        // The policy has no other value.
        let Ok(value) = HeaderValue::from_str(&text) else { continue };
        if text.is_empty() {
            continue;
        }
        if longer > HEAD_SIZE {
            has_all = false;
            continue;
        }
        size = longer;
        fields.insert(name, value);
    }
    has_all
}

/// The octets of a field in HTTP/1.
fn length(name: &HeaderName, value: usize) -> usize {
    name.as_str().len() + value + b": \r\n".len()
}

/// The request passes, and its answer gets these tags, and the fields that say what it may be used for.
/// Returns whether it has all of them.
pub(super) fn pass(tags: Option<&TagFields>, usage: Replaced) -> (Response<Page>, bool) {
    let mut reply = empty(200);
    let robots_tag = tags.and_then(|tags| tags.robots_tag.clone()).unwrap_or_default();
    // The rules for all crawlers come first; behind a name, they would be for it alone.
    let legacy = tags.and_then(|tags| tags.x_robots_tag.as_deref());
    let legacy = legacy.unwrap_or_default().join(", ");
    // The fields of use are short, and tags may be long.
    let usage = usage.into_iter().map(|(name, lines)| {
        let lines: Vec<&str> = lines.iter().filter_map(|line| line.to_str().ok()).collect();
        (name, lines.join(", "))
    });
    let tags = [(ROBOTS_TAG, robots_tag), (X_ROBOTS_TAG, legacy)];
    let has_all = set_tags(&mut reply, usage.chain(tags));
    (reply, has_all)
}

/// The refusal. `status` replaces its own, `mark` fetches it. Returns whether it has all tags.
pub(super) fn refuse(
    answer: Answer,
    status: Option<u16>,
    mark: Option<HeaderValue>,
) -> (Response<Page>, bool) {
    let mut reply = empty(status.unwrap_or_else(|| answer.status.as_u16()));
    let mut tags = [(ROBOTS_TAG, String::new()), (X_ROBOTS_TAG, String::new())];
    let fields = reply.headers_mut();
    for (name, value) in answer.fields {
        let tag = tags.iter_mut().find(|(tag, _)| *tag == name);
        match (tag, value.to_str()) {
            (Some((_, joined)), Ok(line)) => {
                joined.push_str(if joined.is_empty() { "" } else { ", " });
                joined.push_str(line);
            }
            _ => drop(fields.append(name, value)),
        }
    }
    if let Some(mark) = mark {
        fields.insert(REFUSAL_MARK, mark);
    }
    *reply.body_mut() = Page::new(answer.body);
    let has_all = set_tags(&mut reply, tags);
    (reply, has_all)
}

/// The reply to a question without a decision. `status` replaces the status of a client's request
/// that can't be judged; a server that asks wrongly gets the true one.
pub(super) fn fail(fault: Fault, status: Option<u16>) -> Response<Page> {
    let status = status.filter(|_| matches!(fault, Fault::Refused(_)));
    let mut reply = empty(status.unwrap_or_else(|| fault.status()));
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    reply.headers_mut().insert(header::CONTENT_TYPE, plain);
    *reply.body_mut() = Page::from(fault.message());
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
        let (reply, has_all) = pass(Some(&tags), Vec::new());
        assert_eq!((reply.status().as_u16(), has_all), (200, true));
        assert_eq!(reply.headers()["robots-tag"], "*;noindex");
        let joined = "noindex, unavailable_after: 2027-01-01, googlebot: noarchive";
        assert_eq!(reply.headers()["x-robots-tag"], joined);
        assert!(pass(None, Vec::new()).0.headers().is_empty());
    }

    #[test]
    fn a_head_stays_readable_for_every_server() {
        let lines: Vec<String> = (0..300).map(|number| format!("Bot{number}: noindex")).collect();
        let short = TagFields {
            robots_tag: Some("*;noindex".to_owned()),
            x_robots_tag: Some(lines[..40].to_vec()),
        };
        let long = TagFields { x_robots_tag: Some(lines.clone()), ..short.clone() };
        for (tags, has_all) in [(short, true), (long, false)] {
            let (reply, found) = pass(Some(&tags), Vec::new());
            assert_eq!(found, has_all);
            assert_eq!(reply.headers()["robots-tag"], "*;noindex");
            assert_eq!(reply.headers().contains_key("x-robots-tag"), has_all);
        }
        let mut answer = Answer::busy();
        for line in &lines {
            answer.fields.push((X_ROBOTS_TAG, HeaderValue::from_str(line).unwrap()));
        }
        let (reply, has_all) = refuse(answer, None, None);
        let size: usize =
            reply.headers().iter().map(|(name, value)| length(name, value.len())).sum();
        assert!(!has_all && size < HEAD_SIZE && reply.headers().len() < 60, "{size}");
    }

    #[test]
    fn another_status_stands_for_refusals_of_clients_only() {
        let refused = Fault::Refused(crate::serving::gate::Refusal::UnknownHost);
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
