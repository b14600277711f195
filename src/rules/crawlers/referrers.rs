//! The hosts from which operators of crawlers send people to sites.

use std::collections::HashMap;

use crate::base::{diagnostic::Diagnostic, escape};

use super::entry::OperatorEntry;

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
