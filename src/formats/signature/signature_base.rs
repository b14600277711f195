//! The signature base: the octets that are signed (RFC 9421 §2.5).

use sfv::{ListEntry, ListSerializer};
use url::form_urlencoded;

use super::{
    component::{Component, Source},
    fields,
    message::{Fields, Message},
    reason::Reason,
};

/// The most octets that are read and written for one signature. The limit includes reads, because a
/// signature can cover a long dictionary member by member. Honest signatures need a few hundred.
const MAX_WORK: usize = 16 * 1024;

/// A message that is signed: a request, or a response to one.
#[derive(Clone, Copy)]
pub(super) struct Signed<'a> {
    pub(super) request: &'a Message<'a>,
    pub(super) response: Option<&'a dyn Fields>,
}

/// The octets of a signature over these components with these parameters.
pub(super) fn write(
    signed: Signed<'_>,
    components: &[Component],
    parameters: &str,
) -> Result<Vec<u8>, Reason> {
    let mut base = Vec::with_capacity(512);
    let mut read = 0;
    for component in components {
        base.extend_from_slice(component.identifier.as_bytes());
        base.extend_from_slice(b": ");
        let start = base.len();
        read += push_value(signed, component, &mut base)?;
        // A line break would make two lines of one value; the base is ASCII (§2.5).
        let is_printable = |octet: &u8| matches!(octet, b'\t' | b' '..=b'~');
        if !base.get(start..).is_some_and(|value| value.iter().all(is_printable)) {
            return Err(Reason::ComponentUnreadable);
        }
        base.push(b'\n');
        if base.len() + read > MAX_WORK {
            return Err(Reason::BaseTooLarge);
        }
    }
    base.extend_from_slice(b"\"@signature-params\": ");
    base.extend_from_slice(parameters.as_bytes());
    Ok(base)
}

/// Writes the value. Returns the number of octets that were read in addition.
fn push_value(
    signed: Signed<'_>,
    component: &Component,
    base: &mut Vec<u8>,
) -> Result<usize, Reason> {
    let message = signed.request;
    let mut read = 0;
    let fields = match (signed.response, component.of_request) {
        (None, false) | (Some(_), true) => message.fields,
        (Some(fields), false) => fields,
        // A request answers nothing (§2.4).
        (None, true) => return Err(Reason::UnsupportedComponent),
    };
    match &component.source {
        Source::Field(name) => {
            let value = fields::value(fields, name)?.ok_or(Reason::ComponentAbsent)?;
            base.extend_from_slice(&value);
        }
        Source::Member { field, key } => {
            let value = fields::value(fields, field)?.ok_or(Reason::ComponentAbsent)?;
            read = value.len();
            let members = fields::dictionary(&value, Reason::ComponentUnreadable)?;
            let member = members.get(key.as_str()).ok_or(Reason::ComponentAbsent)?;
            base.extend_from_slice(member_value(member).as_bytes());
        }
        // A response has none of the components derived from a request (§2.2).
        _ if signed.response.is_some() && !component.of_request => {
            return Err(Reason::UnsupportedComponent);
        }
        Source::Method => base.extend_from_slice(message.method.as_bytes()),
        Source::Scheme => base.extend_from_slice(message.scheme.as_str().as_bytes()),
        Source::Authority => push_authority(message, base),
        Source::RequestTarget => base.extend_from_slice(message.target),
        Source::TargetUri => {
            origin_form(message)?;
            base.extend_from_slice(message.scheme.as_str().as_bytes());
            base.extend_from_slice(b"://");
            push_authority(message, base);
            base.extend_from_slice(message.target);
        }
        Source::Path => base.extend_from_slice(origin_form(message)?.0),
        Source::Query => {
            base.push(b'?');
            base.extend_from_slice(origin_form(message)?.1);
        }
        Source::QueryParam(name) => {
            let query = origin_form(message)?.1;
            read = query.len();
            push_parameter(query, name, base)?;
        }
    }
    Ok(read)
}

/// §2.2.3: Writes the authority in lower case, without the default port.
fn push_authority(message: &Message<'_>, base: &mut Vec<u8>) {
    let authority = message.authority;
    let port = authority.iter().rposition(|&octet| octet == b':');
    let host = match port.map(|at| authority.split_at(at)) {
        Some((host, [_, port @ ..]))
            if port.is_empty() || port == message.scheme.default_port() =>
        {
            host
        }
        _ => authority,
    };
    base.extend(host.iter().map(u8::to_ascii_lowercase));
}

/// Path and query of a target in origin form.
fn origin_form<'a>(message: &Message<'a>) -> Result<(&'a [u8], &'a [u8]), Reason> {
    let target = message.target;
    if target.first() != Some(&b'/') {
        return Err(Reason::ComponentUnreadable);
    }
    let mut parts = target.splitn(2, |&octet| octet == b'?');
    Ok((parts.next().unwrap_or_default(), parts.next().unwrap_or_default()))
}

/// A member of a dictionary, serialised (§2.1.2): its value and parameters without its name.
fn member_value(member: &ListEntry) -> String {
    let mut written = ListSerializer::new();
    written.members([member]);
    written.finish().unwrap_or_default()
}

/// §2.2.8: Writes the value of a query parameter that occurs once.
fn push_parameter(query: &[u8], name: &str, base: &mut Vec<u8>) -> Result<(), Reason> {
    let mut values = form_urlencoded::parse(query)
        .filter(|(own, _)| recoded(own) == name)
        .map(|(_, value)| recoded(&value));
    let value = values.next().ok_or(Reason::ComponentAbsent)?;
    if values.next().is_some() {
        return Err(Reason::ComponentUnreadable);
    }
    base.extend_from_slice(value.as_bytes());
    Ok(())
}

/// A name or value of application/x-www-form-urlencoded, percent-encoded again, with `%20` for a space.
fn recoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}
