//! The names of crawlers in a policy: product tokens, `set:NAME`, `purpose:NAME` and `*`.

use std::collections::HashMap;

use crate::{
    base::{diagnostic::Diagnostic, escape::shown, product_token::ProductToken},
    rules::{
        crawlers::{Catalogue, Crawler, Kind, Purpose, SiteNames, Status, is_findable},
        keys,
    },
};

use super::{
    findings::Findings,
    shape::At,
    spelling::{closest, suggestion},
    yaml::Value,
};

/// The names a policy can use.
pub(super) struct Names<'c> {
    catalogue: &'c Catalogue,
    sets: HashMap<String, Vec<ProductToken>>,
    /// Whether a probable misspelling of a known name is an error. Otherwise it is a warning.
    strict: bool,
}

/// The crawlers of one entry of `user_agents`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// `*`: every crawler.
    Star,
    /// These, in the catalogue's order.
    Tokens(Vec<ProductToken>),
}

impl<'c> Names<'c> {
    /// Reads the `crawler_sets` section.
    pub(super) fn read(
        sets: Option<&At<'_>>,
        catalogue: &'c Catalogue,
        strict: bool,
        findings: &mut Findings,
    ) -> Self {
        let mut names = Self { catalogue, sets: HashMap::new(), strict };
        let entries = sets.and_then(|at| at.entries(findings)).unwrap_or_default();
        for (key, node) in entries {
            let at = At { node, path: format!("crawler_sets.{}", shown(&key.text)) };
            let tokens = names.set(&at, findings);
            names.sets.insert(key.text.clone(), tokens);
        }
        names
    }

    /// A list of names, or a mapping with `purposes` and `product_tokens`.
    fn set(&self, at: &At<'_>, findings: &mut Findings) -> Vec<ProductToken> {
        let mut tokens = Vec::new();
        if matches!(at.node.value, Value::Map(_)) {
            let Some(fields) = at.fields(&keys::CRAWLER_SET, findings) else {
                return tokens;
            };
            for item in fields.list("purposes", findings) {
                if let Some(purpose) = item.text(findings) {
                    tokens.extend(self.purpose(purpose, &item, findings));
                }
            }
            for item in fields.list("product_tokens", findings) {
                if let Some(name) = item.text(findings) {
                    tokens.extend(self.token(name, &item, findings));
                }
            }
        } else {
            for item in at.items(findings) {
                match self.select(&item, findings) {
                    Some(Selection::Tokens(selected)) => tokens.extend(selected),
                    Some(Selection::Star) => {
                        findings.refuse(&item, "'*' is no crawler's name", "name the crawlers");
                    }
                    None => {}
                }
            }
        }
        distinct(tokens)
    }

    /// The crawlers of one entry; a finding if there are none.
    pub(super) fn select(&self, at: &At<'_>, findings: &mut Findings) -> Option<Selection> {
        let text = at.text(findings)?.trim();
        let tokens = if text == "*" {
            return Some(Selection::Star);
        } else if let Some(set) = text.strip_prefix("set:") {
            self.named_set(set.trim(), at, findings)?
        } else if let Some(purpose) = text.strip_prefix("purpose:") {
            self.purpose(purpose.trim(), at, findings)
        } else {
            vec![self.token(text, at, findings)?]
        };
        Some(Selection::Tokens(tokens))
    }

    fn named_set(
        &self,
        name: &str,
        at: &At<'_>,
        findings: &mut Findings,
    ) -> Option<Vec<ProductToken>> {
        let found = self.sets.get(name).cloned();
        if found.is_none() {
            let mut known: Vec<&str> = self.sets.keys().map(String::as_str).collect();
            known.sort_unstable();
            let help = match closest(name, known.iter().copied()) {
                Some(set) => format!("did you mean 'set:{set}'?"),
                None if known.is_empty() => "define it under crawler_sets, above the sites".into(),
                None => format!("the sets are {}", known.join(", ")),
            };
            let message = format!("unknown set '{}'", shown(name));
            findings.refuse_as("policy.unknown_set", at, message, help);
        }
        found
    }

    fn purpose(&self, name: &str, at: &At<'_>, findings: &mut Findings) -> Vec<ProductToken> {
        let Some(purpose) = purpose(name, at, findings) else { return Vec::new() };
        self.catalogue.by_purpose(purpose).map(|crawler| crawler.product_token().clone()).collect()
    }

