//! Rate limits: those that no crawler can reach, those that search engines feel, and who reads those
//! that robots.txt says.

use std::collections::HashSet;

use crate::{
    base::{
        diagnostic::{Diagnostic, Severity},
        escape::{first_of, shown},
        product_token::ProductToken,
    },
    formats::robots::{Pace, Pattern},
    rules::{
        crawlers::{Catalogue, Crawler, Name, Purpose, Status},
        enforce,
        policy::{PaceMode, RateLimit, Site},
    },
};

use super::{findings::Findings, modes::is_never_sent};

/// The most crawlers that a message names.
const NAMED: usize = 6;

pub(super) fn lint(site: &Site, catalogue: &Catalogue, findings: &mut Findings) {
    let limits = &site.enforcement.rate_limits;
    for (number, limit) in limits.iter().enumerate() {
        let lint = Lint { site, catalogue, limit };
        if lint.is_unreachable() {
            let message = "no request has the name of a crawler of this limit";
            let help = "name crawlers that fetch pages, or remove the limit";
            let finding = Diagnostic::warning("lint.unreachable_limit", message).help(help);
            findings.add(limit.at, finding);
            continue;
        }
        // Of two equal limits, the later one has no effect.
        let is_earlier = |other: usize| other < number;
        let contains = |(other, by): &(usize, &RateLimit)| {
            *other != number
                && lint.is_contained(by)
                && (is_earlier(*other) || !Lint { limit: by, ..lint }.is_contained(limit))
        };
        if let Some((other, by)) = limits.iter().enumerate().find(contains) {
            let message = format!(
                "never reached: rate_limits[{other}] in line {}, {by}, counts all of its requests",
                by.at.line
            );
            let help = "remove the limit, or make it the stricter one";
            findings.add(limit.at, Diagnostic::warning("lint.laxer_limit", message).help(help));
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
        if pace.interval().as_secs_f64() <= 1.0 || (engines.len() < 2 && !limit.all) {
            return;
        }
        let [_, ..] = engines[..] else { return };
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
        let lines: Vec<String> = self.limit.records().iter().map(line).collect();
        let lines = lines.join(" and ");
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
        let finding = Diagnostic::note("lint.published_limit", message).help(help);
        findings.add(self.limit.at, finding);
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

fn line(record: &crate::formats::robots::Record) -> String {
    format!("{}: {}", record.name, record.value)
}

/// The first names, and how many more there are.
fn names(crawlers: &[&Crawler]) -> String {
    first_of(crawlers.iter().map(|one| shown(one.product_token().as_str())), NAMED)
}
