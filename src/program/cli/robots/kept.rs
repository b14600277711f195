//! An edition in the database, named by the first digits of its hash.

use crate::{
    base::escape,
    program::console::{Error, site::store},
    records::record::Edition,
    rules::{enforce::Site, policy::Policy},
};

/// The fewest digits by which [`named`] finds an edition.
const LEAST_DIGITS: usize = 8;

/// The edition that an operator names by a part of its hash that is not there by chance.
pub(super) fn named(policy: &Policy, site: Option<&Site>, id: &str) -> Result<Edition, Error> {
    if id.len() < LEAST_DIGITS {
        let shown = escape::shown(id);
        return Err(Error::Refused(format!(
            "'{shown}' is too short (write {LEAST_DIGITS} or more hexadecimal digits; 'beadle \
             robots --history' lists the editions)"
        )));
    }
    edition(policy, site, id)
}

/// The edition whose hash begins with `id`; of `site` alone, if given.
pub(in crate::program::cli) fn edition(
    policy: &Policy,
    site: Option<&Site>,
    id: &str,
) -> Result<Edition, Error> {
    let store = store(policy)?;
    let mut found = store.editions_by_id(id, site.map(|site| site.name.as_str()))?;
    let shown = escape::bounded(id.as_bytes(), 80);
    match (found.pop(), found.len()) {
        (Some(only), 0) => Ok(only),
        (None, _) => Err(Error::Refused(format!(
            "no edition begins with '{shown}' ('beadle robots --history' lists them)"
        ))),
        (Some(_), others) => Err(Error::Refused(format!(
            "{} editions begin with '{shown}' (write more digits)",
            others + 1
        ))),
    }
}
