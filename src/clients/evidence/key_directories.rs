//! The keys of crawlers that sign their requests, from the directories in the catalogue.
//!
//! A request may name any directory. Beadle fetches only the directories of known crawlers, in the
//! background, so no client can make it fetch anything else. A signature with an unknown key of such
//! a directory leaves the claim open until Beadle has fetched the directory once more.
//!
//! A directory that lost keys does not take them out of use at once. New keys count at once.

use std::{collections::VecDeque, sync::Arc};

use arc_swap::ArcSwap;
use http::HeaderMap;
use jiff::Timestamp;
use parking_lot::Mutex;

use crate::{
    base::{diagnostic::Diagnostic, metrics::Metrics, product_token::ProductToken},
    formats::signature::{
        self, AgentUrl, DirectoryResponse, KeySet, Limits, Message, Reason, Scheme, Signatures,
        Verification,
    },
    rules::{
        crawlers::{Crawler, Evidence, Testimony},
        policy::{self, Policy},
    },
};

use super::{
    refresh::{Collection, Refusal, Wishes},
    source::{Content, Copies, Doubt, Suspect, Terms},
};

/// The most unknown keys of a directory that wait for its next fetch.
const MOST_WAITING: usize = 4;
/// The most unknown keys of a directory to remember as absent.
const MOST_ABSENT: usize = 64;

#[derive(Debug)]
pub(super) struct Keys {
    directories: Vec<Directory>,
    /// Whether the policy has signatures checked. If not, all keys are unknown.
    are_checked: bool,
    wishes: Arc<Wishes>,
}

#[derive(Debug)]
struct Directory {
    url: String,
    owners: Vec<Owner>,
    keys: ArcSwap<Option<KeySet>>,
    unknown: Mutex<Unknown>,
}

/// The keys in signatures that the directory does not have, by id.
#[derive(Debug, Default)]
struct Unknown {
    /// Those of which the next fetch decides.
    waiting: Vec<String>,
    /// Those that it still did not have after they were seen.
    absent: VecDeque<String>,
}

#[derive(Debug)]
struct Owner {
    product_token: ProductToken,
    operator: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct Signers {
    /// The directories whose keys verified a signature, by number.
    verified: Vec<usize>,
    /// The directories that may have the key of an otherwise valid signature.
    pending: Vec<usize>,
}

impl Keys {
    pub(super) fn new(policy: &Policy, settings: &policy::Evidence) -> Self {
        let copies = Copies::new(settings.folder.as_deref(), KeyKeeper::KIND);
        let mut directories: Vec<Directory> = Vec::new();
        for crawler in policy.catalogue.iter().filter(|crawler| settings.is_about(crawler)) {
            let agent =
                crawler.entry.signature_agent.as_deref().and_then(|url| AgentUrl::new(url).ok());
            let Some(url) = agent.map(|agent| agent.directory_url()) else { continue };
            let owner = Owner {
                product_token: crawler.product_token().clone(),
                operator: crawler.operator().map(str::to_owned),
            };
            match directories.iter_mut().find(|directory| directory.url == url) {
                Some(directory) => directory.owners.push(owner),
                None => {
                    let copy = copies.read(&url).and_then(|octets| KeySet::read(&octets).ok());
                    let copy = copy.filter(|keys| !keys.is_empty());
                    let (owners, keys) = (vec![owner], ArcSwap::from_pointee(copy));
                    directories.push(Directory { url, owners, keys, unknown: Mutex::default() });
                }
            }
        }
        Self { directories, are_checked: settings.signatures, wishes: Arc::default() }
    }

    /// The signers of a message. Counts the outcome of each signature, if signatures are checked.
    pub(super) fn signers(
        &self,
        message: &Message<'_>,
        now: Timestamp,
        metrics: &Metrics,
    ) -> Signers {
        let mut signers = Signers::default();
        let count = |outcome| {
            if self.are_checked {
                metrics.signature(outcome);
            }
        };
        let signatures = match signature::read(message) {
            Signatures::Unsigned => return signers,
            Signatures::Invalid(reason) => {
                count(reason.as_str());
                return signers;
            }
            Signatures::Signed(signatures) => signatures,
        };
        let limits = Limits::default();
        for signature in &signatures {
            let url = match signature.agent() {
                Ok(agent) => agent.directory_url(),
                Err(reason) => {
                    count(reason.as_str());
                    continue;
                }
            };
            let mut directories = self.directories.iter().enumerate();
            let Some((number, directory)) = directories.find(|(_, directory)| directory.url == url)
            else {
                count("unknown-signer");
                continue;
            };
            let (keys, none) = (directory.keys.load(), KeySet::default());
            let known = Option::as_ref(&keys).filter(|_| self.are_checked);
            let among = known.unwrap_or(&none);
            let outcome = signature::verify(signature, message, among, now.as_second(), &limits);
            if outcome == Verification::Unverified(Reason::UnknownKey) {
                count(if known.is_some() { Reason::UnknownKey.as_str() } else { "keys-not-there" });
                // No key could verify any other signature, so it leaves nothing open.
                let is_open = signature.is_plausible()
                    && (known.is_none() || self.may_have(number, signature.key_id()));
                signers.pending.extend(is_open.then_some(number));
                continue;
            }
            count(outcome.reason().map_or("verified", Reason::as_str));
            if outcome == Verification::Verified {
                signers.verified.push(number);
            }
        }
        signers
    }

