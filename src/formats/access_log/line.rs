//! A line of Beadle's own access log, and its two forms.
//!
//! Texts are whole, so that a log can be judged again; the edge bounds them. Foreign octets are
//! escaped, and a text ends where it would have too many escapes. Only the target and the Referer could
//! contain a secret, in their queries. The caller redacts these.

use std::{borrow::Cow, io::Write, net::SocketAddr, time::Duration};

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use crate::base::escape;

pub(super) const SCHEMA: u32 = 1;
/// The value of `kind`. Records of violations have no such field, so both may share an output.
pub(super) const KIND: &str = "access";
/// The action of a request that was not judged.
pub(crate) const REFUSE: &str = "refuse";
/// The most octets of a text that are escaped: each takes up to five.
const MOST_ESCAPES: usize = 2_048;

/// One request, as Beadle logs it. `None` is unknown.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Line<'a> {
    /// The time at which the request was judged or refused.
    #[serde(serialize_with = "microseconds")]
    pub(crate) time: Timestamp,
    pub(crate) site: Option<&'a str>,
    /// The address of the client, its network or its hash.
    pub(crate) client_ip: &'a str,
    pub(crate) method: Option<&'a str>,
    #[serde(serialize_with = "octets")]
    pub(crate) host: Option<&'a [u8]>,
    #[serde(serialize_with = "octets")]
    pub(crate) target: Option<&'a [u8]>,
    pub(crate) protocol: Option<&'static str>,
    /// Whether the client used TLS on its connection to Beadle.
    pub(crate) tls: bool,
    /// The lines of the User-Agent, joined.
    #[serde(serialize_with = "octets")]
    pub(crate) user_agent: Option<&'a [u8]>,
    #[serde(serialize_with = "octets")]
    pub(crate) referer: Option<&'a [u8]>,
    /// The status of the response; 0 if the client was gone.
    pub(crate) status: u16,
    /// The octets of the response's body.
    pub(crate) bytes: u64,
    /// The time from the request's head to the end of the response.
    #[serde(rename = "duration_ms", serialize_with = "milliseconds")]
    pub(crate) duration: Duration,
    pub(crate) class: Option<&'a str>,
    /// The judged name.
    pub(crate) product_token: Option<&'a str>,
    pub(crate) standing: Option<&'a str>,
    pub(crate) verdict: Option<&'a str>,
    /// The reason of the decision, or of the refusal.
    pub(crate) reason: Option<&'a str>,
    /// The action; [`REFUSE`] for a request that was not judged.
    pub(crate) action: &'a str,
    pub(crate) violation: Option<&'a str>,
    /// The address of the origin; `None` for an answer of Beadle's own.
    pub(crate) origin: Option<SocketAddr>,
}

#[derive(Serialize)]
struct Json<'a> {
    schema: u32,
    kind: &'static str,
    #[serde(flatten)]
    line: &'a Line<'a>,
}

impl Line<'_> {
    pub(crate) fn push_json(&self, out: &mut Vec<u8>) {
        let json = Json { schema: SCHEMA, kind: KIND, line: self };
        serde_json::to_writer(&mut *out, &json).expect("the keys are texts, and memory takes all");
        out.push(b'\n');
    }

    /// Appends the line in NCSA's combined form, with two values behind it: the host; and action,
    /// reason and name.
    pub(crate) fn push_combined(&self, out: &mut Vec<u8>) {
        let time = self.time.strftime("%d/%b/%Y:%H:%M:%S +0000");
        // Writing to a Vec can't fail.
        let _ = write!(out, "{} - - [{time}] ", self.client_ip);
        out.push(b'"');
        match self.target {
            Some(target) => {
                push_quoted(out, self.method.unwrap_or("-").as_bytes());
                out.push(b' ');
                push_quoted(out, target);
                let _ = write!(out, " {}", self.protocol.unwrap_or("HTTP/1.1"));
            }
            None => out.push(b'-'),
        }
        let _ = write!(out, "\" {:03} {}", self.status, self.bytes);
        for value in [self.referer, self.user_agent, self.host] {
            out.extend_from_slice(b" \"");
            push_quoted(out, value.filter(|value| !value.is_empty()).unwrap_or(b"-"));
            out.push(b'"');
        }
        let decision = [self.action, self.reason.unwrap_or("-"), self.product_token.unwrap_or("-")];
        for (at, word) in decision.into_iter().enumerate() {
            out.extend_from_slice(if at == 0 { b" \"" } else { b" " });
            push_quoted(out, word.as_bytes());
        }
        out.extend_from_slice(b"\"\n");
    }
}

/// Appends a value between quotes, as nginx escapes it.
fn push_quoted(out: &mut Vec<u8>, value: &[u8]) {
    let kept = value.get(..whole(value)).unwrap_or(value);
    for &octet in kept {
        match octet {
            b'"' | b'\\' | ..=0x1f | 0x7f.. => {
                let _ = write!(out, "\\x{octet:02X}"); // writing to a Vec can't fail
            }
            _ => out.push(octet),
        }
    }
    if kept.len() < value.len() {
        let _ = write!(out, "...(+{} bytes)", value.len() - kept.len());
    }
}

/// The number of octets before there are too many escapes.
fn whole(text: &[u8]) -> usize {
    let mut escaped = text.iter().enumerate().filter(|(_, octet)| !is_plain(octet));
    escaped.nth(MOST_ESCAPES).map_or(text.len(), |(at, _)| at)
}

const fn is_plain(octet: &u8) -> bool {
    matches!(octet, b' '..=b'[' | b']'..=b'~')
}

/// Octets, escaped as in records. Nearly every text is plain and is not copied.
fn octets<S: Serializer>(octets: &Option<&[u8]>, serializer: S) -> Result<S::Ok, S::Error> {
    octets
        .map(|octets| match std::str::from_utf8(octets) {
            Ok(text) if octets.iter().all(is_plain) => Cow::Borrowed(text),
            _ => Cow::Owned(escape::bounded(octets, whole(octets))),
        })
        .serialize(serializer)
}

/// Milliseconds, to the microsecond.
fn milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_micros() as f64 / 1000.0)
}

/// A time, to the microsecond.
fn microseconds<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{time:.6}"))
}
