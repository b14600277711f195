//! The names of crawlers in a policy: product tokens, `set:NAME`, `purpose:NAME` and `*`.

use std::collections::HashMap;

use crate::{
    base::{
        diagnostic::Diagnostic,
        escape::{first_of, shown},
        product_token::ProductToken,
    },
    rules::crawlers::{Catalogue, Crawler, Kind, Purpose, SiteNames, Status, is_findable},
};

use super::{
    findings::{closest, suggestion},
    shape::At,
    yaml::{Spot, Value},
};

pub(super) struct Names<'c> {
    pub(super) catalogue: &'c Catalogue,
    sets: HashMap<String, Vec<ProductToken>>,
    /// Whether a probable misspelling of a known name is an error. Otherwise it is a warning.
    strict: bool,
}

/// An entry of `user_agents` that is not `*`.
#[derive(Clone, Debug)]
pub struct Named {
    pub(crate) at: Spot,
    pub(super) written: String,
    pub(crate) tokens: Vec<ProductToken>,
}

#[derive(Debug, Default)]
pub(super) struct Selected {
    /// The place of `*`, every crawler.
    pub(super) star: Option<Spot>,
    pub(super) named: Vec<Named>,
}

impl Selected {
    pub(super) fn tokens<C: FromIterator<ProductToken>>(&self) -> C {
        self.named.iter().flat_map(|one| &one.tokens).cloned().collect()
    }
}

impl<'c> Names<'c> {
    pub(super) fn read(sets: Option<&At<'_>>, catalogue: &'c Catalogue, strict: bool) -> Self {
        let mut names = Self { catalogue, sets: HashMap::new(), strict };
        for (key, at) in sets.into_iter().flat_map(At::entries) {
            let tokens = names.set(&at);
            names.sets.insert(key.text.clone(), tokens);
        }
        names
    }

    /// A list of names, or a mapping with `purposes` and `product_tokens`.
    fn set(&self, at: &At<'_>) -> Vec<ProductToken> {
        if !at.is_map() {
            return distinct(self.crawlers(&at.items()));
        }
        let Some(fields) = at.fields() else { return Vec::new() };
        let purposes = fields.each("purposes", purpose);
        let tokens = fields.each("product_tokens", |at| self.token(at.text()?, at));
        distinct(purposes.into_iter().flat_map(|one| self.of_purpose(one)).chain(tokens).collect())
    }

    pub(super) fn crawlers(&self, items: &[At<'_>]) -> Vec<ProductToken> {
        let is_star =
            |item: &&At<'_>| matches!(&item.node.value, Value::Text(text) if text.trim() == "*");
        for item in items.iter().filter(is_star) {
            item.refuse("'*' is no crawler's name", "name the crawlers");
        }
        self.selected(items).tokens()
    }

    pub(super) fn selected(&self, items: &[At<'_>]) -> Selected {
        let mut all = Selected::default();
        for item in items {
            let Some(written) = item.text() else { continue };
            let at = item.node.spot;
            if written.trim() == "*" {
                all.star = Some(at);
            } else if let Some(tokens) = self.select(written.trim(), item) {
                all.named.push(Named { at, written: written.to_owned(), tokens });
            }
        }
        all
    }

    /// The crawlers of one entry; a finding if there are none.
    fn select(&self, text: &str, at: &At<'_>) -> Option<Vec<ProductToken>> {
        if let Some(set) = text.strip_prefix("set:") {
            self.named_set(set.trim(), at)
        } else if let Some(purpose) = text.strip_prefix("purpose:") {
            Some(self.of_purpose(purpose_named(purpose.trim(), at)?))
        } else {
            Some(vec![self.token(text, at)?])
        }
    }

    fn named_set(&self, name: &str, at: &At<'_>) -> Option<Vec<ProductToken>> {
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
            at.refuse_as("policy.unknown_set", message, help);
        }
        found
    }

    fn of_purpose(&self, purpose: Purpose) -> Vec<ProductToken> {
        self.catalogue.by_purpose(purpose).map(|crawler| crawler.product_token().clone()).collect()
    }

    /// The name of one crawler. A name close to a known one is probably a misspelling. Any other
    /// unknown name is valid: the rules bind every crawler that sends it.
    pub(super) fn token(&self, name: &str, at: &At<'_>) -> Option<ProductToken> {
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
                return at.refused_as("policy.bad_product_token", message, help);
            }
        };
        if self.catalogue.find(name).is_some() {
            // An alias stays as written: some crawlers look for that name in the file.
            return Some(token);
        }
        if let Some(names) = self.names_in_a_row(name) {
            let message = format!("'{}' is one name; it looks like a list of names", shown(name));
            let help = format!("write an entry for each: {names}");
            at.warn("policy.list_name", message, help);
            return Some(token);
        }
        if !is_findable(name) {
            let message = format!("'{}' looks like a part of a browser's User-Agent", shown(name));
            let help = "its rules are published but can't be enforced; name a product token";
            at.warn("policy.unfindable_name", message, help);
            return Some(token);
        }
        let message = format!("no crawler named '{}' is known", shown(name));
        let own = "add it under 'crawlers' if it is your own";
        if let Some(tokens) = self.tokens_of(name) {
            let message = format!("{message}: it is an operator or a product");
            let help = format!("write the names of its crawlers: {tokens} ({own})");
            at.warn("policy.unknown_crawler", message, help);
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
        at.add(finding);
        Some(token)
    }

