//! The catalogue: all known crawlers, by name and by number, and the hosts from which their operators send
//! people to sites.

use std::collections::HashMap;

use crate::base::{diagnostic::Diagnostic, escape};

use super::{
    crawler::Crawler,
    entry::{Entry, Match, OperatorEntry, Purpose},
    name_table::{NameTable, TableId, Target},
    patterns::Patterns,
};

/// All known crawlers. Immutable; an update is a new catalogue.
#[derive(Clone, Debug)]
pub struct Catalogue {
    pub(super) id: TableId,
    crawlers: Vec<Crawler>,
    /// Tokens and aliases in lower case, for names in robots.txt.
    by_name: HashMap<Box<str>, u16>,
    /// The names for the scan of User-Agents.
    pub(super) names: NameTable,
    pub(super) patterns: Patterns,
    referrers: Referrers,
}

impl Catalogue {
    /// Checks the entries and builds the tables.
    ///
    /// # Errors
    ///
    /// One finding for each name that is not a product token, belongs to two crawlers, or refers to
    /// no entry.
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
        let names = NameTable::new(names_in_user_agents(&crawlers));
        let (id, referrers) = (TableId::new(), Referrers::default());
        Ok(Self { id, crawlers, by_name, names, patterns, referrers })
    }

    /// The same crawlers, with operators that send people to sites. Each host belongs to one of them.
    pub(crate) fn with_operators(
        self,
        operators: &[OperatorEntry],
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut findings = Vec::new();
        let referrers = Referrers::check(operators, &mut findings);
        if findings.is_empty() { Ok(Self { referrers, ..self }) } else { Err(findings) }
    }

    pub(crate) fn with_entries(&self, more: Vec<Entry>) -> Result<Self, Vec<Diagnostic>> {
        let known = self.iter().map(|crawler| crawler.entry.clone());
        let referrers = self.referrers.clone();
        Self::new(known.chain(more)).map(|made| Self { referrers, ..made })
    }

    pub(crate) fn operator_of(&self, host: &str) -> Option<&str> {
        self.referrers.operator(host)
    }

    /// The crawler with this token or alias, in any case of letters.
    pub(crate) fn find(&self, name: &str) -> Option<&Crawler> {
        let number = match self.by_name.get(name) {
            Some(number) => number,
            None => self.by_name.get(name.trim().to_ascii_lowercase().as_str())?,
        };
        self.at(*number)
    }

    /// The token that an unknown name probably means: the most similar one, if it is close enough.
    pub(crate) fn closest(&self, name: &str) -> Option<&str> {
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

    pub(crate) fn by_purpose(&self, purpose: Purpose) -> impl Iterator<Item = &Crawler> {
        self.iter().filter(move |crawler| crawler.purpose() == purpose)
    }

    /// The crawler that the site of this host is about: its name is the host, a domain above it, or
    /// the first label of such a domain if its documentation stands there.
    pub(super) fn of_host(&self, host: &str) -> Option<&Crawler> {
        const MIN_LABEL: usize = 5;
        let named = |name: &str| {
            let target = self.names.find(name.as_bytes())?.whole;
            self.at(target.filter(|target| target.matching == Match::Word)?.number)
        };
        let mut domain = host;
        loop {
            let (label, above) = domain.split_once('.')?;
            if let Some(crawler) = named(domain) {
                return Some(crawler);
            }
            let is_documented_there = |crawler: &&Crawler| {
                crawler.entry.documentation.as_ref().is_some_and(|url| has_host(url, domain))
            };
            if label.len() >= MIN_LABEL
                && let Some(crawler) = named(label).filter(is_documented_there)
            {
                return Some(crawler);
            }
            domain = above;
        }
    }

    pub(super) fn at(&self, number: u16) -> Option<&Crawler> {
        self.crawlers.get(usize::from(number))
    }

    /// The number by which [`Self::at`] finds a crawler of this catalogue.
    pub(super) fn number(&self, crawler: &Crawler) -> Option<u16> {
        u16::try_from(self.crawlers.element_offset(crawler)?).ok()
    }
}

fn has_host(url: &str, domain: &str) -> bool {
    let authority = url.split_once("://").and_then(|(_, rest)| rest.split(['/', '?', '#']).next());
    let host = authority.and_then(|authority| authority.split(':').next()).unwrap_or_default();
    let (rest, end) =
        host.split_at_checked(host.len().saturating_sub(domain.len())).unwrap_or_default();
    end.eq_ignore_ascii_case(domain) && (rest.is_empty() || rest.ends_with('.'))
}

fn index(crawlers: &[Crawler], findings: &mut Vec<Diagnostic>) -> HashMap<Box<str>, u16> {
    let mut by_name: HashMap<Box<str>, u16> = HashMap::with_capacity(crawlers.len() * 2);
    for (crawler, number) in crawlers.iter().zip(0u16..) {
        for name in crawler.names() {
            let Some(other) = by_name.insert(name.key().into(), number) else { continue };
            let (own, other) = (crawler.product_token(), crawlers.get(usize::from(other)));
            let other = other.map_or("", |other| other.product_token().as_str());
            let message = format!("'{name}' of {own} is already a name of {other}");
            let finding = Diagnostic::error("crawlers.duplicate_name", message);
            findings.push(finding.help("keep one of them"));
        }
    }
    by_name
}

fn names_in_user_agents(crawlers: &[Crawler]) -> impl Iterator<Item = (Box<str>, Target)> {
    crawlers.iter().zip(0u16..).flat_map(|(crawler, number)| {
        crawler
            .texts_in_user_agents()
            .map(move |(text, matching)| (text.into(), Target::new(number, matching)))
    })
}

