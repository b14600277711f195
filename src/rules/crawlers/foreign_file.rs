//! The audit of a catalogue file that comes from elsewhere.
//!
//! [`Catalogue::new`](super::Catalogue::new) checks the names. Beadle also fetches, resolves and
//! trusts the rest of a file: a suffix shared by many owners would confirm every one of them. The
//! audit refuses such suffixes, URLs that cannot be fetched, and texts of unreasonable length.

use std::collections::HashMap;

use serde_json::Value;

use crate::{
    base::{diagnostic::Diagnostic, escape},
    formats::signature::AgentUrl,
};

use super::{
    crawler::is_of_one_operator,
    entry::{CatalogueFile, Entry},
    ranges::Format,
};

/// The longest text of an entry, in octets: a name, an operator, an address, a pattern.
const MAX_TEXT: usize = 2_048;
const MAX_ITEMS: usize = 200;

impl CatalogueFile {
    /// Checks a file from elsewhere: a version that is a day, bounded texts, URLs that can be
    /// fetched, known formats, suffixes of one operator each, and no circle of crawlers that fall
    /// back to each other. [`Catalogue::new`](super::Catalogue::new) checks the names.
    pub(crate) fn audit(&self) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        if !is_day(&self.version) {
            let shown = escape::bounded(self.version.as_bytes(), 32);
            let message = format!("version '{shown}' is not a day");
            let help = "write the day of the file: \"2026-11-01\"";
            findings.push(Diagnostic::error("catalogue.bad_version", message).help(help));
        }
        for entry in &self.crawlers {
            bounds(entry, &mut findings);
            evidence(entry, &mut findings);
            if let Some(url) = &entry.documentation
                && !is_url(url, &["https://", "http://"])
            {
                let help = "write the URL of a page: https://bots.example/about";
                findings.push(refused("catalogue.bad_url", entry, url, "is not a URL", help));
            }
            if let Some(contact) = entry.contact.as_ref().filter(|contact| !is_contact(contact)) {
                let help = "write a mail address (bot@bots.example) or an https:// URL";
                let code = "catalogue.bad_contact";
                findings.push(refused(code, entry, contact, "is no contact", help));
            }
        }
        circles(&self.crawlers, &mut findings);
        for operator in &self.operators {
            let texts = operator.referrers.iter().chain([&operator.name]);
            if operator.referrers.len() > MAX_ITEMS || texts.into_iter().any(|t| t.len() > MAX_TEXT)
            {
                let name = escape::bounded(operator.name.as_bytes(), 64);
                let message = format!("operator '{name}' has too many or too long referrers");
                let help = "keep the hosts from which it sends people";
                findings.push(Diagnostic::error("catalogue.too_long", message).help(help));
            }
        }
        findings
    }
}

fn refused(code: &'static str, entry: &Entry, value: &str, what: &str, help: &str) -> Diagnostic {
    let token = escape::bounded(entry.product_token.as_bytes(), 64);
    let shown = escape::bounded(value.as_bytes(), 100);
    Diagnostic::error(code, format!("'{shown}' of {token} {what}")).help(help)
}

fn bounds(entry: &Entry, findings: &mut Vec<Diagnostic>) {
    let facts = entry.facts();
    let lists = || facts.values().filter_map(Value::as_array);
    let texts = facts.values().chain(lists().flatten()).filter_map(Value::as_str);
    let longest = texts.max_by_key(|text| text.len());
    if let Some(text) = longest.filter(|text| text.len() > MAX_TEXT) {
        let what = format!("is longer than {MAX_TEXT} octets");
        findings.push(refused("catalogue.too_long", entry, text, &what, "shorten it"));
    }
    if let Some(list) = lists().find(|list| list.len() > MAX_ITEMS) {
        let first = list.first().and_then(Value::as_str).unwrap_or_default();
        let what = format!("begins a list of more than {MAX_ITEMS}");
        findings.push(refused("catalogue.too_long", entry, first, &what, "shorten it"));
    }
}

