//! The request as it will be forwarded: refuses what two readers could read differently.
//!
//! What is judged must be what the origin gets. So a target that is not in origin-form is brought
//! into it or refused, and a host is one host or none. Facts about pingora 0.9.1 behind this: an
//! absolute-form target goes to the origin whole while `uri.path()` shows only its path, a target
//! of no known form shows the path `/`, and HTTP/1.1 without `Host` is accepted.

use std::borrow::Cow;

use http::{Method, Version, header};
use pingora::http::RequestHeader;

/// Why a request is refused before anything is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The target is neither origin-form nor absolute-form nor `OPTIONS *` (RFC 9112 §3.2).
    AmbiguousTarget,
    /// `Content-Length` values that are no number or disagree (RFC 9110 §8.6).
    BadLength,
    /// HTTP/1.1 without a host (RFC 9112 §3.2), or with one that is not a host.
    BadHost,
    /// No site has this host and none is the default (RFC 9110 §15.5.20).
    UnknownHost,
    /// A method that would show a client's fields to others (RFC 9110 §9.3.8).
    Trace,
}

impl Refusal {
    pub(super) const fn status(self) -> u16 {
        match self {
            Self::AmbiguousTarget | Self::BadHost | Self::BadLength => 400,
            Self::UnknownHost => 421,
            Self::Trace => 405,
        }
    }

    /// Stable name for logs and metrics.
    pub(super) const fn code(self) -> &'static str {
        match self {
            Self::AmbiguousTarget => "proxy.ambiguous_target",
            Self::BadHost => "proxy.bad_host",
            Self::BadLength => "proxy.bad_length",
            Self::UnknownHost => "proxy.unknown_host",
            Self::Trace => "proxy.trace",
        }
    }

    /// What the client is told.
    pub(super) const fn message(self) -> &'static str {
        match self {
            Self::AmbiguousTarget => "The request target is not a path.\n",
            Self::BadHost => "The request names no valid host.\n",
            Self::BadLength => "The request's length is in doubt.\n",
            Self::UnknownHost => "No site with this name is served here.\n",
            Self::Trace => "TRACE is not served here.\n",
        }
    }
}

/// Brings the request into the one form that is judged and forwarded.
///
/// # Errors
/// The reason for which it must not go on.
pub(super) fn admit(request: &mut RequestHeader) -> Result<(), Refusal> {
    if request.method == Method::TRACE {
        return Err(Refusal::Trace);
    }
    one_length(request)?;
    let target = request.raw_path();
    if target.first() == Some(&b'/') || (request.method == Method::OPTIONS && target == b"*") {
        return Ok(());
    }
    let origin_form = origin_form(target).ok_or(Refusal::AmbiguousTarget)?.into_owned();
    request.set_raw_path(&origin_form).map_err(|_| Refusal::AmbiguousTarget)?;
    if request.raw_path() == origin_form { Ok(()) } else { Err(Refusal::AmbiguousTarget) }
}

/// One `Content-Length` line of plain digits. `5, 5` and `005` have passed the check that all
/// lengths agree, but an origin may read them in another way than we do (RFC 9110 §8.6).
fn one_length(request: &mut RequestHeader) -> Result<(), Refusal> {
    let mut lines = request.headers.get_all(header::CONTENT_LENGTH).iter();
    let Some(first) = lines.next() else { return Ok(()) };
    let is_plain = |value: &[u8]| {
        matches!(value, [b'0'] | [b'1'..=b'9', ..])
            && value.len() < 20
            && value.iter().all(u8::is_ascii_digit)
    };
    if lines.next().is_none() && is_plain(first.as_bytes()) {
        return Ok(());
    }
    let mut lengths = request
        .headers
        .get_all(header::CONTENT_LENGTH)
        .iter()
        .flat_map(|line| line.as_bytes().split(|&b| b == b','))
        .map(|length| {
            let digits = length.trim_ascii();
            let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
            is_number.then(|| std::str::from_utf8(digits).ok()?.parse::<u64>().ok()).flatten()
        });
    let length = lengths.next().flatten().ok_or(Refusal::BadLength)?;
    if lengths.any(|other| other != Some(length)) {
        return Err(Refusal::BadLength);
    }
    request.insert_header("Content-Length", length).map_err(|_| Refusal::BadLength)
}

/// The origin-form of an absolute-form target of ours (`http://host/path?query`). That its
/// authority equals the `Host` field has been checked when the request was read.
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

