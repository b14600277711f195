//! A User-Agent: a browser has no token, a crawler has at least one. No token is invented, and none
//! is lost because of other text.

use std::sync::LazyLock;

use beadle::rules::{
    crawlers::{Catalogue, Claim, Class, Name, SiteNames},
    policy,
};

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(policy::built_in_catalogue);
static SITE_NAMES: LazyLock<SiteNames> =
    LazyLock::new(|| SiteNames::new(&CATALOGUE, ["OurOwnBot", "partner_agent"]));

pub(crate) fn holds_for(octets: &[u8]) {
    let claim = CATALOGUE.identify(octets, &SITE_NAMES);
    assert!(claim.tokens().count() <= Claim::MAX_TOKENS);
    match claim.class() {
        Class::Browser | Class::None => assert!(claim.is_empty()),
        Class::Crawler | Class::UserTriggered => assert!(!claim.is_empty()),
        Class::Automation | Class::App => {}
    }
    let keys: Vec<String> = claim.tokens().map(|name| name.as_str().to_ascii_lowercase()).collect();
    for (index, name) in claim.tokens().enumerate() {
        assert!(!keys[..index].contains(&keys[index]), "each token once");
        if let Name::Declared(text) = name {
            assert!(contains(octets, text.as_bytes()), "{text} is in the User-Agent");
        }
    }

    // A second line adds its tokens.
    let both = CATALOGUE.identify_all([octets, b"GPTBot/1.2"], &SITE_NAMES);
    let is_gptbot = |name: Name<'_>| name.as_str() == "GPTBot";
    assert!(both.is_crowded() || both.tokens().any(is_gptbot));
    assert_ne!(both.class(), Class::Browser);
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    part.is_empty() || text.windows(part.len()).any(|window| window == part)
}