/// Checks the facts that Beadle fetches, resolves and trusts.
fn evidence(entry: &Entry, findings: &mut Vec<Diagnostic>) {
    for url in entry.ip_ranges.iter().filter(|url| !is_url(url, &["https://"])) {
        let help = "write an https:// URL with a host";
        findings.push(refused("catalogue.bad_url", entry, url, "cannot be fetched", help));
    }
    if let Some(name) = &entry.ip_format
        && Format::named(name).is_none()
    {
        let help = "write json, text, geofeed or html, or omit it: Beadle detects the format";
        findings.push(refused("catalogue.bad_format", entry, name, "is not a known format", help));
    }
    if let Some(agent) = &entry.signature_agent
        && AgentUrl::new(agent).is_err()
    {
        let help = "write the https:// URL that the crawler sends in Signature-Agent";
        findings.push(refused("catalogue.bad_agent", entry, agent, "is not an agent URL", help));
    }
    for suffix in entry.reverse_dns.iter().filter(|suffix| !is_of_one_operator(suffix)) {
        let help = "name a domain of the operator that contains no machines of customers";
        let what = "is a suffix that many owners share";
        findings.push(refused("catalogue.shared_suffix", entry, suffix, what, help));
    }
}

/// Adds one finding if crawlers fall back to each other in a circle, at one crawler of the circle.
fn circles(entries: &[Entry], findings: &mut Vec<Diagnostic>) {
    let names = entries.iter().enumerate().flat_map(|(number, entry)| {
        let aliases = entry.aliases.iter().chain(&entry.group_names);
        let names = std::iter::once(&entry.product_token).chain(aliases);
        names.map(move |name| (name.to_ascii_lowercase(), number))
    });
    let number_of: HashMap<String, usize> = names.collect();
    let fallbacks = |entry: &Entry| -> Vec<usize> {
        let names = entry.falls_back_to.iter().map(|name| name.to_ascii_lowercase());
        names.filter_map(|name| number_of.get(&name).copied()).collect()
    };
    let parents: Vec<Vec<usize>> = entries.iter().map(fallbacks).collect();
    // Without the crawlers whose fallbacks are all left out, those that remain lead into a circle.
    let mut left = vec![true; entries.len()];
    let next = |left: &[bool], number: usize| {
        let mut parents = parents.get(number).into_iter().flatten();
        parents.find(|parent| left.get(**parent) == Some(&true)).copied()
    };
    let mut is_changed = true;
    while is_changed {
        is_changed = false;
        for number in 0..left.len() {
            if left[number] && next(&left, number).is_none() {
                (left[number], is_changed) = (false, true);
            }
        }
    }
    let Some(mut at) = left.iter().position(|is_left| *is_left) else { return };
    // Each crawler that remains falls back to another one, so this many steps end in the circle.
    for _ in 0..entries.len() {
        at = next(&left, at).unwrap_or(at);
    }
    if let Some(entry) = entries.get(at) {
        let what = "falls back to itself, directly or through others";
        let help = "remove one of the fallbacks";
        findings.push(refused("catalogue.circle", entry, &entry.product_token, what, help));
    }
}

/// Whether a text is a day such as `2026-11-01`. As text, a later day is greater.
fn is_day(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut number = |digits: usize, most: u32| {
        parts.next().is_some_and(|part| {
            part.len() == digits
                && part.bytes().all(|b| b.is_ascii_digit())
                && part.parse().is_ok_and(|n: u32| (1..=most).contains(&n))
        })
    };
    number(4, 9_999) && number(2, 12) && number(2, 31) && parts.next().is_none()
}

/// Whether a text is a mail address in its plain form, or the URL of a page.
fn is_contact(text: &str) -> bool {
    let is_part = |part: &str, others: &[u8]| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || others.contains(&b))
    };
    let is_mail = text.split_once('@').is_some_and(|(name, domain)| {
        is_part(name, b"._+-") && domain.contains('.') && is_part(domain, b".-")
    });
    is_mail || is_url(text, &["https://"])
}