    pub(super) fn control_token<'n>(&self, at: &At<'n>) -> Option<(&'n str, &'c Crawler)> {
        let Value::Text(name) = &at.node.value else { return None };
        let found = self.catalogue.find(name.trim())?;
        (found.kind() == Kind::Control).then_some((name.trim(), found))
    }

    /// Notes a name that no User-Agent has, in a group.
    pub(super) fn note_control_token(&self, at: &At<'_>) {
        if let Some((_, crawler)) = self.control_token(at) {
            let message = format!(
                "{} never appears in a User-Agent, so its rules are published but can't be enforced",
                crawler.product_token(),
            );
            let help = "nothing to do; the operator's other crawlers do the fetching";
            at.note("policy.control_token", message, help);
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
        let crawlers = || self.catalogue.iter().filter(|one| one.entry.status == Status::Active);
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
        (!tokens.is_empty()).then(|| first_of(tokens, NAMED))
    }

    /// The known name of which `name` is a misspelling: by one edit, or two in a long name. Very
    /// short names have too many neighbours: `BadBot` is no misspelling of `BDBot`.
    fn misspelling_of(&self, name: &str) -> Option<&str> {
        let edits = if name.len() >= 9 { 2 } else { 1 };
        let lower = name.to_ascii_lowercase();
        let known = self
            .catalogue
            .iter()
            .flat_map(|crawler| std::iter::once(crawler.product_token()).chain(&crawler.aliases));
        known
            .map(|token| (strsim::damerau_levenshtein(&lower, token.key()), token.as_str()))
            .filter(|(distance, token)| *distance <= edits && token.len() >= 6)
            .min_by_key(|(distance, _)| *distance)
            .map(|(_, token)| token)
    }
}

pub(super) fn purpose(at: &At<'_>) -> Option<Purpose> {
    purpose_named(at.text()?, at)
}

fn purpose_named(name: &str, at: &At<'_>) -> Option<Purpose> {
    let found = Purpose::from_word(name);
    if found.is_none() {
        let known = || Purpose::ALL.iter().map(|purpose| purpose.as_str());
        let help = suggestion(name, known()).unwrap_or_else(|| {
            format!("the purposes are {}", known().collect::<Vec<_>>().join(", "))
        });
        let message = format!("unknown purpose '{}'", shown(name));
        at.refuse_as("policy.unknown_purpose", message, help);
    }
    found
}

fn distinct(tokens: Vec<ProductToken>) -> Vec<ProductToken> {
    let mut seen = std::collections::HashSet::with_capacity(tokens.len());
    tokens.into_iter().filter(|token| seen.insert(token.clone())).collect()
}