    /// The name of one crawler. A name close to a known one is probably a misspelling. Any other
    /// unknown name is valid: the rules bind every crawler that sends it.
    pub(super) fn token(
        &self,
        name: &str,
        at: &At<'_>,
        findings: &mut Findings,
    ) -> Option<ProductToken> {
        let refused = match ProductToken::new(name) {
            None => Err("is not a product token"),
            Some(_) if name.contains('/') => Err("has a version"),
            // No name of a crawler but those of the catalogue has such characters.
            Some(_)
                if name.contains(['|', '\\', '^', '$']) && self.catalogue.find(name).is_none() =>
            {
                Err("looks like a regular expression")
            }
            Some(token) => Ok(token),
        };
        let token = match refused {
            Ok(token) => token,
            Err(fault) => {
                let message = format!("'{}' {fault}", shown(name));
                let help = self.repair(name);
                return findings.refused_as("policy.bad_product_token", at, message, help);
            }
        };
        if self.catalogue.find(name).is_some() {
            // An alias stays as written: some crawlers look for that name in the file.
            return Some(token);
        }
        if let Some(names) = self.names_in_a_row(name) {
            let message = format!("'{}' is one name; it looks like a list of names", shown(name));
            let help = format!("write an entry for each: {names}");
            findings.add(at, Diagnostic::warning("policy.list_name", message).help(help));
            return Some(token);
        }
        if !is_findable(name) {
            let message = format!("'{}' looks like a part of a browser's User-Agent", shown(name));
            let help = "its rules are published but can't be enforced; name a product token";
            findings.add(at, Diagnostic::warning("policy.unfindable_name", message).help(help));
            return Some(token);
        }
        let message = format!("no crawler named '{}' is known", shown(name));
        let own = "add it under 'crawlers' if it is your own";
        if let Some(tokens) = self.tokens_of(name) {
            let message = format!("{message}: it is an operator or a product");
            let help = format!("write the names of its crawlers: {tokens} ({own})");
            findings.add(at, Diagnostic::warning("policy.unknown_crawler", message).help(help));
            return Some(token);
        }
        let close = self.misspelling_of(name);
        let finding = match close {
            Some(close) if self.strict => Diagnostic::error("policy.unknown_crawler", message)
                .help(format!("did you mean '{close}'? ({own}, or set 'strict: false')")),
            Some(close) => Diagnostic::warning("policy.unknown_crawler", message)
                .help(format!("did you mean '{close}'? ({own})")),
            None => Diagnostic::note("policy.unknown_crawler", message)
                .help(format!("{own}; requests with this name are judged either way")),
        };
        findings.add(at, finding);
        Some(token)
    }

    /// The kind of a crawler in the catalogue.
    pub(super) fn kind_of(&self, token: &ProductToken) -> Option<Kind> {
        self.catalogue.find(token.as_str()).map(Crawler::kind)
    }

    /// Notes a name that no User-Agent has, in a group.
    pub(super) fn note_control_token(&self, at: &At<'_>, findings: &mut Findings) {
        let Value::Text(name) = &at.node.value else { return };
        let found = self.catalogue.find(name.trim());
        if let Some(crawler) = found.filter(|crawler| crawler.kind() == Kind::Control) {
            let message = format!(
                "{} never appears in a User-Agent, so its rules are published but can't be enforced",
                crawler.product_token(),
            );
            let help = "nothing to do; the operator's other crawlers do the fetching";
            findings.add(at, Diagnostic::note("policy.control_token", message).help(help));
        }
    }

    /// The repair of a text that is no product token: the names that it contains.
    fn repair(&self, text: &str) -> String {
        let is_name = |name: &&str| ProductToken::new(name).is_some() && is_findable(name);
        let without_version = |part: &str| {
            let part = part.split('/').next().unwrap_or_default();
            part.trim_matches([' ', '^', '$', '.', '*', '\\', '(', ')', '[', ']']).to_owned()
        };
        // Lists, and the alternatives of a regular expression.
        let parts: Vec<String> = text.split([',', '|']).map(without_version).collect();
        let is_simple = |part: &String| {
            is_name(&part.as_str()) && !part.contains(|c| "(){}[]+?^$\\;".contains(c))
        };
        if parts.iter().all(is_simple) {
            return match parts.as_slice() {
                [only] => format!("write '{only}': a crawler is named by its product token alone"),
                all => format!("write an entry for each: {}", all.join(", ")),
            };
        }
        // A whole User-Agent.
        let site_names = SiteNames::default();
        let claim = self.catalogue.identify(text.as_bytes(), &site_names);
        match claim.primary().map(|name| shown(name.as_str())) {
            Some(name) => format!("write '{name}': a crawler is named by its product token alone"),
            None => "write the crawler's name in printable ASCII, without '#', ':', ',', '*' and \
                     its version (RFC 9309 section 2.2.1)"
                .to_owned(),
        }
    }

