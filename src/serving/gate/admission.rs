//! The one form of a request for judging and forwarding.
//!
//! The origin must get exactly the request that Beadle judges. So an edge brings a message into
//! this form before it builds a [`Request`](super::Request): a target in origin-form and one
//! `Content-Length`. Two servers could read any other form differently.

use std::borrow::Cow;

use derive_more::Display;
use http::{HeaderMap, Method, header};

use crate::{base::escape::push_percent, formats::framing::TargetOctet};

use super::request::Refusal;

/// The changes that an edge must make to a message; most often none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Admission {
    /// Another target: the origin-form of the one received.
    pub target: Option<Vec<u8>>,
    /// Another `Content-Length`, in place of all the lines received.
    pub content_length: Option<u64>,
}

/// The changes to a message that may go on.
///
/// # Errors
/// The reason to refuse the message.
pub fn admit(method: &Method, target: &[u8], fields: &HeaderMap) -> Result<Admission, Refusal> {
    if method == Method::TRACE {
        return Err(Refusal::Trace);
    }
    if method == Method::CONNECT {
        return Err(Refusal::Connect);
    }
    let content_length = one_length(fields)?;
    let is_server = method == Method::OPTIONS && target == b"*";
    let target = match target.first() {
        Some(b'/') => None,
        _ if is_server => None,
        _ => Some(origin_form(target).ok_or(Refusal::AmbiguousTarget)?.into_owned()),
    };
    Ok(Admission { target, content_length })
}

/// One `Content-Length` of plain digits, if the message has another form. `5, 5` and `005` are
/// unambiguous, but the next server may read them differently (RFC 9110 §8.6).
///
/// # Errors
/// [`Refusal::BadLength`] if the values are not numbers or differ.
pub fn one_length(fields: &HeaderMap) -> Result<Option<u64>, Refusal> {
    let mut lines = fields.get_all(header::CONTENT_LENGTH).iter();
    let Some(first) = lines.next() else { return Ok(None) };
    let is_plain = |value: &[u8]| {
        matches!(value, [b'0'] | [b'1'..=b'9', ..])
            && value.len() < 20
            && value.iter().all(u8::is_ascii_digit)
    };
    if lines.next().is_none() && is_plain(first.as_bytes()) {
        return Ok(None);
    }
    let lines = fields.get_all(header::CONTENT_LENGTH).iter();
    let mut lengths = lines.flat_map(|line| line.as_bytes().split(|&b| b == b',')).map(|length| {
        let digits = length.trim_ascii();
        let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
        is_number.then(|| std::str::from_utf8(digits).ok()?.parse::<u64>().ok()).flatten()
    });
    let length = lengths.next().flatten().ok_or(Refusal::BadLength)?;
    if lengths.any(|other| other != Some(length)) {
        return Err(Refusal::BadLength);
    }
    Ok(Some(length))
}

/// The origin-form of a target in absolute-form (`http://host/path?query`). The HTTP parser has
/// already compared its authority with the `Host` field.
fn origin_form(target: &[u8]) -> Option<Cow<'_, [u8]>> {
    let scheme_end = target.windows(3).position(|three| three == b"://")?;
    let (scheme, rest) = (&target[..scheme_end], &target[scheme_end + 3..]);
    if !scheme.eq_ignore_ascii_case(b"http") && !scheme.eq_ignore_ascii_case(b"https") {
        return None;
    }
    let authority_end = rest.iter().position(|b| b"/?#".contains(b)).unwrap_or(rest.len());
    let path = &rest[authority_end..];
    match (authority_end, path.first()) {
        (0, _) => None,
        (_, Some(b'/')) => Some(Cow::Borrowed(path)),
        (_, Some(b'?')) => Some(Cow::Owned([b"/", path].concat())),
        (_, Some(_)) => None,
        (_, None) => Some(Cow::Borrowed(b"/")),
    }
}

/// The longest target, in octets: what the edge's parser takes.
const MOST_OCTETS: usize = 65_534;

/// The reason why a request with this target gets 400, with the repair for an operator who has written it.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq)]
pub enum BadTarget {
    /// Occurs when a target contains this control character.
    #[display("it has a control character (write it as %{_0:02X})")]
    ControlCharacter(u8),
    /// Occurs when a target is longer than the edge's parser takes.
    #[display("it is too long (64 KiB is the limit)")]
    TooLong,
    /// Occurs when a target is neither a path nor an `http` or `https` URL.
    #[display("it is neither a path nor a URL (begin with '/' or 'https://')")]
    NoPath,
}

