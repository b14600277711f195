//! Modes, overrides and rate limits without effect: nothing restricts the crawlers that they are for, or no
//! crawler can reach them. Limits that search engines feel, and who reads those that robots.txt says.
//!
//! The origin's file may restrict crawlers, so the modes of a site with rules of its origin are not looked at.

use std::collections::HashSet;

use super::subject::{Findings, Subject};
use crate::{
    base::{
        diagnostic::{Diagnostic, Severity},
        escape::{first_of, shown},
        product_token::ProductToken,
    },
    formats::robots::{Directive, Pace, Pattern, Scope},
    rules::{
        crawlers::{Catalogue, Crawler, Kind, Name, Purpose, Status},
        enforce,
        policy::{Enforcement, Mode, Named, PaceMode, RateLimit, Site},
    },
};

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
        let message = "throttles requests that come too soon, but no group sets a pace".to_owned();
        let help = "add 'crawl_delay: 5' to a group, or set 'mode: log'";
        findings.warn(enforcement.at, "lint.no_pace", message, help);
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
        let help = "remove it from the override; its group in robots.txt stays";
        findings.warn(*at, "lint.unenforceable_override", message, help);
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
        findings.warn(*at, "lint.unrestricted_override", message, help);
    } else if mode == Mode::Throttle && !scopes().any(is_paced) {
        let message = format!("{who} throttled, but no group sets a pace for it");
        let help = "add 'crawl_delay: 5' to its group, or set 'mode: log'";
        findings.warn(*at, "lint.no_pace", message, help);
    }
}

fn disallows(subject: &Subject<'_>, scope: Scope) -> bool {
    let mut rules = subject.matcher.rules(scope);
    rules.any(|rule| rule.directive == Directive::Disallow && !rule.pattern.is_empty())
}

const NAMED: usize = 6;

pub(super) fn lint_limits(site: &Site, catalogue: &Catalogue, findings: &mut Findings) {
    let limits = &site.enforcement.rate_limits;
    for (number, limit) in limits.iter().enumerate() {
        let lint = Lint { site, catalogue, limit };
        if lint.is_unreachable() {
            let message = "no request has the name of a crawler of this limit".to_owned();
            let help = "name crawlers that fetch pages, or remove the limit";
            findings.warn(limit.at, "lint.unreachable_limit", message, help);
            continue;
        }
        // Of two equal limits, the later one has no effect.
        let contains = |(other, by): &(usize, &RateLimit)| {
            *other != number
                && lint.is_contained(by)
                && (*other < number || !Lint { limit: by, ..lint }.is_contained(limit))
        };
        if let Some((other, by)) = limits.iter().enumerate().find(contains) {
            let message = format!(
                "never reached: rate_limits[{other}] in line {}, {by}, counts all of its requests",
                by.at.line
            );
            let help = "remove the limit, or make it the stricter one";
            findings.warn(limit.at, "lint.laxer_limit", message, help);
        }
        lint.search(findings);
        if limit.is_published {
            lint.readers(findings);
        }
    }
}

/// The limits that search engines would have felt in the past: for each, the one that sent the most requests
/// in an hour. `hours` are a site, a product token and the requests of an hour.
pub(super) fn lint_hours<'h>(
    site: &Site,
    catalogue: &Catalogue,
    hours: impl Iterator<Item = (&'h str, &'h str, u64)> + Clone,
    findings: &mut Findings,
) {
    for limit in &site.enforcement.rate_limits {
        let lint = Lint { site, catalogue, limit };
        // The hours are those of all paths.
        let Some(pace) = limit.pace.filter(|_| limit.paths.is_empty()) else { continue };
        let most = an_hour(pace);
        let engines: HashSet<&str> =
            lint.engines().map(|one| one.product_token().as_str()).collect();
        let of_site = hours.clone().filter(|(name, token, requests)| {
            *name == site.name() && *requests as f64 > most && engines.contains(token)
        });
        let Some((_, token, requests)) = of_site.max_by_key(|(.., requests)| *requests) else {
            continue;
        };
        let message = format!(
            "search engines feel this limit: {} made {requests} requests in its busiest hour, and {most:.0} \
             may pass",
            shown(token)
        );
        findings.add(limit.at, lint.about_search(message));
    }
}

#[derive(Clone, Copy)]
struct Lint<'a> {
    site: &'a Site,
    catalogue: &'a Catalogue,
    limit: &'a RateLimit,
}

impl<'a> Lint<'a> {
    /// Whether the limit counts no client.
    fn is_unreachable(self) -> bool {
        let Self { site, catalogue, limit } = self;
        let is_sent = |token: &ProductToken| !is_never_sent(catalogue, std::slice::from_ref(token));
        let binds = limit.all && !site.enforcement.star_binds.is_empty();
        !binds && !limit.tokens.iter().any(is_sent)
    }

