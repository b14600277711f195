//! The parts of a request that a signature can cover, as received.

use crate::base::text::words;

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
