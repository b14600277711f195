//! The names and times that the options mean.

use jiff::Timestamp;

use crate::{
    cli::{exit::Error, span::time},
    escape::shown,
    policy::{Host, Policy},
    report::score::{known_token, recorded_token},
    violations::{Filter, Store},
};

/// The product token in records of a client without a name.
const NO_NAME: &str = "-";

/// The database of the policy.
pub(in crate::cli) fn database(policy: &Policy) -> Result<Store, Error> {
    let database = policy.violations.database.as_deref().ok_or_else(|| {
        Error::Refused("the policy names no database (set 'violations.database')".to_owned())
    })?;
    Ok(Store::open_read_only(database)?)
}

/// The product token that records name: of the catalogue, or of a record.
pub(in crate::cli) fn product_token(
    policy: &Policy,
    store: &Store,
    text: &str,
) -> Result<String, Error> {
    found(policy, text, recorded_token(store, &policy.catalogue, text)?)
}

/// The product token that counts name: of the catalogue, of a record, or of counts alone.
pub(in crate::cli) fn counted_token(
    policy: &Policy,
    store: &Store,
    text: &str,
) -> Result<String, Error> {
    found(policy, text, known_token(store, &policy.catalogue, text)?)
}

fn found(policy: &Policy, text: &str, token: Option<String>) -> Result<String, Error> {
    if text == NO_NAME {
        let message =
            "clients without a name have no operator to send evidence to (name a crawler)";
        return Err(Error::Refused(message.to_owned()));
    }
    token.ok_or_else(|| unknown_token(policy, text))
}

fn unknown_token(policy: &Policy, text: &str) -> Error {
    let hint = policy.catalogue.closest(text).map_or_else(
        || "neither the catalogue nor a record has this name".to_owned(),
        |near| format!("did you mean {}?", shown(near)),
    );
    Error::Refused(format!("no crawler is named '{}' ({hint})", shown(text)))
}

/// The site that records name, by its name or by one of its hosts.
pub(in crate::cli) fn site(policy: &Policy, store: &Store, text: &str) -> Result<String, Error> {
    let host = text.to_ascii_lowercase();
    let serves = |known: &Host| match known {
        Host::Exact(known) => *known == host,
        Host::Below(suffix) => host.ends_with(suffix.as_str()),
    };
    let named = policy.sites.iter().find(|site| site.name() == host);
    let serving = || policy.sites.iter().find(|site| site.hosts.iter().any(serves));
    if let Some(site) = named.or_else(serving) {
        return Ok(site.name().to_owned());
    }
    let filter = Filter { site: Some(host), limit: Some(1), ..Filter::default() };
    if let Some((_, record)) = store.query(&filter)?.records.first() {
        return Ok(record.site.to_string());
    }
    let names: Vec<&str> = policy.sites.iter().map(|site| site.name()).collect();
    let (text, names) = (shown(text), names.join(", "));
    Err(Error::Refused(format!("no site has the host '{text}' (the sites are {names})")))
}

/// The start and the end of a span.
pub(in crate::cli) fn span(
    since: &str,
    until: Option<&str>,
    now: Timestamp,
) -> Result<(Timestamp, Timestamp), Error> {
    let (since, until) = (time(since, now)?, until.map_or(Ok(now), |text| time(text, now))?);
    if since < until {
        return Ok((since, until));
    }
    Err(Error::Refused(format!(
        "the span is empty: --until {until:.0} is not after --since {since:.0} (name a later end)"
    )))
}
