//! The catalogue: who is known, under which names, and which groups each one obeys.

use std::collections::HashMap;

use crate::diagnostic::Diagnostic;

use super::{
    claim::{Claim, Class, Name},
    crawler::Crawler,
    entry::{Entry, Purpose},
    names::{Names, Target},
    patterns::Patterns,
    site_names::SiteNames,
    unique::Id,
    user_agent,
};

/// Every crawler that is known. Immutable; a newer state of knowledge is a new catalogue.
#[derive(Clone, Debug)]
pub struct Catalogue {
    id: Id,
    crawlers: Vec<Crawler>,
    /// Tokens and aliases in lower case, for questions about names in robots.txt.
    by_name: HashMap<Box<str>, u16>,
    /// The names as they are looked for in User-Agents.
    names: Names,
    patterns: Patterns,
}

impl Catalogue {
    /// How many bytes of a User-Agent are looked at: enough that no padding up to 64 KiB hides a
    /// name, and at a few nanoseconds a byte still less than a millisecond.
    pub const MAX_SCAN: usize = 128 * 1024;

    /// Checks the entries and builds the tables.
    ///
    /// # Errors
    ///
    /// Every name that is no product token, stands for two crawlers, or is fallen back to and
    /// unknown, each as one finding.
    pub fn new(entries: impl IntoIterator<Item = Entry>) -> Result<Self, Vec<Diagnostic>> {
        let mut findings = Vec::new();
        let crawlers: Vec<Crawler> =
            entries.into_iter().filter_map(|entry| Crawler::check(entry, &mut findings)).collect();
        if crawlers.len() > usize::from(u16::MAX) {
            findings.push(Diagnostic::error("crawlers.too_many", "more than 65535 crawlers"));
            return Err(findings);
        }
        let by_name = index(&crawlers, &mut findings);
        for crawler in &crawlers {
            crawler.check_references(|name| by_name.contains_key(name.key()), &mut findings);
        }
        let patterns = Patterns::compile(&crawlers, &mut findings);
        if !findings.is_empty() {
            return Err(findings);
        }
        let names = Names::new(names_to_look_for(&crawlers));
        Ok(Self { id: Id::new(), crawlers, by_name, names, patterns })
    }

    /// What a request's User-Agent claims. One pass, no allocation.
    pub fn identify<'a>(&'a self, user_agent: &'a [u8], site_names: &'a SiteNames) -> Claim<'a> {
        self.identify_all([user_agent], site_names)
    }

    /// What the values of several User-Agent lines claim together: a client that sends two is
    /// whatever either of them says.
    pub fn identify_all<'a>(
        &'a self,
        user_agents: impl IntoIterator<Item = &'a [u8]>,
        site_names: &'a SiteNames,
    ) -> Claim<'a> {
        let mut claim = Claim::empty();
        let mut fallback = Class::None;
        for value in user_agents {
            let class = user_agent::scan(self, site_names, value, &mut claim);
            self.patterns.find(value, |number| {
                if let Some(crawler) = self.at(number) {
                    claim.add(Name::Known(crawler));
                }
            });
            if fallback == Class::None {
                fallback = class;
            }
        }
        claim.settle(fallback);
        claim
    }

    /// The crawler of that token or alias, in any case of letters.
    pub fn find(&self, name: &str) -> Option<&Crawler> {
        let number = match self.by_name.get(name) {
            Some(number) => number,
            None => self.by_name.get(name.trim().to_ascii_lowercase().as_str())?,
        };
        self.at(*number)
    }

    /// The token that is spelled most like a name that is not known, if one is close enough to be
    /// meant.
    pub fn closest(&self, name: &str) -> Option<&str> {
        const CLOSE_ENOUGH: f64 = 0.72;
        let name = name.trim().to_ascii_lowercase();
        let (likeness, number) = self
            .by_name
            .iter()
            .map(|(known, &number)| (strsim::normalized_damerau_levenshtein(known, &name), number))
            .max_by(|(a, m), (b, n)| a.total_cmp(b).then(n.cmp(m)))?;
        (likeness >= CLOSE_ENOUGH).then_some(self.at(number)?.product_token().as_str())
    }

    /// All crawlers, in the order of the file.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Crawler> {
        self.crawlers.iter()
    }

    /// The crawlers of one purpose, in the order of the file.
    pub fn by_purpose(&self, purpose: Purpose) -> impl Iterator<Item = &Crawler> {
        self.iter().filter(move |crawler| crawler.purpose() == purpose)
    }

    pub(super) fn at(&self, number: u16) -> Option<&Crawler> {
        self.crawlers.get(usize::from(number))
    }

    /// The number by which [`Self::at`] finds a crawler of this catalogue.
    pub(super) fn number(&self, crawler: &Crawler) -> Option<u16> {
        u16::try_from(self.crawlers.element_offset(crawler)?).ok()
    }

    pub(super) const fn id(&self) -> Id {
        self.id
    }

    pub(super) fn names(&self) -> &Names {
        &self.names
    }
}

/// Tokens and aliases, each leading to one crawler.
fn index(crawlers: &[Crawler], findings: &mut Vec<Diagnostic>) -> HashMap<Box<str>, u16> {
    let mut by_name: HashMap<Box<str>, u16> = HashMap::with_capacity(crawlers.len() * 2);
    for (crawler, number) in crawlers.iter().zip(0u16..) {
        for name in crawler.names() {
            let Some(other) = by_name.insert(name.key().into(), number) else { continue };
            let (own, other) = (crawler.product_token(), crawlers.get(usize::from(other)));
            let other = other.map_or("", |other| other.product_token().as_str());
            findings.push(
                Diagnostic::error(
                    "crawlers.duplicate_name",
                    format!("'{name}' of {own} is a name of {other} already"),
                )
                .help("keep one of them"),
            );
        }
    }
    by_name
}

fn names_to_look_for(crawlers: &[Crawler]) -> impl Iterator<Item = (Box<str>, Target)> {
    crawlers.iter().zip(0u16..).flat_map(|(crawler, number)| {
        crawler
            .texts_to_look_for()
            .map(move |(text, matching)| (text.into(), Target::new(number, matching)))
    })
}
