//! A path of the API, with what its description says.

use axum::response::Response;

use super::inquiry::Inquiry;
use crate::{desk::admin::problem::Problem, records::counts::Dimension};

pub(super) struct Endpoint {
    /// The path, with its variable parts in braces.
    pub(super) path: &'static str,
    /// Its name in programs that are made from the description.
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    pub(super) parts: &'static [&'static str],
    pub(super) parameters: &'static [&'static str],
    pub(super) by: &'static [(&'static str, Dimension)],
    pub(super) media_type: &'static str,
    pub(super) schema: &'static str,
    pub(super) source: Source,
    /// Its answer. It may wait for the disk.
    pub(super) answer: fn(&Inquiry) -> Result<Response, Problem>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    State,
    Database,
    /// The database, as a file to download.
    Export,
}
