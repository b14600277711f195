//! What is looked at to tell crawlers from those who borrow their names.
//!
//! Requests ask [`Verifier::standing`], which looks at what is in memory and never waits. What is
//! in memory is fetched and looked up by tasks behind them: published lists of addresses, names of
//! addresses, keys. They end with the verifier.

use std::{net::IpAddr, sync::Arc};

use tokio::task::AbortHandle;

use crate::{
    crawlers::{Answer, Crawler, Standing},
    diagnostic::Diagnostic,
    metrics::Metrics,
    policy::{self, Policy},
};

use self::{
    fetch::Fetcher,
    lists::{Keeper, Lists},
};

mod fetch; // bounded, from public addresses only
mod lists; // published addresses
#[cfg_attr(not(test), expect(dead_code, reason = "no claim is held against it yet"))]
mod names; // names of addresses that lead back to them

/// Everything that is known about who is asking.
#[derive(Debug)]
pub struct Verifier {
    settings: policy::Evidence,
    lists: Arc<Lists>,
    tasks: Vec<AbortHandle>,
}

impl Verifier {
    /// Starts to fetch what `policy` asks for, on the current runtime; `None` where it asks for
    /// nothing.
    ///
    /// # Errors
    /// Where the policy names a file of authorities that can't be used.
    pub fn start(policy: &Policy, metrics: &Arc<Metrics>) -> Result<Option<Arc<Self>>, Diagnostic> {
        let Some(settings) = &policy.evidence else { return Ok(None) };
        let fetcher =
            Fetcher::new(settings.certificate_authorities.as_deref(), &settings.allow_addresses)
                .map_err(|error| Diagnostic::error("evidence.certificate_authorities", error))?;
        let (mut verifier, keeper) = Self::with_copies(policy, settings, metrics);
        if settings.ip_ranges {
            verifier.tasks.push(tokio::spawn(keeper.run(fetcher)).abort_handle());
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
    ) -> (Self, Keeper) {
        let lists = Arc::new(Lists::default());
        let keeper = Keeper::new(Arc::clone(&lists), policy, settings, Arc::clone(metrics));
        (Self { settings: settings.clone(), lists, tasks: Vec::new() }, keeper)
    }

    /// What is known of a client at `address` that claims to be `crawler`.
    pub fn standing(&self, crawler: &Crawler, address: IpAddr) -> Standing {
        if !self.settings.is_about(crawler) {
            return Standing::unexamined(crawler);
        }
        // What is published and not looked at leaves the question open.
        let unless = |is_off: bool, is_published: bool, answer: &dyn Fn() -> Answer| match (
            is_published,
            is_off,
        ) {
            (false, _) => Answer::Nothing,
            (true, true) => Answer::NotYet,
            (true, false) => answer(),
        };
        let has_lists = !crawler.ip_ranges().is_empty();
        let ip_range =
            unless(!self.settings.ip_ranges, has_lists, &|| self.lists.answer(crawler, address));
        let has_names = !crawler.reverse_dns().is_empty();
        let reverse_dns = unless(!self.settings.reverse_dns, has_names, &|| Answer::NotYet);
        Standing::of([Answer::Nothing, ip_range, reverse_dns])
    }
}

impl Drop for Verifier {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}
