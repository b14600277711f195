//! Evidence of identity: whether a request comes from the crawler that its User-Agent names.
//!
//! A crawler and the [`Sender`] of a request go in. A `Standing` comes out. [`Verifier::standing`]
//! reads only memory and never waits. Background tasks refresh the memory: published address
//! ranges, reverse DNS names and signature keys. The tasks end with the verifier.
//!
//! May use: signature, crawlers, policy, fetch, metrics, diagnostic, escape, product_token. Must not know:
//! publication, gate, proxy.

use std::{cell::OnceCell, collections::BTreeSet, net::IpAddr, sync::Arc, time::SystemTime};

use bytes::Bytes;
use http::HeaderMap;
use jiff::Timestamp;
use tokio::task::AbortHandle;

use crate::{
    base::{diagnostic::Diagnostic, fetch::Validators, metrics::Metrics},
    formats::signature::{Fields, Message},
    rules::{
        crawlers::{Crawler, Standing, Testimony, ranges},
        policy::{self, Policy},
    },
};

use self::{
    failures::Report,
    key_directories::{KeyKeeper, Keys, Signers},
    lists::{ListKeeper, Lists},
    names::{Limits, Names},
    source::{Fetched, Fetcher, Terms},
};
pub use self::{
    failures::{Failed, Sources},
    own_requests::{MARK, OwnRequests},
};

mod failures; // log lines about failed fetches
mod key_directories; // the signature keys of crawlers
mod lists; // published address ranges
mod names; // reverse DNS, confirmed forward
mod own_requests; // requests that Beadle sends to itself, by their mark
mod refresh; // repeated fetches from each source
mod source; // one fetch, within the limits of evidence

/// The evidence in memory, with the tasks that refresh it.
#[derive(Debug)]
pub struct Verifier {
    settings: policy::Evidence,
    lists: Arc<Lists>,
    /// `None` if the policy switches reverse DNS off.
    names: Option<Names>,
    keys: Arc<Keys>,
    metrics: Arc<Metrics>,
    report: Arc<Report>,
    tasks: Vec<AbortHandle>,
}

/// The sender of one request: its address and its signed message.
#[expect(missing_debug_implementations, reason = "a message has no form to show")]
pub struct Sender<'a> {
    /// `None` if it is not the client's own address.
    address: Option<IpAddr>,
    message: Option<Message<'a>>,
    now: Timestamp,
    /// Whether there is such a request. One that is only imagined causes no look-up.
    is_real: bool,
    /// Verified once for all names of the request.
    signers: OnceCell<Signers>,
}

impl<'a> Sender<'a> {
    /// The sender of a message. A missing or private address belongs to a proxy in front, so it is
    /// no evidence about the client.
    pub fn new(address: Option<IpAddr>, message: Option<Message<'a>>, now: Timestamp) -> Self {
        let address = address.filter(|address| ranges::is_public(*address));
        Self { address, message, now, is_real: true, signers: OnceCell::new() }
    }

    /// The sender of a request that is only imagined, without a signature. What is in memory answers
    /// for it; no look-up begins, and nothing is counted.
    pub fn imagined(address: Option<IpAddr>, now: Timestamp) -> Self {
        Self { is_real: false, ..Self::new(address, None, now) }
    }
}

impl Verifier {
    /// Starts the background tasks on the current runtime. Returns `None` for a policy without
    /// evidence.
    ///
    /// # Errors
    /// The file of authorities or the name servers of the policy are unusable.
    pub fn start(policy: &Policy, metrics: &Arc<Metrics>) -> Result<Option<Arc<Self>>, Diagnostic> {
        let Some(settings) = &policy.evidence else { return Ok(None) };
        let fetcher = Fetcher::new(Some(settings))?;
        let (mut verifier, lists, keys) = Self::with_copies(policy, settings, metrics);
        let (refresh, metrics) = (settings.refresh, || Arc::clone(metrics));
        let report = Arc::clone(&verifier.report);
        if settings.ip_ranges {
            let lists =
                refresh::run(lists, refresh, fetcher.clone(), metrics(), Arc::clone(&report));
            verifier.tasks.push(tokio::spawn(lists).abort_handle());
        }
        if settings.reverse_dns {
            let crawlers = policy.catalogue.iter().filter(|crawler| settings.is_about(crawler));
            let suffixes: BTreeSet<&String> =
                crawlers.flat_map(|one| &one.entry.reverse_dns).collect();
            let suffixes = suffixes.into_iter().cloned();
            let (limits, servers) = (Limits::STANDARD, &settings.name_servers);
            verifier.names = Some(Names::start(limits, servers, suffixes, &verifier.metrics)?);
        }
        if settings.signatures {
            let keys = refresh::run(keys, refresh, fetcher, metrics(), report);
            verifier.tasks.push(tokio::spawn(keys).abort_handle());
        }
        Ok(Some(Arc::new(verifier)))
    }

