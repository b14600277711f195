//! The API: what the desk and the command line show, as JSON for other programs. It only reads.
//!
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

use self::{
    endpoints::{ENDPOINTS, Endpoint},
    inquiry::Inquiry,
    query::Query,
};
use crate::{
    base::escape,
    desk::admin::{
        View,
        problem::{Kind, Problem},
    },
};

mod counts; // counts by hour, people and visits from operators, paths and networks
mod endpoints; // all paths, each with its parameters and its answer, and their description
mod inquiry; // a request: the database, the names that it may use; its answer
mod query; // the parameters of a request, and the cursor of a list
mod records; // violations, page by page, and all of a filter as a stream
mod report; // a review and a scorecard, as the command line writes them
mod robots; // each site's robots.txt, and the state of the program

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
    let path = path.map_err(|_| Problem::new(Kind::NOT_FOUND, "the path is no UTF-8"))?;
    let path = path.iter().map(|(_, value)| value.to_owned()).collect();
    let query = Query::read(query.as_deref(), endpoint.parameters)?;
    let inquiry = Inquiry { query, now: (view.now)(), path, view };
    let answered = tokio::task::spawn_blocking(move || (endpoint.answer)(&inquiry)).await;
    answered.unwrap_or_else(|error| {
        tracing::error!(%error, "request to the API not answered");
        Err(Problem::new(Kind::FAILED, "the answer failed; the log has the error"))
    })
}

async fn wrong_method(method: Method) -> Problem {
    let method = escape::shown(method.as_str());
    Problem::new(Kind::METHOD, format!("{method} has no meaning here (use GET or HEAD)"))
}

async fn nowhere(uri: Uri) -> Problem {
    let path = escape::bounded(uri.path().as_bytes(), 200);
    Problem::new(
        Kind::NOT_FOUND,
        format!("the API has no path '{path}' (/api/v1/openapi.json lists the paths)"),
    )
}

#[cfg(test)]
mod tests;
