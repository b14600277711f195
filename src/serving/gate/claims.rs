//! The claim of a request, with a cache in each thread.

use std::cell::RefCell;

use crate::rules::{
    crawlers::{Claim, Recent},
    enforce::{Rulebook, Site},
};

use super::request::Request;

thread_local! {
    /// The claims of recent User-Agents.
    static RECENT: RefCell<Recent> = RefCell::default();
}

/// Makes this thread keep the claims of `places` recent User-Agents.
pub fn keep_claims(places: usize) {
    RECENT.set(Recent::of(places));
}

/// The claim of all `User-Agent` lines of a request.
pub(super) fn claim<'a>(
    rulebook: &'a Rulebook,
    site: &'a Site,
    request: &Request<'a>,
) -> Claim<'a> {
    let lines = || request.user_agents();
    RECENT.with_borrow_mut(|recent| recent.identify_all(rulebook.catalogue(), lines, &site.names))
}
