//! One crawler of the catalogue: its facts, checked.

use crate::{diagnostic::Diagnostic, escape, product_token::ProductToken};

use super::entry::{Entry, Honours, Kind, Match, Purpose, Status};

/// One crawler of the catalogue, checked.
#[derive(Clone, Debug)]
pub struct Crawler {
    product_token: ProductToken,
    aliases: Vec<ProductToken>,
    falls_back_to: Vec<ProductToken>,
    borrows: Vec<ProductToken>,
    entry: Entry,
}

impl Crawler {
    /// The name it looks for in robots.txt, as its operator writes it.
    pub fn product_token(&self) -> &ProductToken {
        &self.product_token
    }

    /// Its further names.
    pub fn aliases(&self) -> &[ProductToken] {
        &self.aliases
    }

    /// Who runs it, if known.
    pub fn operator(&self) -> Option<&str> {
        self.entry.operator.as_deref()
    }

    /// What it fetches pages for.
    pub fn purpose(&self) -> Purpose {
        self.entry.purpose
    }

    /// How it comes to send requests.
    pub fn kind(&self) -> Kind {
        self.entry.kind
    }

    /// Where it is described, if known.
    pub fn documentation(&self) -> Option<&str> {
        self.entry.documentation.as_deref()
    }

    /// What it says that it honours.
    pub fn honours(&self) -> Honours {
        self.entry.honours
    }

    /// Whether it is still seen.
    pub fn status(&self) -> Status {
        self.entry.status
    }

    /// The groups it obeys where none names it, before `*`.
    pub fn falls_back_to(&self) -> &[ProductToken] {
        &self.falls_back_to
    }

    /// Whether only a group that names it binds it, by its operator's own words.
    pub fn ignores_star(&self) -> bool {
        self.entry.ignores_star
    }

    /// The names of groups in the order in which it looks for them, before `*`: its token, its
    /// aliases, then those it falls back to.
    pub fn groups(&self) -> impl Iterator<Item = &ProductToken> {
        self.names().chain(&self.falls_back_to)
    }

    /// Whether its name can be found in a User-Agent at all.
    pub fn is_identifiable(&self) -> bool {
        self.entry.matching != Match::Never
    }

    /// Addresses of published lists of its IP ranges.
    pub fn ip_ranges(&self) -> &[String] {
        &self.entry.ip_ranges
    }

    /// How these lists are written, if known.
    pub fn ip_format(&self) -> Option<&str> {
        self.entry.ip_format.as_deref()
    }

    /// Suffixes of its confirmed reverse-DNS names, each with its leading dot.
    pub fn reverse_dns(&self) -> &[String] {
        &self.entry.reverse_dns
    }

    /// The origin that it names in `Signature-Agent`.
    pub fn signature_agent(&self) -> Option<&str> {
        self.entry.signature_agent.as_deref()
    }

    /// Whether its operator publishes anything that tells its requests from others'.
    pub fn publishes_evidence(&self) -> bool {
        !self.entry.ip_ranges.is_empty()
            || !self.entry.reverse_dns.is_empty()
            || self.entry.signature_agent.is_some()
    }

    pub(super) fn user_agent_pattern(&self) -> Option<&str> {
        self.entry.user_agent_pattern.as_deref()
    }

    pub(super) fn borrows(&self) -> bool {
        !self.borrows.is_empty()
    }

    pub(super) fn borrows_from(&self, other: &Self) -> bool {
        self.borrows.contains(&other.product_token)
    }

    /// Its token and its aliases.
    pub(super) fn names(&self) -> impl Iterator<Item = &ProductToken> {
        std::iter::once(&self.product_token).chain(&self.aliases)
    }

    /// What tells it in a User-Agent, in lower case, and where each counts. The restriction of an
    /// ambiguous token doesn't reach its aliases and phrases: they are unambiguous, else they would
    /// not be written down.
    pub(super) fn texts_to_look_for(&self) -> impl Iterator<Item = (String, Match)> {
        let aliases = match self.entry.matching {
            Match::Never => Match::Never,
            _ => Match::Word,
        };
        let phrases = self.entry.phrases.iter().map(|text| text.to_ascii_lowercase());
        std::iter::once((self.product_token.key().to_owned(), self.entry.matching))
            .chain(self.aliases.iter().map(move |name| (name.key().to_owned(), aliases)))
            .chain(phrases.map(|text| (text, Match::Word)))
    }

    pub(super) fn check(entry: Entry, findings: &mut Vec<Diagnostic>) -> Option<Self> {
        let mut tokens = |names: &[String]| -> Vec<ProductToken> {
            names.iter().filter_map(|name| token(name, findings)).collect()
        };
        let product_token = tokens(std::slice::from_ref(&entry.product_token)).pop()?;
        let aliases = tokens(&entry.aliases);
        let falls_back_to = tokens(&entry.falls_back_to);
        let borrows = tokens(&entry.borrows);
        for phrase in entry.phrases.iter().filter(|phrase| !can_be_looked_for(phrase)) {
            let shown = escape::bounded(phrase.as_bytes(), 64);
            findings.push(
                Diagnostic::error(
                    "crawlers.bad_phrase",
                    format!("'{shown}' of {product_token} can't be looked for"),
                )
                .help("begin it with a letter or digit and write printable ASCII"),
            );
        }
        for suffix in entry.reverse_dns.iter().filter(|suffix| !is_suffix(suffix)) {
            findings.push(
                Diagnostic::error(
                    "crawlers.bad_suffix",
                    format!(
                        "'{}' of {product_token} is no suffix",
                        escape::text(suffix.as_bytes())
                    ),
                )
                .help("begin it with a dot and end it without: '.bots.example'"),
            );
        }
        Some(Self { product_token, aliases, falls_back_to, borrows, entry })
    }

    /// Adds a finding for each name it refers to that is no `is_known` crawler's, or its own.
    pub(super) fn check_references(
        &self,
        is_known: impl Fn(&ProductToken) -> bool,
        findings: &mut Vec<Diagnostic>,
    ) {
        for name in self.falls_back_to.iter().chain(&self.borrows) {
            if !is_known(name) {
                findings.push(
                    Diagnostic::error(
                        "crawlers.unknown_reference",
                        format!("{} refers to '{name}', which is in no entry", self.product_token),
                    )
                    .help("add an entry for it, or correct its spelling"),
                );
            } else if *name == self.product_token {
                findings.push(Diagnostic::error(
                    "crawlers.refers_to_itself",
                    format!("{name} refers to itself"),
                ));
            }
        }
    }
}

fn token(name: &str, findings: &mut Vec<Diagnostic>) -> Option<ProductToken> {
    let token = ProductToken::new(name);
    if token.is_none() {
        let shown = escape::bounded(name.as_bytes(), 64);
        findings.push(
            Diagnostic::error("crawlers.bad_token", format!("'{shown}' is no product token"))
                .help("write printable ASCII without '#', ':', ',' and '*', at most 128 bytes"),
        );
    }
    token
}

/// Labels with a dot before each: any other text would end no name at all.
fn is_suffix(suffix: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    };
    suffix.strip_prefix('.').is_some_and(|labels| labels.split('.').all(is_label))
}

fn can_be_looked_for(phrase: &str) -> bool {
    phrase.starts_with(|c: char| c.is_ascii_alphanumeric())
        && phrase.bytes().all(|b| matches!(b, b' '..=b'~'))
}
