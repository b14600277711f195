//! The parts of a request that a signature can cover, as received; field lines joined to a field value, and
//! a field value read as a dictionary (RFC 9651).

use std::{borrow::Cow, convert::Infallible};

use sfv::{
    Dictionary, KeyRef, Parser,
    visitor::{DictionaryVisitor, EntryVisitor},
};

use super::reason::Reason;
use crate::base::text::{trimmed, words};

/// The longest field value, in octets, all lines together. The largest number of signatures fits,
/// even with the largest RSA keys.
const MAX_FIELD: usize = 8 * 1024;

/// The value of a field: all its lines, trimmed, joined with a comma and a space (RFC 9421 §2.1).
/// `None` for an absent field.
pub(super) fn value<'f>(
    fields: &'f dyn Fields,
    name: &str,
) -> Result<Option<Cow<'f, [u8]>>, Reason> {
    let mut value: Option<Cow<'f, [u8]>> = None;
    let mut length = 0_usize;
    fields.each_line(name, &mut |line| {
        let line = trimmed(line);
        length = length.saturating_add(line.len()).saturating_add(2);
        // Behind the limit, only the length counts.
        if length > MAX_FIELD + 2 {
            return;
        }
        match &mut value {
            None => value = Some(Cow::Borrowed(line)),
            Some(value) => {
                let value = value.to_mut();
                value.extend_from_slice(b", ");
                value.extend_from_slice(line);
            }
        }
    });
    if length > MAX_FIELD + 2 { Err(Reason::FieldTooLarge) } else { Ok(value) }
}

/// A dictionary. In RFC 9651 §4.2.2 a later member replaces an earlier one with the same name. Here
/// such a dictionary is refused, because two parsers could see two different signers. `unreadable`
/// is the reason for all other errors.
pub(super) fn dictionary(value: &[u8], unreadable: Reason) -> Result<Dictionary, Reason> {
    let members = Members { members: Dictionary::new(), repeated: false };
    match Parser::new(value).parse_dictionary_with_visitor(members) {
        Ok(read) if read.repeated => Err(Reason::DuplicateLabel),
        Ok(read) => Ok(read.members),
        Err(_) => Err(unreadable),
    }
}

/// The members of a dictionary, and whether a name occurs twice.
struct Members {
    members: Dictionary,
    repeated: bool,
}

impl<'de> DictionaryVisitor<'de> for Members {
    type Out = Self;
    type Error = Infallible;

    fn entry(&mut self, key: &'de KeyRef) -> Result<impl EntryVisitor<'de>, Infallible> {
        self.repeated |= self.members.contains_key(key);
        DictionaryVisitor::entry(&mut self.members, key)
    }

    fn finish(self) -> Result<Self, Infallible> {
        Ok(self)
    }
}

/// A request as received from the signer, before any change by a proxy.
#[derive(Clone, Copy)]
pub struct Message<'a> {
    /// The method, in its own case.
    pub method: &'a str,
    /// The scheme of the client's request. It is `https` too if TLS ends in front of Beadle.
    pub scheme: Scheme,
    /// `Host` or `:authority`, as received.
    pub authority: &'a [u8],
    /// The request target in origin form, as received: path and query. A signature over a part of any
    /// other form fails.
    pub target: &'a [u8],
    /// The fields.
    pub fields: &'a dyn Fields,
}

words! {
    /// The scheme of a request's target URI.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Scheme {
        /// `http`, default port 80.
        Http = "http",
        /// `https`, default port 443.
        Https = "https",
    }
}

/// The fields of a message, by name.
pub trait Fields {
    /// Calls `line` with the value of each field line with this name, in order. `name` is in lower
    /// case; the comparison ignores case.
    fn each_line<'f>(&'f self, name: &str, line: &mut dyn FnMut(&'f [u8]));
}

/// A list of names and values, for messages without an HTTP library.
impl<N: AsRef<str>, V: AsRef<[u8]>> Fields for Vec<(N, V)> {
    fn each_line<'f>(&'f self, name: &str, line: &mut dyn FnMut(&'f [u8])) {
        for (own, value) in self {
            if own.as_ref().eq_ignore_ascii_case(name) {
                line(value.as_ref());
            }
        }
    }
}

impl Scheme {
    /// The port of an authority that has none.
    pub(super) const fn default_port(self) -> &'static [u8] {
        match self {
            Self::Http => b"80",
            Self::Https => b"443",
        }
    }
}
