//! What logs are judged by: a policy, perhaps with the editions that were in force.

use std::{collections::HashMap, sync::Arc};

use bytes::Bytes;
use jiff::Timestamp;

use crate::{
    base::diagnostic::Diagnostic,
    formats::robots::OriginFile,
    records::record::{Edition, Error},
    rules::{
        enforce::{History, Rulebook},
        policy::{self, Policy, Source},
    },
    serving::gate::Gate,
    state::publication::{AddressBook, Handles, Memory, PolicyInForce, Snapshot},
};

/// The site of a robots.txt without a policy. It takes every host.
const ANY_SITE: &str = "sites: [{ hosts: [robots.txt], default: true, \
    origin: 'http://127.0.0.1:9', robots_txt: { source: origin } }]";

#[derive(Debug)]
pub(crate) struct Basis {
    policy: Policy,
    /// The robots.txt of the origin, for sites that take rules from there.
    origin_file: Option<Bytes>,
    /// The editions that were in force, by their start; none for the policy as it is.
    editions: Vec<Edition>,
}

/// A gate whose rules change with the time.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) gate: Gate,
    handles: Handles,
    policy: Policy,
    /// The next editions, the first one last.
    next: Vec<Edition>,
    origins: HashMap<String, OriginFile>,
}

impl Basis {
    /// The policy as it is, in force before the first line. `origin_file` is the robots.txt of the
    /// origin, for sites that take rules from there.
    pub(crate) fn of(policy: Policy, origin_file: Option<Bytes>) -> Self {
        Self { policy, origin_file, editions: Vec::new() }
    }

    /// The treatment that the policy wants, by the editions that were in force.
    pub(crate) fn with_history(mut policy: Policy, editions: Vec<Edition>) -> Self {
        for site in &mut policy.sites {
            let is_known = editions.iter().any(|edition| edition.site.as_str() == site.name());
            if is_known {
                // An edition is a whole file, whatever it was made of.
                site.robots_txt.source = Source::Origin;
            }
        }
        Self { policy, origin_file: None, editions }
    }

    /// A robots.txt for every host, without a policy.
    pub(crate) fn of_robots_txt(file: Bytes) -> Result<Self, policy::Findings> {
        Ok(Self::of(ANY_SITE.parse()?, Some(file)))
    }

    /// Whether a request without a host has a site.
    pub(crate) fn has_default(&self) -> bool {
        self.policy.sites.iter().any(|site| site.default)
    }

    pub(crate) fn only_host(&self) -> Option<String> {
        let [site] = self.policy.sites.as_slice() else { return None };
        site.hosts.iter().find_map(|host| match host {
            policy::Host::Exact(host) => Some(host.clone()),
            policy::Host::Below(_) => None,
        })
    }

    /// The sites whose rules come from an origin that is not known here.
    pub(crate) fn unknown_origins(&self) -> Vec<&str> {
        let is_unknown = |site: &&policy::Site| {
            let name = site.name();
            site.robots_txt.source != Source::Policy
                && self.origin_file.is_none()
                && !self.editions.iter().any(|edition| edition.site.as_str() == name)
        };
        self.policy.sites.iter().filter(is_unknown).map(policy::Site::name).collect()
    }

    /// The gate, with the findings about the origin's file.
    pub(super) fn rules(mut self) -> Result<(Rules, Vec<Diagnostic>), Error> {
        // Without the origin's file, the policy's groups judge.
        let origin = self.origin_file.take().map(OriginFile::Present);
        let names = self.policy.sites.iter().map(|site| site.name().to_owned());
        let mut origins: HashMap<String, OriginFile> =
            names.filter_map(|name| Some((name, origin.clone()?))).collect();
        self.editions.sort_by_key(|edition| edition.from);
        // Before its first edition, a site had none; the first one stands for the time before it.
        let first: Vec<Edition> = self.editions.iter().rev().cloned().collect();
        for edition in first {
            origins.insert(edition.site.to_string(), OriginFile::Present(edition.bytes));
        }
        let start = Timestamp::UNIX_EPOCH;
        let mut history = History { origins: origins.clone(), ..History::after(None, start) };
        let rulebook = Rulebook::compile_with(&self.policy, &mut history);
        let findings = rulebook.sites().iter().filter_map(|site| site.finding.clone()).collect();
        let handles = Handles::imagined(&self.policy, rulebook, &Memory::default(), true, start)?;
        let gate = Gate::new(&handles, &self.policy);
        let mut next = self.editions;
        next.reverse();
        Ok((Rules { gate, handles, policy: self.policy, next, origins }, findings))
    }
}

impl Rules {
    /// Puts the editions in force that began until `now`. Whether there were any.
    pub(super) fn advance(&mut self, now: Timestamp) -> bool {
        let waiting = self.next.len();
        while let Some(edition) = self.next.pop_if(|edition| edition.from <= now) {
            let file = OriginFile::Present(edition.bytes);
            let before = self.origins.insert(edition.site.to_string(), file.clone());
            if before == Some(file) {
                continue;
            }
            let published = self.handles.published.load_full();
            let mut history = History {
                origins: self.origins.clone(),
                ..History::after(Some(&published.rulebook), edition.from)
            };
            let rulebook = Arc::new(Rulebook::compile_with(&self.policy, &mut history));
            let policy = PolicyInForce { since: edition.from, ..published.policy.clone() };
            let (previous, verifier) = (Some(published.as_ref()), published.verifier.clone());
            let addresses = AddressBook::default();
            let metrics = &self.handles.metrics;
            let next = Snapshot::new(policy, rulebook, previous, verifier, &addresses, metrics);
            self.handles.published.store(Arc::new(next));
        }
        self.next.len() < waiting
    }

    pub(super) fn site_names(&self) -> Vec<String> {
        self.policy.sites.iter().map(|site| site.name().to_owned()).collect()
    }
}
