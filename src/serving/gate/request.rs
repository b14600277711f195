//! A request as data, from an edge to the gate, and the reasons to refuse one before judging.

use std::{borrow::Cow, net::IpAddr};

use http::{HeaderMap, HeaderName, HeaderValue, Method, header};

use crate::rules::policy;

/// A request in its forwarded form (see [`admit`](super::admit)).
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The method.
    pub method: &'a Method,
    /// The forwarded target: origin-form, or `*`.
    pub target: &'a [u8],
    /// The authority as received: the `Host` field, or `:authority`.
    pub authority: Option<&'a [u8]>,
    /// Whether the request is HTTP/1.0, which needs no authority.
    pub is_http_1_0: bool,
    /// All fields, as received.
    pub fields: &'a HeaderMap,
    /// The address at the other end of the connection.
    pub peer: IpAddr,
    /// Whether the connection is TLS.
    pub is_tls: bool,
}

/// The server that answers an allowed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answering {
    /// Beadle, with robots.txt and with the answers of the origin.
    Beadle,
    Asker,
    /// None any more: the request is one of the past.
    Past,
}

impl<'a> Request<'a> {
    /// The host: lower case, without port and trailing dot; `None` for HTTP/1.0 without one.
    ///
    /// # Errors
    /// [`Refusal::BadHost`] for HTTP/1.1 without a host, or for an invalid one.
    pub fn host(&self) -> Result<Option<Cow<'a, str>>, Refusal> {
        match self.authority {
            Some(bytes) => parse_host(bytes).map(Some).ok_or(Refusal::BadHost),
            None if self.is_http_1_0 => Ok(None),
            None => Err(Refusal::BadHost),
        }
    }

    pub(super) fn port(&self) -> Option<u16> {
        let text = str::from_utf8(self.authority?).ok()?;
        policy::split_port(text).map(|(_, port)| port)
    }

    /// The lines of the `User-Agent` field.
    pub fn user_agents(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.fields.get_all(header::USER_AGENT).into_iter().map(HeaderValue::as_bytes)
    }

    /// The lines of the `User-Agent` field, joined; usually there is one.
    pub(super) fn user_agent(&self) -> Option<Cow<'a, [u8]>> {
        joined(self.fields, &header::USER_AGENT)
    }

    /// Whether the request is about the whole server: `OPTIONS *` (RFC 9112 §3.2.4).
    pub fn is_about_server(&self) -> bool {
        self.target == b"*"
    }
}

/// The lines of a field, joined; usually there is one.
pub(super) fn joined<'f>(fields: &'f HeaderMap, name: &HeaderName) -> Option<Cow<'f, [u8]>> {
    let mut lines = fields.get_all(name).iter().map(HeaderValue::as_bytes);
    let first = lines.next()?;
    let Some(second) = lines.next() else { return Some(first.into()) };
    let all: Vec<&[u8]> = [first, second].into_iter().chain(lines).collect();
    Some(all.join(&b", "[..]).into())
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

/// The reason to refuse a request before judging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Occurs when the target is neither origin-form nor absolute-form nor `OPTIONS *`
    /// (RFC 9112 §3.2).
    AmbiguousTarget,
    /// Occurs when `Content-Length` values are not numbers or differ (RFC 9110 §8.6).
    BadLength,
    /// Occurs when an HTTP/1.1 request has no host (RFC 9112 §3.2) or an invalid one.
    BadHost,
    /// Occurs when a request has more fields than it may. HTTP/1 is refused before it is parsed.
    ManyFields,
    /// Occurs when no site has this host and there is no default site (RFC 9110 §15.5.20).
    UnknownHost,
    /// Occurs when the method would show a client's fields to others (RFC 9110 §9.3.8).
    Trace,
    /// Occurs when the method asks for a tunnel (RFC 9110 §9.3.6).
    Connect,
}

impl Refusal {
    /// The status of the response.
    pub const fn status(self) -> u16 {
        self.terms().0
    }

    /// The stable name in logs and metrics.
    pub const fn code(self) -> &'static str {
        self.terms().1
    }

    /// The text for the client.
    pub const fn message(self) -> &'static str {
        self.terms().2
    }

    const fn terms(self) -> (u16, &'static str, &'static str) {
        match self {
            Self::AmbiguousTarget => {
                (400, "proxy.ambiguous_target", "The request target is not a path.\n")
            }
            Self::BadHost => (400, "proxy.bad_host", "The request names no valid host.\n"),
            Self::BadLength => (400, "proxy.bad_length", "The request's length is in doubt.\n"),
            Self::ManyFields => (431, "proxy.header_fields", "The request has too many fields.\n"),
            Self::UnknownHost => {
                (421, "proxy.unknown_host", "No site with this name is served here.\n")
            }
            Self::Trace => (405, "proxy.trace", "TRACE is not served here.\n"),
            Self::Connect => (405, "proxy.connect", "CONNECT is not served here.\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_one_spelling() {
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
        let fields = HeaderMap::new();
        let mut request = Request {
            method: &Method::GET,
            target: b"/",
            authority: None,
            is_http_1_0: false,
            fields: &fields,
            peer: [192, 0, 2, 1].into(),
            is_tls: false,
        };
        assert_eq!(request.host(), Err(Refusal::BadHost));
        request.is_http_1_0 = true;
        assert_eq!(request.host(), Ok(None));
    }
}
