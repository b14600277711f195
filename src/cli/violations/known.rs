//! The names that filters can use: sites, crawlers and purposes. An unknown name is refused with the
//! nearest known one, so that a typing error never reads as "no violations".

use std::collections::BTreeSet;

use super::{hours::NO_NAME, source::Source};
use crate::{
    cli::exit::Error,
    crawlers::{Crawler, Purpose},
    escape::shown,
    policy::{Host, Policy, closest},
    robots,
    violations::{NameFound, NameKind},
};

/// The most names that a refusal lists.
const LISTED: usize = 10;

/// The site that records name, by its name or by one of its hosts.
pub(super) fn site(policy: &Policy, source: &Source, text: &str) -> Result<String, Error> {
    let host = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    let bare = host.strip_prefix("*.").unwrap_or(&host);
    if let Some(site) = policy.sites.iter().find(|site| site.name() == bare) {
        return Ok(site.name().to_owned());
    }
    // A site that was merged into another one keeps its records.
    let others = match source.find_name(NameKind::Site, &host)? {
        NameFound::Itself => return Ok(host),
        NameFound::Others(others) => others,
    };
    let serves = |known: &Host| match known {
        Host::Exact(known) => *known == host,
        Host::Below(suffix) => host.ends_with(suffix) || suffix.get(1..) == Some(bare),
    };
    if let Some(site) = policy.sites.iter().find(|site| site.hosts.iter().any(serves)) {
        return Ok(site.name().to_owned());
    }
    let hosts = policy.sites.iter().flat_map(|site| site.hosts.iter().map(Host::as_str));
    let known: BTreeSet<&str> = hosts.chain(others.iter().map(String::as_str)).collect();
    let hint =
        hint(&host, &known, &known).unwrap_or_else(|| format!("the sites are {}", listed(&known)));
    Err(Error::Refused(format!("no site has the host '{}' ({hint})", shown(text))))
}

/// The product token that records name: of the catalogue, of the policy, or of a record.
pub(super) fn product_token(policy: &Policy, source: &Source, text: &str) -> Result<String, Error> {
    let crawler = policy.catalogue.find(text).map(Crawler::product_token);
    if let Some(token) = crawler.filter(|token| token.as_str().eq_ignore_ascii_case(text)) {
        return Ok(token.as_str().to_owned());
    }
    if text == NO_NAME {
        return Ok(text.to_owned());
    }
    // A record has an alias as its name if the catalogue did not know the alias then.
    let others = match source.find_name(NameKind::ProductToken, text)? {
        NameFound::Itself => return Ok(text.to_owned()),
        NameFound::Others(others) => others,
    };
    if let Some(token) = crawler {
        return Ok(token.as_str().to_owned());
    }
    let named: Vec<String> = named_in_rules(policy, source)?;
    if named.iter().any(|name| name.eq_ignore_ascii_case(text)) {
        return Ok(text.to_owned());
    }
    let in_catalogue = policy.catalogue.iter().flat_map(|crawler| {
        std::iter::once(crawler.product_token()).chain(crawler.aliases()).map(|name| name.as_str())
    });
    let own: BTreeSet<&str> = others.iter().chain(&named).map(String::as_str).collect();
    let known = own.iter().copied().chain(in_catalogue).collect();
    let hint = hint(text, &own, &known).unwrap_or_else(|| {
        "neither the catalogue nor the policy nor a record has this name; 'beadle crawlers list' \
         shows the catalogue"
            .to_owned()
    });
    Err(Error::Refused(format!("no crawler is named '{}' ({hint})", shown(text))))
}

