//! The cache against the scan.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::rules::crawlers::{claim::Name, tests::sample};

/// All parts of a claim as text.
fn shown(claim: &Claim<'_>) -> String {
    let kind = |name: Name<'_>| match name {
        Name::Known(_) => format!("known {name}"),
        Name::Site(_) => format!("site {name}"),
        Name::Declared(_) => format!("declared {name}"),
    };
    let (tokens, programs) = (claim.tokens().map(kind), claim.programs().map(kind));
    let names: Vec<String> = tokens.chain(["|".to_owned()]).chain(programs).collect();
    let flags = (claim.length, claim.crowded, claim.truncated);
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
    fn a_cached_claim_equals_a_fresh_scan(
        user_agents in prop::collection::vec(user_agent(), 1..6),
        requests in prop::collection::vec((0_usize..6, 0_usize..2, 0_usize..3, 1_usize..3), 1..60),
        shelves in 0_usize..3,
    ) {
        let catalogues = [sample(), Catalogue::new([]).expect("an empty catalogue is valid")];
        let names = [
            SiteNames::default(),
            SiteNames::new(&catalogues[0], ["FooBot", "OwnBot"]),
            SiteNames::new(&catalogues[0], ["OwnBot", "Abot", "Googlebot"]),
        ];
        // Few places, so that User-Agents collide.
        let mut recent = Recent::of(Recent::WAYS << shelves);
        for (number, catalogue, site, lines) in requests {
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
fn a_user_agent_is_cached_until_another_takes_its_place() {
    let (catalogue, site) = (sample(), SiteNames::default());
    let mut recent = Recent::of(1);
    for (number, place) in [(0, 0), (1, 1), (0, 0), (2, 2), (3, 3), (4, 0), (0, 1)] {
        let user_agent = format!("GPTBot/{number}");
        recent.identify(&catalogue, user_agent.as_bytes(), &site);
        let place = &recent.shelves[0].places[place];
        assert_eq!(&place.octets[..place.length.into()], user_agent.as_bytes());
    }
    let newer = sample();
    assert_ne!(newer.id, catalogue.id, "two catalogues have two numbers");
    assert_eq!(catalogue.clone().id, catalogue.id, "a copy keeps the number");
}

#[test]
fn user_agents_that_differ_by_an_octet_spread_over_the_places() {
    let places: HashSet<u64> = (0..Recent::PLACES)
        .map(|number| format!("Mozilla/5.0 (X11; Linux x86_64; rv:{number}.0) Gecko/20100101"))
        .map(|user_agent| hash(user_agent.as_bytes()) % Recent::PLACES as u64)
        .collect();
    // A random spread hits five eighths of the places.
    assert!(places.len() > Recent::PLACES / 2, "{}", places.len());
}
