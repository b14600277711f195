//! Who may see a page, and the form in which a person enters the token.
//!
//! A page of another site may make a browser send a form here. So a change needs the browser's word
//! that this site's own page sent it.

use std::time::Duration;

use askama::Template;
use axum::{
    Form,
    body::{Body, to_bytes},
    extract::{RawQuery, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{AppendHeaders, IntoResponse, Redirect, Response},
};
use serde::Deserialize;
use tokio::time::timeout;

use super::{
    problem::{Kind, Problem},
    view::{View, guard, html},
};

/// Health checks. They name whatever host they like, and need no token.
pub(super) const CHECKS: [&str; 2] = ["/healthz", "/readyz"];
pub(super) const LOGIN: &str = "/login";
/// The path to which a POST request reloads the policy.
pub(crate) const RELOAD: &str = "/reload";
/// The beginning of style sheets, which need no token.
const ASSETS: &str = "/assets/";
/// The beginning of paths for programs. They get a refusal as a [problem](super::problem).
const PROGRAMS: &str = "/api/";

/// The time for the body of a form, and its octets.
const FORM_TIME: Duration = Duration::from_secs(5);
const FORM_SIZE: usize = 2 << 20;

#[derive(Deserialize)]
pub(super) struct Entry {
    token: String,
    #[serde(default)]
    next: String,
}

#[derive(Template)]
#[template(path = "login.html", config = "src/desk/admin/askama.toml")]
struct Login<'a> {
    next: &'a str,
    is_wrong: bool,
}

/// The form. It leads to the page that was asked for.
pub(super) async fn form(query: RawQuery) -> Response {
    let query = query.0.unwrap_or_default();
    let next = url::form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "next");
    page(local(next.as_ref().map_or("/", |(_, next)| next)), false)
}

fn page(next: &str, is_wrong: bool) -> Response {
    let status = if is_wrong { StatusCode::FORBIDDEN } else { StatusCode::OK };
    (status, html(&Login { next, is_wrong })).into_response()
}

/// Whether a browser sent the request from a page of another site.
fn is_from_elsewhere(fields: &HeaderMap) -> bool {
    let text = |name: &str| fields.get(name).and_then(|value| value.to_str().ok());
    if let Some(site) = text("sec-fetch-site") {
        return !matches!(site, "same-origin" | "none");
    }
    // An older browser. Whatever is no browser sends neither field.
    let host = text("host").unwrap_or_default();
    text("origin").is_some_and(|origin| origin.split_once("://").is_none_or(|(_, at)| at != host))
}

/// Lets a request through that has the token, or asks for it.
pub(super) async fn check(
    State(view): State<View>,
    request: Request<Body>,
    next: Next,
) -> Response {
    let mut response = admit(&view, request, next).await;
    guard(&mut response);
    response
}

async fn admit(view: &View, request: Request<Body>, next: Next) -> Response {
    let path = request.uri().path();
    let fields = request.headers();
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if !is_read && is_from_elsewhere(fields) {
        let why = "This form was sent from another site. Open the page here, and send it again.\n";
        return (StatusCode::FORBIDDEN, why).into_response();
    }
    let is_open = CHECKS.contains(&path) || path == LOGIN || path.starts_with(ASSETS);
    if is_open || view.access.allows(fields, (view.now)()) {
        if is_read {
            return next.run(request).await;
        }
        return match timeout(FORM_TIME, whole(request)).await {
            Ok(Some(request)) => next.run(request).await,
            Ok(None) => StatusCode::PAYLOAD_TOO_LARGE.into_response(),
            Err(_) => StatusCode::REQUEST_TIMEOUT.into_response(),
        };
    }
    let wants_page = fields
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .is_some_and(|accept| accept.contains("text/html"));
    let is_program = path.starts_with(PROGRAMS);
    if is_read && wants_page && !is_program {
        let here = request.uri().path_and_query().map_or("/", |here| here.as_str());
        let next: String = url::form_urlencoded::byte_serialize(here.as_bytes()).collect();
        return Redirect::to(&format!("{LOGIN}?next={next}")).into_response();
    }
    let why =
        "This needs the token in server.admin.token_file, as 'Authorization: Bearer TOKEN'.\n";
    let refusal = match is_program {
        true => Problem::new(Kind::UNAUTHORIZED, why.trim_end()).into_response(),
        false => (StatusCode::UNAUTHORIZED, why).into_response(),
    };
    ([(header::WWW_AUTHENTICATE, "Bearer realm=\"beadle\"")], refusal).into_response()
}

/// A request with its whole body; `None` if that is too large, or ends early.
async fn whole(request: Request<Body>) -> Option<Request<Body>> {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, FORM_SIZE).await.ok()?;
    Some(Request::from_parts(head, body.into()))
}

pub(super) async fn enter(State(view): State<View>, Form(entry): Form<Entry>) -> Response {
    let next = local(&entry.next);
    match view.access.enter(&entry.token, (view.now)()).await {
        Some(cookie) => {
            (AppendHeaders([(header::SET_COOKIE, cookie)]), Redirect::to(next)).into_response()
        }
        None => page(next, true),
    }
}

pub(super) async fn leave(State(view): State<View>, fields: HeaderMap) -> Response {
    view.access.leave(&fields);
    let cookie =
        HeaderValue::from_static("beadle_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax");
    (AppendHeaders([(header::SET_COOKIE, cookie)]), Redirect::to(LOGIN)).into_response()
}

/// A path of this site; anything else is the first page.
pub(super) fn local(next: &str) -> &str {
    let is_path = next.starts_with('/') && !next.starts_with("//") && !next.contains('\\');
    if is_path && next.bytes().all(|byte| byte.is_ascii_graphic()) { next } else { "/" }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn fields(lines: &[(&'static str, &str)]) -> HeaderMap {
        let value = |text: &str| HeaderValue::from_str(text).expect("a value");
        lines.iter().map(|(name, text)| (name.parse().expect("a name"), value(text))).collect()
    }

    #[test]
    fn a_change_comes_from_a_page_of_this_site() {
        for (lines, is_elsewhere) in [
            (&[("sec-fetch-site", "same-origin")][..], false),
            (&[("sec-fetch-site", "none")], false),
            (&[("sec-fetch-site", "cross-site")], true),
            (&[("sec-fetch-site", "same-site")], true),
            (&[("host", "a:9090"), ("origin", "http://a:9090")], false),
            (&[("host", "a:9090"), ("origin", "http://b:9090")], true),
            (&[("host", "a:9090"), ("origin", "http://a:80")], true),
            (&[("host", "a:9090"), ("origin", "null")], true),
            (&[("host", "a:9090")], false),
        ] {
            assert_eq!(is_from_elsewhere(&fields(lines)), is_elsewhere, "{lines:?}");
        }
    }

    #[test]
    fn a_login_leads_to_this_site_alone() {
        for (next, path) in [
            ("/violations?site=a", "/violations?site=a"),
            ("", "/"),
            ("//evil.example", "/"),
            ("/\\evil.example", "/"),
            ("https://evil.example", "/"),
            ("/a\r\nb", "/"),
        ] {
            assert_eq!(local(next), path);
        }
    }
}
