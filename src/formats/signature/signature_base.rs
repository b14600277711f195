//! The components of a request that a signature covers, their identifiers (RFC 9421 §2), and the signature
//! base: the octets that are signed (§2.5).

use sfv::{BareItem, FieldType, InnerList, Item, ListEntry, ListSerializer};
use url::form_urlencoded;

use super::{
    fields::{self, Fields, Message},
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

/// The most components of a signature. Honest signers cover two to six.
const MAX_COMPONENTS: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Component {
    /// The identifier as written in the signature base.
    pub(super) identifier: String,
    pub(super) source: Source,
    /// `;req`: in a response, a component of the request that it answers (§2.4).
    pub(super) of_request: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Method,
    TargetUri,
    Authority,
    Scheme,
    RequestTarget,
    Path,
    Query,
    /// A parameter of the query, by its percent-encoded name.
    QueryParam(String),
    Field(String),
    /// A member of a field that is a dictionary.
    Member {
        field: String,
        key: String,
    },
}

/// The components of an inner list, which must be distinct.
pub(super) fn all(list: &InnerList) -> Result<Vec<Component>, Reason> {
    if list.items.len() > MAX_COMPONENTS {
        return Err(Reason::TooManyComponents);
    }
    let mut components: Vec<Component> = Vec::with_capacity(list.items.len());
    for item in &list.items {
        let component = Component::read(item)?;
        // The order of its parameters does not distinguish a component.
        let is_same = |other: &Component| {
            other.source == component.source && other.of_request == component.of_request
        };
        if components.iter().any(is_same) {
            return Err(Reason::DuplicateComponent);
        }
        components.push(component);
    }
    Ok(components)
}

impl Component {
    /// Whether it is the field with this name, whole or a member of it.
    pub(super) fn is_of_field(&self, name: &str) -> bool {
        match &self.source {
            Source::Field(field) | Source::Member { field, .. } => field == name,
            _ => false,
        }
    }

    fn read(item: &Item) -> Result<Self, Reason> {
        let BareItem::String(name) = &item.bare_item else {
            return Err(Reason::UnsupportedComponent);
        };
        let (mut key, mut parameter, mut of_request) = (None, None, false);
        for (name, value) in &item.params {
            match (name.as_str(), value) {
                ("key", BareItem::String(value)) => key = Some(value.as_str().to_owned()),
                ("name", BareItem::String(value)) => parameter = Some(value.as_str().to_owned()),
                ("req", BareItem::Boolean(true)) => of_request = true,
                _ => return Err(Reason::UnsupportedComponent),
            }
        }
        let source = match (name.as_str(), key, parameter) {
            ("@query-param", None, Some(name)) => Source::QueryParam(name),
            ("@method", None, None) => Source::Method,
            ("@target-uri", None, None) => Source::TargetUri,
            ("@authority", None, None) => Source::Authority,
            ("@scheme", None, None) => Source::Scheme,
            ("@request-target", None, None) => Source::RequestTarget,
            ("@path", None, None) => Source::Path,
            ("@query", None, None) => Source::Query,
            (field, None, None) if is_field_name(field) => Source::Field(field.to_owned()),
            (field, Some(key), None) if is_field_name(field) => {
                Source::Member { field: field.to_owned(), key }
            }
            _ => return Err(Reason::UnsupportedComponent),
        };
        Ok(Self { identifier: item.serialize(), source, of_request })
    }
}

/// A field name in lower case (RFC 9421 §2.1).
fn is_field_name(name: &str) -> bool {
    let is_token =
        |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"!#$%&'*+-.^_`|~".contains(&b);
    !name.is_empty() && name.bytes().all(is_token)
}
