//! HAProxy's HTTP log format, with or without a syslog header.
//!
//! A User-Agent is in it only if the configuration captures it (`capture request header User-Agent`).
//! Of several captured request fields, the last one is taken as the User-Agent and the first one as
//! the host. The time has no zone; it is taken as UTC.

use std::borrow::Cow;

use memchr::{memchr, memmem, memrchr};

use super::{
    entry::{Entry, Fault, Parts, address, status},
    time,
    unescape::{Text, percent_decoded},
};

pub(super) fn parse(line: &[u8]) -> Result<Entry<'_>, Fault> {
    // `client:port [22/Nov/2026:19:30:05.123] frontend backend/server 1/2/3/4/5 200 …`
    let (head, rest) = accept_date(line).ok_or(Fault::Form)?;
    let client = head.rsplit(|&b| b == b' ').next().unwrap_or_default();
    let (date, rest) = split_at(rest, b']').ok_or(Fault::Form)?;
    let mut columns = rest.trim_ascii_start().split(|&b| b == b' ');
    let is_timers = |column: &&[u8]| column.iter().filter(|&&b| b == b'/').count() >= 4;
    columns.find(is_timers).ok_or(Fault::Form)?;
    let code = columns.next().unwrap_or_default();
    let request = quoted(rest).ok_or(Fault::NoRequest)?;
    let (host, user_agent) = captures(rest);
    let parts = Parts {
        time: time::civil(date),
        client: address(client),
        request: Some(percent_decoded(request, b'#')),
        host,
        user_agent,
        status: status(code),
        ..Parts::default()
    };
    parts.entry()
}

/// The line before and behind ` [` of the accept date. A syslog header may have brackets, too.
fn accept_date(line: &[u8]) -> Option<(&[u8], &[u8])> {
    memmem::find_iter(line, b" [").find_map(|at| {
        let rest = line.get(at + 2..)?;
        let (date, _) = split_at(rest, b']')?;
        time::civil(date)?;
        Some((line.get(..at)?, rest))
    })
}

fn split_at(text: &[u8], octet: u8) -> Option<(&[u8], &[u8])> {
    let at = memchr(octet, text)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// The request line in quotes. HAProxy escapes quotes in it.
fn quoted(rest: &[u8]) -> Option<&[u8]> {
    let start = memmem::find(rest, b" \"")? + 2;
    let end = memrchr(b'"', rest)?;
    rest.get(start..end)
}

/// The host and the User-Agent of the captured request fields.
fn captures(rest: &[u8]) -> (Option<Text<'_>>, Option<Text<'_>>) {
    let inside = memmem::find(rest, b" {").and_then(|at| {
        let rest = rest.get(at + 2..)?;
        let end = memmem::find(rest, b"} ").or_else(|| memchr(b'}', rest))?;
        rest.get(..end)
    });
    let Some(inside) = inside else { return (None, None) };
    let fields: Vec<&[u8]> = inside.split(|&b| b == b'|').collect();
    let decoded = |field: &&'_ [u8]| Cow::Owned(percent_decoded(field, b'#').into_owned());
    let host = fields.first().filter(|_| fields.len() > 1);
    (host.map(decoded), fields.last().map(decoded))
}