/// The target that the gate gets of a GET with the target `sent`; most often `sent` itself.
///
/// # Errors
/// The reason why it gets none.
pub fn received_target(sent: &[u8]) -> Result<Cow<'_, [u8]>, BadTarget> {
    let is_plain = |&octet: &u8| octet != b'#' && TargetOctet::of(octet) == TargetOctet::Unchanged;
    if sent.first() == Some(&b'/') && sent.len() <= MOST_OCTETS && sent.iter().all(is_plain) {
        return Ok(Cow::Borrowed(sent));
    }
    if sent.is_empty() {
        return Err(BadTarget::NoPath);
    }
    let mut received = encoded(sent).map_err(BadTarget::ControlCharacter)?.into_owned();
    // A fragment is no part of a target (RFC 9112 §3.2).
    let end = received.iter().position(|&octet| octet == b'#').unwrap_or(received.len());
    received.truncate(end);
    if received.is_empty() {
        received.push(b'/');
    }
    let admission = admit(&Method::GET, &received, &HeaderMap::new());
    let received = admission.map_err(|_| BadTarget::NoPath)?.target.unwrap_or(received);
    if received.len() > MOST_OCTETS {
        return Err(BadTarget::TooLong);
    }
    Ok(Cow::Owned(received))
}

/// The target `sent`, as it passes; most often `sent` itself.
///
/// # Errors
/// An octet that no request line has.
pub fn encoded(sent: &[u8]) -> Result<Cow<'_, [u8]>, u8> {
    if sent.iter().all(|&octet| TargetOctet::of(octet) == TargetOctet::Unchanged) {
        return Ok(Cow::Borrowed(sent));
    }
    let mut out = Vec::with_capacity(3 * sent.len());
    for &octet in sent {
        match TargetOctet::of(octet) {
            TargetOctet::Unchanged => out.push(octet),
            TargetOctet::Encoded => push_percent(&mut out, octet),
            TargetOctet::Refused => return Err(octet),
        }
    }
    Ok(Cow::Owned(out))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn rfc9112_3_2_the_judged_target_is_the_forwarded_one() {
        for (method, target, forwarded) in [
            (Method::GET, &b"/private/x?q"[..], Some(&b"/private/x?q"[..])),
            (Method::GET, b"//private", Some(b"//private")),
            (Method::GET, b"http://site/private/x", Some(b"/private/x")),
            (Method::GET, b"HTTP://SITE/private/x", Some(b"/private/x")),
            (Method::GET, b"https://site:8443/a?b=c", Some(b"/a?b=c")),
            (Method::GET, b"http://site?b=c", Some(b"/?b=c")),
            (Method::GET, b"http://site", Some(b"/")),
            (Method::OPTIONS, b"*", Some(b"*")),
            (Method::GET, b"*", None),
            (Method::GET, b"foo:bar", None),
            (Method::GET, b"foo:bar://h/private/x", None),
            (Method::GET, b"http:///private/x", None),
            (Method::GET, b"private/x", None),
            (Method::GET, b"ftp://site/private/x", None),
        ] {
            let admission = admit(&method, target, &HeaderMap::new()).ok();
            let outcome = admission.map(|one| one.target.unwrap_or_else(|| target.to_vec()));
            assert_eq!(outcome.as_deref(), forwarded, "{}", String::from_utf8_lossy(target));
        }
    }

    #[test]
    fn rfc9110_8_6_the_origin_gets_one_length_in_one_spelling() {
        for (lines, forwarded) in [
            (&["5"][..], Ok(None)),
            (&["0"], Ok(None)),
            (&["5, 5"], Ok(Some(5))),
            (&["5", "5"], Ok(Some(5))),
            (&["005"], Ok(Some(5))),
            (&["5", "05"], Ok(Some(5))),
            (&["5, 6"], Err(Refusal::BadLength)),
            (&["+5"], Err(Refusal::BadLength)),
            (&["5,"], Err(Refusal::BadLength)),
            (&["99999999999999999999"], Err(Refusal::BadLength)),
        ] {
            let mut fields = HeaderMap::new();
            for line in lines {
                fields.append(header::CONTENT_LENGTH, HeaderValue::from_static(line));
            }
            let outcome = admit(&Method::POST, b"/", &fields).map(|one| one.content_length);
            assert_eq!(outcome, forwarded, "{lines:?}");
        }
    }

    #[test]
    fn rfc9110_9_3_8_trace_is_refused() {
        assert_eq!(admit(&Method::TRACE, b"/", &HeaderMap::new()), Err(Refusal::Trace));
    }
}
