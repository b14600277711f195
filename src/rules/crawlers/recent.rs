//! The most recent User-Agents with their claims: most requests repeat an earlier one.
//!
//! A bounded cache of fixed places. A User-Agent has four possible places and evicts the oldest
//! occupant. The key is the octets themselves, the catalogue and the site's names. So a cached claim
//! equals the scan's result, and a new catalogue or new site names never find an old entry.

use super::{
    catalogue::Catalogue,
    claim::{Claim, ClaimOf, Name},
    name_table::TableId,
    site_names::SiteNames,
};

/// The longest User-Agent that is cached, in octets; nearly all are shorter.
const MAX_LENGTH: usize = 256;

/// A cache of recent claims. Not shared: each thread has its own.
#[derive(Debug)]
pub struct Recent {
    /// Their number is a power of 2.
    shelves: Box<[Shelf]>,
}

/// The places of all User-Agents whose hashes share one part.
#[derive(Clone, Debug)]
struct Shelf {
    /// Another part of the hash of each place, so that a lookup usually compares one text only.
    marks: [u32; Recent::WAYS],
    next: usize,
    places: [Slot; Recent::WAYS],
}

#[derive(Clone, Debug)]
struct Slot {
    tables: Tables,
    /// 0 in an empty place.
    length: u16,
    octets: [u8; MAX_LENGTH],
    claim: ClaimOf<StoredName>,
}

/// The tables that a claim was found with: the catalogue, and the site's names.
type Tables = [TableId; 2];

impl Default for Recent {
    fn default() -> Self {
        Self::of(Self::PLACES)
    }
}

impl Recent {
    /// The most User-Agents that are cached; they take 180 KiB.
    pub const PLACES: usize = 512;

    const WAYS: usize = 4;

    /// A cache of at least this many User-Agents.
    pub fn of(places_wanted: usize) -> Self {
        let free = Slot {
            tables: Tables::default(),
            length: 0,
            octets: [0; MAX_LENGTH],
            claim: ClaimOf::empty(),
        };
        let places = std::array::from_fn(|_| free.clone());
        let shelf = Shelf { marks: [0; Self::WAYS], next: 0, places };
        Self { shelves: vec![shelf; places_wanted.div_ceil(Self::WAYS).next_power_of_two()].into() }
    }

    /// The result of [`Catalogue::identify_all`] for the values of `user_agents`. The claim of a
    /// single value is cached.
    pub fn identify_all<'a, I: Iterator<Item = &'a [u8]>>(
        &mut self,
        catalogue: &'a Catalogue,
        user_agents: impl Fn() -> I,
        site_names: &'a SiteNames,
    ) -> Claim<'a> {
        let mut values = user_agents();
        match (values.next(), values.next()) {
            (Some(only), None) => self.identify(catalogue, only, site_names),
            _ => catalogue.identify_all(user_agents(), site_names),
        }
    }

    /// The result of [`Catalogue::identify`], from the cache where possible.
    pub fn identify<'a>(
        &mut self,
        catalogue: &'a Catalogue,
        user_agent: &'a [u8],
        site_names: &'a SiteNames,
    ) -> Claim<'a> {
        let tables = [catalogue.id, site_names.id];
        let (length, hash) = (user_agent.len(), hash(user_agent));
        let (at, mark) = (hash as usize & (self.shelves.len() - 1), (hash >> 32) as u32);
        let shelf = self.shelves.get_mut(at).filter(|_| (1..=MAX_LENGTH).contains(&length));
        let Some(shelf) = shelf else { return catalogue.identify(user_agent, site_names) };
        for (place, _) in shelf.places.iter().zip(shelf.marks).filter(|(_, other)| *other == mark) {
            if usize::from(place.length) == length
                && place.tables == tables
                && place.octets.get(..length) == Some(user_agent)
                && let Some(claim) =
                    place.claim.map(|name| name.restore(catalogue, user_agent, site_names))
            {
                return claim;
            }
        }
        let claim = catalogue.identify(user_agent, site_names);
        let stored = claim.map(|name| StoredName::new(name, catalogue, user_agent, site_names));
        if let Some(stored) = stored.filter(|_| !claim.truncated) {
            shelf.put(mark, tables, user_agent, stored);
        }
        claim
    }
}

impl Shelf {
    /// Stores a User-Agent of [`MAX_LENGTH`] at most, in place of the oldest.
    fn put(&mut self, mark: u32, tables: Tables, user_agent: &[u8], claim: ClaimOf<StoredName>) {
        let at = self.next % Recent::WAYS;
        self.next = at + 1;
        self.marks[at] = mark;
        let place = &mut self.places[at];
        if let Some(octets) = place.octets.get_mut(..user_agent.len()) {
            octets.copy_from_slice(user_agent);
            (place.tables, place.length, place.claim) = (tables, user_agent.len() as u16, claim);
        }
    }
}

/// A hash of all octets, used only to choose a place. A client that forces collisions costs no more
/// than the scan.
#[inline]
fn hash(octets: &[u8]) -> u64 {
    const KEYS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f];
    let mut lanes = [KEYS[0] ^ octets.len() as u64, KEYS[1]];
    let mut mix = |block: &[u8; 32]| {
        let (words, _) = block.as_chunks::<8>();
        for (lane, at) in [(0, 0), (1, 2)] {
            let word = |at: usize| words.get(at).map_or(0, |word| u64::from_le_bytes(*word));
            let product =
                u128::from(lanes[lane] ^ word(at)) * u128::from(KEYS[lane] ^ word(at + 1));
            lanes[lane] = product as u64 ^ (product >> 64) as u64;
        }
    };
    match octets.last_chunk::<32>() {
        // The last block may overlap the one before.
        Some(last) => {
            octets.as_chunks::<32>().0.iter().for_each(&mut mix);
            mix(last);
        }
        None => {
            let mut block = [0; 32];
            block.iter_mut().zip(octets).for_each(|(to, from)| *to = *from);
            mix(&block);
        }
    }
    let product = u128::from(lanes[0]) * u128::from(lanes[1] | 1);
    product as u64 ^ (product >> 64) as u64
}

/// A name by its number in a table, or by its place in the User-Agent.
#[derive(Clone, Copy, Debug)]
enum StoredName {
    Known(u16),
    Site(u16),
    Declared { start: u16, length: u16 },
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

#[cfg(test)]
mod tests;
