//! The components of a request that a signature covers, and their identifiers (RFC 9421 §2).

use sfv::{BareItem, FieldType, InnerList, Item};

use super::reason::Reason;

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
