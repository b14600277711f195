//! The User-Agents seen last, with what they claim: most requests carry one that came before.
//!
//! A bounded memory of fixed places: a User-Agent may stand in four of them, and drives out who came
//! there first. Nothing is looked at but the octets themselves, the catalogue and the site's names, so an answer
//! is the one that the scan would give, and a new catalogue or new names of a site find nothing that
//! was remembered by the old ones.

use super::{
    catalogue::Catalogue,
    claim::{Claim, Class, Name},
    site_names::SiteNames,
};

/// The longest User-Agent that is remembered, in octets; nearly all are shorter.
const MAX_LENGTH: usize = 256;

/// What was identified last. Not shared: each thread has its own.
#[derive(Debug)]
pub struct Recent {
    /// Their number is a power of 2.
    shelves: Box<[Shelf]>,
}

/// Places for User-Agents that have a part of their hash in common.
#[derive(Clone, Debug)]
struct Shelf {
    /// Another part of the hash of who stands in each place: usually the octets of one are compared.
    marks: [u32; Recent::WAYS],
    /// Which place is taken next.
    next: usize,
    places: [Place; Recent::WAYS],
}

#[derive(Clone, Debug)]
struct Place {
    /// By which catalogue and which names it was identified.
    by: [u64; 2],
    /// 0 where nothing is remembered.
    length: u16,
    octets: [u8; MAX_LENGTH],
    claim: Short,
}

/// A claim that borrows nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Short {
    pub(super) names: [ShortName; Claim::MAX_TOKENS],
    pub(super) length: u8,
    pub(super) found: u8,
    pub(super) crowded: bool,
    pub(super) class: Class,
}

/// A name by its number, or by where it stands in the User-Agent.
#[derive(Clone, Copy, Debug)]
pub(super) enum ShortName {
    Known(u16),
    Site(u16),
    Declared { start: u16, length: u16 },
}

impl Default for Recent {
    fn default() -> Self {
        Self::of(Self::PLACES)
    }
}

impl Recent {
    /// How many are remembered at most; they take 170 KiB.
    pub const PLACES: usize = 512;

    const WAYS: usize = 4;

    fn of(places_wanted: usize) -> Self {
        let claim = Short {
            names: [ShortName::Known(0); Claim::MAX_TOKENS],
            length: 0,
            found: 0,
            crowded: false,
            class: Class::None,
        };
        let free = Place { by: [0; 2], length: 0, octets: [0; MAX_LENGTH], claim };
        let places = std::array::from_fn(|_| free.clone());
        let shelf = Shelf { marks: [0; Self::WAYS], next: 0, places };
        Self { shelves: vec![shelf; places_wanted.div_ceil(Self::WAYS).next_power_of_two()].into() }
    }

    /// What [`Catalogue::identify_all`] says of the values that `user_agents` gives. What it says of
    /// a single one is remembered.
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

    /// What [`Catalogue::identify`] says, remembered.
    pub fn identify<'a>(
        &mut self,
        catalogue: &'a Catalogue,
        user_agent: &'a [u8],
        site_names: &'a SiteNames,
    ) -> Claim<'a> {
        let (by, length) = ([catalogue.id().0, site_names.id().0], user_agent.len());
        let hash = hash(user_agent);
        let (at, mark) = (hash as usize & (self.shelves.len() - 1), (hash >> 32) as u32);
        let shelf = self.shelves.get_mut(at).filter(|_| (1..=MAX_LENGTH).contains(&length));
        let Some(shelf) = shelf else { return catalogue.identify(user_agent, site_names) };
        for (place, _) in shelf.places.iter().zip(shelf.marks).filter(|(_, other)| *other == mark) {
            if usize::from(place.length) == length
                && place.by == by
                && place.octets.get(..length) == Some(user_agent)
                && let Some(claim) = place.claim.expand(catalogue, user_agent, site_names)
            {
                return claim;
            }
        }
        let claim = catalogue.identify(user_agent, site_names);
        if let Some(short) = Short::of(&claim, catalogue, user_agent, site_names) {
            shelf.put(mark, by, user_agent, short);
        }
        claim
    }
}

impl Shelf {
    /// Remembers a User-Agent of [`MAX_LENGTH`] at most, in place of the one that came first.
    fn put(&mut self, mark: u32, by: [u64; 2], user_agent: &[u8], claim: Short) {
        let at = self.next % Recent::WAYS;
        self.next = at + 1;
        self.marks[at] = mark;
        let place = &mut self.places[at];
        if let Some(octets) = place.octets.get_mut(..user_agent.len()) {
            octets.copy_from_slice(user_agent);
            (place.by, place.length, place.claim) = (by, user_agent.len() as u16, claim);
        }
    }
}

impl Short {
    fn of(
        claim: &Claim<'_>,
        catalogue: &Catalogue,
        user_agent: &[u8],
        site_names: &SiteNames,
    ) -> Option<Self> {
        claim.shorten(|name| match name {
            Name::Known(crawler) => catalogue.number(crawler).map(ShortName::Known),
            Name::Site(token) => site_names.number(token).map(ShortName::Site),
            Name::Declared(text) => {
                let start = user_agent.element_offset(text.as_bytes().first()?)?;
                let (start, length) = (u16::try_from(start), u16::try_from(text.len()));
                Some(ShortName::Declared { start: start.ok()?, length: length.ok()? })
            }
        })
    }