/// The host a request is for: lower case, without port and trailing dot; `None` where HTTP/1.0
/// gives none.
///
/// # Errors
/// [`Refusal::BadHost`] where there is none in HTTP/1.1, or something that is not a host.
pub(super) fn host(request: &RequestHeader) -> Result<Option<Cow<'_, str>>, Refusal> {
    let value = request.headers.get(header::HOST).map(|value| value.as_bytes());
    let authority = match value {
        Some(bytes) => Some(bytes),
        None => request.uri.authority().map(|authority| authority.as_str().as_bytes()),
    };
    match authority {
        Some(bytes) => parse_host(bytes).map(Some).ok_or(Refusal::BadHost),
        None if request.version == Version::HTTP_10 => Ok(None),
        None => Err(Refusal::BadHost),
    }
}

/// `host`, `host:port` or `[address]:port`.
fn parse_host(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            address.parse::<std::net::Ipv6Addr>().ok()?;
            (address, port)
        }
        None => {
            let (host, port) = text.split_at(text.find(':').unwrap_or(text.len()));
            let host = host.strip_suffix('.').unwrap_or(host);
            let is_name = !host.is_empty()
                && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b));
            is_name.then_some((host, port))?
        }
    };
    let port_is_sound = port.is_empty()
        || port.strip_prefix(':').is_some_and(|digits| {
            digits.bytes().all(|b| b.is_ascii_digit())
                && (digits.is_empty() || digits.parse::<u16>().is_ok())
        });
    port_is_sound.then(|| {
        if host.bytes().any(|b| b.is_ascii_uppercase()) {
            Cow::Owned(host.to_ascii_lowercase())
        } else {
            Cow::Borrowed(host)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str, target: &[u8]) -> RequestHeader {
        RequestHeader::build(method, target, None).expect("a target pingora accepts")
    }

    #[test]
    fn rfc9112_3_2_what_is_judged_is_what_is_forwarded() {
        for (method, target, forwarded) in [
            ("GET", &b"/private/x?q"[..], Some(&b"/private/x?q"[..])),
            ("GET", b"//private", Some(b"//private")),
            ("GET", b"http://site/private/x", Some(b"/private/x")),
            ("GET", b"HTTP://SITE/private/x", Some(b"/private/x")),
            ("GET", b"https://site:8443/a?b=c", Some(b"/a?b=c")),
            ("GET", b"http://site?b=c", Some(b"/?b=c")),
            ("GET", b"http://site", Some(b"/")),
            ("OPTIONS", b"*", Some(b"*")),
            ("GET", b"*", None),
            ("GET", b"foo:bar", None),
            ("GET", b"foo:bar://h/private/x", None),
            ("GET", b"http:///private/x", None),
            ("GET", b"private/x", None),
            ("GET", b"ftp://site/private/x", None),
        ] {
            let mut header = request(method, target);
            let outcome = admit(&mut header).ok().map(|()| header.raw_path().to_vec());
            assert_eq!(outcome.as_deref(), forwarded, "{}", String::from_utf8_lossy(target));
        }
    }

    #[test]
    fn rfc9110_8_6_the_origin_gets_one_length_in_one_spelling() {
        for (lines, forwarded) in [
            (&["5"][..], Some("5")),
            (&["0"], Some("0")),
            (&["5, 5"], Some("5")),
            (&["5", "5"], Some("5")),
            (&["005"], Some("5")),
            (&["5", "05"], Some("5")),
            (&["5, 6"], None),
            (&["+5"], None),
            (&["5,"], None),
            (&["99999999999999999999"], None),
        ] {
            let mut header = request("POST", b"/");
            for line in lines {
                header.append_header("content-length", *line).expect("a field value");
            }
            let outcome = admit(&mut header).ok().map(|()| {
                let values = header.headers.get_all("content-length").iter();
                values.map(|value| value.to_str().unwrap()).collect::<Vec<_>>().join(" and ")
            });
            assert_eq!(outcome.as_deref(), forwarded, "{lines:?}");
        }
    }

    #[test]
    fn one_host_in_one_spelling() {
        for (field, host) in [
            ("Example.COM", Some("example.com")),
            ("example.com.", Some("example.com")),
            ("example.com:8080", Some("example.com")),
            ("example.com:", Some("example.com")),
            ("example.com:0080", Some("example.com")),
            ("[::1]:80", Some("::1")),
            ("192.0.2.7", Some("192.0.2.7")),
            ("example.com:65536", None),
            ("example.com:80a", None),
            ("example.com:+80", None),
            ("exa mple.com", None),
            ("example.com/x", None),
            ("user@example.com", None),
            ("[::1%25lo]", None),
            ("[::1", None),
            ("", None),
            (".", None),
            ("caf\u{e9}.example", None),
        ] {
            assert_eq!(parse_host(field.as_bytes()).as_deref(), host, "{field}");
        }
    }

    #[test]
    fn rfc9112_3_2_http_1_1_needs_a_host() {
        let mut header = request("GET", b"/");
        assert_eq!(host(&header), Err(Refusal::BadHost));
        header.set_version(Version::HTTP_10);
        assert_eq!(host(&header), Ok(None));
    }
}
