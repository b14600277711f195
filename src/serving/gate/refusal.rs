//! The reason to refuse a request before judging.

/// The reason to refuse a request before judging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Occurs when the target is neither origin-form nor absolute-form nor `OPTIONS *`
    /// (RFC 9112 §3.2).
    AmbiguousTarget,
    /// Occurs when `Content-Length` values are not numbers or differ (RFC 9110 §8.6).
    BadLength,
    /// Occurs when an HTTP/1.1 request has no host (RFC 9112 §3.2) or an invalid one.
    BadHost,
    /// Occurs when a request has more fields than it may. HTTP/1 is refused before it is parsed.
    ManyFields,
    /// Occurs when no site has this host and there is no default site (RFC 9110 §15.5.20).
    UnknownHost,
    /// Occurs when the method would show a client's fields to others (RFC 9110 §9.3.8).
    Trace,
    /// Occurs when the method asks for a tunnel (RFC 9110 §9.3.6).
    Connect,
}

impl Refusal {
    /// The status of the response.
    pub const fn status(self) -> u16 {
        self.terms().0
    }

    /// The stable name in logs and metrics.
    pub const fn code(self) -> &'static str {
        self.terms().1
    }

    /// The text for the client.
    pub const fn message(self) -> &'static str {
        self.terms().2
    }

    const fn terms(self) -> (u16, &'static str, &'static str) {
        match self {
            Self::AmbiguousTarget => {
                (400, "proxy.ambiguous_target", "The request target is not a path.\n")
            }
            Self::BadHost => (400, "proxy.bad_host", "The request names no valid host.\n"),
            Self::BadLength => (400, "proxy.bad_length", "The request's length is in doubt.\n"),
            Self::ManyFields => (431, "proxy.header_fields", "The request has too many fields.\n"),
            Self::UnknownHost => {
                (421, "proxy.unknown_host", "No site with this name is served here.\n")
            }
            Self::Trace => (405, "proxy.trace", "TRACE is not served here.\n"),
            Self::Connect => (405, "proxy.connect", "CONNECT is not served here.\n"),
        }
    }
}