    /// Whether a directory may have a key that it did not have at its last fetch. Then it is fetched
    /// again soon.
    fn may_have(&self, number: usize, key_id: &str) -> bool {
        let Some(directory) = self.directories.get(number) else { return false };
        let mut unknown = directory.unknown.lock();
        if unknown.absent.iter().any(|absent| absent == key_id) {
            return false;
        }
        if unknown.waiting.iter().any(|waiting| waiting == key_id) {
            return true;
        }
        let has_room = unknown.waiting.len() < MOST_WAITING;
        if has_room {
            unknown.waiting.push(key_id.to_owned());
            self.wishes.add(number);
        }
        has_room
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

impl Directory {
    /// Puts keys into use. Those that are still unknown are absent if the fetch was `complete`.
    fn publish(&self, keys: KeySet, is_complete: bool) {
        let mut unknown = self.unknown.lock();
        let Unknown { waiting, absent } = &mut *unknown;
        waiting.retain(|key_id| !keys.has(key_id));
        if is_complete {
            absent.extend(waiting.drain(..));
            let surplus = absent.len().saturating_sub(MOST_ABSENT);
            absent.drain(..surplus);
        }
        drop(unknown);
        self.keys.store(Arc::new(Some(keys)));
    }

    /// Checks the signature of a directory over itself. An unsigned one is usable, and one with a
    /// signature that cannot be verified counts as unsigned.
    fn check_signature(&self, content: &Content, keys: &KeySet) -> Result<(), Reason> {
        let rest = self.url.strip_prefix("https://").unwrap_or(&self.url);
        let (authority, target) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let none = HeaderMap::new();
        let (authority, target) = (authority.as_bytes(), target.as_bytes());
        let (method, scheme) = ("GET", Scheme::Https);
        let request = Message { method, scheme, authority, target, fields: &none };
        let (fields, content) = (&content.fields, &content.octets);
        let response = DirectoryResponse { request: &request, fields, content };
        let now = Timestamp::now().as_second();
        match signature::proven_keys(&response, keys, now, &Limits::default()) {
            Err(reason) if reason.verification() == Verification::Invalid(reason) => Err(reason),
            _ => Ok(()),
        }
    }
}

#[derive(Debug)]
pub(super) struct KeyKeeper {
    keys: Arc<Keys>,
    accepted: Vec<Accepted>,
    copies: Copies,
}

#[derive(Debug, Default)]
struct Accepted {
    keys: Option<KeySet>,
    suspect: Suspect<KeySet>,
}

impl KeyKeeper {
    const KIND: &'static str = "keys";

    pub(super) fn new(keys: Arc<Keys>, settings: &policy::Evidence) -> Self {
        let accepted = |directory: &Directory| Accepted {
            keys: Option::clone(&directory.keys.load()),
            ..Accepted::default()
        };
        let accepted = keys.directories.iter().map(accepted).collect();
        Self { keys, accepted, copies: Copies::new(settings.folder.as_deref(), Self::KIND) }
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

    fn take(&mut self, number: usize, content: &Content) -> Result<Vec<Diagnostic>, Refusal> {
        let directory = self.keys.directories.get(number).zip(self.accepted.get_mut(number));
        let Some((directory, accepted)) = directory else { return Ok(Vec::new()) };
        let refused =
            |reason: Reason| Refusal { code: reason.as_str(), reason: reason.to_string() };
        let fresh = KeySet::read(&content.octets).map_err(refused)?;
        directory.check_signature(content, &fresh).map_err(refused)?;
        match &accepted.keys {
            None if fresh.is_empty() => return Err(refused(Reason::DirectoryEmpty)),
            None => {}
            Some(old) => {
                if let Err(reason) = old.check_successor(&fresh) {
                    let doubt = match reason {
                        Reason::DirectoryReplaced => Doubt::Replacement,
                        _ => Doubt::Loss,
                    };
                    if !accepted.suspect.is_believed(&fresh, doubt) {
                        directory.publish(old.with(&fresh), false);
                        return Err(refused(reason));
                    }
                }
            }
        }
        accepted.suspect.clear();
        accepted.keys = Some(fresh.clone());
        self.copies.write(&directory.url, &content.octets);
        directory.publish(fresh, true);
        Ok(Vec::new())
    }

    fn renew(&mut self, number: usize) {
        let directory = self.keys.directories.get(number).zip(self.accepted.get_mut(number));
        let Some((directory, accepted)) = directory else { return };
        accepted.suspect.clear();
        if let Some(keys) = &accepted.keys {
            directory.publish(keys.clone(), true);
        }
    }

    fn has_copy(&self, number: usize) -> bool {
        self.keys.directories.get(number).is_some_and(|directory| directory.keys.load().is_some())
    }

    fn wishes(&self) -> Option<Arc<Wishes>> {
        Some(Arc::clone(&self.keys.wishes))
    }
}

#[cfg(test)]
mod tests;
