//! What is looked at to tell crawlers from those who borrow their names.
//!
//! Requests ask [`Verifier::standing`], which looks at what is in memory and never waits. What is
//! in memory is fetched and looked up by tasks behind them: published lists of addresses, names of
//! addresses, keys. They end with the verifier.

use std::{cell::OnceCell, net::IpAddr, sync::Arc, time::Duration};

use http::HeaderMap;
use jiff::Timestamp;
use tokio::task::AbortHandle;

use crate::{
    crawlers::{
        Crawler, Standing, Testimony, ranges,
        signature::{Fields, Message},
    },
    diagnostic::Diagnostic,
    metrics::Metrics,
    policy::{self, Policy},
    proxy::fetching::Validators,
};

use self::{
    fetch::{Fetched, Fetcher, Terms},
    keys::{KeyKeeper, Keys, Signers},
    lists::{ListKeeper, Lists},
    names::{Names, Resolver},
};

mod fetch; // bounded, from public addresses only
mod keys; // who signs, and with which keys
mod lists; // published addresses
mod names; // names of addresses that lead back to them
mod refresh; // again and again, and the last good copies

/// A host that is fetched from is found within this time or not.
const LOOK_UP: Duration = Duration::from_secs(5);

/// Everything that is known about who is asking.
#[derive(Debug)]
pub struct Verifier {
    settings: policy::Evidence,
    lists: Arc<Lists>,
    /// Absent where none are resolved.
    names: Option<Names>,
    keys: Arc<Keys>,
    metrics: Arc<Metrics>,
    tasks: Vec<AbortHandle>,
}

/// Who asks: what one request tells of its sender beside a name.
#[expect(missing_debug_implementations, reason = "a message is no value to be shown")]
pub struct Asker<'a> {
    /// Absent where it is not the client's own.
    address: Option<IpAddr>,
    message: Option<Message<'a>>,
    /// Found out once, whatever names the request claims.
    signers: OnceCell<Signers>,
}

impl<'a> Asker<'a> {
    /// The sender of a message. Without an address, or with one that no client on the Internet has,
    /// some proxy hides who asks: that says nothing of anybody.
    pub fn new(address: Option<IpAddr>, message: Option<Message<'a>>) -> Self {
        let address = address.filter(|address| ranges::is_public(*address));
        Self { address, message, signers: OnceCell::new() }
    }
}

impl Asker<'_> {
    /// Whether a signature came with the message, right or wrong.
    fn is_signed(&self) -> bool {
        let mut is_signed = false;
        if let Some(message) = &self.message {
            message.fields.each_line("signature", &mut |_| is_signed = true);
        }
        is_signed
    }
}

impl Verifier {
    /// Starts to fetch what `policy` asks for, on the current runtime; `None` where it asks for
    /// nothing.
    ///
    /// # Errors
    /// Where the policy names a file of authorities, or name servers, that can't be used.
    pub fn start(policy: &Policy, metrics: &Arc<Metrics>) -> Result<Option<Arc<Self>>, Diagnostic> {
        let Some(settings) = &policy.evidence else { return Ok(None) };
        let fetcher = fetcher(settings)?;
        let (mut verifier, lists, keys) = Self::with_copies(policy, settings, metrics);
        let (refresh, metrics) = (settings.refresh, || Arc::clone(metrics));
        if settings.ip_ranges {
            let lists = refresh::run(lists, refresh, fetcher.clone(), metrics());
            verifier.tasks.push(tokio::spawn(lists).abort_handle());
        }
        if settings.reverse_dns {
            verifier.names = Some(Names::start(&settings.name_servers, &verifier.metrics)?);
        }
        if settings.signatures {
            let keys = refresh::run(keys, refresh, fetcher, metrics());
            verifier.tasks.push(tokio::spawn(keys).abort_handle());
        }
        Ok(Some(Arc::new(verifier)))
    }

    /// What can be told without a network: by the copies that were kept. `None` where the policy
    /// asks for nothing.
    pub fn at_rest(policy: &Policy) -> Option<Self> {
        let settings = policy.evidence.as_ref()?;
        Some(Self::with_copies(policy, settings, &Arc::default()).0)
    }

    fn with_copies(
        policy: &Policy,
        settings: &policy::Evidence,
        metrics: &Arc<Metrics>,
    ) -> (Self, ListKeeper, KeyKeeper) {
        let lists = Arc::new(Lists::default());
        let keys = Arc::new(Keys::new(policy, settings));
        let list_keeper = ListKeeper::new(Arc::clone(&lists), policy, settings);
        let key_keeper = KeyKeeper::new(Arc::clone(&keys), settings);
        let (settings, metrics) = (settings.clone(), Arc::clone(metrics));
        (
            Self { settings, lists, names: None, keys, metrics, tasks: Vec::new() },
            list_keeper,
            key_keeper,
        )
    }

