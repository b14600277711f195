//! The robots.txt of an origin over HTTP: bounded in time and size, conditional, redirects followed
//! by hand.
//!
//! The origin is the operator's own, so it may be at any address, unlike what evidence is fetched
//! from. Only where a redirect leads is looked at.

use std::{sync::Arc, time::Duration};

use reqwest::{
    Client, Response,
    header::{self, HeaderMap},
    redirect,
};
use tokio::time::timeout;

use crate::{
    diagnostic::Diagnostic,
    proxy::fetching::{self, Broken, Validators},
    robots,
};

use super::{
    answer::{self, Answer, Head, Refusal, Unreachable},
    route::{Hosts, Place},
};

const REMARK: &str = "(+robots.txt of the origin)";

/// Fetches. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Fetcher {
    client: Client,
    hosts: Arc<Hosts>,
    /// For everything, redirects included.
    deadline: Duration,
}

/// An answer with what is needed to ask again.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) answer: Answer,
    /// Of a file that can be told from the next.
    pub(super) condition: Option<Condition>,
    /// For how long the answer stays good, where it says so.
    pub(super) fresh_for: Option<Duration>,
}

/// What makes the next request conditional. It is of one place: another may have a file with the
/// same date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    place: Place,
    validators: Validators,
}

impl Fetcher {
    /// A fetcher that follows redirects to these hosts.
    ///
    /// # Errors
    /// Where TLS can't be set up.
    pub(super) fn new(hosts: Hosts) -> Result<Self, Diagnostic> {
        Self::within(fetching::DEADLINE, hosts)
    }

    /// The same with another deadline.
    pub(super) fn within(deadline: Duration, hosts: Hosts) -> Result<Self, Diagnostic> {
        let client = fetching::client(&format!("{} {REMARK}", fetching::PRODUCT))
            .redirect(redirect::Policy::none())
            .build()
            .map_err(|error| Diagnostic::error("origin_robots.client", error.to_string()))?;
        Ok(Self { client, hosts: Arc::new(hosts), deadline })
    }

    /// What is at a place, unless it is what `condition` is of.
    pub(super) async fn fetch(&self, place: Place, condition: Option<Condition>) -> Fetched {
        let late = |_| Fetched::from(Answer::Unreachable(Unreachable::Timeout));
        timeout(self.deadline, self.follow(place, condition)).await.unwrap_or_else(late)
    }

    async fn follow(&self, mut place: Place, condition: Option<Condition>) -> Fetched {
        let mut passed = Vec::new();
        loop {
            let condition = condition.as_ref().filter(|condition| condition.place == place);
            let response = match self.ask(&place, condition).await {
                Ok(response) => response,
                Err(why) => return Answer::Unreachable(why).into(),
            };
            if !matches!(response.status().as_u16(), 301..=303 | 307 | 308) {
                return read(response, place, condition.is_some()).await;
            }
            let location = response.headers().get(header::LOCATION);
            let next = match place.redirected(location, &self.hosts) {
                Ok(next) => next,
                Err(refusal) => return Answer::Refused(refusal).into(),
            };
            passed.push(place);
            if passed.contains(&next) {
                return Answer::Refused(Refusal::RedirectLoop).into();
            }
            if passed.len() > fetching::REDIRECTS {
                return Answer::Refused(Refusal::TooManyRedirects).into();
            }
            place = next;
        }
    }

    async fn ask(
        &self,
        place: &Place,
        condition: Option<&Condition>,
    ) -> Result<Response, Unreachable> {
        let url = place
            .url()
            .ok_or_else(|| Unreachable::Transport(format!("no address: {}", place.origin)))?;
        let mut request = self.client.get(url).header(header::HOST, &place.host);
        if let Some(scheme) = &place.scheme {
            request = request.header("X-Forwarded-Proto", scheme);
        }
        if let Some(condition) = condition {
            request = condition.validators.make_conditional(request);
        }
        request.send().await.map_err(unreachable)
    }
}

impl From<Answer> for Fetched {
    fn from(answer: Answer) -> Self {
        Self { answer, condition: None, fresh_for: None }
    }
}

async fn read(response: Response, place: Place, is_conditional: bool) -> Fetched {
    let headers = response.headers();
    let head = Head {
        status: response.status().as_u16(),
        content_type: headers.get(header::CONTENT_TYPE).map(|value| value.as_bytes()),
        // What the client has undone it takes out.
        is_encoded: headers
            .get(header::CONTENT_ENCODING)
            .is_some_and(|coding| coding != "identity"),
        is_conditional,
    };
    let fresh_for = fresh_for(headers);
    if let Some(answer) = head.answer() {
        return Fetched { answer, condition: None, fresh_for };
    }
    let validators = Validators::of(headers);
    let is_usable = validators != Validators::default();
    let condition = is_usable.then_some(Condition { place, validators });
    let answer = match fetching::body(response, robots::LEAST_BYTES).await {
        Ok(body) => answer::of_body(body),
        Err(Broken::TooLarge) => Answer::Refused(Refusal::TooLarge),
        Err(Broken::Transport(error)) => Answer::Unreachable(unreachable(error)),
    };
    Fetched { answer, condition, fresh_for }
}

/// What is left of `max-age` (RFC 9111 §4.2); nothing, where the answer is not to be kept.
fn fresh_for(headers: &HeaderMap) -> Option<Duration> {
    let is_not_kept = |one: String| matches!(one.as_str(), "no-cache" | "no-store");
    if fetching::cache_directives(headers).any(is_not_kept) {
        return Some(Duration::ZERO);
    }
    let age = headers.get(header::AGE).and_then(|age| fetching::seconds(age.to_str().ok()?));
    Some(fetching::max_age(headers)?.saturating_sub(age.unwrap_or_default()))
}

fn unreachable(error: reqwest::Error) -> Unreachable {
    if error.is_timeout() {
        Unreachable::Timeout
    } else {
        Unreachable::Transport(fetching::first_cause(&error))
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn rfc9111_4_2_how_long_an_answer_stays_good_is_what_its_age_leaves() {
        for (fields, left) in [
            (&[][..], None),
            (&[("cache-control", "max-age=600")], Some(600)),
            (&[("cache-control", "max-age=600"), ("age", "100")], Some(500)),
            (&[("cache-control", "max-age=600"), ("age", "1000")], Some(0)),
            (&[("cache-control", "max-age=600"), ("age", "old")], Some(600)),
            (&[("cache-control", "max-age=600, No-Cache")], Some(0)),
            (&[("cache-control", "max-age=600"), ("cache-control", "no-store")], Some(0)),
            (&[("age", "5")], None),
        ] {
            let mut headers = HeaderMap::new();
            for (name, value) in fields {
                headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
            }
            assert_eq!(fresh_for(&headers), left.map(Duration::from_secs), "{fields:?}");
        }
    }
}