    /// The names in a text that is no name itself, if each of its words is the name of a crawler.
    fn names_in_a_row(&self, text: &str) -> Option<String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let is_known = |word: &&str| self.catalogue.find(word).is_some();
        (words.len() > 1 && words.iter().all(is_known)).then(|| words.join(", "))
    }

    /// The crawlers of the operator, or of the product, that has this name.
    fn tokens_of(&self, name: &str) -> Option<String> {
        const NAMED: usize = 8;
        let name = name.trim().to_ascii_lowercase();
        let crawlers = || self.catalogue.iter().filter(|one| one.status() == Status::Active);
        let is_operators = |one: &&Crawler| {
            let operator = one.operator().unwrap_or_default().to_ascii_lowercase();
            let rest = operator.strip_prefix(&name);
            rest.is_some_and(|rest| rest.is_empty() || rest == " ai" || rest == " inc.")
        };
        // `ClaudeBot` and `Claude-User` are of `Claude`, and `Clauden` is not.
        let is_products = |one: &&Crawler| {
            let token = one.product_token().key();
            let rest = token.strip_prefix(&name).filter(|_| name.len() >= 4);
            rest.is_some_and(|rest| rest.starts_with("bot") || rest.starts_with('-'))
        };
        let of = |is_meant: &dyn Fn(&&Crawler) -> bool| -> Vec<String> {
            let mut crawlers: Vec<_> = crawlers().filter(is_meant).collect();
            let is_main =
                |one: &Crawler| one.product_token().key().strip_prefix(&name) == Some("bot");
            crawlers.sort_by_key(|one| (!is_main(one), one.kind() != Kind::Crawler, one.purpose()));
            crawlers.iter().map(|one| one.product_token().to_string()).collect()
        };
        let mut tokens = of(&is_operators);
        if tokens.is_empty() {
            tokens = of(&is_products);
        }
        let more = tokens.len().saturating_sub(NAMED);
        tokens.truncate(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!tokens.is_empty()).then(|| format!("{}{more}", tokens.join(", ")))
    }

    /// The known name of which `name` is a misspelling: by one edit, or two in a long name. Very
    /// short names have too many neighbours: `BadBot` is no misspelling of `BDBot`.
    fn misspelling_of(&self, name: &str) -> Option<&str> {
        let edits = if name.len() >= 9 { 2 } else { 1 };
        let lower = name.to_ascii_lowercase();
        let known = self
            .catalogue
            .iter()
            .flat_map(|crawler| std::iter::once(crawler.product_token()).chain(crawler.aliases()));
        known
            .map(|token| (strsim::damerau_levenshtein(&lower, token.key()), token.as_str()))
            .filter(|(distance, token)| *distance <= edits && token.len() >= 6)
            .min_by_key(|(distance, _)| *distance)
            .map(|(_, token)| token)
    }
}

/// The purpose of this name; a finding if there is none.
pub(super) fn purpose(name: &str, at: &At<'_>, findings: &mut Findings) -> Option<Purpose> {
    let found = Purpose::from_name(name);
    if found.is_none() {
        let known = || Purpose::ALL.iter().map(|purpose| purpose.as_str());
        let help = suggestion(name, known()).unwrap_or_else(|| {
            format!("the purposes are {}", known().collect::<Vec<_>>().join(", "))
        });
        let message = format!("unknown purpose '{}'", shown(name));
        findings.refuse_as("policy.unknown_purpose", at, message, help);
    }
    found
}

/// The tokens in order, each once.
pub(super) fn distinct(tokens: Vec<ProductToken>) -> Vec<ProductToken> {
    let mut seen = std::collections::HashSet::with_capacity(tokens.len());
    tokens.into_iter().filter(|token| seen.insert(token.clone())).collect()
}
