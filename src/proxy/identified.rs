//! What a request's User-Agent claims, remembered by each thread.

use std::cell::RefCell;

use http::{HeaderMap, HeaderValue, header};

use crate::{
    crawlers::{Claim, Recent},
    enforce::{Rulebook, Site},
};

thread_local! {
    static RECENT: RefCell<Recent> = RefCell::default();
}

/// The claim of all `User-Agent` lines together.
pub(super) fn claim<'a>(
    rulebook: &'a Rulebook,
    site: &'a Site,
    fields: &'a HeaderMap,
) -> Claim<'a> {
    let lines = || fields.get_all(header::USER_AGENT).into_iter().map(HeaderValue::as_bytes);
    RECENT.with_borrow_mut(|recent| recent.identify_all(rulebook.catalogue(), lines, &site.names))
}