    /// A verifier that uses only the saved copies and no network. `None` for a policy without
    /// evidence.
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
        let (names, report, tasks) = (None, Arc::default(), Vec::new());
        (Self { settings, lists, names, keys, metrics, report, tasks }, list_keeper, key_keeper)
    }

    /// Ends the background tasks, because a successor has its own. Requests in progress and open
    /// connections still read the memory.
    pub fn retire(&self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }

    /// The address lists and key directories, by kind, with those whose last fetch failed.
    pub fn sources(&self) -> Vec<Sources> {
        self.report.sources()
    }

    pub(crate) const fn looks_up_names(&self) -> bool {
        self.names.is_some()
    }

    /// The standing of a client that claims to be `crawler`.
    pub fn standing(&self, crawler: &Crawler, sender: &Sender<'_>) -> Standing {
        let settings = &self.settings;
        if !settings.is_about(crawler) {
            return Standing::unexamined(crawler);
        }
        // Published evidence that Beadle does not check leaves the question open.
        let signature = sender.message.as_ref().map_or(Testimony::Nothing, |message| {
            let signers = sender
                .signers
                .get_or_init(|| self.keys.signers(message, sender.now, &self.metrics));
            self.keys.answer(crawler, signers)
        });
        let ip_range = match (sender.address, &*crawler.entry.ip_ranges) {
            (_, []) => Testimony::Nothing,
            (Some(address), _) if settings.ip_ranges => {
                self.lists.load().answer(crawler, address, SystemTime::from(sender.now))
            }
            _ => Testimony::NotYet,
        };
        // A confirmed claim needs no DNS look-up.
        let names =
            self.names.as_ref().filter(|_| ![signature, ip_range].contains(&Testimony::Yes));
        let reverse_dns = match (names, sender.address, &*crawler.entry.reverse_dns) {
            (_, _, []) => Testimony::Nothing,
            (Some(names), Some(address), suffixes) if sender.is_real => {
                names.answer(address, suffixes)
            }
            (Some(names), Some(address), suffixes) => names.known(address, suffixes),
            _ => Testimony::NotYet,
        };
        Standing::of([signature, ip_range, reverse_dns])
    }
}

/// The content at `url`, after redirects: `octets` octets at most, decompressed. The fetch uses the
/// authorities, networks and name servers of the policy's `evidence` section.
///
/// # Errors
/// A sentence: unusable settings, a URL that Beadle does not fetch from, or a failed fetch.
pub async fn fetch_once(
    url: &str,
    octets: usize,
    settings: Option<&policy::Evidence>,
) -> Result<Bytes, String> {
    let fetcher = Fetcher::new(settings).map_err(|finding| finding.message)?;
    let terms = Terms { octets, redirects: true };
    match fetcher.fetch(url, &Validators::default(), terms).await {
        Ok(Fetched::Fresh { content, .. }) => Ok(content.octets),
        Ok(Fetched::Unchanged) => Err("status 304 to an unconditional request".to_owned()),
        Err(failure) => Err(failure.to_string()),
    }
}

/// Whether two policies use the same evidence about the same crawlers, so that one verifier serves
/// both.
pub fn is_same(a: &Policy, b: &Policy) -> bool {
    a.evidence == b.evidence && of_crawlers(a).eq(of_crawlers(b))
}

/// The published evidence about the crawlers of a policy.
fn of_crawlers(policy: &Policy) -> impl Iterator<Item = impl PartialEq> {
    let publish = policy.catalogue.iter().filter(|crawler| crawler.publishes_evidence());
    publish.map(|one| {
        let entry = &one.entry;
        let addresses = (&entry.ip_ranges, entry.ip_format.as_deref(), &entry.reverse_dns);
        (one.product_token(), one.operator(), addresses, entry.signature_agent.as_deref())
    })
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
    async fn a_retired_verifier_fetches_no_more() {
        let text = "crawlers: [{ product_token: ListBot, ip_ranges: [\"https://a.invalid/x\"], \
                    signature_agent: \"https://a.invalid\" }]\n\
                    evidence: { user_agents: [ListBot], reverse_dns: false }\n\
                    sites: [{ hosts: [a.example], origin: \"http://127.0.0.1:1\" }]\n";
        let policy: Policy = text.parse().unwrap();
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

    #[test]
    fn evidence_is_the_same_only_for_the_same_crawlers_and_operators() {
        let policy = |evidence: &str, crawler: &str| -> Policy {
            let text = format!(
                "evidence: {{ {evidence} }}\ncrawlers: [{{ product_token: ListBot, {crawler} }}]\n\
                 sites: [{{ hosts: [a.example], origin: \"http://127.0.0.1:1\" }}]\n"
            );
            text.parse().unwrap()
        };
        let (agent, other) = ("signature_agent: \"https://a.example\"", "https://b.example");
        let before = policy("", &format!("operator: One, {agent}"));
        for (evidence, crawler, expected) in [
            ("", format!("operator: One, purpose: search, {agent}"), true),
            // A signature confirms every crawler of the same operator.
            ("", format!("operator: Two, {agent}"), false),
            ("", format!("operator: One, signature_agent: \"{other}\""), false),
            ("refresh: 2d", format!("operator: One, {agent}"), false),
        ] {
            let after = policy(evidence, &crawler);
            assert_eq!(is_same(&before, &after), expected, "{evidence} {crawler}");
        }
    }
}
