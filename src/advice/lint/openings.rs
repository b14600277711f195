//! Crawlers that a closed site lets in: `*` doesn't bind every crawler.
//!
//! Some crawlers obey only a group that names them, by their operators' documentation. Fetchers
//! that act for a person are no crawlers. Services that the site itself orders, such as uptime
//! monitors, are not meant: an operator wants them in.

use crate::{
    base::{
        diagnostic::{Diagnostic, Severity},
        escape::shown,
    },
    formats::robots::{Scope, closes_everything},
    rules::{
        crawlers::{Crawler, Kind, Name},
        policy::{Enforcement, Mode, Spot},
    },
};

use super::{findings::Findings, subject::Subject};

/// The crawlers that ignore `*` are few, so the message names them all.
pub(super) fn lint(
    subject: &Subject<'_>,
    enforcement: Option<&Enforcement>,
    findings: &mut Findings,
) {
    if !closes_everything(&subject.file) {
        return;
    }
    let Some(star) = subject.matcher.star() else { return };
    let is_open = |crawler: &&Crawler| {
        crawler.is_identifiable()
            && subject.scope_of(crawler.product_token()).is_none()
            && !subject.is_bound_by_star(Name::Known(crawler))
    };
    let open: Vec<&Crawler> = subject.catalogue.iter().filter(is_open).collect();
    // Services that a site orders are programs, not crawlers.
    let ignores = |crawler: &&&Crawler| crawler.ignores_star() && !crawler.is_program();
    let crawlers: Vec<String> = open
        .iter()
        .filter(ignores)
        .map(|crawler| shown(crawler.product_token().as_str()))
        .collect();
    let is_fetcher =
        |crawler: &&&Crawler| crawler.kind() == Kind::UserTriggered && !crawler.ignores_star();
    let fetchers = open.iter().filter(is_fetcher).count();
    let mut who = Vec::new();
    if !crawlers.is_empty() {
        who.push(format!("crawlers that ignore '*' ({})", crawlers.join(", ")));
    }
    if fetchers > 0 {
        who.push(format!("{fetchers} fetchers that act for a person, such as ChatGPT-User"));
    }
    if who.is_empty() {
        return;
    }
    let message = format!("'*' closes the whole site, but does not bind {}", who.join(", nor "));
    let mut repairs = Vec::new();
    if !crawlers.is_empty() {
        repairs.push(match subject.is_policy() {
            true => format!("add to 'user_agents' of this group: {}", crawlers.join(", ")),
            false => format!("add a user-agent line to this group for {}", crawlers.join(", ")),
        });
    }
    if fetchers > 0 {
        repairs.push(match subject.is_policy() {
            true => "set 'enforcement.star_binds: [crawler, user-triggered, automation, none]'"
                .to_owned(),
            false => "name the fetchers too, or ask for a password".to_owned(),
        });
    }
    // Only an operator who refuses requests believes that the site is closed.
    let refuses = enforcement.is_some_and(|one| {
        one.ladder.is_some()
            || one.mode == Mode::Block
            || one.overrides.iter().any(|one| one.all && one.mode == Mode::Block)
    });
    let severity = if refuses { Severity::Warning } else { Severity::Note };
    let finding = Diagnostic::note("lint.not_closed", message).help(repairs.join("; "));
    findings.add(star_place(subject, star), Diagnostic { severity, ..finding });
}

/// The place of the first `*`.
fn star_place(subject: &Subject<'_>, star: Scope) -> Spot {
    let names = subject.matcher.tokens(star);
    let star = names.first().copied().unwrap_or("*");
    let groups = subject.file.groups.iter().zip(&subject.places);
    let mut spots = groups.flat_map(|(group, places)| group.user_agents.iter().zip(&places.names));
    spots.find(|(name, _)| name.name.trim() == star).map(|(_, spot)| *spot).unwrap_or_default()
}
