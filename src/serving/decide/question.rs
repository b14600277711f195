//! The question of a server in front: the request of its client, in five fields.
//!
//! `X-Forwarded-Method`, `-Uri` and `-Host` say what the client requests. `X-Forwarded-Proto` and
//! `-For` say how and from where, by the same rules as at the proxy. All other fields are the
//! client's own. `X-Original-*` and the like count as such.

use std::{borrow::Cow, net::IpAddr};

use http::{HeaderMap, HeaderName, HeaderValue, Method};

use crate::serving::gate::{self, Refusal, Request};

const METHOD: HeaderName = HeaderName::from_static("x-forwarded-method");
const URI: HeaderName = HeaderName::from_static("x-forwarded-uri");
const HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The reason to answer no decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Occurs when the peer is none of `server.trusted_proxies`.
    UntrustedPeer,
    /// Occurs when the server in front sends no method, URI or host.
    MissingField,
    /// Occurs when one of these fields has several lines: one of them may be the client's.
    RepeatedField,
    /// Occurs when the gate refuses the client's request before judging.
    Refused(Refusal),
}

impl Fault {
    pub(super) const fn status(self) -> u16 {
        self.terms().0
    }

    /// The stable name in metrics.
    pub(super) const fn code(self) -> &'static str {
        self.terms().1
    }

    /// The text for the operator who tries it.
    pub(super) const fn message(self) -> &'static str {
        self.terms().2
    }

    const fn terms(self) -> (u16, &'static str, &'static str) {
        match self {
            Self::UntrustedPeer => (
                403,
                "decide.untrusted_peer",
                "Only the peers in server.trusted_proxies may ask.\n",
            ),
            Self::MissingField => (
                400,
                "decide.missing_field",
                "X-Forwarded-Method, X-Forwarded-Uri or X-Forwarded-Host is missing.\n",
            ),
            Self::RepeatedField => {
                (400, "decide.repeated_field", "An X-Forwarded field has several lines.\n")
            }
            Self::Refused(refusal) => (refusal.status(), refusal.code(), refusal.message()),
        }
    }
}

/// The request of a client, as the server in front reports it.
#[derive(Debug)]
pub(super) struct Question<'a> {
    method: Method,
    target: Cow<'a, [u8]>,
    authority: &'a [u8],
    fields: &'a HeaderMap,
    peer: IpAddr,
}

impl<'a> Question<'a> {
    pub(super) fn of(fields: &'a HeaderMap, peer: IpAddr) -> Result<Self, Fault> {
        let method = Method::from_bytes(the(fields, &METHOD)?);
        let method = method.map_err(|_| Fault::Refused(Refusal::AmbiguousTarget))?;
        let (sent, authority) = (the(fields, &URI)?, the(fields, &HOST)?);
        if fields.get_all(&PROTO).iter().nth(1).is_some() {
            return Err(Fault::RepeatedField);
        }
        let target = match (&method, sent) {
            (&Method::OPTIONS, b"*") => Cow::Borrowed(sent),
            // Servers disagree whether a path ends here, and this one passes on what it has.
            (_, sent) if sent.contains(&b'#') => {
                return Err(Fault::Refused(Refusal::AmbiguousTarget));
            }
            // The octets that the origin would get from the proxy.
            _ => {
                gate::received_target(sent).map_err(|_| Fault::Refused(Refusal::AmbiguousTarget))?
            }
        };
        // The target is in its one form already, and the body belongs to the server in front.
        gate::admit(&method, &target, &HeaderMap::new()).map_err(Fault::Refused)?;
        Ok(Self { method, target, authority, fields, peer })
    }

    pub(super) fn request(&self) -> Request<'_> {
        Request {
            method: &self.method,
            target: &self.target,
            authority: Some(self.authority),
            is_http_1_0: false,
            fields: self.fields,
            peer: self.peer,
            is_tls: false,
        }
    }
}

