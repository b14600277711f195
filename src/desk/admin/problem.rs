//! What is wrong with a request of a program, as RFC 9457 has it. The detail names the repair.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;

use crate::{records::record, review::report::terms::Refusal};

/// A kind of problem. Its name is stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A parameter that the path does not know, or knows once only.
    Parameter,
    /// A value that means nothing.
    Value,
    Unauthorized,
    NotFound,
    /// Another method than GET and HEAD.
    Method,
    NoDatabase,
    Database,
    NotReady,
    Busy,
    Failed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    kind: Kind,
    detail: String,
    parameter: Option<String>,
}

impl Kind {
    /// The name, the title and the status.
    const fn facts(self) -> (&'static str, &'static str, StatusCode) {
        match self {
            Self::Parameter => ("parameter", "Unknown parameter", StatusCode::BAD_REQUEST),
            Self::Value => ("value", "Value without a meaning", StatusCode::BAD_REQUEST),
            Self::Unauthorized => ("token", "Token needed", StatusCode::UNAUTHORIZED),
            Self::NotFound => ("not-found", "Not found", StatusCode::NOT_FOUND),
            Self::Method => ("method", "Method not allowed", StatusCode::METHOD_NOT_ALLOWED),
            Self::NoDatabase => ("no-database", "No database", StatusCode::CONFLICT),
            Self::Database => {
                ("database", "The database can't be read", StatusCode::SERVICE_UNAVAILABLE)
            }
            Self::NotReady => ("not-ready", "Not ready", StatusCode::SERVICE_UNAVAILABLE),
            Self::Busy => ("busy", "Too many exports", StatusCode::TOO_MANY_REQUESTS),
            Self::Failed => ("failed", "Failed", StatusCode::INTERNAL_SERVER_ERROR),
        }
    }
}

impl Problem {
    pub(crate) fn new(kind: Kind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), parameter: None }
    }

    /// A parameter whose value means nothing.
    pub(crate) fn value(parameter: &str, detail: impl Into<String>) -> Self {
        Self { parameter: Some(parameter.to_owned()), ..Self::new(Kind::Value, detail) }
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
            Refusal::Term(sentence) => Self::new(Kind::NotFound, sentence),
            Refusal::Store(error) => error.into(),
        }
    }
}

impl From<record::Error> for Problem {
    fn from(error: record::Error) -> Self {
        Self::new(Kind::Database, error.to_string())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (name, title, status) = self.kind.facts();
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
        if matches!(self.kind, Kind::Database | Kind::NotReady | Kind::Busy) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        response
    }
}
