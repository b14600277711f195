//! One order: the proof that the host is Beadle's, and the certificate.

use std::{sync::Arc, time::Duration};

use instant_acme::{
    Account, AuthorizationStatus, CertificateIdentifier, ChallengeType, Error, Identifier,
    NewOrder, Order, OrderStatus, RetryPolicy,
};

use crate::outside::tls::Challenges;

use super::account::said;

/// How long an authority may take to check a proof, and to issue.
const PATIENCE: RetryPolicy = RetryPolicy::new().backoff(1.5).timeout(Duration::from_secs(120));
/// The problem of an account that the authority doesn't know (RFC 8555 §6.7).
const NO_ACCOUNT: &str = "urn:ietf:params:acme:error:accountDoesNotExist";

#[derive(Debug)]
pub(super) enum Fault {
    /// Occurs when the authority doesn't know the account.
    UnknownAccount,
    /// Occurs otherwise; a sentence.
    Refused(String),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match error {
            Error::Api(problem) if problem.r#type.as_deref() == Some(NO_ACCOUNT) => {
                Self::UnknownAccount
            }
            other => Self::Refused(said(other)),
        }
    }
}

/// Orders a certificate for a host, which replaces another one. Returns key and chain as one PEM text.
pub(super) async fn place(
    account: &Account,
    host: &str,
    replaced: Option<CertificateIdentifier<'static>>,
    challenges: &Arc<Challenges>,
) -> Result<String, Fault> {
    let hosts = [Identifier::Dns(host.to_owned())];
    let mut order = new_order(account, &hosts, replaced).await?;
    let mut open = Vec::new();
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization?;
        match authorization.status {
            AuthorizationStatus::Pending => {}
            // Of an earlier order.
            AuthorizationStatus::Valid => continue,
            ref other => return Err(Fault::Refused(format!("the authorization is {other:?}"))),
        }
        let mut challenge = authorization.challenge(ChallengeType::Http01).ok_or_else(|| {
            Fault::Refused("the authority offers no HTTP-01 challenge".to_owned())
        })?;
        let answer = challenge.key_authorization();
        open.push(challenges.open(&challenge.token, answer.as_str()));
        challenge.set_ready().await?;
    }
    if order.poll_ready(&PATIENCE).await? != OrderStatus::Ready {
        return Err(Fault::Refused(failed_proof(&mut order).await));
    }
    drop(open);
    let key = order.finalize().await?;
    let chain = order.poll_certificate(&PATIENCE).await?;
    Ok(format!("{}\n{chain}", key.trim_end()))
}

/// An authority may know nothing of the replaced certificate, or count it as replaced already.
async fn new_order(
    account: &Account,
    hosts: &[Identifier],
    replaced: Option<CertificateIdentifier<'static>>,
) -> Result<Order, Fault> {
    if let Some(replaced) = replaced {
        match account.new_order(&NewOrder::new(hosts).replaces(replaced)).await.map_err(Fault::from)
        {
            Err(Fault::Refused(reason)) => {
                tracing::debug!(reason, "an order that replaces a certificate was refused");
            }
            other => return other,
        }
    }
    Ok(account.new_order(&NewOrder::new(hosts)).await?)
}

async fn failed_proof(order: &mut Order) -> String {
    let mut authorizations = order.authorizations();
    while let Some(Ok(mut authorization)) = authorizations.next().await {
        let Ok(state) = authorization.refresh().await else { continue };
        let mut problems = state.challenges.iter().filter_map(|challenge| challenge.error.clone());
        if let Some(problem) = problems.next() {
            return said(Error::Api(problem));
        }
    }
    "the authority did not accept the proof".to_owned()
}
