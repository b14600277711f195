//! One crawler of the catalogue, with its facts checked, and domains that many owners share: a name below
//! them does not identify an operator.

use crate::base::{diagnostic::Diagnostic, escape, product_token::ProductToken};

use super::entry::{Entry, Kind, Match, Purpose};

/// One crawler of the catalogue, checked.
#[derive(Clone, Debug)]
pub struct Crawler {
    product_token: ProductToken,
    /// The aliases, then the names that only robots.txt has.
    pub(crate) aliases: Vec<ProductToken>,
    pub(crate) falls_back_to: Vec<ProductToken>,
    borrows: Vec<ProductToken>,
    pub(crate) entry: Entry,
}

impl Crawler {
    /// The name that the crawler looks for in robots.txt, as its operator writes it.
    pub fn product_token(&self) -> &ProductToken {
        &self.product_token
    }

    pub(crate) fn operator(&self) -> Option<&str> {
        self.entry.operator.as_deref()
    }

    pub(crate) fn purpose(&self) -> Purpose {
        self.entry.purpose
    }

    /// The cause of its requests.
    pub fn kind(&self) -> Kind {
        self.entry.kind
    }

    /// The uses of copies that it governs: of a control token its purposes, of others none. A token that
    /// governs more than one use closes all of them.
    pub(crate) fn governs(&self) -> &[Purpose] {
        match self.entry.kind {
            Kind::Control if self.entry.governs.is_empty() => {
                std::slice::from_ref(&self.entry.purpose)
            }
            _ => &self.entry.governs,
        }
    }

    /// Whether it is a program that many people run, or a service that sites use, and no crawler.
    pub(crate) fn is_program(&self) -> bool {
        matches!(self.entry.kind, Kind::Automation | Kind::App)
    }

    /// Whether only a group that names it binds it, by its operator's documentation.
    pub fn ignores_star(&self) -> bool {
        self.entry.ignores_star
    }

    /// The names of groups in the order in which the crawler looks for them, before `*`: its token,
    /// its aliases, its fallbacks.
    pub fn groups(&self) -> impl Iterator<Item = &ProductToken> {
        self.names().chain(&self.falls_back_to)
    }

    /// Whether its name can be found in a User-Agent.
    pub fn is_identifiable(&self) -> bool {
        self.entry.matching != Match::Never
    }

    pub(crate) fn publishes_evidence(&self) -> bool {
        !self.entry.ip_ranges.is_empty()
            || !self.entry.reverse_dns.is_empty()
            || self.entry.signature_agent.is_some()
    }

    /// The URL of the followed list that it comes from.
    pub(crate) fn list(&self) -> Option<&str> {
        self.entry.source.as_ref().map(|source| source.url.as_str())
    }

    /// Whether it comes from a followed list, and the operator has not accepted it. Its requests are
    /// recorded, and never refused.
    pub(crate) fn is_pending(&self) -> bool {
        self.entry.source.as_ref().is_some_and(|source| !source.is_accepted)
    }

    /// The followed list that it comes from, in words.
    pub(crate) fn list_in_words(&self) -> Option<String> {
        let list = escape::shown(self.list()?);
        Some(match self.is_pending() {
            true => format!("{list} (never refused until 'beadle crawlers accept')"),
            false => format!("{list} (accepted)"),
        })
    }

    pub(super) fn borrows(&self) -> bool {
        !self.borrows.is_empty()
    }

