//! Modes and overrides without effect: nothing restricts the crawlers that they are for.
//!
//! The origin's file may restrict them, so a site with rules of its origin is not looked at.

use crate::{
    base::{diagnostic::Diagnostic, escape::shown, product_token::ProductToken},
    formats::robots::{Directive, Scope},
    rules::{
        crawlers::{Catalogue, Kind},
        policy::{Enforcement, Mode, Named, PaceMode},
    },
};

use super::{findings::Findings, subject::Subject};

pub(super) fn lint(subject: &Subject<'_>, enforcement: &Enforcement, findings: &mut Findings) {
    let scopes = subject.matcher.distinct_scopes();
    let is_idle = !scopes.iter().any(|scope| disallows(subject, *scope));
    let idle = || {
        let message = "blocks violations, but no group disallows anything";
        let help = "add 'disallow' to a group, for example 'disallow: [/private/]'";
        Diagnostic::warning("lint.idle_mode", message).help(help)
    };
    // On the ladder, crawlers without a pace of their own get that of the ladder.
    let throttles = enforcement.ladder.is_none()
        && (enforcement.mode == Mode::Throttle
            || enforcement.crawl_delay == Some(PaceMode::Throttle));
    if throttles && !subject.matcher.sets_pace() {
        let message = "throttles requests that come too soon, but no group sets a pace";
        let help = "add 'crawl_delay: 5' to a group, or set 'mode: log'";
        findings.add(enforcement.at, Diagnostic::warning("lint.no_pace", message).help(help));
    } else if enforcement.mode == Mode::Block && is_idle && enforcement.impostors.is_none() {
        findings.add(enforcement.at, idle());
    }
    for one in &enforcement.overrides {
        if let Some(at) = one.star.filter(|_| one.mode == Mode::Block && is_idle) {
            findings.add(at, idle());
        }
        for named in &one.named {
            lint_named(subject, one.mode, named, findings);
        }
    }
}

/// Overrides for crawlers whose names no User-Agent has.
pub(super) fn lint_names(
    catalogue: &Catalogue,
    enforcement: &Enforcement,
    findings: &mut Findings,
) {
    let named = enforcement.overrides.iter().flat_map(|one| &one.named);
    for Named { at, tokens, .. } in named.filter(|named| is_never_sent(catalogue, &named.tokens)) {
        let who = who(tokens);
        let message = format!("{who} never found in a User-Agent, so the override has no effect");
        findings.add(
            *at,
            Diagnostic::warning("lint.unenforceable_override", message)
                .help("remove it from the override; its group in robots.txt stays"),
        );
    }
}

/// Whether no User-Agent has any of these names.
pub(super) fn is_never_sent(catalogue: &Catalogue, tokens: &[ProductToken]) -> bool {
    let is_never_sent = |token: &ProductToken| {
        catalogue
            .find(token.as_str())
            .is_some_and(|crawler| crawler.kind() == Kind::Control || !crawler.is_identifiable())
    };
    !tokens.is_empty() && tokens.iter().all(is_never_sent)
}

/// The crawlers of an entry at the start of a sentence.
fn who(tokens: &[ProductToken]) -> String {
    let first = tokens.first().map(|token| shown(token.as_str())).unwrap_or_default();
    match tokens.len() {
        1 => format!("{first} is"),
        several => format!("these {several} crawlers, such as {first}, are"),
    }
}

/// One entry of an override.
fn lint_named(subject: &Subject<'_>, mode: Mode, named: &Named, findings: &mut Findings) {
    let Named { at, tokens, .. } = named;
    if tokens.is_empty()
        || mode == Mode::Off
        || is_never_sent(subject.catalogue, tokens)
        || !subject.spend(tokens.len())
    {
        return;
    }
    let who = who(tokens);
    let scopes = || tokens.iter().filter_map(|token| subject.scope_of(token));
    let is_paced = |scope: Scope| subject.matcher.is_paced(scope);
    let is_closed_out = scopes().any(|scope| disallows(subject, scope));
    let is_restricted = is_closed_out || scopes().any(is_paced);
    // A pace is never refused with 403, so it gives 'block' no effect.
    if !is_restricted || (mode == Mode::Block && !is_closed_out) {
        let (lacks, help) = match is_restricted {
            true => {
                ("kept from no path", "add 'disallow: [\"/\"]' to its group, or remove it here")
            }
            false => (
                "restricted by no group",
                "add a group for it under robots_txt.groups, for example with 'disallow: [\"/\"]', \
                 or remove it here",
            ),
        };
        let mode = mode.as_str();
        let message = format!("{who} {lacks}, so 'mode: {mode}' has no effect");
        let finding = Diagnostic::warning("lint.unrestricted_override", message).help(help);
        findings.add(*at, finding);
    } else if mode == Mode::Throttle && !scopes().any(is_paced) {
        let message = format!("{who} throttled, but no group sets a pace for it");
        let help = "add 'crawl_delay: 5' to its group, or set 'mode: log'";
        findings.add(*at, Diagnostic::warning("lint.no_pace", message).help(help));
    }
}

fn disallows(subject: &Subject<'_>, scope: Scope) -> bool {
    let mut rules = subject.matcher.rules(scope);
    rules.any(|rule| rule.directive == Directive::Disallow && !rule.pattern.is_empty())
}
