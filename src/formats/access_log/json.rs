//! JSON lines: an object for each request.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{
    entry::{Entry, Fault, Parts, address, status},
    time,
};

// The names under which servers log a part, those of a certain server first; `/` leads into an object:
// Caddy, Traefik, Cloudflare Logpush, Beadle's own records, and nginx with `escape=json` under the
// names of its variables or other usual ones. No server uses the name of another one for
// something else.
const TIME: &str = "ts StartUTC EdgeStartTimestamp EdgeEndTimestamp time_iso8601 time @timestamp \
    timestamp msec time_local date";
const CLIENT: &str = "request/client_ip request/remote_ip request/remote_addr ClientHost ClientAddr \
    ClientIP client_ip remote_addr remote_ip clientip client ip";
const REQUEST: &str = "request request_line";
const METHOD: &str = "request/method RequestMethod ClientRequestMethod request_method method";
const TARGET: &str = "request/uri RequestPath ClientRequestURI request_uri uri path target url";
const QUERY: &str = "args query_string";
const HOST: &str = "request/host RequestHost ClientRequestHost http_host host vhost server_name";
const USER_AGENT: &str = "request/headers/User-Agent request_User-Agent ClientRequestUserAgent \
    http_user_agent user_agent userAgent agent";
const FORWARDED_FOR: &str = "http_x_forwarded_for request_X-Forwarded-For x_forwarded_for";
const STATUS: &str = "status DownstreamStatus EdgeResponseStatus code";

/// Whether an object is an entry by its names.
pub(super) fn is_entry(line: &[u8]) -> bool {
    let Ok(Value::Object(object)) = serde_json::from_slice(line) else { return false };
    let has = |names: &str| find(&object, names).is_some();
    has(TIME) && (has(TARGET) || has(REQUEST))
}

pub(super) fn parse(line: &[u8]) -> Result<Entry<'static>, Fault> {
    let Ok(Value::Object(object)) = serde_json::from_slice(line) else { return Err(Fault::Json) };
    let text = |names: &str| find(&object, names).and_then(text).map(Cow::Owned);
    let request = find(&object, REQUEST).filter(|value| value.is_string()).and_then(self::text);
    let target = text(TARGET);
    if request.is_none() && target.is_none() {
        return Err(Fault::NoRequest);
    }
    let parts = Parts {
        time: text(TIME).and_then(|text| time::of_any_form(&text)),
        client: text(CLIENT).and_then(|text| address(&text)),
        // Where both are, the target is the more exact one.
        request: request.filter(|_| target.is_none()).map(Cow::Owned),
        method: text(METHOD),
        // Some servers log the target without its query.
        query: text(QUERY).filter(|_| {
            target.as_ref().is_some_and(|target: &Cow<'_, [u8]>| !target.contains(&b'?'))
        }),
        target,
        host: text(HOST),
        user_agent: text(USER_AGENT),
        forwarded_for: text(FORWARDED_FOR),
        status: text(STATUS).map_or(0, |text| status(&text)),
        ..Parts::default()
    };
    parts.entry()
}

fn find<'o>(object: &'o Map<String, Value>, names: &str) -> Option<&'o Value> {
    names.split_ascii_whitespace().find_map(|name| {
        let mut path = name.split('/');
        let first = object.get(path.next()?)?;
        path.try_fold(first, |value, name| value.get(name)).filter(|value| !value.is_null())
    })
}

/// A text or a number; of a list the first element.
fn text(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::String(text) => Some(text.clone().into_bytes()),
        Value::Number(number) => Some(number.to_string().into_bytes()),
        Value::Array(values) => values.first().and_then(text),
        Value::Null | Value::Bool(_) | Value::Object(_) => None,
    }
}
