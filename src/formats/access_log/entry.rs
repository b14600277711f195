//! One request in a log.

use std::{borrow::Cow, net::IpAddr};

use memchr::{memchr, memmem, memrchr};

use super::unescape::Text;
use crate::base::text::words;

/// One request in a log. Texts are unescaped; an absent one is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry<'l> {
    /// The time in microseconds since the Unix epoch.
    pub(crate) time: i64,
    /// The address of the client or of the last proxy.
    pub(crate) client: Option<IpAddr>,
    pub(crate) method: Text<'l>,
    /// The request target as received.
    pub(crate) target: Text<'l>,
    /// The requested host, perhaps with a port.
    pub(crate) host: Option<Text<'l>>,
    /// The User-Agent; `None` for an absent or empty field.
    pub(crate) user_agent: Option<Text<'l>>,
    pub(crate) forwarded_for: Option<Text<'l>>,
    /// The status of the response; 0 if it is unknown.
    pub(crate) status: u16,
}

words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) enum Fault {
        /// Occurs when a line doesn't have the form of the format.
        Form = "form",
        /// Occurs when a line is no JSON object.
        Json = "json",
        /// Occurs when a line has no readable time.
        Time = "time",
        /// Occurs when a line has no readable address of a client.
        Address = "address",
        /// Occurs when a request was no HTTP request: a port scan, TLS on a plain port.
        Request = "request",
        /// Occurs when a line has no request, for example the log of a start.
        NoRequest = "no_request",
        /// Occurs when a line is longer than the limit.
        TooLong = "too_long",
        /// Occurs when the `#Fields` of the file lack one that is needed.
        Fields = "fields",
    }
}

impl Fault {
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Form => "another form than the log format",
            Self::Json => "no JSON object",
            Self::Time => "no readable time",
            Self::Address => "no readable client address",
            Self::Request => "no HTTP request line",
            Self::NoRequest => "not about a request",
            Self::TooLong => "longer than 1 MiB",
            Self::Fields => "no #Fields line, or one without time, client or path",
        }
    }
}

/// The parts of an entry as they are found.
#[derive(Debug, Default)]
pub(super) struct Parts<'l> {
    pub(super) time: Option<i64>,
    pub(super) client: Option<IpAddr>,
    pub(super) request: Option<Text<'l>>,
    pub(super) method: Option<Text<'l>>,
    pub(super) target: Option<Text<'l>>,
    pub(super) query: Option<Text<'l>>,
    pub(super) host: Option<Text<'l>>,
    pub(super) server_name: Option<Text<'l>>,
    pub(super) user_agent: Option<Text<'l>>,
    pub(super) forwarded_for: Option<Text<'l>>,
    pub(super) status: u16,
}

impl<'l> Parts<'l> {
    /// The entry, if nothing is missing that a judgement needs.
    pub(super) fn entry(self) -> Result<Entry<'l>, Fault> {
        let time = self.time.ok_or(Fault::Time)?;
        let (mut method, mut target) = (self.method, self.target);
        if let Some(line) = self.request {
            let (its_method, its_target) = split_request(line).ok_or(Fault::Request)?;
            method.get_or_insert(its_method);
            target.get_or_insert(its_target);
        }
        let target = target.filter(|target| !target.is_empty()).ok_or(Fault::NoRequest)?;
        let target = match self.query.as_deref().filter(|query| !matches!(*query, b"" | b"-")) {
            Some(query) => {
                let query = query.strip_prefix(b"?").unwrap_or(query);
                Cow::Owned([&target, &b"?"[..], query].concat())
            }
            None => target,
        };
        // Of a target in absolute-form (RFC 9112 §3.2.2).
        let of_target = || authority(&target).map(|host| Cow::Owned(host.to_vec()));
        let named = |host: &Cow<'_, [u8]>| !matches!(host.as_ref(), b"" | b"-");
        Ok(Entry {
            time,
            client: self.client,
            method: method.unwrap_or(Cow::Borrowed(b"GET")),
            host: self
                .host
                .filter(named)
                .or_else(|| self.server_name.filter(named))
                .or_else(of_target),
            target,
            user_agent: self.user_agent.filter(named),
            forwarded_for: self.forwarded_for.filter(named),
            status: self.status,
        })
    }
}

