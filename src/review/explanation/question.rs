//! The question of an operator: what would a request get?

use std::{
    borrow::Cow,
    net::{IpAddr, Ipv6Addr},
};

use derive_more::Display;

use crate::{
    base::escape::shown,
    rules::{crawlers::Outcome, enforce::Rulebook},
    serving::gate::BadTarget,
};

/// A request as an operator writes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question<'q> {
    /// A URL or a path. A path without [`Self::site`] belongs to the only site.
    pub(crate) target: &'q str,
    pub(crate) user_agent: &'q str,
    /// The client's address. Without it, the claim is not examined.
    pub(crate) address: Option<IpAddr>,
    /// The standing that the client is supposed to have, whatever its address.
    pub(crate) standing: Option<Outcome>,
    /// The name of the site that a path belongs to. A URL names its host.
    pub(crate) site: Option<&'q str>,
}

/// The source of rungs of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rungs {
    /// None: every crawler begins on the lowest.
    AtStart,
    /// The running program, which knows them.
    Running,
}

/// The reason why a question has no answer; its text names the repair.
#[derive(Clone, Debug, Display, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Occurs when the User-Agent has octets that no field has.
    #[display("the User-Agent has control characters (no request can carry them)")]
    UserAgent,
    /// Occurs when the proxy refuses the target.
    #[display("'{}' gets 400 from the proxy: {_1}", shown(_0))]
    Target(String, BadTarget),
    /// Occurs when the URL has no valid host.
    #[display(
        "'{}' gets 400 from the proxy: its host is not valid (write for example \
         https://www.example.com/)",
        shown(_0)
    )]
    Host(String),
    /// Occurs when the target belongs to none of these sites.
    #[display("'{}' belongs to no site of the policy (it has {})", shown(_0), _1.join(", "))]
    UnknownHost(String, Vec<String>),
    /// Occurs when none of these sites has the name.
    #[display("the policy has no site '{}' (it has {})", shown(_0), _1.join(", "))]
    UnknownSite(String, Vec<String>),
}

/// The host of the target: that of a URL, else that of the site.
pub(super) fn host<'b>(
    rulebook: &'b Rulebook,
    question: &Question<'b>,
) -> Result<Option<Cow<'b, str>>, Fault> {
    let text = question.target;
    if let Some((_, rest)) = text.split_once("://").filter(|_| !text.starts_with('/')) {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        return Ok(Some(host.into()));
    }
    let number = match (question.site, rulebook.sites()) {
        (Some(name), sites) => {
            let unknown = || Fault::UnknownSite(name.to_owned(), names(rulebook));
            let found = sites.iter().position(|site| site.name.eq_ignore_ascii_case(name));
            found.ok_or_else(unknown)?
        }
        (None, [_]) => 0,
        (None, _) => return Ok(None),
    };
    Ok(host_of(rulebook, number))
}

/// A host of a site; `None` is a host of the default site.
fn host_of(rulebook: &Rulebook, number: usize) -> Option<Cow<'_, str>> {
    let name = &rulebook.sites().get(number)?.name;
    let is_own = |host: &str| rulebook.site_of_host(host).is_some_and(|(site, _)| site == number);
    // A site that begins with a wildcard has the name without the star. Every host below is its own.
    let below = format!("any.{name}");
    match is_own(name) {
        true if name.parse::<Ipv6Addr>().is_ok() => Some(format!("[{name}]").into()),
        true => Some(name.as_str().into()),
        false => is_own(&below).then(|| below.into()),
    }
}

pub(super) fn names(rulebook: &Rulebook) -> Vec<String> {
    rulebook.sites().iter().map(|site| site.name.clone()).collect()
}
