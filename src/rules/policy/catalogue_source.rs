//! The crawlers of a policy: the built-in catalogue or a file in its place, the entries of the section
//! `crawlers`, and those of lists to follow.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    base::{escape::shown, product_token::ProductToken},
    formats::signature::AgentUrl,
    rules::crawlers::{
        Catalogue, CatalogueFile, Entry, Kind, Match, check_pattern, check_suffix, is_shared,
        ranges::Format,
    },
};

use super::{
    catalogue_file::{self, Open, OtherFile},
    fields::{Fields, Setting},
    follow::{self, Following},
    names::purpose,
    shape::At,
};

pub(super) struct Known {
    pub(super) catalogue: Arc<Catalogue>,
    pub(super) version: String,
    pub(super) file: Option<PathBuf>,
    pub(super) bytes: Vec<u8>,
    pub(super) following: Option<Following>,
    pub(super) kept: Vec<u8>,
}

/// Reads `catalogue`, the name of a file or a section, and `crawlers`. `database` is the file of the
/// records. Returns `None`, with findings, if there is no catalogue.
pub(super) fn read(
    (root, policy): (&At<'_>, &Fields<'_>),
    database: Option<&Path>,
    open: &mut Open<'_>,
) -> Option<Known> {
    let section = policy.section("catalogue");
    let following = follow::read(&section, database);
    let (file, bytes, known) = match section.take("file") {
        Some(at) => {
            let (path, bytes, known) = named_file(&at, open)?;
            (Some(path), bytes, Some(known))
        }
        None => (None, Vec::new(), None),
    };
    if known.is_none() && following.is_none() && policy.take("crawlers").is_none() {
        let version = catalogue_file::built_in_version().to_owned();
        let (catalogue, kept) = (catalogue_file::shared(), Vec::new());
        return Some(Known { catalogue, version, file, bytes, following, kept });
    }
    let known = known.unwrap_or_else(catalogue_file::built_in_file);
    let version = known.version.clone();
    let catalogue = with_own(known, policy);
    let (catalogue, kept) = match &following {
        Some(following) => follow::join(catalogue, following, root, open),
        None => (catalogue, Vec::new()),
    };
    Some(Known { catalogue: Arc::new(catalogue), version, file, bytes, following, kept })
}

fn named_file(at: &At<'_>, open: &mut Open<'_>) -> Option<(PathBuf, Vec<u8>, CatalogueFile)> {
    let path = PathBuf::read(at)?;
    let bytes = match open(OtherFile::Catalogue, &path) {
        Ok(bytes) => bytes,
        Err(error) => {
            let shown = shown(path.display().to_string());
            return at.refused_as(
                "policy.catalogue",
                format!("'{shown}' can't be read: {error}"),
                "'beadle crawlers update --from URL' writes it; without the key the built-in \
                 catalogue is used",
            );
        }
    };
    let file = match catalogue_file::read_file(&path.display().to_string(), &bytes) {
        Ok(file) => file,
        Err(refused) => {
            let shown = shown(path.display().to_string());
            at.refuse_as(
                "policy.catalogue",
                format!("'{shown}' is refused, for the reasons given with its name"),
                "put back the last good file, or remove the key to use the built-in catalogue",
            );
            refused.into_iter().for_each(|finding| at.sink.push(finding));
            return None;
        }
    };
    let built_in = catalogue_file::built_in_version();
    if file.version.as_str() < built_in {
        let message =
            format!("the catalogue is of {}, the built-in one of {built_in}", file.version);
        let help = "remove the key to use the built-in one, or run 'beadle crawlers update'";
        at.warn("policy.old_catalogue", message, help);
    }
    Some((path, bytes, file))
}

/// The crawlers of a catalogue file and those of the section. An entry of the section replaces a
/// known one of the same name.
fn with_own(known: CatalogueFile, fields: &Fields<'_>) -> Catalogue {
    let own = fields.each("crawlers", entry);
    let is_own = |token: &str| own.iter().any(|e| e.product_token.eq_ignore_ascii_case(token));
    let CatalogueFile { crawlers, operators, .. } = known;
    let mut entries: Vec<Entry> =
        crawlers.into_iter().filter(|e| !is_own(&e.product_token)).collect();
    entries.extend(own);
    match Catalogue::new(entries).and_then(|made| made.with_operators(&operators)) {
        Ok(catalogue) => catalogue,
        Err(refused) => {
            let section = fields.at.child("crawlers");
            refused.into_iter().for_each(|finding| section.push(finding));
            catalogue_file::built_in()
        }
    }
}

fn entry(at: &At<'_>) -> Option<Entry> {
    let fields = at.fields()?;
    let token = fields.require("product_token", "write the crawler's name")?;
    let text = token.text()?;
    if ProductToken::new(text).is_none() {
        return token.refused_as(
            "policy.bad_product_token",
            format!("'{}' is not a product token", shown(text)),
            "write the crawler's name in printable ASCII, without '#', ':', ',' and '*'",
        );
    }
    let kind = fields.get("kind");
    let entry = Entry {
        product_token: text.trim().to_owned(),
        aliases: fields.get("aliases"),
        operator: fields.get("operator"),
        documentation: fields.get("documentation"),
        user_agent_pattern: fields.get("user_agent_pattern"),
        falls_back_to: fields.get("falls_back_to"),
        purpose: fields.get_with("purpose", purpose),
        kind,
        governs: fields.each("governs", purpose),
        // A policy token may be a word that User-Agents of people have.
        matching: if kind == Kind::Control { Match::Never } else { Match::Word },
        ignores_star: fields.get("ignores_star"),
        ip_ranges: fields.each("ip_ranges", list_url),
        ip_format: fields.read("ip_format", ip_format),
        reverse_dns: fields.each("reverse_dns", suffix),
        signature_agent: fields.read("signature_agent", agent),
        ..Entry::default()
    };
    if let (Some(at), Some(pattern)) =
        (fields.take("user_agent_pattern"), &entry.user_agent_pattern)
    {
        at.accepted(check_pattern(pattern))?;
    }
    Some(entry)
}

