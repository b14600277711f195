//! A request as the rules judge it.

use crate::{formats::robots::Target, rules::crawlers::Claim};

/// A request as the rules judge it.
#[derive(Clone, Copy, Debug)]
pub struct Case<'r, 'a> {
    /// What its User-Agent claims.
    pub claim: &'r Claim<'r>,
    /// Whether the client sends no usable User-Agent. Such a client is bound by `*` where the site
    /// says so; a client with an unknown User-Agent is not.
    pub is_nameless: bool,
    /// The requested target.
    pub target: &'a Target<'a>,
}
