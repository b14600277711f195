//! The target of a request: from the octets that a client sends to those that the gate judges and
//! the origin gets.
//!
//! The edge encodes some octets, pingora's parser cuts a fragment and limits the length, and the gate
//! admits one form.

use std::borrow::Cow;

use http::{
    Version,
    header::{COOKIE, HOST},
};
use pingora::http::RequestHeader;

use crate::serving::gate::{self, Refusal};

/// Brings a request into the form that the gate judges: the one of HTTP/1.1. `most_fields` is for
/// HTTP/2; the reader of HTTP/1 has counted.
pub(crate) fn admit(header: &mut RequestHeader, most_fields: usize) -> Result<(), Refusal> {
    if header.version == Version::HTTP_2 {
        from_http_2(header)?;
        if header.headers.len() > most_fields {
            return Err(Refusal::ManyFields);
        }
    }
    let admission = gate::admit(&header.method, header.raw_path(), &header.headers)?;
    if let Some(length) = admission.content_length {
        header.insert_header("Content-Length", length).map_err(|_| Refusal::BadLength)?;
    }
    let Some(target) = admission.target else { return Ok(()) };
    header.set_raw_path(&target).map_err(|_| Refusal::AmbiguousTarget)?;
    if header.raw_path() == target { Ok(()) } else { Err(Refusal::AmbiguousTarget) }
}

/// Gives a request of HTTP/2 the form of HTTP/1.1: `Host`, one `Cookie` (RFC 9113 §8.2.3, §8.3.1), and
/// a target in ASCII.
fn from_http_2(header: &mut RequestHeader) -> Result<(), Refusal> {
    set_host(header)?;
    let mut crumbs = header.headers.get_all(COOKIE).iter();
    if let (Some(first), Some(second)) = (crumbs.next(), crumbs.next()) {
        let mut all = first.as_bytes().to_vec();
        for crumb in std::iter::once(second).chain(crumbs) {
            all.extend_from_slice(b"; ");
            all.extend_from_slice(crumb.as_bytes());
        }
        header.insert_header(COOKIE, all).map_err(|_| Refusal::BadHost)?;
    }
    let target = gate::encoded(header.raw_path()).map_err(|_| Refusal::AmbiguousTarget)?;
    if let Cow::Owned(target) = target {
        header.set_raw_path(&target).map_err(|_| Refusal::AmbiguousTarget)?;
    }
    Ok(())
}

/// Gives a request of HTTP/2 its one `Host`: that of `:authority`, or one that says the same
/// (RFC 9113 §8.3.1).
fn set_host(header: &mut RequestHeader) -> Result<(), Refusal> {
    let authority = header.uri.authority().map(|authority| authority.as_str().to_owned());
    let mut hosts = header.headers.get_all(HOST).iter();
    let (host, second) = (hosts.next(), hosts.next());
    let differs = host.zip(authority.as_deref()).is_some_and(|(host, other)| host != other);
    let named =
        host.map(|host| host.as_bytes()).or_else(|| authority.as_deref().map(str::as_bytes));
    // User information names nobody.
    if second.is_some() || differs || named.is_none_or(|named| named.contains(&b'@')) {
        return Err(Refusal::BadHost);
    }
    match authority.filter(|_| host.is_none()) {
        Some(host) => header.insert_header(HOST, host).map_err(|_| Refusal::BadHost),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;
    use crate::serving::gate::{BadTarget, received_target};

    /// The target that the gate gets, by pingora's parser.
    fn parsed(sent: &[u8]) -> Option<Vec<u8>> {
        let sent = gate::encoded(sent).ok()?;
        let mut header = RequestHeader::build(Method::GET, &sent, None).ok()?;
        admit(&mut header, 100).ok()?;
        Some(header.raw_path().to_vec())
    }

    #[test]
    fn a_target_is_received_as_the_gate_judges_it() {
        let long = format!("/{}", "a".repeat(65_533));
        let too_long = format!("{long}a");
        for (sent, received) in [
            ("/", Ok("/")),
            ("/a?b#c", Ok("/a?b")),
            ("/caf\u{e9} \"x", Ok("/caf%C3%A9%20%22x")),
            ("//x\\y|z", Ok("//x\\y|z")),
            ("https://site.example/a?b", Ok("/a?b")),
            ("HTTP://site.example?b", Ok("/?b")),
            ("http://site.example", Ok("/")),
            (&long, Ok(&*long)),
            (&too_long, Err(BadTarget::TooLong)),
            ("/a\tb", Err(BadTarget::ControlCharacter(b'\t'))),
            ("/a\r\nb", Err(BadTarget::ControlCharacter(b'\r'))),
            ("/\u{7f}", Err(BadTarget::ControlCharacter(0x7f))),
            ("#a", Ok("/")),
            ("*", Err(BadTarget::NoPath)),
            ("?a", Err(BadTarget::NoPath)),
            ("foo:bar", Err(BadTarget::NoPath)),
            ("private/x", Err(BadTarget::NoPath)),
            ("ftp://site.example/x", Err(BadTarget::NoPath)),
            ("http:///x", Err(BadTarget::NoPath)),
        ] {
            let found = received_target(sent.as_bytes());
            assert_eq!(found.as_deref().map_err(|e| *e), received.map(str::as_bytes), "{sent:.80}");
            assert_eq!(
                parsed(sent.as_bytes()),
                found.map(Cow::into_owned).ok(),
                "pingora: {sent:.80}"
            );
        }
        assert_eq!(received_target(b""), Err(BadTarget::NoPath), "no request line has none");
    }
}
