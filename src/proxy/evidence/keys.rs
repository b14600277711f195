//! The keys with which crawlers sign their requests, from the directories that the catalogue names.
//!
//! A request may name any directory; only those of known crawlers are fetched, ahead of time and
//! again, so that no client can make the proxy fetch anything.

use std::sync::Arc;

use arc_swap::ArcSwap;
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
    fetch::Terms,
    refresh::{Collection, Copies, Doubt},
};

/// The directories, as requests ask them.
#[derive(Debug)]
pub(super) struct Keys {
    directories: Vec<Directory>,
}

/// One signer.
#[derive(Debug)]
struct Directory {
    url: String,
    /// The crawlers that name it, and who runs them.
    crawlers: Vec<(ProductToken, Option<String>)>,
    keys: ArcSwap<Option<KeySet>>,
}

/// Who has signed a request, as far as is known.
#[derive(Debug, Default)]
pub(super) struct Signers {
    /// The numbers of the directories with whose keys it is signed.
    proven: Vec<usize>,
    /// Those whose keys are not there yet, of signatures that are not wrong by themselves.
    open: Vec<usize>,
}

impl Keys {
    /// The directories of the policy's crawlers, with the copies that were kept.
    pub(super) fn new(policy: &Policy, settings: &policy::Evidence) -> Self {
        let copies = Copies::new(settings.folder.as_deref(), KeyKeeper::KIND);
        let mut directories: Vec<Directory> = Vec::new();
        for crawler in policy.catalogue.iter().filter(|crawler| settings.is_about(crawler)) {
            let agent = crawler.signature_agent().and_then(|url| AgentUrl::new(url).ok());
            let Some(url) = agent.map(|agent| agent.directory_url()) else { continue };
            let who = (crawler.product_token().clone(), crawler.operator().map(str::to_owned));
            match directories.iter_mut().find(|directory| directory.url == url) {
                Some(directory) => directory.crawlers.push(who),
                None => {
                    let copy = copies.read(&url).and_then(|octets| KeySet::read(&octets).ok());
                    let (crawlers, keys) = (vec![who], ArcSwap::from_pointee(copy));
                    directories.push(Directory { url, crawlers, keys });
                }
            }
        }
        Self { directories }
    }

    /// Who has signed this. Counts what came of each signature.
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
                signers.open.push(number);
                metrics.signature("keys-not-there");
                continue;
            }
            metrics.signature(outcome.reason().map_or("verified", Reason::as_str));
            if outcome == Verification::Verified {
                signers.proven.push(number);
            }
        }
        signers
    }

    /// Whether those who signed are `crawler`, or run by whoever runs it. A signature of somebody
    /// else speaks against the claim; one that proves nothing doesn't. The keys of somebody else
    /// may be missing: they could not speak for the claim, so nobody gains by naming them.
    pub(super) fn answer(&self, crawler: &Crawler, signers: &Signers) -> Testimony {
        let is_theirs = |number: &usize| {
            let Some(directory) = self.directories.get(*number) else { return false };
            directory.crawlers.iter().any(|(token, operator)| {
                token == crawler.product_token()
                    || (operator.is_some() && operator.as_deref() == crawler.operator())
            })
        };
        if signers.proven.iter().any(is_theirs) {
            Testimony::Yes
        } else if signers.open.iter().any(is_theirs) {
            Testimony::NotYet
        } else if signers.proven.is_empty() || !crawler.publishes_evidence() {
            // Whoever publishes nothing may well send through a platform that signs for itself.
            Testimony::Nothing
        } else {
            Testimony::No
        }
    }
}

/// What keeps the keys up to date.
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
    // A redirect would let whoever writes it choose the keys.
    const TERMS: Terms = Terms { octets: KeySet::MAX_OCTETS, redirects: false };
    const OBEYS_MAX_AGE: bool = true;

    fn urls(&self) -> Vec<String> {
        self.keys.directories.iter().map(|directory| directory.url.clone()).collect()
    }

    fn take(&mut self, number: usize, octets: Vec<u8>) -> Result<(), Doubt> {
        let Some(directory) = self.keys.directories.get(number) else { return Ok(()) };
        let fresh =
            KeySet::read(&octets).map_err(|reason| (reason.as_str(), reason.to_string()))?;
        self.copies.write(&directory.url, &octets);
        directory.keys.store(Arc::new(Some(fresh)));
        Ok(())
    }

    fn has_copy(&self, number: usize) -> bool {
        self.keys.directories.get(number).is_some_and(|directory| directory.keys.load().is_some())
    }
}