/// Method and target of a request line. `None` for what is none: `-`, octets of TLS, a word.
fn split_request(line: Text<'_>) -> Option<(Text<'_>, Text<'_>)> {
    match line {
        Cow::Borrowed(line) => {
            let (method, target) = method_and_target(line)?;
            Some((Cow::Borrowed(method), Cow::Borrowed(target)))
        }
        Cow::Owned(line) => {
            let (method, target) = method_and_target(&line)?;
            Some((Cow::Owned(method.to_vec()), Cow::Owned(target.to_vec())))
        }
    }
}

fn method_and_target(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let first = memchr(b' ', line)?;
    let (method, rest) = (line.get(..first)?, line.get(first + 1..)?);
    // A lenient server logs a target with spaces; the version comes last. HTTP/0.9 has none.
    let target = match memrchr(b' ', rest) {
        Some(last) if rest.get(last + 1..)?.starts_with(b"HTTP/") => rest.get(..last)?,
        _ => rest,
    };
    let is_method = !method.is_empty()
        && method.len() <= 32
        && method.iter().all(|&b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b));
    (is_method && !target.is_empty()).then_some((method, target))
}

/// The authority of a target in absolute-form; `None` for any other form.
fn authority(target: &[u8]) -> Option<&[u8]> {
    if target.first() == Some(&b'/') {
        return None;
    }
    let at = memmem::find(target, b"://")?;
    let rest = target.get(at + 3..)?;
    let end = rest.iter().position(|b| b"/?#".contains(b)).unwrap_or(rest.len());
    rest.get(..end)
}

/// An address, with or without a port: `192.0.2.1`, `192.0.2.1:80`, `[::1]:80`, `::1`.
pub(super) fn address(bytes: &[u8]) -> Option<IpAddr> {
    if let Some(address) = plain_v4(bytes) {
        return Some(address);
    }
    let text = std::str::from_utf8(bytes).ok()?;
    if let Some(rest) = text.strip_prefix('[') {
        return rest.split_once(']')?.0.parse().ok();
    }
    text.parse().ok().or_else(|| {
        let (host, port) = text.rsplit_once(':')?;
        let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        is_port.then(|| host.parse().ok()).flatten()
    })
}

/// A dotted quad; the standard library's parser takes most of the time of a line.
fn plain_v4(bytes: &[u8]) -> Option<IpAddr> {
    let mut octets = [0_u8; 4];
    let mut parts = bytes.split(|&byte| byte == b'.');
    for octet in &mut octets {
        let part = parts.next()?;
        if part.is_empty() || part.len() > 3 || (part.len() > 1 && part.first() == Some(&b'0')) {
            return None;
        }
        let mut number = 0_u16;
        for digit in part {
            let digit = digit.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            number = number * 10 + u16::from(digit);
        }
        *octet = u8::try_from(number).ok()?;
    }
    parts.next().is_none().then(|| IpAddr::from(octets))
}

/// The status of a response; 0 if it isn't a number.
pub(super) fn status(bytes: &[u8]) -> u16 {
    std::str::from_utf8(bytes).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc9112_3_a_request_line_has_method_and_target() {
        for (line, expected) in [
            ("GET / HTTP/1.1", Some(("GET", "/"))),
            ("GET /a b HTTP/1.0", Some(("GET", "/a b"))),
            ("GET /old", Some(("GET", "/old"))),
            ("GET http://a.example/x HTTP/1.1", Some(("GET", "http://a.example/x"))),
            ("PROPFIND /dav HTTP/2.0", Some(("PROPFIND", "/dav"))),
            ("-", None),
            ("", None),
            ("\u{16}\u{3}\u{1} \u{2} x", None),
            ("GET ", None),
            (" / HTTP/1.1", None),
        ] {
            let found = split_request(Cow::Borrowed(line.as_bytes()));
            let expected = expected.map(|(method, target)| {
                (Cow::Borrowed(method.as_bytes()), Cow::Borrowed(target.as_bytes()))
            });
            assert_eq!(found, expected, "{line:?}");
        }
    }
}
