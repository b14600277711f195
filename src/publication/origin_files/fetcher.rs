//! The fetcher of an origin's robots.txt: bounded in time and size, conditional, with its own
//! handling of redirects (RFC 9309 §2.3.1).
//!
//! The origin belongs to the operator, so it may have any address. The fetcher checks only the
//! destinations of redirects.

use std::{sync::Arc, time::Duration};

use tokio::time::timeout;

use crate::{
    fetch::{self, Client, Failure, Reach, Redirects, Request, Response, Validators},
    robots,
};

use super::{
    access_result::{self, AccessResult, Head, Refusal, Unreachable},
    destination::{Destination, KnownHosts},
};

/// A fetcher. Copies share the client.
#[derive(Clone, Debug)]
pub(super) struct Fetcher {
    client: Client,
    hosts: Arc<KnownHosts>,
    /// The most time for one access with its redirects.
    deadline: Duration,
}

/// The result of an access, with the data for the next one.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) result: AccessResult,
    /// Set if the file has validators.
    pub(super) condition: Option<Condition>,
    /// The time for which the result stays fresh, if the response has one.
    pub(super) fresh_for: Option<Duration>,
}

/// The validators for the next access to one destination. Another destination may have another file
/// with the same date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::publication) struct Condition {
    destination: Destination,
    validators: Validators,
}

/// The client for origins.
///
/// # Errors
/// A sentence: TLS setup failed.
pub(in crate::publication) fn client() -> Result<Client, String> {
    client_for("robots.txt of the origin")
}

/// The client for one comparison of an origin's file with the policy.
///
/// # Errors
/// A sentence: TLS setup failed.
pub(in crate::publication) fn comparing_client() -> Result<Client, String> {
    client_for("robots.txt of the origin, compared with the policy")
}

fn client_for(purpose: &str) -> Result<Client, String> {
    Client::new(fetch::Settings {
        user_agent: &format!("{} (+{purpose})", fetch::PRODUCT),
        reach: Reach::Any,
        redirects: Redirects::Return,
        authorities: None,
        resolver: None,
    })
}

impl Fetcher {
    /// A fetcher that follows redirects to these hosts.
    pub(super) fn new(client: Client, hosts: KnownHosts) -> Self {
        Self { client, hosts: Arc::new(hosts), deadline: fetch::DEADLINE }
    }

    /// The fetcher with another deadline.
    #[cfg(test)]
    pub(super) fn within(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// Fetches the first destination that answers, unless its file is unchanged since `condition`.
    pub(super) async fn fetch(
        &self,
        destinations: Vec<Destination>,
        condition: Option<Condition>,
    ) -> Fetched {
        let mut destinations = destinations.into_iter();
        let mut fetched = Fetched::from(AccessResult::Unreachable(Unreachable::Timeout));
        while let (AccessResult::Unreachable(_), Some(next)) =
            (&fetched.result, destinations.next())
        {
            fetched = self.fetch_one(next, condition.clone()).await;
        }
        fetched
    }

    async fn fetch_one(&self, destination: Destination, condition: Option<Condition>) -> Fetched {
        let late = |_| Fetched::from(AccessResult::Unreachable(Unreachable::Timeout));
        let all = self.follow(destination, condition);
        timeout(self.deadline, all).await.unwrap_or_else(late)
    }

    async fn follow(&self, mut at: Destination, condition: Option<Condition>) -> Fetched {
        let mut visited = Vec::new();
        loop {
            let condition = condition.as_ref().filter(|condition| condition.destination == at);
            let response = match self.get(&at, condition).await {
                Ok(response) => response,
                Err(failure) => return AccessResult::Unreachable(unreachable(failure)).into(),
            };
            if !matches!(response.status(), 301..=303 | 307 | 308) {
                return read(response, at, condition.is_some()).await;
            }
            let next = match at.redirected(response.location(), &self.hosts) {
                Ok(next) => next,
                Err(refusal) => return AccessResult::Refused(refusal).into(),
            };
            visited.push(at);
            if visited.contains(&next) {
                return AccessResult::Refused(Refusal::RedirectLoop).into();
            }
            if visited.len() > fetch::REDIRECTS {
                return AccessResult::Refused(Refusal::TooManyRedirects).into();
            }
            at = next;
        }
    }

    async fn get(
        &self,
        at: &Destination,
        condition: Option<&Condition>,
    ) -> Result<Response, Failure> {
        let unconditional = Validators::default();
        let request = Request {
            url: &at.url(),
            host: Some(&at.host),
            forwarded_proto: at.scheme.as_deref(),
            validators: condition.map_or(&unconditional, |condition| &condition.validators),
        };
        self.client.get(request).await
    }
}

impl From<AccessResult> for Fetched {
    fn from(result: AccessResult) -> Self {
        Self { result, condition: None, fresh_for: None }
    }
}

async fn read(response: Response, destination: Destination, is_conditional: bool) -> Fetched {
    let head = Head {
        status: response.status(),
        content_type: response.content_type(),
        is_encoded: response.is_encoded(),
        is_conditional,
    };
    let fresh_for = response.fresh_for();
    if let Some(result) = head.result() {
        return Fetched { result, condition: None, fresh_for };
    }
    let validators = response.validators();
    let condition = (!validators.is_empty()).then_some(Condition { destination, validators });
    let result = match response.body(robots::LEAST_BYTES).await {
        Ok(body) => access_result::of_body(body),
        Err(Failure::TooLarge) => AccessResult::Refused(Refusal::TooLarge),
        Err(failure) => AccessResult::Unreachable(unreachable(failure)),
    };
    Fetched { result, condition, fresh_for }
}

fn unreachable(failure: Failure) -> Unreachable {
    match failure {
        Failure::Timeout(_) => Unreachable::Timeout,
        failure => Unreachable::Transport(failure.to_string()),
    }
}
