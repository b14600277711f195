//! The keys of crawlers that sign their requests, from the directories in the catalogue.
//!
//! A request may name any directory. Beadle fetches only the directories of known crawlers, in the
//! background, so no client can make it fetch anything.

use std::sync::Arc;

use arc_swap::ArcSwap;
use bytes::Bytes;
use jiff::Timestamp;

use crate::{
    crawlers::{
        Crawler, Evidence, Testimony,
        signature::{self, AgentUrl, KeySet, Limits, Message, Reason, Signatures, Verification},
    },
    metrics::Metrics,
    policy::{self, Policy},
    product_token::ProductToken,
};

use super::{
    copies::Copies,
    refresh::{Collection, Refusal},
    source::Terms,
};

/// The key directories of all crawlers.
#[derive(Debug)]
pub(super) struct Keys {
    directories: Vec<Directory>,
}

/// One key directory.
#[derive(Debug)]
struct Directory {
    url: String,
    /// The crawlers that name it.
    owners: Vec<Owner>,
    keys: ArcSwap<Option<KeySet>>,
}

/// A crawler that signs with the keys of a directory.
#[derive(Debug)]
struct Owner {
    product_token: ProductToken,
    operator: Option<String>,
}

/// The signers of a request.
#[derive(Debug, Default)]
pub(super) struct Signers {
    /// The directories whose keys verified a signature, by number.
    verified: Vec<usize>,
    /// The directories without keys so far, if the signature is otherwise valid.
    pending: Vec<usize>,
}

impl Keys {
    /// The directories of the policy's crawlers, with the saved copies of their keys.
    pub(super) fn new(policy: &Policy, settings: &policy::Evidence) -> Self {
        let copies = Copies::new(settings.folder.as_deref(), KeyKeeper::KIND);
        let mut directories: Vec<Directory> = Vec::new();
        for crawler in policy.catalogue.iter().filter(|crawler| settings.is_about(crawler)) {
            let agent = crawler.signature_agent().and_then(|url| AgentUrl::new(url).ok());
            let Some(url) = agent.map(|agent| agent.directory_url()) else { continue };
            let owner = Owner {
                product_token: crawler.product_token().clone(),
                operator: crawler.operator().map(str::to_owned),
            };
            match directories.iter_mut().find(|directory| directory.url == url) {
                Some(directory) => directory.owners.push(owner),
                None => {
                    let copy = copies.read(&url).and_then(|octets| KeySet::read(&octets).ok());
                    let (owners, keys) = (vec![owner], ArcSwap::from_pointee(copy));
                    directories.push(Directory { url, owners, keys });
                }
            }
        }
        Self { directories }
    }

    /// The signers of a message. Counts the outcome of each signature.
    pub(super) fn signers(
        &self,
        message: &Message<'_>,
        now: Timestamp,
        metrics: &Metrics,
    ) -> Signers {
        let mut signers = Signers::default();
        let signatures = match signature::read(message) {
            Signatures::Unsigned => return signers,
            Signatures::Invalid(reason) => {
                metrics.signature(reason.as_str());
                return signers;
            }
            Signatures::Signed(signatures) => signatures,
        };
        let limits = Limits::default();
        for signature in &signatures {
            let url = match signature.agent() {
                Ok(agent) => agent.directory_url(),
                Err(reason) => {
                    metrics.signature(reason.as_str());
                    continue;
                }
            };
            let mut directories = self.directories.iter().enumerate();
            let Some((number, directory)) = directories.find(|(_, directory)| directory.url == url)
            else {
                metrics.signature("unknown-signer");
                continue;
            };
            let (keys, none) = (directory.keys.load(), KeySet::default());
            let known = Option::as_ref(&keys);
            let among = known.unwrap_or(&none);
            let outcome = signature::verify(signature, message, among, now.as_second(), &limits);
            if known.is_none() && outcome == Verification::Unverified(Reason::UnknownKey) {
                signers.pending.push(number);
                metrics.signature("keys-not-there");
                continue;
            }
            metrics.signature(outcome.reason().map_or("verified", Reason::as_str));
            if outcome == Verification::Verified {
                signers.verified.push(number);
            }
        }
        signers
    }

    /// Whether a signer is `crawler`, or another crawler of the same operator. A valid signature of
    /// another operator contradicts the claim. An invalid signature proves nothing. Missing keys of
    /// another operator change nothing: they could not confirm the claim.
    pub(super) fn answer(&self, crawler: &Crawler, signers: &Signers) -> Testimony {
        let is_own = |number: &usize| {
            let Some(directory) = self.directories.get(*number) else { return false };
            directory.owners.iter().any(|owner| {
                owner.product_token == *crawler.product_token()
                    || (owner.operator.is_some() && owner.operator.as_deref() == crawler.operator())
            })
        };
        if signers.verified.iter().any(is_own) {
            Testimony::Yes
        } else if signers.pending.iter().any(is_own) {
            Testimony::NotYet
        } else if signers.verified.is_empty() || !crawler.publishes_evidence() {
            // A crawler without evidence may use a platform that signs in its own name.
            Testimony::Nothing
        } else {
            Testimony::No
        }
    }
}

/// The keys together with their saved copies.
#[derive(Debug)]
pub(super) struct KeyKeeper {
    keys: Arc<Keys>,
    copies: Copies,
}

impl KeyKeeper {
    const KIND: &'static str = "keys";

    pub(super) fn new(keys: Arc<Keys>, settings: &policy::Evidence) -> Self {
        Self { keys, copies: Copies::new(settings.folder.as_deref(), Self::KIND) }
    }
}

impl Collection for KeyKeeper {
    const EVIDENCE: Evidence = Evidence::Signature;
    // A redirect would let its author choose the keys.
    const TERMS: Terms = Terms { octets: KeySet::MAX_OCTETS, redirects: false };
    const OBEYS_MAX_AGE: bool = true;

    fn urls(&self) -> Vec<String> {
        self.keys.directories.iter().map(|directory| directory.url.clone()).collect()
    }

    fn take(&mut self, number: usize, octets: Bytes) -> Result<(), Refusal> {
        let Some(directory) = self.keys.directories.get(number) else { return Ok(()) };
        let fresh = KeySet::read(&octets)
            .map_err(|reason| Refusal { code: reason.as_str(), reason: reason.to_string() })?;
        self.copies.write(&directory.url, &octets);
        directory.keys.store(Arc::new(Some(fresh)));
        Ok(())
    }

    fn has_copy(&self, number: usize) -> bool {
        self.keys.directories.get(number).is_some_and(|directory| directory.keys.load().is_some())
    }
}