/// The value of a field that has exactly one line.
fn the<'a>(fields: &'a HeaderMap, name: &HeaderName) -> Result<&'a [u8], Fault> {
    let mut lines = fields.get_all(name).iter().map(HeaderValue::as_bytes);
    let value = lines.next().filter(|value| !value.is_empty()).ok_or(Fault::MissingField)?;
    if lines.next().is_some() { Err(Fault::RepeatedField) } else { Ok(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: [(&str, &str); 3] = [
        ("x-forwarded-method", "GET"),
        ("x-forwarded-uri", "/a"),
        ("x-forwarded-host", "site.example"),
    ];

    /// Method, target and authority, or the code of the fault.
    fn read(lines: &[(&'static str, &[u8])]) -> String {
        let mut fields = HeaderMap::new();
        for (name, value) in lines {
            fields.append(*name, HeaderValue::from_bytes(value).expect("a value"));
        }
        match Question::of(&fields, [127, 0, 0, 1].into()) {
            Err(fault) => fault.code().to_owned(),
            Ok(question) => {
                let request = question.request();
                let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
                let authority = request.authority.map(text).unwrap_or_default();
                format!("{} {} {authority}", request.method, text(request.target))
            }
        }
    }

    /// The usual fields, with this value in place of one.
    fn with(name: &'static str, value: &[u8]) -> String {
        let usual = USUAL.map(|(name, value)| (name, value.as_bytes()));
        read(&usual.map(|(one, old)| (one, if one == name { value } else { old })))
    }

    #[test]
    fn a_question_has_a_method_a_uri_and_a_host() {
        assert_eq!(with("", b""), "GET /a site.example");
        for (missing, _) in USUAL {
            let left = USUAL.iter().filter(|(name, _)| *name != missing);
            let left: Vec<_> = left.map(|(name, value)| (*name, value.as_bytes())).collect();
            assert_eq!(read(&left), "decide.missing_field", "{missing}");
            assert_eq!(with(missing, b""), "decide.missing_field", "{missing}");
            let mut twice = USUAL.map(|(name, value)| (name, value.as_bytes())).to_vec();
            twice.push((missing, b"GET"));
            assert_eq!(read(&twice), "decide.repeated_field", "{missing}");
        }
        let mut schemes = USUAL.map(|(name, value)| (name, value.as_bytes())).to_vec();
        schemes.extend([("x-forwarded-proto", &b"http"[..]), ("x-forwarded-proto", b"https")]);
        assert_eq!(read(&schemes), "decide.repeated_field");
        let foreign = [
            ("x-original-method", &b"GET"[..]),
            ("x-original-uri", b"/a"),
            ("x-original-host", b"site.example"),
        ];
        assert_eq!(read(&foreign), "decide.missing_field");
    }

    #[test]
    fn a_uri_is_judged_as_the_proxy_would_receive_it() {
        for (sent, target) in [
            (&b"/a%2Fb/../x//y?q"[..], "GET /a%2Fb/../x//y?q site.example"),
            (b"/caf\xc3\xa9\xff", "GET /caf%C3%A9%FF site.example"),
            (b"/a b\"<>`", "GET /a%20b%22%3C%3E%60 site.example"),
            (b"/a\\b|c", "GET /a\\\\b|c site.example"),
            (b"/a#b", "proxy.ambiguous_target"),
            (b"https://other.example/x?y", "GET /x?y site.example"),
            (b"/a\tb", "proxy.ambiguous_target"),
            (b"a", "proxy.ambiguous_target"),
            (b"*", "proxy.ambiguous_target"),
        ] {
            assert_eq!(with("x-forwarded-uri", sent), target, "{}", sent.escape_ascii());
        }
        assert_eq!(with("x-forwarded-method", b"TRACE"), "proxy.trace");
        assert_eq!(with("x-forwarded-method", b"G T"), "proxy.ambiguous_target");
        assert_eq!(with("x-forwarded-method", b"REPORT"), "REPORT /a site.example");
        let usual = [
            ("x-forwarded-method", &b"OPTIONS"[..]),
            ("x-forwarded-uri", b"*"),
            ("x-forwarded-host", b"site.example"),
        ];
        assert_eq!(read(&usual), "OPTIONS * site.example");
    }
}