    pub(super) fn borrows_from(&self, other: &Self) -> bool {
        self.borrows.contains(&other.product_token)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &ProductToken> {
        std::iter::once(&self.product_token).chain(&self.aliases)
    }

    /// The texts that identify it in a User-Agent, in lower case, with the places where each counts.
    /// The restriction of an ambiguous token does not apply to aliases and phrases: the catalogue
    /// only contains unambiguous ones. Names that only robots.txt has are not looked for.
    pub(super) fn texts_in_user_agents(&self) -> impl Iterator<Item = (String, Match)> {
        let aliases = match self.entry.matching {
            Match::Never => Match::Never,
            _ => Match::Word,
        };
        let phrases = self.entry.phrases.iter().map(|text| text.to_ascii_lowercase());
        let only_in_groups = self.entry.group_names.len();
        let in_user_agents = self.aliases.iter().rev().skip(only_in_groups).rev();
        std::iter::once((self.product_token.key().to_owned(), self.entry.matching))
            .chain(in_user_agents.map(move |name| (name.key().to_owned(), aliases)))
            .chain(phrases.map(|text| (text, Match::Word)))
    }

    pub(super) fn check(entry: Entry, findings: &mut Vec<Diagnostic>) -> Option<Self> {
        let mut tokens = |names: &[String]| -> Vec<ProductToken> {
            names.iter().filter_map(|name| token(name, findings)).collect()
        };
        let product_token = tokens(std::slice::from_ref(&entry.product_token)).pop()?;
        let mut aliases = tokens(&entry.aliases);
        aliases.extend(tokens(&entry.group_names));
        let falls_back_to = tokens(&entry.falls_back_to);
        let borrows = tokens(&entry.borrows);
        for phrase in entry.phrases.iter().filter(|phrase| !is_phrase(phrase)) {
            let shown = escape::bounded(phrase.as_bytes(), 64);
            let message = format!("'{shown}' of {product_token} is not a phrase");
            let help = "begin with a letter or digit and write printable ASCII";
            findings.push(Diagnostic::error("crawlers.bad_phrase", message).help(help));
        }
        if entry.kind != Kind::Control && !entry.governs.is_empty() {
            let message = format!("{product_token} sends requests itself, so it governs nothing");
            let help = "write 'kind: control', or remove 'governs'";
            findings.push(Diagnostic::error("crawlers.governs", message).help(help));
        }
        for finding in entry.reverse_dns.iter().filter_map(|suffix| check_suffix(suffix).err()) {
            let message = format!("{product_token}: {}", finding.message);
            findings.push(Diagnostic { message, ..finding });
        }
        Some(Self { product_token, aliases, falls_back_to, borrows, entry })
    }

    /// Adds a finding for each reference to an unknown crawler or to itself.
    pub(super) fn check_references(
        &self,
        is_known: impl Fn(&ProductToken) -> bool,
        findings: &mut Vec<Diagnostic>,
    ) {
        for name in self.falls_back_to.iter().chain(&self.borrows) {
            if !is_known(name) {
                let own = &self.product_token;
                let message = format!("{own} refers to '{name}', but no entry has this name");
                let help = "add an entry for it, or correct the spelling";
                findings.push(Diagnostic::error("crawlers.unknown_reference", message).help(help));
            } else if *name == self.product_token {
                let message = format!("{name} refers to itself");
                findings.push(Diagnostic::error("crawlers.refers_to_itself", message));
            }
        }
    }
}

fn token(name: &str, findings: &mut Vec<Diagnostic>) -> Option<ProductToken> {
    let token = ProductToken::new(name);
    if token.is_none() {
        let shown = escape::bounded(name.as_bytes(), 64);
        let message = format!("'{shown}' is not a product token");
        let help = "write printable ASCII without '#', ':', ',' and '*', at most 128 bytes";
        findings.push(Diagnostic::error("crawlers.bad_token", message).help(help));
    }
    token
}

/// Checks a suffix of the names of a crawler's addresses.
///
/// # Errors
/// A finding if the suffix does not consist of labels with a dot before each: no name ends in any
/// other text.
pub fn check_suffix(suffix: &str) -> Result<(), Diagnostic> {
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    };
    if suffix.strip_prefix('.').is_some_and(|labels| labels.split('.').all(is_label)) {
        return Ok(());
    }
    let message = format!("'{}' is not a suffix", escape::bounded(suffix.as_bytes(), 100));
    Err(Diagnostic::error("crawlers.bad_suffix", message)
        .help("begin with a dot and end without one: '.bots.example'"))
}

fn is_phrase(phrase: &str) -> bool {
    phrase.starts_with(|c: char| c.is_ascii_alphanumeric())
        && phrase.bytes().all(|b| matches!(b, b' '..=b'~'))
}