/// The names that groups and overrides of the policy have, and groups of published files.
fn named_in_rules(policy: &Policy, source: &Source) -> Result<Vec<String>, Error> {
    let groups = |file: &robots::RobotsTxt| -> Vec<String> {
        let names = file.groups.iter().flat_map(|group| &group.user_agents);
        names.map(|one| one.name.clone()).filter(|name| name != "*").collect()
    };
    let mut names = Vec::new();
    for site in &policy.sites {
        names.extend(groups(&site.robots_txt.file));
        let overrides = site.enforcement.overrides.iter().flat_map(|one| &one.tokens);
        names.extend(overrides.map(|token| token.as_str().to_owned()));
    }
    for file in source.published_files()? {
        names.extend(groups(&robots::parse(&file).0));
    }
    Ok(names)
}

/// The purpose that records name.
pub(super) fn purpose(source: &Source, text: &str) -> Result<String, Error> {
    let lower = text.to_ascii_lowercase();
    if Purpose::from_name(&lower).is_some() {
        return Ok(lower);
    }
    let others = match source.find_name(NameKind::Purpose, text)? {
        NameFound::Itself => return Ok(text.to_owned()),
        NameFound::Others(others) => others,
    };
    let in_catalogue = Purpose::ALL.iter().map(|purpose| purpose.as_str());
    let known: BTreeSet<&str> = in_catalogue.chain(others.iter().map(String::as_str)).collect();
    let hint = hint(text, &known, &known)
        .unwrap_or_else(|| format!("the purposes are {}", listed(&known)));
    Err(Error::Refused(format!("no purpose is named '{}' ({hint})", shown(text))))
}

/// The nearest name as a question: a misspelt one, or the longer or shorter form of one. Names of
/// the operator's own records and rules come before other known ones.
fn hint(text: &str, own: &BTreeSet<&str>, known: &BTreeSet<&str>) -> Option<String> {
    const MIN_PART: usize = 3;
    let lower = text.to_ascii_lowercase();
    let begins = |longer: &str, shorter: &str| {
        shorter.len() >= MIN_PART && longer.starts_with(&shorter.to_ascii_lowercase())
    };
    let nearest = |names: &BTreeSet<&str>, is_near: &dyn Fn(&str) -> bool| -> Option<String> {
        let near = names.iter().filter(|name| is_near(name));
        near.min_by_key(|name| name.len().abs_diff(lower.len())).map(|name| (*name).to_owned())
    };
    let misspelt = |names: &BTreeSet<&str>| closest(text, names.iter().copied()).map(str::to_owned);
    let longer = |name: &str| begins(&name.to_ascii_lowercase(), &lower);
    let shorter = |name: &str| begins(&lower, name);
    let near = misspelt(own)
        .or_else(|| nearest(own, &longer))
        .or_else(|| misspelt(known))
        .or_else(|| nearest(known, &longer))
        .or_else(|| nearest(known, &shorter))?;
    Some(format!("did you mean {}?", shown(near)))
}

fn listed(known: &BTreeSet<&str>) -> String {
    let names: Vec<String> = known.iter().take(LISTED).map(shown).collect();
    match known.len().saturating_sub(LISTED) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_a_misspelt_one_or_a_longer_or_shorter_form() {
        let own = BTreeSet::from(["GPTBot", "Googlebot", "GPT"]);
        let known = BTreeSet::from(["GPTBot", "Googlebot", "GPT", "GoogleHC", "CCBot"]);
        for (text, near) in [
            ("GPTBto", Some("GPTBot")),
            ("gptbot2", Some("GPTBot")),
            ("CCBto", Some("CCBot")),
            ("Google", Some("Googlebot")),
            ("Googlebot/2.1", Some("Googlebot")),
            ("zz", None),
            ("", None),
        ] {
            let expected = near.map(|near| format!("did you mean {near}?"));
            assert_eq!(hint(text, &own, &known), expected, "{text}");
        }
    }

    #[test]
    fn a_long_list_is_cut() {
        let names: Vec<String> = (10..30).map(|number| format!("site{number}")).collect();
        let known: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        assert!(listed(&known).ends_with("site18, site19 and 10 more"), "{}", listed(&known));
    }
}