#[derive(Clone, Debug, Default)]
pub(super) struct Referrers {
    operators: Vec<Box<str>>,
    /// The numbers of operators by host, without `www.`.
    by_host: HashMap<Box<str>, usize>,
    /// The numbers of operators by the first label of hosts in any country: `google` of `google.*`.
    by_label: HashMap<Box<str>, usize>,
}

impl Referrers {
    /// Checks the entries and builds the tables. Each host has one operator.
    pub(super) fn check(entries: &[OperatorEntry], findings: &mut Vec<Diagnostic>) -> Self {
        let mut referrers = Self::default();
        for (number, OperatorEntry { name, referrers: hosts }) in entries.iter().enumerate() {
            let is_known = |one: &OperatorEntry| one.name.eq_ignore_ascii_case(name);
            if name.trim().is_empty() || entries.iter().take(number).any(is_known) {
                let message = format!("operator '{}' stands here twice", escape::shown(name));
                let help = "give each operator a name of its own";
                findings.push(Diagnostic::error("crawlers.duplicate_operator", message).help(help));
            }
            referrers.operators.push(name.as_str().into());
            for host in hosts {
                let (table, key) = match host.strip_suffix(".*") {
                    Some(label) => (&mut referrers.by_label, label),
                    None => (&mut referrers.by_host, host.as_str()),
                };
                if !is_host(host) {
                    findings.push(refused("crawlers.bad_referrer", host, name, "is not a host"));
                } else if table.insert(key.into(), number).is_some() {
                    let code = "crawlers.duplicate_referrer";
                    findings.push(refused(code, host, name, "is given twice"));
                }
            }
        }
        referrers
    }

    pub(super) fn operator(&self, host: &str) -> Option<&str> {
        let host = host.strip_prefix("www.").unwrap_or(host);
        let of_label = || {
            let (label, country) = host.split_once('.')?;
            self.by_label.get(label).filter(|_| is_country(country))
        };
        let number = self.by_host.get(host).or_else(of_label)?;
        self.operators.get(*number).map(|name| &**name)
    }
}

fn refused(code: &'static str, host: &str, operator: &str, what: &str) -> Diagnostic {
    let (host, operator) = (escape::shown(host), escape::shown(operator));
    Diagnostic::error(code, format!("referrer '{host}' of {operator} {what}")).help(
        "write hosts in lower case without 'www.': search.example, or search.* for any country",
    )
}

/// A host in lower case without `www.`, or a label and `.*`.
fn is_host(host: &str) -> bool {
    let name = host.strip_suffix(".*").map_or(host, |label| label);
    let is_label = |label: &str| {
        let is_octet = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        !label.is_empty() && label.len() < 64 && label.bytes().all(is_octet)
    };
    let labels = name.split('.').count();
    let is_long_enough = if name.len() == host.len() { labels > 1 } else { labels == 1 };
    is_long_enough
        && host.len() <= 253
        && !host.starts_with("www.")
        && name.split('.').all(is_label)
}

/// The rest of a host behind its first label: `de`, `com`, `co.uk`, `com.br`.
fn is_country(rest: &str) -> bool {
    let rest = rest.strip_prefix("co.").or_else(|| rest.strip_prefix("com.")).unwrap_or(rest);
    rest.len() > 1 && rest.bytes().all(|octet| octet.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, hosts: &[&str]) -> OperatorEntry {
        let referrers = hosts.iter().map(|host| (*host).to_owned()).collect();
        OperatorEntry { name: name.to_owned(), referrers }
    }

    #[test]
    fn a_host_has_its_operator() {
        let entries = [
            entry("Google", &["google.*", "gemini.google.com"]),
            entry("OpenAI", &["chatgpt.com", "chat.openai.com"]),
        ];
        let mut findings = Vec::new();
        let referrers = Referrers::check(&entries, &mut findings);
        assert_eq!(findings, []);
        for (host, operator) in [
            ("www.google.com", Some("Google")),
            ("google.de", Some("Google")),
            ("www.google.co.uk", Some("Google")),
            ("www.google.com.br", Some("Google")),
            ("gemini.google.com", Some("Google")),
            ("mail.google.com", None),
            ("google.example.com", None),
            ("notgoogle.com", None),
            ("www.google", None),
            ("google.", None),
            ("chatgpt.com", Some("OpenAI")),
            ("www.chatgpt.com", Some("OpenAI")),
            ("chatgpt.com.example", None),
            ("", None),
        ] {
            assert_eq!(referrers.operator(host), operator, "{host}");
        }
    }

    #[test]
    fn a_bad_or_doubled_host_is_refused() {
        for (entries, code) in [
            (
                vec![entry("A", &["a.example"]), entry("B", &["a.example"])],
                "crawlers.duplicate_referrer",
            ),
            (
                vec![entry("A", &["a.example"]), entry("a", &["b.example"])],
                "crawlers.duplicate_operator",
            ),
            (vec![entry("A", &["https://a.example"])], "crawlers.bad_referrer"),
            (vec![entry("A", &["A.example"])], "crawlers.bad_referrer"),
            (vec![entry("A", &["www.a.example"])], "crawlers.bad_referrer"),
            (vec![entry("A", &["a"])], "crawlers.bad_referrer"),
            (vec![entry("A", &["a.b.*"])], "crawlers.bad_referrer"),
            (vec![entry("A", &[".*"])], "crawlers.bad_referrer"),
        ] {
            let mut findings = Vec::new();
            Referrers::check(&entries, &mut findings);
            assert_eq!(findings.iter().map(|one| one.code).collect::<Vec<_>>(), [code]);
        }
    }
}
