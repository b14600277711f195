//! The crawlers that are known: the built-in catalogue, or the file that the policy names in its
//! place, and the policy's `crawlers` section.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::{
    crawlers::{
        Catalogue, CatalogueFile, Entry, Kind, check_pattern, ranges::Format, signature::AgentUrl,
    },
    diagnostic::Diagnostic,
    escape,
    policy::{
        names::purpose,
        server::path,
        shape::{At, Findings, shown},
        yaml,
    },
    product_token::ProductToken,
};

/// The catalogue that every copy of the program carries, as the file has it.
pub const BUILT_IN: &str = include_str!("../../config/crawlers.yaml");
/// The largest catalogue file, in bytes: seven times the built-in one.
pub const MAX_BYTES: usize = 2 << 20;
/// How many findings about one file are worth reading.
const MOST_FINDINGS: usize = 20;

/// Gives the bytes of a file that a policy names.
pub(super) type Open<'o> = dyn FnMut(&Path) -> io::Result<Vec<u8>> + 'o;

/// A catalogue file that a policy names.
pub(super) struct Named {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
    pub(super) file: CatalogueFile,
}

/// The built-in catalogue.
pub fn built_in() -> Catalogue {
    Catalogue::new(built_in_file().crawlers).expect("a test reads the built-in catalogue")
}

/// The built-in catalogue as a file.
pub fn built_in_file() -> CatalogueFile {
    yaml::read_typed(BUILT_IN).expect("a test reads the built-in catalogue")
}

/// Reads a catalogue file that came from elsewhere; `file` is the name that findings show. The
/// entries of what comes back make a [`Catalogue`].
///
/// # Errors
/// All findings, or the first twenty: it is larger than [`MAX_BYTES`], not UTF-8, no YAML, has a
/// key or a value that no entry has, or breaks what every catalogue keeps.
pub fn read_file(file: &str, bytes: &[u8]) -> Result<CatalogueFile, Vec<Diagnostic>> {
    let in_file = |finding: Diagnostic| finding.in_file(file);
    let read = parse(bytes).map_err(|finding| vec![in_file(finding)])?;
    let mut findings = read.audit();
    if let Err(refused) = Catalogue::new(read.crawlers.clone()) {
        findings.extend(refused);
    }
    if findings.is_empty() {
        return Ok(read);
    }
    let more = findings.len().saturating_sub(MOST_FINDINGS);
    findings.truncate(MOST_FINDINGS);
    if more > 0 {
        let message = format!("and {more} more findings");
        findings.push(Diagnostic::error("catalogue.more", message).help("repair these first"));
    }
    Err(findings.into_iter().map(in_file).collect())
}

