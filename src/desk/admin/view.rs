//! The data that the pages show, and an answer with a page and the fields that guard it.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock, atomic::AtomicBool},
    time::Duration,
};

use askama::Template;
use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use jiff::Timestamp;

use super::access::Access;
use crate::{
    base::metrics::Metrics,
    records::{
        counts::CountsInMemory,
        violations::{Location, Sink},
    },
    serving::gate::Gate,
    state::publication::{Handles, Reloads},
};

#[derive(Clone)]
pub(crate) struct View {
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) sink: Arc<Sink>,
    /// Whether the proxy accepts requests: false until it listens, and while it drains.
    pub(crate) ready: Arc<AtomicBool>,
    pub(crate) access: Arc<Access>,
    /// The database; `None` if records are not kept.
    pub(crate) database: Option<Location>,
    pub(crate) counts: CountsInMemory,
    pub(crate) retention: Duration,
    pub(crate) now: fn() -> Timestamp,
    /// The state in force; empty until the policy has taken effect.
    pub(crate) live: Arc<OnceLock<Live>>,
}

pub(crate) struct Live {
    pub(crate) policy_file: PathBuf,
    /// Whether the desk may write it.
    pub(crate) edits: bool,
    /// What the publisher shares.
    pub(crate) handles: Handles,
    pub(crate) gate: Arc<Gate>,
    pub(crate) reloads: Reloads,
    /// The most connections of clients, if the process may open fewer files than the policy needs.
    pub(crate) few_connections: Option<usize>,
}

pub(crate) fn html(page: &impl Template) -> Response {
    match page.render() {
        Ok(text) => Html(text).into_response(),
        Err(error) => {
            tracing::error!(%error, "page not written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// The fields that keep a page from others: nothing is cached or framed, and nothing comes from
/// elsewhere or from within the page.
pub(super) fn guard(response: &mut Response) {
    const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; \
        connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; \
        frame-ancestors 'none'";
    let fields = response.headers_mut();
    fields.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    fields.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    fields.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    let no_store = HeaderValue::from_static("no-store");
    fields.entry(header::CACHE_CONTROL).or_insert(no_store);
}
