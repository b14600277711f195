//! What is wrong with a request of a program, as RFC 9457 has it. The detail names the repair.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;

use crate::{records::record, review::report::terms::Refusal};

/// A kind of problem: its name, which is stable, its title and its status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind(&'static str, &'static str, StatusCode);

impl Kind {
    /// A parameter that the path does not know, or knows once only.
    pub(crate) const PARAMETER: Self =
        Self("parameter", "Unknown parameter", StatusCode::BAD_REQUEST);
    pub(crate) const VALUE: Self =
        Self("value", "Value without a meaning", StatusCode::BAD_REQUEST);
    pub(crate) const UNAUTHORIZED: Self = Self("token", "Token needed", StatusCode::UNAUTHORIZED);
    pub(crate) const NOT_FOUND: Self = Self("not-found", "Not found", StatusCode::NOT_FOUND);
    pub(crate) const METHOD: Self =
        Self("method", "Method not allowed", StatusCode::METHOD_NOT_ALLOWED);
    pub(crate) const NO_DATABASE: Self = Self("no-database", "No database", StatusCode::CONFLICT);
    pub(crate) const DATABASE: Self =
        Self("database", "The database can't be read", StatusCode::SERVICE_UNAVAILABLE);
    pub(crate) const NOT_READY: Self =
        Self("not-ready", "Not ready", StatusCode::SERVICE_UNAVAILABLE);
    pub(crate) const BUSY: Self = Self("busy", "Too many exports", StatusCode::TOO_MANY_REQUESTS);
    pub(crate) const FAILED: Self = Self("failed", "Failed", StatusCode::INTERNAL_SERVER_ERROR);
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    kind: Kind,
    detail: String,
    parameter: Option<String>,
}

impl Problem {
    pub(crate) fn new(kind: Kind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), parameter: None }
    }

    pub(crate) fn value(parameter: &str, detail: impl Into<String>) -> Self {
        Self { parameter: Some(parameter.to_owned()), ..Self::new(Kind::VALUE, detail) }
    }

    pub(crate) fn about(self, parameter: impl Into<String>) -> Self {
        Self { parameter: Some(parameter.into()), ..self }
    }

    pub(crate) fn of_parameter(parameter: &str, refusal: Refusal) -> Self {
        match refusal {
            Refusal::Term(sentence) => Self::value(parameter, sentence),
            Refusal::Store(error) => error.into(),
        }
    }

    /// The refusal of a term in the path: it names nothing.
    pub(crate) fn of_path(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Term(sentence) => Self::new(Kind::NOT_FOUND, sentence),
            Refusal::Store(error) => error.into(),
        }
    }
}

impl From<record::Error> for Problem {
    fn from(error: record::Error) -> Self {
        Self::new(Kind::DATABASE, error.to_string())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Kind(name, title, status) = self.kind;
        let mut body = json!({
            "type": format!("urn:beadle:problem:{name}"),
            "title": title,
            "status": status.as_u16(),
            "detail": self.detail,
        });
        if let Some(parameter) = self.parameter {
            body["parameter"] = parameter.into();
        }
        let media_type = HeaderValue::from_static("application/problem+json");
        let mut response = ([(header::CONTENT_TYPE, media_type)], body.to_string()).into_response();
        *response.status_mut() = status;
        // The same request may do better after five seconds.
        if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        response
    }
}
