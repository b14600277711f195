//! Beadle's own access log, in both of its forms.

use std::borrow::Cow;

use serde::Deserialize;

use crate::base::escape;

use super::{
    entry::{Entry, Fault, Parts, address},
    line::{KIND, REFUSE, SCHEMA},
    line_pattern::Pattern,
    time,
};

/// The combined form: the host stands behind NCSA's values.
pub(super) const COMBINED: &str =
    r#"%h %l %u [%{common}t] "%r" %>s %b "%{Referer}i" "%{User-Agent}i" "%{Host}i""#;

/// The actions with which the last value of the combined form begins.
const ACTIONS: [&[u8]; 5] = [b"pass", b"log", b"throttle", b"block", REFUSE.as_bytes()];

/// The part of a JSON line that a judgement needs.
#[derive(Deserialize)]
struct Line {
    schema: u32,
    kind: String,
    time: String,
    client_ip: String,
    method: Option<String>,
    host: Option<String>,
    target: Option<String>,
    user_agent: Option<String>,
    status: u16,
}

/// Whether a line is one of this log.
pub(super) fn is_line(line: &[u8], combined: &Pattern) -> bool {
    match line.first() {
        Some(b'{') => serde_json::from_slice(line).is_ok_and(|line: Line| line.is_access()),
        _ => has_decision(line) && combined.parse(line).is_ok(),
    }
}

pub(super) fn parse(line: &[u8]) -> Result<Entry<'static>, Fault> {
    let line: Line = match serde_json::from_slice(line) {
        Ok(line) => line,
        // Records of violations may stand between the lines.
        Err(error) if error.is_data() => return Err(Fault::NoRequest),
        Err(_) => return Err(Fault::Json),
    };
    if !line.is_access() {
        return Err(Fault::NoRequest);
    }
    let network = line.client_ip.split('/').next().unwrap_or_default();
    let parts = Parts {
        time: time::iso(line.time.as_bytes()),
        client: address(network.as_bytes()),
        method: original(line.method)?,
        target: original(line.target)?,
        host: original(line.host)?,
        user_agent: original(line.user_agent)?,
        status: line.status,
        ..Parts::default()
    };
    parts.entry()
}

impl Line {
    fn is_access(&self) -> bool {
        self.kind == KIND && self.schema <= SCHEMA
    }
}

/// The octets of an escaped text.
fn original(text: Option<String>) -> Result<Option<Cow<'static, [u8]>>, Fault> {
    let octets = |text: String| match text.contains('\\') {
        true => escape::original(&text),
        false => Some(text.into_bytes()),
    };
    text.map(|text| octets(text).map(Cow::Owned).ok_or(Fault::Form)).transpose()
}

/// Whether the last value of a line is a decision: action, reason, name.
fn has_decision(line: &[u8]) -> bool {
    let value = line.strip_suffix(b"\"").and_then(|line| line.rsplit(|&b| b == b'"').next());
    let words: Vec<&[u8]> = value.unwrap_or_default().split(|&b| b == b' ').collect();
    matches!(words[..], [action, _, _] if ACTIONS.contains(&action))
}
