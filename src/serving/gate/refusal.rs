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
        match self {
            Self::AmbiguousTarget | Self::BadHost | Self::BadLength => 400,
            Self::ManyFields => 431,
            Self::UnknownHost => 421,
            Self::Trace | Self::Connect => 405,
        }
    }

    /// The stable name in logs and metrics.
    pub const fn code(self) -> &'static str {
        match self {
            Self::AmbiguousTarget => "proxy.ambiguous_target",
            Self::BadHost => "proxy.bad_host",
            Self::BadLength => "proxy.bad_length",
            Self::ManyFields => "proxy.header_fields",
            Self::UnknownHost => "proxy.unknown_host",
            Self::Trace => "proxy.trace",
            Self::Connect => "proxy.connect",
        }
    }

    /// The text for the client.
    pub const fn message(self) -> &'static str {
        match self {
            Self::AmbiguousTarget => "The request target is not a path.\n",
            Self::BadHost => "The request names no valid host.\n",
            Self::BadLength => "The request's length is in doubt.\n",
            Self::ManyFields => "The request has too many fields.\n",
            Self::UnknownHost => "No site with this name is served here.\n",
            Self::Trace => "TRACE is not served here.\n",
            Self::Connect => "CONNECT is not served here.\n",
        }
    }
}