fn list_url(at: &At<'_>) -> Option<String> {
    let text = at.text()?.trim();
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    if host.is_none_or(|host| host.is_empty() || host.starts_with('/'))
        || !text.bytes().all(|b| b.is_ascii_graphic())
    {
        let message = format!("'{}' is not a URL to fetch from", shown(text));
        return at.refused(message, "write for example https://bots.example/ranges.json");
    }
    let authority = host.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    if let Some((_, host)) = authority.rsplit_once('@') {
        // The message does not repeat the password.
        let message = format!("the URL at '{}' has a user or a password", shown(host));
        return at.refused(message, "write the URL without them: it is written to logs");
    }
    if text.starts_with("http://") {
        let message = "a list fetched over plain HTTP can be changed on its way";
        let help = "write https://; http:// works only for evidence.allow_addresses";
        at.warn("policy.plain_http", message, help);
    }
    Some(text.to_owned())
}

/// Reads a suffix of the names of a crawler's addresses. A suffix of many owners is only a warning:
/// the crawler may have no better one.
fn suffix(at: &At<'_>) -> Option<String> {
    let text = at.text()?;
    at.accepted(check_suffix(text))?;
    if is_shared(text) {
        let message =
            format!("many owners have names under '{}', so it confirms any of them", shown(text));
        let help = "name a domain of the operator that contains no machines of customers";
        at.warn("policy.shared_suffix", message, help);
    }
    Some(text.to_owned())
}

/// Reads the format of a list. An unknown format is only a warning, because it is detected.
fn ip_format(at: &At<'_>) -> Option<String> {
    let text = at.text()?.trim();
    if Format::named(text).is_none() {
        let message = format!("'{}' is no format of a list", shown(text));
        let help = "write json, text, geofeed or html, or leave it out to detect the format";
        at.warn("policy.unknown_format", message, help);
    }
    Some(text.to_owned())
}

fn agent(at: &At<'_>) -> Option<String> {
    let text = at.text()?.trim();
    if let Err(reason) = AgentUrl::new(text) {
        let message = format!("'{}' can't be a Signature-Agent: {reason}", shown(text));
        return at.refused(message, "write for example https://bots.example");
    }
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use crate::rules::{
        crawlers::{Crawler, Purpose, SiteNames},
        policy,
    };

    fn read(entry: &str) -> (Option<policy::Policy>, Vec<String>) {
        let text = format!(
            "crawlers: [{{ product_token: Firefox, {entry} }}]\n\
             sites: [{{ hosts: [a.example], origin: \"http://127.0.0.1:1\", robots_txt: {{ groups: \
             [{{ user_agents: [\"purpose:ai-training\"], disallow: [/] }}] }} }}]"
        );
        let (policy, findings) = policy::read("test.yaml", text.as_bytes());
        (policy, findings.into_iter().map(|one| format!("{} {}", one.code, one.message)).collect())
    }

    #[test]
    fn a_policy_token_is_published_and_never_looked_for_in_user_agents() {
        for (governs, expected) in [
            ("", &[Purpose::AiTraining][..]),
            (", governs: ai-search", &[Purpose::AiSearch]),
            (", governs: [ai-training, ai-search]", &[Purpose::AiTraining, Purpose::AiSearch]),
        ] {
            let (policy, findings) = read(&format!("kind: control, purpose: ai-training{governs}"));
            let policy = policy.unwrap_or_else(|| panic!("{findings:?}"));
            let found = policy.catalogue.find("Firefox").map(Crawler::governs);
            assert_eq!(found, Some(expected), "{governs}");
            let robots_txt = policy.sites[0].robots_txt.file.to_string();
            assert!(robots_txt.contains("User-agent: Firefox\n"), "{robots_txt}");
            let site_names = SiteNames::new(&policy.catalogue, ["Firefox"]);
            let person = b"Mozilla/5.0 (X11; Linux) Gecko/20100101 Firefox/140.0";
            let claim = policy.catalogue.identify(person, &site_names);
            assert_eq!(claim.tokens().count(), 0, "{claim:?}");
        }
        for (entry, message) in [
            (
                "governs: ai-training",
                "crawlers.governs Firefox sends requests itself, so it governs",
            ),
            ("kind: control, governs: [all]", "unknown purpose 'all'"),
        ] {
            let (_, findings) = read(entry);
            assert!(findings.iter().any(|one| one.contains(message)), "{entry}: {findings:?}");
        }
    }

    #[test]
    fn the_catalogue_says_what_each_control_token_governs() {
        let catalogue = super::catalogue_file::built_in();
        let governs = catalogue.iter().filter(|one| !one.governs().is_empty());
        let found: Vec<_> =
            governs.map(|one| (one.product_token().as_str(), one.governs())).collect();
        let training = [Purpose::AiTraining];
        let both = [Purpose::AiTraining, Purpose::AiSearch];
        assert_eq!(found, [("Applebot-Extended", &training[..]), ("Google-Extended", &both[..])]);
    }
}
