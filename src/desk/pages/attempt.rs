//! A first request for a desk that has nothing to show yet.

use std::net::Ipv4Addr;

use crate::{
    desk::admin::View,
    formats::robots::{Directive, RobotsTxt},
    rules::policy::Host,
};

/// The client of the request, where the rules are for all crawlers.
const USUAL: &str = "GPTBot";

/// A request for a path that the rules of the first site disallow, if they disallow any.
pub(super) fn attempt(view: &View) -> Option<String> {
    let published = view.live.get()?.handles.published.load_full();
    let policy = &published.policy.policy;
    let (site, named) = (published.rulebook.sites().first()?, policy.sites.first()?);
    let listener = policy.server.listen.iter().find(|one| !one.is_redirect)?;
    let (crawler, path) = closed(site.edition().file())?;
    let mut address = listener.address;
    if address.ip().is_unspecified() {
        address.set_ip(Ipv4Addr::LOCALHOST.into());
    }
    let host = named.hosts.iter().find_map(|host| match host {
        Host::Exact(name) if !named.default => Some(format!(" -H 'Host: {name}'")),
        _ => None,
    });
    let (host, scheme) =
        (host.unwrap_or_default(), listener.tls.as_ref().map_or("http", |_| "https"));
    Some(format!("curl -A {crawler}/1.0{host} '{scheme}://{address}{path}'"))
}

/// A crawler, and a path that it may not fetch.
fn closed(file: &RobotsTxt) -> Option<(&str, &str)> {
    // What a shell reads as something else is no example.
    let is_plain =
        |text: &&str| text.chars().all(|c| c.is_ascii_alphanumeric() || "/-_.".contains(c));
    file.groups.iter().find_map(|group| {
        let name = group.user_agents.first().map(|one| one.name.as_str())?;
        let name = Some(if name == "*" { USUAL } else { name }).filter(is_plain)?;
        let rules = group.rules.iter().filter(|rule| rule.directive == Directive::Disallow);
        let paths = rules.map(|rule| rule.pattern.split(['*', '$']).next().unwrap_or_default());
        let path = paths.filter(is_plain).find(|path| path.starts_with('/'))?;
        Some((name, path))
    })
}