fn parse(bytes: &[u8]) -> Result<CatalogueFile, Diagnostic> {
    const SCHEMA: &str = "write it as config/crawlers.schema.json has it";
    if bytes.len() > MAX_BYTES {
        let message = format!("the catalogue is larger than {} KiB", MAX_BYTES / 1024);
        return Err(Diagnostic::error("catalogue.too_large", message)
            .help("check that this is the right file"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let message = format!("byte {} is not UTF-8", error.valid_up_to() + 1);
        Diagnostic::error("catalogue.malformed", message).help("save the file as UTF-8")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    yaml::read_typed(text).map_err(|finding| {
        let message = finding.message.trim_start_matches("not valid YAML: ").to_owned();
        let message = escape::bounded(message.as_bytes(), 300);
        Diagnostic { code: "catalogue.malformed", message, ..finding }.help(SCHEMA)
    })
}

/// The file that a policy names, opened and read; `None` with findings where that can't be done.
pub(super) fn named(at: &At<'_>, open: &mut Open<'_>, findings: &mut Findings) -> Option<Named> {
    let path = path(at, findings)?;
    let bytes = match open(&path) {
        Ok(bytes) => bytes,
        Err(error) => {
            let shown = shown(&path.display().to_string());
            findings.refuse_as(
                "policy.catalogue",
                at,
                format!("'{shown}' can't be read: {error}"),
                "'beadle crawlers update --from URL' writes it; without the key the built-in \
                 catalogue is used",
            );
            return None;
        }
    };
    let file = match read_file(&path.display().to_string(), &bytes) {
        Ok(file) => file,
        Err(refused) => {
            let shown = shown(&path.display().to_string());
            findings.refuse_as(
                "policy.catalogue",
                at,
                format!("'{shown}' is not taken, for the reasons given with its name"),
                "put back the last good file, or take the key out to use the built-in catalogue",
            );
            refused.into_iter().for_each(|finding| findings.push(finding));
            return None;
        }
    };
    let built_in = built_in_version();
    if file.version.as_str() < built_in {
        let message =
            format!("the catalogue is of {}, the built-in one of {built_in}", file.version);
        let warning = Diagnostic::warning("policy.old_catalogue", message).help(
            "take the key out to use the built-in one, or 'beadle crawlers update' to a newer one",
        );
        findings.add(at, warning);
    }
    Some(Named { path, bytes, file })
}

/// The crawlers of a catalogue file together with the operator's own; one of the operator's own
/// replaces a known one of the same name.
pub(super) fn extended(
    known: Vec<Entry>,
    section: Option<&At<'_>>,
    findings: &mut Findings,
) -> Catalogue {
    let own: Vec<Entry> = section.map_or_else(Vec::new, |at| {
        at.items(findings).iter().filter_map(|item| entry(item, findings)).collect()
    });
    let is_own = |token: &str| own.iter().any(|e| e.product_token.eq_ignore_ascii_case(token));
    let mut entries: Vec<Entry> = known.into_iter().filter(|e| !is_own(&e.product_token)).collect();
    entries.extend(own);
    match Catalogue::new(entries) {
        Ok(catalogue) => catalogue,
        Err(refused) => {
            let (line, column) = section.map_or((0, 0), |at| (at.node.line, at.node.column));
            refused.into_iter().for_each(|finding| findings.push(finding.at(line, column)));
            built_in()
        }
    }
}

/// The version at the head of the built-in file, without reading all of it.
fn built_in_version() -> &'static str {
    let line = BUILT_IN.lines().find_map(|line| line.strip_prefix("version: "));
    line.unwrap_or_default().trim().trim_matches('"')
}

fn entry(at: &At<'_>, findings: &mut Findings) -> Option<Entry> {
    const KEYS: [&str; 13] = [
        "product_token",
        "aliases",
        "operator",
        "purpose",
        "documentation",
        "kind",
        "falls_back_to",
        "ignores_star",
        "user_agent_pattern",
        "ip_ranges",
        "ip_format",
        "reverse_dns",
        "signature_agent",
    ];
    const KINDS: [(&str, Kind); 4] = [
        ("crawler", Kind::Crawler),
        ("user-triggered", Kind::UserTriggered),
        ("automation", Kind::Automation),
        ("control", Kind::Control),
    ];
    let fields = at.fields(&KEYS, findings)?;
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
    let reverse_dns = words("reverse_dns");
    let mut text = |key: &str| fields.take(key).and_then(|at| at.text(findings).map(str::to_owned));
    let (operator, documentation) = (text("operator"), text("documentation"));
    let user_agent_pattern = text("user_agent_pattern");
    let ip_format = fields.take("ip_format").and_then(|at| ip_format(&at, findings));
    let lists = fields.list("ip_ranges", findings);
    let ip_ranges = lists.iter().filter_map(|at| address(at, findings)).collect();
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

/// Where something is fetched from.
fn address(at: &At<'_>, findings: &mut Findings) -> Option<String> {
    let text = at.text(findings)?.trim();
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    if host.is_none_or(|host| host.is_empty() || host.starts_with('/'))
        || !text.bytes().all(|b| b.is_ascii_graphic())
    {
        let message = format!("'{}' is not an address to fetch from", shown(text));
        findings.refuse(at, message, "write for example https://bots.example/ranges.json");
        return None;
    }
    if text.starts_with("http://") {
        let message = "what comes over plain HTTP can be changed on its way";
        findings.add(
            at,
            Diagnostic::warning("policy.plain_http", message)
                .help("write https://; http:// is fetched from evidence.allow_addresses only"),
        );
    }
    Some(text.to_owned())
}

/// The form of a list. One that is not known is found out, so it is no fault.
fn ip_format(at: &At<'_>, findings: &mut Findings) -> Option<String> {
    let text = at.text(findings)?.trim();
    if Format::named(text).is_none() {
        let message = format!("'{}' is no form of a list", shown(text));
        findings.add(
            at,
            Diagnostic::warning("policy.unknown_format", message)
                .help("write json, text, geofeed or html, or leave it out to have it found out"),
        );
    }
    Some(text.to_owned())
}

/// Where the keys of a signer are found.
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
        yaml::Value::Text(text) => text.trim().to_owned(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_catalogue_holds_its_invariants() {
        let file = read_file("config/crawlers.yaml", BUILT_IN.as_bytes()).expect("it is sound");
        assert!(file.crawlers.len() >= 1_200);
        assert_eq!(file.version, built_in_version());
        let catalogue = Catalogue::new(file.crawlers).expect("consistent");
        for name in ["Googlebot", "bingbot", "GPTBot", "ClaudeBot", "CCBot", "MJ12bot", "curl"] {
            assert!(catalogue.find(name).is_some(), "{name}");
        }
    }

    #[test]
    fn the_built_in_catalogue_is_sorted_in_both_of_its_parts() {
        let known_less_well = BUILT_IN.find("# Known less well").expect("the second part begins");
        let best = BUILT_IN[..known_less_well].matches("- product_token:").count();
        let file = built_in_file();
        let keys: Vec<String> =
            file.crawlers.iter().map(|entry| entry.product_token.to_ascii_lowercase()).collect();
        let (best, others) = keys.split_at(best);
        assert!(!best.is_empty() && !others.is_empty());
        for part in [best, others] {
            for pair in part.windows(2) {
                assert!(pair[0] < pair[1], "{} stands before {}", pair[0], pair[1]);
            }
        }
    }

    #[test]
    fn lists_of_addresses_say_how_they_are_written() {
        for entry in built_in_file().crawlers {
            assert_eq!(
                entry.ip_ranges.is_empty(),
                entry.ip_format.is_none(),
                "{}",
                entry.product_token
            );
        }
    }

    #[test]
    fn ours_a_broken_catalogue_file_is_refused_with_place_and_repair() {
        let whole = |crawlers: &str| format!("version: \"2026-11-01\"\ncrawlers:\n{crawlers}");
        for (text, code, line) in [
            (String::new(), "catalogue.malformed", None),
            ("<!doctype html><title>404</title>".to_owned(), "catalogue.malformed", Some(1)),
            (whole("  - { product_token: A, colour: red }"), "catalogue.malformed", Some(3)),
            (whole("  - { product_token: A, kind: robot }"), "catalogue.malformed", Some(3)),
            (whole("  - { operator: A }"), "catalogue.malformed", Some(3)),
            (whole("  - { product_token: \"*\" }"), "crawlers.bad_token", None),
            (
                whole("  - { product_token: A }\n  - { product_token: a }"),
                "crawlers.duplicate_name",
                None,
            ),
            (
                whole("  - { product_token: A, falls_back_to: [B] }"),
                "crawlers.unknown_reference",
                None,
            ),
            (
                whole("  - { product_token: A, user_agent_pattern: \"(\" }"),
                "crawlers.bad_pattern",
                None,
            ),
            (
                whole("  - { product_token: A, reverse_dns: [.amazonaws.com] }"),
                "catalogue.shared_suffix",
                None,
            ),
            ("version: new\ncrawlers: []".to_owned(), "catalogue.bad_version", None),
        ] {
            let findings = read_file("new.yaml", text.as_bytes()).expect_err(&text);
            let first = &findings[0];
            assert_eq!(first.code, code, "{text}: {findings:?}");
            assert_eq!(first.place.file.as_deref(), Some("new.yaml"));
            assert!(first.help.is_some(), "{first}");
            if line.is_some() {
                assert_eq!(first.place.line, line, "{first}");
            }
        }
        assert_eq!(read_file("x", &[0xff]).expect_err("no UTF-8")[0].code, "catalogue.malformed");
        let large = vec![b'#'; MAX_BYTES + 1];
        assert_eq!(read_file("x", &large).expect_err("too large")[0].code, "catalogue.too_large");
    }

    #[test]
    fn ours_findings_about_one_file_are_counted_not_poured_out() {
        let crawlers: String =
            (0..500).map(|n| format!("  - {{ product_token: \"a{n}:\" }}\n")).collect();
        let text = format!("version: \"2026-11-01\"\ncrawlers:\n{crawlers}");
        let findings = read_file("new.yaml", text.as_bytes()).expect_err("no names");
        assert_eq!(findings.len(), MOST_FINDINGS + 1);
        assert_eq!(findings[MOST_FINDINGS].message, "and 480 more findings");
    }
}
