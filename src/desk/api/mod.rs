//! The API: what the desk and the command line show, as JSON for other programs. It only reads.
//!
//! ```text
//! endpoint, endpoints    a path with its parameters and its answer; all of them
//! description these paths and openapi.json as one description
//! inquiry    a request: its parameters, the database, the names that it may use
//! records    violations, page by page by a cursor, and all of a filter as a stream
//! counts     counts by hour, people and visits from operators, paths and networks
//! report     a review and a scorecard, as the command line writes them
//! robots     each site's robots.txt        status    the state of the program
//! ```
//! An answer is made away from the runtime, because it reads the disk. What is wrong with a request
//! is a [problem](crate::desk::admin::problem).
//!
//! May use: policy, enforce, counts, record, tally, text, violations, report, admin, escape, version.
//! Must not know: pages, proxy, cli.

use axum::{
    Router,
    extract::{RawPathParams, RawQuery, State, rejection::RawPathParamsRejection},
    http::{Method, Uri},
    response::Response,
    routing::{any, get},
};

use self::{endpoint::Endpoint, endpoints::ENDPOINTS, inquiry::Inquiry, query::Query};
use crate::{
    base::escape,
    desk::admin::{
        View,
        problem::{Kind, Problem},
    },
};

mod answer; // an answer with its media type
mod counts; // counts by hour, people, paths and networks
mod cursor; // where the next page begins
mod description; // the description of the API
mod endpoint; // a path
mod endpoints; // all of them
mod inquiry; // a request
mod query; // the parameters of a request
mod records; // violations, page by page, and all of a filter
mod report; // a review and a scorecard
mod robots; // each site's robots.txt
mod status; // the state of the program

/// The paths of the API; each other path below `/api` is refused.
pub(crate) fn router() -> Router<View> {
    // A path that is none of ours is the API's to refuse.
    let router = Router::new().route("/api", any(nowhere)).route("/api/{*path}", any(nowhere));
    ENDPOINTS.iter().fold(router, |router, endpoint| {
        let handler =
            move |State(view): State<View>,
                  path: Result<RawPathParams, RawPathParamsRejection>,
                  RawQuery(query): RawQuery| { respond(endpoint, view, path, query) };
        router.route(endpoint.path, get(handler).fallback(wrong_method))
    })
}

async fn respond(
    endpoint: &'static Endpoint,
    view: View,
    path: Result<RawPathParams, RawPathParamsRejection>,
    query: Option<String>,
) -> Result<Response, Problem> {
    let path = path.map_err(|_| Problem::new(Kind::NotFound, "the path is no UTF-8"))?;
    let path = path.iter().map(|(_, value)| value.to_owned()).collect();
    let query = Query::read(query.as_deref(), endpoint.parameters)?;
    let inquiry = Inquiry { query, now: (view.now)(), path, view };
    let answered = tokio::task::spawn_blocking(move || (endpoint.answer)(&inquiry)).await;
    answered.unwrap_or_else(|error| {
        tracing::error!(%error, "request to the API not answered");
        Err(Problem::new(Kind::Failed, "the answer failed; the log has the error"))
    })
}

async fn wrong_method(method: Method) -> Problem {
    let method = escape::shown(method.as_str());
    Problem::new(Kind::Method, format!("{method} has no meaning here (use GET or HEAD)"))
}

async fn nowhere(uri: Uri) -> Problem {
    let path = escape::bounded(uri.path().as_bytes(), 200);
    Problem::new(
        Kind::NotFound,
        format!("the API has no path '{path}' (/api/v1/openapi.json lists the paths)"),
    )
}

#[cfg(test)]
mod tests;