/// Whether a text begins with one of these schemes and names a host, in printable ASCII.
fn is_url(text: &str, schemes: &[&str]) -> bool {
    let rest = schemes.iter().find_map(|scheme| text.strip_prefix(scheme));
    rest.is_some_and(|rest| {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        host.contains('.') && !host.contains('@') && rest.bytes().all(|b| b.is_ascii_graphic())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(entry: Entry) -> Vec<&'static str> {
        let file = CatalogueFile {
            version: "2026-11-01".to_owned(),
            crawlers: vec![entry],
            operators: Vec::new(),
        };
        file.audit().into_iter().map(|finding| finding.code).collect()
    }

    fn named(name: &str) -> Entry {
        Entry { product_token: name.to_owned(), ..Entry::default() }
    }

    #[test]
    fn evidence_is_checked() {
        let text = |text: &str| Some(text.to_owned());
        let lists = |url: &str| Entry { ip_ranges: vec![url.to_owned()], ..named("A") };
        for (entry, expected) in [
            (lists("https://bots.example/ips.json"), &[][..]),
            (lists("http://bots.example/ips.json"), &["catalogue.bad_url"]),
            (lists("https:///ips.json"), &["catalogue.bad_url"]),
            (lists("https://a@bots.example/"), &["catalogue.bad_url"]),
            (lists("file:///etc/passwd"), &["catalogue.bad_url"]),
            (Entry { ip_format: text("html"), ..named("A") }, &[]),
            (Entry { ip_format: text("pdf"), ..named("A") }, &["catalogue.bad_format"]),
            (Entry { documentation: text("http://bots.example"), ..named("A") }, &[]),
            (Entry { documentation: text("see the page"), ..named("A") }, &["catalogue.bad_url"]),
            (Entry { contact: text("bot@bots.example"), ..named("A") }, &[]),
            (Entry { contact: text("https://bots.example/contact"), ..named("A") }, &[]),
            (
                Entry { contact: text("http://bots.example"), ..named("A") },
                &["catalogue.bad_contact"],
            ),
            (
                Entry { contact: text("bot@b.example\nCc: x@y.z"), ..named("A") },
                &["catalogue.bad_contact"],
            ),
            (Entry { contact: text("see the page"), ..named("A") }, &["catalogue.bad_contact"]),
            (Entry { signature_agent: text("https://bots.example"), ..named("A") }, &[]),
            (
                Entry { signature_agent: text("https://127.0.0.1"), ..named("A") },
                &["catalogue.bad_agent"],
            ),
            (
                Entry { reverse_dns: vec![".co.uk".to_owned()], ..named("A") },
                &["catalogue.shared_suffix"],
            ),
            (Entry { operator: Some("x".repeat(4_000)), ..named("A") }, &["catalogue.too_long"]),
            (Entry { phrases: vec!["x".to_owned(); 500], ..named("A") }, &["catalogue.too_long"]),
        ] {
            assert_eq!(codes(entry.clone()), expected, "{entry:?}");
        }
    }

    #[test]
    fn a_circle_of_fallbacks_is_found() {
        let falls = |name: &str, to: &[&str]| Entry {
            falls_back_to: to.iter().map(|&name| name.to_owned()).collect(),
            ..named(name)
        };
        let alias = |entry: Entry, name: &str| Entry { aliases: vec![name.to_owned()], ..entry };
        for (crawlers, expected) in [
            (vec![falls("A", &["B", "C"]), falls("B", &["C"]), falls("C", &[])], 0),
            (vec![falls("A", &["B"]), falls("B", &["C"]), falls("C", &["a"])], 1),
            (vec![falls("X", &["A"]), falls("A", &["B"]), falls("B", &["A"])], 1),
            (vec![falls("A", &["B"]), alias(falls("B", &["C"]), "D"), falls("C", &["d"])], 1),
            (vec![falls("A", &["Nobody"])], 0),
        ] {
            let file =
                CatalogueFile { version: "2026-11-01".to_owned(), crawlers, operators: Vec::new() };
            let found = file.audit();
            assert_eq!(found.len(), expected, "{found:?}");
            assert!(found.iter().all(|finding| finding.code == "catalogue.circle"));
        }
    }

    #[test]
    fn a_version_is_a_day() {
        for (version, expected) in [
            ("2026-11-01", true),
            ("2026-13-01", false),
            ("2026-11-32", false),
            ("2026-11-1", false),
            ("2026-11-01.2", false),
            ("2026-11-01-1", false),
            ("-026-11-01", false),
            ("newest", false),
            ("", false),
        ] {
            let file = CatalogueFile {
                version: version.to_owned(),
                crawlers: Vec::new(),
                operators: Vec::new(),
            };
            assert_eq!(file.audit().is_empty(), expected, "{version}");
        }
    }
}