    /// Whether a client beyond this limit is beyond `by` as well, and `by` answers it.
    fn is_contained(self, by: &RateLimit) -> bool {
        let limit = self.limit;
        let star_binds = &self.site.enforcement.star_binds;
        let is_named = |token| {
            let name = self.catalogue.find(ProductToken::as_str(token));
            enforce::counts(by, star_binds, name.map_or(Name::Site(token), Name::Known))
        };
        let is_on = |path: &Pattern| {
            let sample = path.sample();
            by.paths.is_empty() || by.paths.iter().any(|other| other.includes(&sample))
        };
        let is_slower = limit.pace.is_none_or(|pace| {
            let other = by.pace.filter(|other| other.interval() >= pace.interval());
            other.is_some() && by.burst <= limit.burst
        });
        let has_fewer =
            limit.concurrent.is_none_or(|most| by.concurrent.is_some_and(|other| other <= most));
        let is_everywhere = by.paths.is_empty() || !limit.paths.is_empty();
        (by.all || !limit.all)
            && limit.tokens.iter().all(is_named)
            && is_everywhere
            && limit.paths.iter().all(is_on)
            && (by.together || !limit.together)
            && (by.mode == PaceMode::Throttle || limit.mode == PaceMode::Log)
            && is_slower
            && has_fewer
    }

    /// A limit of less than a request a second on all paths that counts search engines. One that names
    /// a single one is meant.
    fn search(self, findings: &mut Findings) {
        let limit = self.limit;
        let Some(pace) = limit.pace.filter(|_| limit.paths.is_empty()) else { return };
        let engines: Vec<&Crawler> = self.engines().collect();
        let is_meant = engines.is_empty() || (engines.len() < 2 && !limit.all);
        if pace.interval().as_secs_f64() <= 1.0 || is_meant {
            return;
        }
        let most = an_hour(pace);
        let each = if limit.together { "together" } else { "each" };
        let message = format!(
            "search engines feel this limit: {} get {most:.0} requests an hour {each}",
            names(&engines)
        );
        findings.add(limit.at, self.about_search(message));
    }

    fn about_search(self, message: String) -> Diagnostic {
        let help = "name other purposes in place of '*', for example 'purpose:ai-training', and give \
                    search engines a limit that they do not reach";
        let severity = match self.limit.mode {
            PaceMode::Throttle => Severity::Warning,
            PaceMode::Log => Severity::Note,
        };
        let finding = Diagnostic::warning("lint.search_limit", message).help(help);
        Diagnostic { severity, ..finding }
    }

    /// The search engines that the limit counts.
    fn engines(self) -> impl Iterator<Item = &'a Crawler> {
        self.counted().filter(|one| one.purpose() == Purpose::Search)
    }

    /// The crawlers that promise to follow the lines of a published limit.
    fn readers(self, findings: &mut Findings) {
        let keeps = |one: &&Crawler| enforce::keeps_paces(Name::Known(one));
        let readers: Vec<&Crawler> = self.counted().filter(keeps).collect();
        let records = self.limit.records();
        let lines = records.iter().map(|record| format!("{}: {}", record.name, record.value));
        let lines = lines.collect::<Vec<_>>().join(" and ");
        let (message, help) = match readers.is_empty() {
            true => (
                format!("none of these crawlers promises to follow '{lines}' in robots.txt"),
                "remove 'publish'; the limit holds anyway",
            ),
            false => (
                format!("robots.txt says '{lines}'; promised to follow: {}", names(&readers)),
                "nothing to do; all others meet the limit alone. A group with its own crawl_delay \
                 keeps that",
            ),
        };
        findings.note(self.limit.at, "lint.published_limit", message, help);
    }

    /// The crawlers of the catalogue that the limit counts.
    fn counted(self) -> impl Iterator<Item = &'a Crawler> {
        let (limit, star_binds) = (self.limit, &self.site.enforcement.star_binds);
        let is_counted = move |one: &&Crawler| {
            one.entry.status == Status::Active
                && one.is_identifiable()
                && enforce::counts(limit, star_binds, Name::Known(one))
        };
        self.catalogue.iter().filter(is_counted)
    }
}

fn an_hour(pace: Pace) -> f64 {
    3_600.0 / pace.interval().as_secs_f64()
}

/// The first names, and how many more there are.
fn names(crawlers: &[&Crawler]) -> String {
    first_of(crawlers.iter().map(|one| shown(one.product_token().as_str())), NAMED)
}