    fn expand<'a>(
        &self,
        catalogue: &'a Catalogue,
        user_agent: &'a [u8],
        site_names: &'a SiteNames,
    ) -> Option<Claim<'a>> {
        Claim::expand(self, |name| match name {
            ShortName::Known(number) => catalogue.at(number).map(Name::Known),
            ShortName::Site(number) => site_names.token(number).map(Name::Site),
            ShortName::Declared { start, length } => {
                let start = usize::from(start);
                let text = user_agent.get(start..start + usize::from(length))?;
                std::str::from_utf8(text).ok().map(Name::Declared)
            }
        })
    }
}

/// A hash of all octets, which only says where to look. Whoever makes many that share a place gains
/// nothing but the time that the scan takes.
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
        // The last block may hold a part of the one before once more.
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::crawlers::tests::sample;

    /// All that a claim says.
    fn shown(claim: &Claim<'_>) -> String {
        let kind = |name: Name<'_>| match name {
            Name::Known(_) => format!("known {name}"),
            Name::Site(_) => format!("site {name}"),
            Name::Declared(_) => format!("declared {name}"),
        };
        let (tokens, programs) = (claim.tokens().map(kind), claim.programs().map(kind));
        let names: Vec<String> = tokens.chain(["|".to_owned()]).chain(programs).collect();
        let flags = (claim.len(), claim.is_crowded(), claim.truncated());
        format!("{} {names:?} {flags:?}", claim.class())
    }

    fn user_agent() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            Just(b"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36".to_vec()),
            Just(b"(compatible; GPTBot/1.2; +https://openai.com/gptbot)".to_vec()),
            Just(b"Googlebot-Image/1.0".to_vec()),
            Just(b"facebookexternalhit/1.1 line-poker/1.0".to_vec()),
            Just(b"FooBot/2 (+https://foo.example)".to_vec()),
            Just(b"OwnBot/1.0 (+https://own.example)".to_vec()),
            Just(b"curl/8.5.0".to_vec()),
            Just("Ünbot/1".as_bytes().to_vec()),
            Just(vec![b'x'; 250]),
            Just(b"Abot Bbot Cbot Dbot Ebot/1 Viber Tumblr 360Spider Zao".to_vec()),
            prop::collection::vec(any::<u8>(), 0..12),
        ];
        prop::collection::vec(part, 0..4).prop_map(|parts| parts.join(&b' '))
    }

    proptest! {
        #[test]
        fn ours_what_is_remembered_is_what_would_be_found(
            user_agents in prop::collection::vec(user_agent(), 1..6),
            asked in prop::collection::vec((0_usize..6, 0_usize..2, 0_usize..3, 1_usize..3), 1..60),
            shelves in 0_usize..3,
        ) {
            let catalogues = [sample(), Catalogue::new([]).expect("nothing is wrong with nothing")];
            let names = [
                SiteNames::default(),
                SiteNames::new(&catalogues[0], ["FooBot", "OwnBot"]),
                SiteNames::new(&catalogues[0], ["OwnBot", "Abot", "Googlebot"]),
            ];
            // As few places as can be, so that they collide.
            let mut recent = Recent::of(Recent::WAYS << shelves);
            for (number, catalogue, site, lines) in asked {
                let user_agent = &user_agents[number % user_agents.len()];
                let (catalogue, names) = (&catalogues[catalogue], &names[site]);
                let lines = || (0..lines).map(|_| &user_agent[..]);
                let found = recent.identify_all(catalogue, lines, names);
                let expected = catalogue.identify_all(lines(), names);
                prop_assert_eq!(shown(&found), shown(&expected));
            }
        }
    }

    #[test]
    fn ours_a_user_agent_is_remembered_until_another_gets_its_place() {
        let (catalogue, site) = (sample(), SiteNames::default());
        let mut recent = Recent::of(1);
        for (number, place) in [(0, 0), (1, 1), (0, 0), (2, 2), (3, 3), (4, 0), (0, 1)] {
            let user_agent = format!("GPTBot/{number}");
            recent.identify(&catalogue, user_agent.as_bytes(), &site);
            let place = &recent.shelves[0].places[place];
            assert_eq!(&place.octets[..place.length.into()], user_agent.as_bytes());
        }
        let newer = sample();
        assert_ne!(newer.id().0, catalogue.id().0, "no catalogue passes for another");
        assert_eq!(catalogue.clone().id().0, catalogue.id().0, "but for a copy of itself");
    }

    #[test]
    fn ours_user_agents_that_differ_by_an_octet_are_spread_over_the_places() {
        let places: HashSet<u64> = (0..Recent::PLACES)
            .map(|number| format!("Mozilla/5.0 (X11; Linux x86_64; rv:{number}.0) Gecko/20100101"))
            .map(|user_agent| hash(user_agent.as_bytes()) % Recent::PLACES as u64)
            .collect();
        // Thrown at random, five eighths of the places are hit.
        assert!(places.len() > Recent::PLACES / 2, "{}", places.len());
    }
}
