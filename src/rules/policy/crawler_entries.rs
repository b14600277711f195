//! The `crawlers` section: the operator's own entries of the catalogue.

use crate::{
    base::{diagnostic::Diagnostic, escape::shown, product_token::ProductToken},
    formats::signature::AgentUrl,
    rules::{
        crawlers::{
            Catalogue, CatalogueFile, Entry, Kind, check_pattern, check_suffix, is_shared,
            ranges::Format,
        },
        keys,
    },
};

use super::{catalogue, findings::Findings, names::purpose, shape::At, yaml::Value};

/// The crawlers of a catalogue file and those of the section. An entry of the section replaces a
/// known one of the same name.
pub(super) fn read(
    known: CatalogueFile,
    section: Option<&At<'_>>,
    findings: &mut Findings,
) -> Catalogue {
    let own: Vec<Entry> = section.map_or_else(Vec::new, |at| {
        at.items(findings).iter().filter_map(|item| entry(item, findings)).collect()
    });
    let is_own = |token: &str| own.iter().any(|e| e.product_token.eq_ignore_ascii_case(token));
    let CatalogueFile { crawlers, operators, .. } = known;
    let mut entries: Vec<Entry> =
        crawlers.into_iter().filter(|e| !is_own(&e.product_token)).collect();
    entries.extend(own);
    match Catalogue::new(entries).and_then(|made| made.with_operators(&operators)) {
        Ok(catalogue) => catalogue,
        Err(refused) => {
            let (line, column) = section.map_or((0, 0), |at| (at.node.line, at.node.column));
            refused.into_iter().for_each(|finding| findings.push(finding.at(line, column)));
            catalogue::built_in()
        }
    }
}

fn entry(at: &At<'_>, findings: &mut Findings) -> Option<Entry> {
    const KINDS: [(&str, Kind); 5] = [
        ("crawler", Kind::Crawler),
        ("user-triggered", Kind::UserTriggered),
        ("automation", Kind::Automation),
        ("app", Kind::App),
        ("control", Kind::Control),
    ];
    let fields = at.fields(&keys::CRAWLER, findings)?;
    let token = fields.require("product_token", "write the crawler's name", findings)?;
    let text = token.text(findings)?;
    if ProductToken::new(text).is_none() {
        findings.refuse_as(
            "policy.bad_product_token",
            &token,
            format!("'{}' is not a product token", shown(text)),
            "write the crawler's name in printable ASCII, without '#', ':', ',' and '*'",
        );
        return None;
    }
    let mut words = |key: &str| -> Vec<String> {
        let items = fields.list(key, findings);
        items.iter().filter_map(|item| item.text(findings).map(str::to_owned)).collect()
    };
    let (aliases, falls_back_to) = (words("aliases"), words("falls_back_to"));
    let suffixes = fields.list("reverse_dns", findings);
    let reverse_dns = suffixes.iter().filter_map(|at| suffix(at, findings)).collect();
    let mut text = |key: &str| fields.take(key).and_then(|at| at.text(findings).map(str::to_owned));
    let (operator, documentation) = (text("operator"), text("documentation"));
    let user_agent_pattern = text("user_agent_pattern");
    let ip_format = fields.take("ip_format").and_then(|at| ip_format(&at, findings));
    let lists = fields.list("ip_ranges", findings);
    let ip_ranges = lists.iter().filter_map(|at| list_url(at, findings)).collect();
    let signature_agent = fields.take("signature_agent").and_then(|at| agent(&at, findings));
    if let (Some(at), Some(pattern)) = (fields.take("user_agent_pattern"), &user_agent_pattern)
        && let Err(finding) = check_pattern(pattern)
    {
        findings.add(&at, finding);
        return None;
    }
    let purpose = fields.take("purpose").and_then(|at| purpose(at.text(findings)?, &at, findings));
    let kind = fields.take("kind").and_then(|at| at.choice(&KINDS, findings));
    let ignores_star = fields.take("ignores_star").and_then(|at| at.boolean(findings));
    Some(Entry {
        product_token: text_of(&token),
        aliases,
        operator,
        documentation,
        user_agent_pattern,
        falls_back_to,
        purpose: purpose.unwrap_or_default(),
        kind: kind.unwrap_or_default(),
        ignores_star: ignores_star.unwrap_or_default(),
        ip_ranges,
        ip_format,
        reverse_dns,
        signature_agent,
        ..Entry::default()
    })
}

/// Reads the URL of a list of addresses.
fn list_url(at: &At<'_>, findings: &mut Findings) -> Option<String> {
    let text = at.text(findings)?.trim();
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    if host.is_none_or(|host| host.is_empty() || host.starts_with('/'))
        || !text.bytes().all(|b| b.is_ascii_graphic())
    {
        let message = format!("'{}' is not a URL to fetch from", shown(text));
        findings.refuse(at, message, "write for example https://bots.example/ranges.json");
        return None;
    }
    let authority = host.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    if let Some((_, host)) = authority.rsplit_once('@') {
        // The message does not repeat the password.
        let message = format!("the URL at '{}' has a user or a password", shown(host));
        findings.refuse(at, message, "write the URL without them: it is written to logs");
        return None;
    }
    if text.starts_with("http://") {
        let message = "a list fetched over plain HTTP can be changed on its way";
        findings.add(
            at,
            Diagnostic::warning("policy.plain_http", message)
                .help("write https://; http:// works only for evidence.allow_addresses"),
        );
    }
    Some(text.to_owned())
}

/// Reads a suffix of the names of a crawler's addresses. A suffix of many owners is only a warning:
/// the crawler may have no better one.
fn suffix(at: &At<'_>, findings: &mut Findings) -> Option<String> {
    let text = at.text(findings)?;
    if let Err(finding) = check_suffix(text) {
        findings.add(at, finding);
        return None;
    }
    if is_shared(text) {
        let message =
            format!("many owners have names under '{}', so it confirms any of them", shown(text));
        findings.add(
            at,
            Diagnostic::warning("policy.shared_suffix", message)
                .help("name a domain of the operator that contains no machines of customers"),
        );
    }
    Some(text.to_owned())
}

/// Reads the format of a list. An unknown format is only a warning, because it is detected.
fn ip_format(at: &At<'_>, findings: &mut Findings) -> Option<String> {
    let text = at.text(findings)?.trim();
    if Format::named(text).is_none() {
        let message = format!("'{}' is no format of a list", shown(text));
        findings.add(
            at,
            Diagnostic::warning("policy.unknown_format", message)
                .help("write json, text, geofeed or html, or leave it out to detect the format"),
        );
    }
    Some(text.to_owned())
}

/// Reads the URL of a signer's keys.
fn agent(at: &At<'_>, findings: &mut Findings) -> Option<String> {
    let text = at.text(findings)?.trim();
    if let Err(reason) = AgentUrl::new(text) {
        let message = format!("'{}' can't be a Signature-Agent: {reason}", shown(text));
        findings.refuse(at, message, "write for example https://bots.example");
        return None;
    }
    Some(text.to_owned())
}

fn text_of(at: &At<'_>) -> String {
    match &at.node.value {
        Value::Text(text) => text.trim().to_owned(),
        _ => String::new(),
    }
}
