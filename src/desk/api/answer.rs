//! An answer with its media type.

use axum::{
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;

use crate::desk::admin::problem::{Kind, Problem};

pub(super) fn json(value: &impl Serialize) -> Result<Response, Problem> {
    let text = serde_json::to_vec(value).map_err(|error| {
        tracing::error!(%error, "answer of the API not written");
        Problem::new(Kind::Failed, "the answer failed; the log has the error")
    })?;
    Ok(of_type("application/json", text))
}

pub(super) fn of_type(media_type: &'static str, body: impl IntoResponse) -> Response {
    let mut response = body.into_response();
    let media_type = HeaderValue::from_static(media_type);
    response.headers_mut().insert(header::CONTENT_TYPE, media_type);
    response
}
