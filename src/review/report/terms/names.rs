//! The names that questions can use: sites, crawlers and purposes. An unknown name is refused with the
//! nearest known one, so that a typing error never reads as "no violations".

use std::collections::BTreeSet;

use derive_more::From;
use jiff::Timestamp;

use super::Refusal;
use crate::{
    base::escape::{first_of, shown},
    formats::robots,
    records::{
        record::{self, NameFound, NameKind, Violation},
        violations::Store,
    },
    rules::{
        crawlers::{Catalogue, Crawler, Purpose},
        enforce::Rulebook,
        policy::{self, Host, Policy, closest},
    },
};

const LISTED: usize = 10;

/// The place where names were recorded.
pub(crate) trait Recorded {
    /// Whether a record has this name; else the names that records have.
    fn find_name(&self, kind: NameKind, name: &str) -> Result<NameFound, record::Error>;

    /// The robots.txt files that were published and are still known.
    fn published_files(&self) -> Result<Vec<Vec<u8>>, record::Error>;
}

#[derive(Clone, Copy, Debug, From)]
pub(crate) enum Names<'a> {
    Policy(&'a Policy),
    Rulebook(&'a Rulebook),
}

impl Recorded for Store {
    fn find_name(&self, kind: NameKind, name: &str) -> Result<NameFound, record::Error> {
        self.find_name(kind, name)
    }

    fn published_files(&self) -> Result<Vec<Vec<u8>>, record::Error> {
        let mut editions = self.editions(None, None)?;
        editions.sort_by(|a, b| a.id.cmp(&b.id));
        editions.dedup_by(|a, b| a.id == b.id);
        Ok(editions.into_iter().map(|edition| edition.bytes.to_vec()).collect())
    }
}

impl Names<'_> {
    /// The site that records name, by its name or by one of its hosts.
    pub(crate) fn site(&self, recorded: &impl Recorded, text: &str) -> Result<String, Refusal> {
        let sites = self.sites();
        let host = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        let bare = host.strip_prefix("*.").unwrap_or(&host);
        if let Some((name, _)) = sites.iter().find(|(name, _)| *name == bare) {
            return Ok((*name).to_owned());
        }
        // A site that was merged into another one keeps its records.
        let NameFound::Others(others) = recorded.find_name(NameKind::Site, &host)? else {
            return Ok(host);
        };
        let serves = |known: &Host| match known {
            Host::Exact(known) => *known == host,
            Host::Below(suffix) => host.ends_with(suffix) || suffix.get(1..) == Some(bare),
        };
        if let Some((name, _)) = sites.iter().find(|(_, hosts)| hosts.iter().any(serves)) {
            return Ok((*name).to_owned());
        }
        let hosts = sites.iter().flat_map(|(_, hosts)| hosts.iter().map(Host::as_str));
        let known: BTreeSet<&str> = hosts.chain(others.iter().map(String::as_str)).collect();
        let hint = hint(&host, &known, &known)
            .unwrap_or_else(|| format!("the sites are {}", listed(&known)));
        Err(Refusal::Term(format!("no site has the host '{}' ({hint})", shown(text))))
    }

    /// The product token that records name: of the catalogue, of the policy, or of a record.
    pub(crate) fn product_token(
        &self,
        recorded: &impl Recorded,
        text: &str,
    ) -> Result<String, Refusal> {
        let crawler = self.catalogue().find(text).map(Crawler::product_token);
        if let Some(token) = crawler.filter(|token| token.as_str().eq_ignore_ascii_case(text)) {
            return Ok(token.as_str().to_owned());
        }
        if text == Violation::NAMELESS {
            return Ok(text.to_owned());
        }
        // A record has an alias as its name if the catalogue did not know the alias then.
        let NameFound::Others(others) = recorded.find_name(NameKind::ProductToken, text)? else {
            return Ok(text.to_owned());
        };
        if let Some(token) = crawler {
            return Ok(token.as_str().to_owned());
        }
        let named = self.in_rules(recorded)?;
        if named.iter().any(|name| name.eq_ignore_ascii_case(text)) {
            return Ok(text.to_owned());
        }
        let in_catalogue = self.catalogue().iter().flat_map(|crawler| {
            let names = std::iter::once(crawler.product_token()).chain(&crawler.aliases);
            names.map(|name| name.as_str())
        });
        let own: BTreeSet<&str> = others.iter().chain(&named).map(String::as_str).collect();
        let known = own.iter().copied().chain(in_catalogue).collect();
        let hint = hint(text, &own, &known).unwrap_or_else(|| {
            "neither the catalogue nor the policy nor a record has this name; 'beadle crawlers \
             list' shows the catalogue"
                .to_owned()
        });
        Err(Refusal::Term(format!("no crawler is named '{}' ({hint})", shown(text))))
    }

    /// The product token that counts name, as they spell it; else as [`Self::product_token`].
    pub(crate) fn counted_token(&self, store: &Store, text: &str) -> Result<String, Refusal> {
        // An alias that the catalogue did not know is in the counts under its own name.
        match store.counted_token(text)? {
            Some(token) => {
                let known = self.catalogue().find(&token).map(Crawler::product_token);
                let same = known.filter(|known| known.as_str().eq_ignore_ascii_case(&token));
                Ok(same.map_or_else(|| token.to_string(), |known| known.as_str().to_owned()))
            }
            None => self.product_token(store, text),
        }
    }

    pub(crate) fn purpose(&self, recorded: &impl Recorded, text: &str) -> Result<String, Refusal> {
        let lower = text.to_ascii_lowercase();
        if Purpose::from_word(&lower).is_some() {
            return Ok(lower);
        }
        let NameFound::Others(others) = recorded.find_name(NameKind::Purpose, text)? else {
            return Ok(text.to_owned());
        };
        let in_catalogue = Purpose::ALL.iter().map(|purpose| purpose.as_str());
        let known: BTreeSet<&str> = in_catalogue.chain(others.iter().map(String::as_str)).collect();
        let hint = hint(text, &known, &known)
            .unwrap_or_else(|| format!("the purposes are {}", listed(&known)));
        Err(Refusal::Term(format!("no purpose is named '{}' ({hint})", shown(text))))
    }

    fn catalogue(&self) -> &Catalogue {
        match self {
            Self::Policy(policy) => &policy.catalogue,
            Self::Rulebook(rulebook) => rulebook.catalogue(),
        }
    }

    fn sites(&self) -> Vec<(&str, Vec<Host>)> {
        match self {
            Self::Policy(policy) => {
                let sites = policy.sites.iter();
                sites.map(|site| (site.name(), site.hosts.clone())).collect()
            }
            Self::Rulebook(rulebook) => {
                let host = |(host, _): (&str, Timestamp)| match host {
                    "*" => None,
                    below if below.starts_with('.') => Some(Host::Below(below.to_owned())),
                    exact => Some(Host::Exact(exact.to_owned())),
                };
                let hosts = |name| rulebook.chronicle.hosts(name).filter_map(host).collect();
                let sites = rulebook.sites().iter();
                sites.map(|site| (site.name.as_str(), hosts(&site.name))).collect()
            }
        }
    }

    /// The names that groups and overrides of the policy have, and groups of published files.
    fn in_rules(&self, recorded: &impl Recorded) -> Result<Vec<String>, record::Error> {
        let groups = |file: &robots::RobotsTxt| -> Vec<String> {
            let names = file.groups.iter().flat_map(|group| &group.user_agents);
            names.map(|one| one.name.clone()).filter(|name| name != "*").collect()
        };
        let overrides = |enforcement: &policy::Enforcement| -> Vec<String> {
            let tokens = enforcement.overrides.iter().flat_map(|one| &one.tokens);
            tokens.map(|token| token.as_str().to_owned()).collect()
        };
        let mut names = Vec::new();
        match self {
            Self::Policy(policy) => {
                for site in &policy.sites {
                    names.extend(groups(&site.robots_txt.file));
                    names.extend(overrides(&site.enforcement));
                }
            }
            Self::Rulebook(rulebook) => {
                for site in rulebook.sites() {
                    names.extend(groups(&robots::parse(site.edition().bytes()).0));
                    names.extend(overrides(&site.enforcement));
                }
            }
        }
        for file in recorded.published_files()? {
            names.extend(groups(&robots::parse(&file).0));
        }
        Ok(names)
    }
}

/// The spellings of a product token in counts: a client without a name has two.
pub(crate) fn counted_spellings(product_token: Option<String>) -> Vec<Option<String>> {
    match product_token.as_deref() {
        Some(Violation::NAMELESS) => vec![Some(String::new()), product_token],
        _ => vec![product_token],
    }
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
    first_of(known.iter().map(shown), LISTED)
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