    /// Ends the fetching, for a successor does it. Requests that are under way, and connections that
    /// stay open for long, ask what is in memory.
    pub fn retire(&self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }

    /// What is known of a client that claims to be `crawler`.
    pub fn standing(&self, crawler: &Crawler, asker: &Asker<'_>) -> Standing {
        let settings = &self.settings;
        if !settings.is_about(crawler) {
            return Standing::unexamined(crawler);
        }
        let signature = || {
            let Some(message) = &asker.message else { return Testimony::Nothing };
            let signers = asker
                .signers
                .get_or_init(|| self.keys.signers(message, Timestamp::now(), &self.metrics));
            self.keys.answer(crawler, signers)
        };
        let signature = match crawler.signature_agent() {
            _ if settings.signatures => signature(),
            Some(_) if asker.is_signed() => Testimony::NotYet,
            _ => Testimony::Nothing,
        };
        // What is published and not looked at leaves the question open.
        let ip_range = match (asker.address, crawler.ip_ranges()) {
            (_, []) => Testimony::Nothing,
            (Some(address), _) if settings.ip_ranges => self.lists.answer(crawler, address),
            _ => Testimony::NotYet,
        };
        // No name server is asked about those who are confirmed already.
        let names =
            self.names.as_ref().filter(|_| ![signature, ip_range].contains(&Testimony::Yes));
        let reverse_dns = match (names, asker.address, crawler.reverse_dns()) {
            (_, _, []) => Testimony::Nothing,
            (Some(names), Some(address), suffixes) => names.answer(address, suffixes),
            _ => Testimony::NotYet,
        };
        Standing::of([signature, ip_range, reverse_dns])
    }
}

/// What is at `url` now, of `octets` octets at most when decompressed; redirects are followed. It is
/// fetched as evidence is, with the authorities, networks and name servers of a policy's section.
///
/// # Errors
/// A sentence: the settings can't be used, the address is not fetched from, or there was no answer
/// that counts.
pub async fn fetch_once(
    url: &str,
    octets: usize,
    settings: Option<&policy::Evidence>,
) -> Result<Vec<u8>, String> {
    let fetcher = match settings {
        Some(settings) => fetcher(settings).map_err(|finding| finding.message)?,
        None => Fetcher::new(None, &[], None)?,
    };
    let terms = Terms { octets, redirects: true };
    match fetcher.fetch(url, &Validators::default(), terms).await {
        Ok(Fetched::Fresh { octets, .. }) => Ok(octets),
        Ok(Fetched::Unchanged) => {
            Err("unchanged, though nothing was asked that could be".to_owned())
        }
        Err(failure) => Err(failure.to_string()),
    }
}

fn fetcher(settings: &policy::Evidence) -> Result<Fetcher, Diagnostic> {
    let authorities = settings.certificate_authorities.as_deref();
    let resolver = match settings.name_servers.as_slice() {
        [] => None,
        servers => Some(Resolver::new(servers, LOOK_UP)?),
    };
    Fetcher::new(authorities, &settings.allow_addresses, resolver)
        .map_err(|error| Diagnostic::error("evidence.certificate_authorities", error))
}

impl Fields for HeaderMap {
    fn each_line<'f>(&'f self, name: &str, line: &mut dyn FnMut(&'f [u8])) {
        self.get_all(name).iter().for_each(|value| line(value.as_bytes()));
    }
}

impl Drop for Verifier {
    fn drop(&mut self) {
        self.retire();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn ours_a_verifier_that_is_retired_fetches_no_more() {
        let text = "crawlers: [{ product_token: ListBot, ip_ranges: [\"https://a.invalid/x\"], \
                    signature_agent: \"https://a.invalid\" }]\n\
                    evidence: { user_agents: [ListBot], reverse_dns: false }\n\
                    sites: [{ hosts: [a.example], origin: \"http://127.0.0.1:1\" }]\n";
        let (policy, findings) = policy::read("test.yaml", text.as_bytes());
        let policy = policy.unwrap_or_else(|| panic!("{findings:?}"));
        let verifier = Verifier::start(&policy, &Arc::default()).expect("nothing is wrong");
        let verifier = verifier.expect("the policy asks for one");
        assert_eq!(verifier.tasks.len(), 2);
        tokio::task::yield_now().await;
        assert!(!verifier.tasks.iter().any(AbortHandle::is_finished));
        verifier.retire();
        while !verifier.tasks.iter().all(AbortHandle::is_finished) {
            tokio::task::yield_now().await;
        }
    }
}
