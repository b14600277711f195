//! The group that a name obeys.

use crate::{
    base::product_token::ProductToken,
    formats::robots::{Matcher, Scope},
    rules::crawlers::{Class, Kind, Name},
};

use super::rulebook::Site;

/// The group of the edition in force that a name obeys.
pub fn group_of(site: &Site, name: Name<'_>) -> Option<Scope> {
    group_for(site.edition().matcher(), &site.enforcement.star_binds, name)
}

/// The group that a name obeys: its own, else that of its catalogue chain, else `*` where
/// `star_binds` has its class (RFC 9309 §2.2.1; the deviations are documented by the operators of
/// the crawlers).
pub fn group_for(matcher: &Matcher, star_binds: &[Class], name: Name<'_>) -> Option<Scope> {
    first_group(matcher, group_names(name), || is_bound_by_star(star_binds, name))
}

/// The group that a name with these names of groups obeys. With [`group_names`] and
/// [`is_bound_by_star`], it needs no catalogue.
pub fn first_group<'n>(
    matcher: &Matcher,
    mut names: impl Iterator<Item = &'n str>,
    is_bound_by_star: impl FnOnce() -> bool,
) -> Option<Scope> {
    let named = names.find_map(|name| matcher.group(name));
    named.or_else(|| matcher.star().filter(|_| is_bound_by_star()))
}

/// The group that a crawler with these names of groups obeys if it reads a list in one user-agent line
/// as the names in it.
pub fn listed_group<'n>(
    matcher: &Matcher,
    mut names: impl Iterator<Item = &'n str>,
) -> Option<Scope> {
    let of_name = |name| matcher.listed(name).or_else(|| matcher.group(name));
    matcher.has_lists().then(|| names.find_map(of_name)).flatten()
}

/// Whether a file allows what `is_allowed` judges by one group. A crawler that reads lists as Google does
/// obeys the rules as it reads them, so one of both readings is enough.
pub fn allows<'n>(
    matcher: &Matcher,
    group: Option<Scope>,
    names: impl Iterator<Item = &'n str>,
    is_allowed: impl Fn(Scope) -> bool,
) -> bool {
    group.is_none_or(&is_allowed) || listed_group(matcher, names).is_some_and(is_allowed)
}

/// The names of groups that a name looks for, in order. The first that has a group binds it.
pub fn group_names<'a>(name: Name<'a>) -> impl Iterator<Item = &'a str> {
    let family = name.known().into_iter().flat_map(|crawler| crawler.groups());
    let alone = name.known().is_none().then(|| name.as_str());
    family.map(ProductToken::as_str).chain(alone)
}

/// Whether `*` binds a name for which the file has no group.
pub fn is_bound_by_star(star_binds: &[Class], name: Name<'_>) -> bool {
    let Some(crawler) = name.known() else { return star_binds.contains(&Class::Automation) };
    let class = match crawler.kind() {
        Kind::Crawler | Kind::Control => Class::Crawler,
        Kind::UserTriggered => Class::UserTriggered,
        Kind::Automation => Class::Automation,
        Kind::App => Class::App,
    };
    star_binds.contains(&class) && !crawler.ignores_star()
}