/// Domains in which a provider names the machines of its customers.
const CUSTOMER_DOMAINS: &str = "
    .1e100.net .akamaitechnologies.com .aliyuncs.com .amazonaws.com .azurewebsites.net
    .bc.googleusercontent.com .cloudapp.azure.com .cloudapp.net .cloudfront.net
    .colocrossing.com .contabo.net .contaboserver.net .digitalocean.com .fastly.net
    .githubusercontent.com .herokuapp.com .hetzner.com .hinet.net .hwclouds-dns.com .kimsufi.com
    .leaseweb.com .leaseweb.net .linode.com .linodeusercontent.com .on.aws .online.net
    .oraclecloud.com .oraclevcn.com .ovh.ca .ovh.net .ovh.us .poneytelecom.eu .rdns.cloud
    .scaleway.com .scw.cloud .secureserver.net .startdedicated.com .upcloud.host .vultr.com
    .vultrusercontent.com .workers.dev .your-server.de .yourvserver.net
";

/// First labels of the two below which registries of countries sell names: `.co.uk`.
const SECOND_LEVELS: [&str; 22] = [
    "ac", "asso", "biz", "co", "com", "edu", "go", "gob", "gouv", "gov", "gr", "gv", "info", "ltd",
    "mil", "ne", "net", "nom", "or", "org", "plc", "sch",
];

/// Whether many owners have names under a suffix: a registry sells them, or a provider names the
/// machines of its customers.
pub fn is_shared(suffix: &str) -> bool {
    let is_suffix = suffix.strip_prefix('.').is_some_and(|name| name.split('.').all(is_label));
    is_suffix && !is_of_one_operator(suffix)
}

/// Whether a suffix is a domain, or below a domain, that one operator has registered for its own
/// machines. A suffix that contains a customer domain, or is below one, is not.
pub(super) fn is_of_one_operator(suffix: &str) -> bool {
    let suffix = suffix.to_ascii_lowercase();
    let Some(name) = suffix.strip_prefix('.') else { return false };
    let labels: Vec<&str> = name.split('.').collect();
    let is_registered = match labels.as_slice() {
        [] | [_] => false,
        [second, top] => top.len() > 2 || !SECOND_LEVELS.contains(second),
        _ => true,
    };
    let is_shared = CUSTOMER_DOMAINS
        .split_whitespace()
        .any(|shared| shared.ends_with(&suffix) || suffix.ends_with(shared));
    labels.iter().all(|label| is_label(label)) && is_registered && !is_shared
}

fn is_label(label: &str) -> bool {
    !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suffix_belongs_to_one_operator() {
        for (suffix, expected) in [
            (".googlebot.com", true),
            (".search.msn.com", true),
            (".gae.googleusercontent.com", true),
            (".crawl.amazonbot.amazon", true),
            (".bbc.co.uk", true),
            ("googlebot.com", false),
            (".", false),
            ("", false),
            (".com", false),
            (".co.uk", false),
            (".com.br", false),
            (".gob.mx", false),
            (".compute.amazonaws.com", false),
            (".info.com", true),
            (".amazonaws.com", false),
            (".eu-west-1.compute.amazonaws.com", false),
            (".googleusercontent.com", false),
            (".bc.googleusercontent.com", false),
            (".1E100.net", false),
            (".your-server.de", false),
            ("..com", false),
            (".a b.com", false),
        ] {
            assert_eq!(is_of_one_operator(suffix), expected, "{suffix}");
            assert!(!(expected && is_shared(suffix)), "{suffix}");
        }
    }

    #[test]
    fn a_shared_suffix_is_a_suffix() {
        for (suffix, expected) in [
            (".com", true),
            (".co.uk", true),
            (".CO.UK", true),
            (".compute.amazonaws.com", true),
            (".bots.example.com", false),
            ("com", false),
            (".com.", false),
            (".", false),
        ] {
            assert_eq!(is_shared(suffix), expected, "{suffix}");
        }
    }
}
