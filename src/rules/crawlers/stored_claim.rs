//! A claim that borrows nothing, so that a cache can keep it beyond the request.

use super::{
    catalogue::Catalogue,
    claim::{Claim, Class},
    name::Name,
    site_names::SiteNames,
};

/// A claim whose names are numbers and places.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredClaim {
    names: [StoredName; Claim::MAX_TOKENS],
    length: u8,
    found: u8,
    crowded: bool,
    class: Class,
}

/// A name by its number in a table, or by its place in the User-Agent.
#[derive(Clone, Copy, Debug)]
enum StoredName {
    Known(u16),
    Site(u16),
    Declared { start: u16, length: u16 },
}

impl StoredClaim {
    pub(super) const EMPTY: Self = Self {
        names: [StoredName::Known(0); Claim::MAX_TOKENS],
        length: 0,
        found: 0,
        crowded: false,
        class: Class::None,
    };

    /// Stores the claim of this User-Agent; `None` if it is truncated or a name has no number.
    pub(super) fn new(
        claim: &Claim<'_>,
        catalogue: &Catalogue,
        user_agent: &[u8],
        site_names: &SiteNames,
    ) -> Option<Self> {
        let mut stored = Self::EMPTY;
        for (place, name) in stored.names.iter_mut().zip(claim.names).take(claim.found) {
            *place = StoredName::new(name?, catalogue, user_agent, site_names)?;
        }
        stored.length = u8::try_from(claim.length).ok()?;
        stored.found = u8::try_from(claim.found).ok()?;
        (stored.crowded, stored.class) = (claim.crowded, claim.class);
        (!claim.truncated).then_some(stored)
    }

    /// The claim again, from the catalogue, names and User-Agent that it was stored from. `None` if
    /// a name is not found.
    #[inline]
    pub(super) fn restore<'a>(
        &self,
        catalogue: &'a Catalogue,
        user_agent: &'a [u8],
        site_names: &'a SiteNames,
    ) -> Option<Claim<'a>> {
        let mut names = [None; Claim::MAX_TOKENS];
        for (place, name) in names.iter_mut().zip(self.names).take(self.found.into()) {
            *place = Some(name.restore(catalogue, user_agent, site_names)?);
        }
        Some(Claim {
            names,
            length: self.length.into(),
            found: self.found.into(),
            crowded: self.crowded,
            class: self.class,
            truncated: false,
        })
    }
}

impl StoredName {
    fn new(
        name: Name<'_>,
        catalogue: &Catalogue,
        user_agent: &[u8],
        site_names: &SiteNames,
    ) -> Option<Self> {
        match name {
            Name::Known(crawler) => catalogue.number(crawler).map(Self::Known),
            Name::Site(token) => site_names.number(token).map(Self::Site),
            Name::Declared(text) => {
                let start = user_agent.element_offset(text.as_bytes().first()?)?;
                let (start, length) = (u16::try_from(start), u16::try_from(text.len()));
                Some(Self::Declared { start: start.ok()?, length: length.ok()? })
            }
        }
    }

    #[inline]
    fn restore<'a>(
        self,
        catalogue: &'a Catalogue,
        user_agent: &'a [u8],
        site_names: &'a SiteNames,
    ) -> Option<Name<'a>> {
        match self {
            Self::Known(number) => catalogue.at(number).map(Name::Known),
            Self::Site(number) => site_names.token(number).map(Name::Site),
            Self::Declared { start, length } => {
                let start = usize::from(start);
                let text = user_agent.get(start..start + usize::from(length))?;
                std::str::from_utf8(text).ok().map(Name::Declared)
            }
        }
    }
}
