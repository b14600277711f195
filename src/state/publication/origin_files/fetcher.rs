//! The fetcher of an origin's robots.txt: bounded in time and size, conditional, with its own
//! handling of redirects (RFC 9309 §2.3.1).
//!
//! The origin belongs to the operator, so it may have any address. Another server has a public one.

use std::{sync::Arc, time::Duration};

use tokio::time::timeout;

use crate::{
    base::{
        diagnostic::Diagnostic,
        fetch::{self, Client, Failure, Reach, Redirects, Request, Response, Validators},
    },
    formats::robots,
    rules::crawlers::ranges,
};

use super::{
    access_result::{AccessResult, Fault},
    body,
    destination::{Destination, KnownHosts, Owner},
};

#[derive(Clone, Debug)]
pub(super) struct Fetcher {
    clients: Clients,
    hosts: Arc<KnownHosts>,
    deadline: Duration,
}

/// The result of an access, with the data for the next one.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) result: AccessResult,
    /// What is probably a mistake, or was changed.
    pub(super) remarks: Vec<Diagnostic>,
    /// Set if the file has validators.
    pub(super) condition: Option<Condition>,
    /// The time for which the result stays fresh, if the response has one.
    pub(super) fresh_for: Option<Duration>,
}

/// The validators for the next access to one destination. Another destination may have another file
/// with the same date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Condition {
    destination: Destination,
    validators: Validators,
}

#[derive(Clone, Debug)]
pub(crate) struct Clients {
    /// For the origins of the policy, at any address.
    pub(crate) own: Client,
    /// For the destinations of redirects, at public addresses.
    foreign: Client,
}

impl Clients {
    pub(crate) fn new(purpose: &str) -> Result<Self, String> {
        Self::reaching(purpose, Reach::Elsewhere { is_public: ranges::is_public })
    }

    /// Clients with a reach for the destinations of redirects.
    pub(super) fn reaching(purpose: &str, foreign: Reach) -> Result<Self, String> {
        let client = |reach| {
            Client::new(fetch::Settings {
                user_agent: &format!("{} (+{purpose})", fetch::PRODUCT),
                reach,
                redirects: Redirects::Return,
                authorities: None,
                resolver: None,
            })
        };
        Ok(Self { own: client(Reach::Any)?, foreign: client(foreign)? })
    }
}

impl Fetcher {
    pub(super) fn new(clients: Clients, hosts: KnownHosts) -> Self {
        Self { clients, hosts: Arc::new(hosts), deadline: fetch::DEADLINE }
    }

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
        let late = || Fetched::from(AccessResult::Failed(Fault::Timeout));
        let mut fetched = late();
        while let AccessResult::Failed(fault) = &fetched.result
            && fault.is_unreachable()
            && let Some(next) = destinations.next()
        {
            let all = self.follow(next, condition.clone());
            fetched = timeout(self.deadline, all).await.unwrap_or_else(|_| late());
        }
        fetched
    }

    async fn follow(&self, mut at: Destination, condition: Option<Condition>) -> Fetched {
        let mut visited = Vec::new();
        let mut redirect = Vec::new();
        loop {
            let condition = condition.as_ref().filter(|condition| condition.destination == at);
            let response = match self.get(&at, condition).await {
                Ok(response) => response,
                Err(Failure::Private | Failure::Address) if at.owner == Owner::Foreign => {
                    return AccessResult::Failed(Fault::RedirectAway(redirect)).into();
                }
                Err(failure) => return AccessResult::Failed(unreachable(failure)).into(),
            };
            if !matches!(response.status(), 301..=303 | 307 | 308) {
                return read(response, at, condition.is_some()).await;
            }
            let next = match at.redirected(response.location(), &self.hosts) {
                Ok(next) => next,
                Err(fault) => return AccessResult::Failed(fault).into(),
            };
            redirect = response.location().unwrap_or_default().to_vec();
            visited.push(at);
            if visited.contains(&next) {
                return AccessResult::Failed(Fault::RedirectLoop).into();
            }
            if visited.len() > fetch::REDIRECTS {
                return AccessResult::Failed(Fault::TooManyRedirects).into();
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
        let (client, forwarded) = match at.owner {
            Owner::Policy => (&self.clients.own, Some((&*at.scheme, &*at.host))),
            Owner::Foreign => (&self.clients.foreign, None),
        };
        let request = Request {
            url: &at.url(),
            host: Some(&at.host),
            forwarded,
            validators: condition.map_or(&unconditional, |condition| &condition.validators),
        };
        client.get(request).await
    }
}

impl From<AccessResult> for Fetched {
    fn from(result: AccessResult) -> Self {
        Self { result, remarks: Vec::new(), condition: None, fresh_for: None }
    }
}

async fn read(response: Response, destination: Destination, is_conditional: bool) -> Fetched {
    let (status, is_encoded) = (response.status(), response.is_encoded());
    let fresh_for = response.fresh_for();
    if let Some(result) = AccessResult::of_head(status, is_encoded, is_conditional) {
        return Fetched { fresh_for, ..Fetched::from(result) };
    }
    let validators = response.validators();
    let condition = (!validators.is_empty()).then_some(Condition { destination, validators });
    let content_type = response.content_type().map(<[u8]>::to_vec);
    let (result, remarks) = match response.beginning(robots::LEAST_BYTES).await {
        Ok((octets, is_cut)) => body::result(octets, is_cut, content_type.as_deref()),
        Err(failure) => (AccessResult::Failed(unreachable(failure)), Vec::new()),
    };
    Fetched { result, remarks, condition, fresh_for }
}

fn unreachable(failure: Failure) -> Fault {
    match failure {
        Failure::Timeout(_) => Fault::Timeout,
        failure => Fault::Transport(failure.to_string()),
    }
}
