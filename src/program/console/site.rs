//! The site that the options name, and its edition.

use std::path::Path;

use crate::{
    base::escape,
    records::violations::Store,
    rules::{
        enforce::{Edition, Rulebook, Site},
        policy::{Policy, suggestion},
    },
};

use super::{
    database,
    output::{Error, refuse},
};

/// The site that serves this host or has this name; the only site if no host is given.
pub(crate) fn find<'b>(rulebook: &'b Rulebook, host: Option<&str>) -> Result<&'b Site, Error> {
    let sites = rulebook.sites();
    let names = || sites.iter().map(|site| site.name.as_str()).collect::<Vec<_>>().join(", ");
    let Some(host) = host else {
        return match sites {
            [only] => Ok(only),
            _ => refuse(format!("name the site with --site (one of {})", names())),
        };
    };
    let host = host.to_ascii_lowercase();
    let served = rulebook.site_of_host(&host).map(|(_, site)| site);
    served.or_else(|| sites.iter().find(|site| site.name == host)).ok_or_else(|| {
        let known = sites.iter().map(|site| site.name.as_str());
        let hint = suggestion(&host, known);
        let hint = hint.unwrap_or_else(|| format!("the sites are {}", names()));
        let host = escape::text(host.as_bytes());
        Error::Refused(format!("no site has the host '{host}' ({hint})"))
    })
}

pub(crate) fn known_edition(site: &Site) -> Result<&Edition, Error> {
    if site.edition().is_provisional() {
        let (name, source) = (&site.name, site.source.as_str());
        return refuse(format!(
            "{name} publishes the robots.txt of its origin (source: {source}), which is not in the \
             database (set 'violations.database' and run 'beadle serve', or fetch /robots.txt)"
        ));
    }
    Ok(site.edition())
}

/// The database of the policy, with the editions of all nodes.
pub(crate) fn store(policy: &Policy) -> Result<Store, Error> {
    let location = database::location(policy)?.ok_or_else(no_database)?;
    database::open(&location)
}

pub(crate) fn database(policy: &Policy) -> Result<&Path, Error> {
    policy.violations.local_database().ok_or_else(no_database)
}

fn no_database() -> Error {
    Error::Refused("the policy names no database (set 'violations.database')".to_owned())
}
