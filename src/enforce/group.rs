//! The group that a name obeys.

use crate::{
    crawlers::{Class, Kind, Name},
    robots::{Matcher, Scope},
};

use super::site::Site;

/// The group of the edition in force that a name obeys.
pub fn group_of(site: &Site, name: Name<'_>) -> Option<Scope> {
    group_for(site.edition().matcher(), &site.enforcement.star_binds, name)
}

/// The group that a name obeys: its own, else that of its catalogue chain, else `*` where
/// `star_binds` has its class (RFC 9309 §2.2.1; the deviations are documented by the operators of
/// the crawlers).
pub fn group_for(matcher: &Matcher, star_binds: &[Class], name: Name<'_>) -> Option<Scope> {
    let star = |class: Class| matcher.star().filter(|_| star_binds.contains(&class));
    let Some(crawler) = name.known() else {
        return matcher.group(name.as_str()).or_else(|| star(Class::Automation));
    };
    let class = match crawler.kind() {
        Kind::Crawler | Kind::Control => Class::Crawler,
        Kind::UserTriggered => Class::UserTriggered,
        Kind::Automation => Class::Automation,
    };
    let named = crawler.groups().find_map(|token| matcher.group(token.as_str()));
    named.or_else(|| star(class).filter(|_| !crawler.ignores_star()))
}
