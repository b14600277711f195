//! The reason why a fetch has no result.

use std::{error::Error, iter};

use derive_more::Display;

/// The reason why a fetch has no result.
#[derive(Clone, Debug, Display, PartialEq, Eq)]
pub enum Failure {
    /// Occurs when this client does not fetch from the URL.
    #[display("not an https:// address (http:// is for addresses in evidence.allow_addresses)")]
    Address,
    /// Occurs when the host has no address that the client may connect to.
    #[display(
        "its host has no public address (to allow this, name the network in evidence.allow_addresses)"
    )]
    Private,
    /// Occurs when there are too many redirects in a row.
    #[display("more than five redirects")]
    Redirects,
    /// Occurs when the body exceeds the caller's limit.
    #[display("a body larger than the limit")]
    TooLarge,
    /// Occurs when the caller does not accept the status.
    #[display("status {_0}")]
    Status(u16),
    /// Occurs when the exchange takes too long; has the error as text.
    Timeout(String),
    /// Occurs when the exchange fails; has the error as text.
    Transport(String),
}

impl Failure {
    /// The stable code for logs and metric labels.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Address => "fetch.address",
            Self::Private => "fetch.private",
            Self::Redirects => "fetch.redirects",
            Self::TooLarge => "fetch.too_large",
            Self::Status(_) => "fetch.status",
            Self::Timeout(_) | Self::Transport(_) => "fetch.transport",
        }
    }
}

impl Error for Failure {}

impl From<reqwest::Error> for Failure {
    fn from(error: reqwest::Error) -> Self {
        // The library returns the client's own refusals as causes of its error.
        let mut own = causes(&error).filter_map(|cause| cause.downcast_ref::<Self>());
        if let Some(own) = own.next() {
            return own.clone();
        }
        // The outermost error only says that something failed.
        let how = causes(&error).last().map_or_else(|| error.to_string(), ToString::to_string);
        if error.is_timeout() { Self::Timeout(how) } else { Self::Transport(how) }
    }
}

/// The causes of an error, the innermost last.
fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    iter::successors(error.source(), |&cause| cause.source())
}
