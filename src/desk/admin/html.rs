//! An answer with a page, and the fields that guard it.

use askama::Template;
use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Response},
};

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
