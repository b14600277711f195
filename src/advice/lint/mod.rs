//! Faults of meaning: what is well written and still not what its author wants.
//!
//! [`policy()`] looks at the sites of a policy, [`robots_txt()`] at any robots.txt. Both read a site's
//! rules as one value with the place of each part, so a lint is written once. A lint
//! asks the rules themselves, their patterns and the matcher, never their spelling.
//!
//! A finding is a warning if a policy says it, and mostly a note if a robots.txt says it: foreign
//! files are odd for reasons of their own. [`silence()`] leaves out what a comment in the file allows.
//! [`RULES`] has the code of each finding of `beadle check`. Of a policy with errors, lints look only at
//! what is whole.
//!
//! May use: diagnostic, escape, product_token, text, robots, robots_tag, usage, crawlers, policy, enforce.
//! Must not know: files, the network, any clock.

pub use self::{codes::RULES, misreadings::MISREADERS, silence::silence};

// What is looked at.
mod codes; // the codes of all findings, with their meanings
mod subject; // the rules of a site with their places, and the findings about them

// The lints of rules.
mod duties; // named groups that drop what `*` disallows
mod groups; // groups of one name, lines without effect, crawlers that a closed site lets in
mod misreadings; // what some parsers misread
mod preferences; // preferences and tags that part with the rules
mod redundant_rules; // rules that never decide
mod secrets; // secrets in public paths

// The lints of a policy alone.
mod modes; // modes, overrides and rate limits without effect

// Comments in the file.
mod silence; // what a comment allows

use crate::{
    base::{diagnostic::Diagnostic, escape::shown},
    formats::robots,
    rules::{
        crawlers::Catalogue,
        policy::{Policy, Site, Source, Spot},
    },
};

use self::subject::{Findings, Subject};

/// The findings about the sites of a policy, beside those of its reader.
pub fn policy(policy: &Policy) -> Vec<Diagnostic> {
    let mut findings = Findings::default();
    let mut published = Vec::new();
    for site in policy.written_sites() {
        modes::lint_names(&policy.catalogue, &site.enforcement, &mut findings);
        preferences::lint_lines(site, &policy.server, &mut findings);
        lint_hosts(site, policy.fleet.is_some(), &mut findings);
        modes::lint_limits(site, &policy.catalogue, &mut findings);
        if site.robots_txt.source == Source::Origin {
            continue;
        }
        let subject = Subject::of_site(site, &policy.catalogue);
        about_rules(&subject, &mut findings);
        if subject.is_whole() {
            groups::lint_openings(&subject, Some(&site.enforcement), &mut findings);
            preferences::lint_wishes(site, &subject, &mut findings);
            published.push(Subject::of_published(site, &policy.catalogue));
        }
        if subject.is_whole() && site.robots_txt.source == Source::Policy {
            modes::lint(&subject, &site.enforcement, &mut findings);
            preferences::lint_tags(&subject, &site.robots_tag, &mut findings);
        }
        subject.report_partial(site.at, &mut findings);
    }
    misreadings::lint(&published, &mut findings);
    findings.into_vec()
}

/// The findings about limits of a policy that search engines would have felt. `hours` are the requests of
/// crawlers in the past: a site, a product token and the requests of an hour.
pub fn busy_hours<'h>(
    policy: &Policy,
    hours: impl Iterator<Item = (&'h str, &'h str, u64)> + Clone,
) -> Vec<Diagnostic> {
    let mut findings = Findings::default();
    for site in policy.written_sites() {
        modes::lint_hours(site, &policy.catalogue, hours.clone(), &mut findings);
    }
    findings.into_vec()
}

/// All findings about a robots.txt, in the order of its lines.
pub fn robots_txt(bytes: &[u8], catalogue: &Catalogue) -> Vec<Diagnostic> {
    let (file, mut all) = robots::parse(bytes);
    let subject = Subject::of_file(file, bytes, catalogue);
    let mut findings = Findings::default();
    about_rules(&subject, &mut findings);
    groups::lint_openings(&subject, None, &mut findings);
    groups::lint_names(&subject, &mut findings);
    misreadings::lint(std::slice::from_ref(&subject), &mut findings);
    subject.report_partial(Spot::default(), &mut findings);
    all.extend(findings.into_vec());
    all.sort_by_key(|one| (one.place.line, one.place.column));
    all
}

fn about_rules(subject: &Subject<'_>, findings: &mut Findings) {
    redundant_rules::lint(subject, findings);
    duties::lint(subject, findings);
    groups::lint(subject, findings);
    if subject.is_whole() {
        preferences::lint(subject, findings);
    }
    secrets::lint(subject, findings);
}

/// Hosts below a wildcard, which share one robots.txt of their origin in a fleet (RFC 9309 §2.3: each host
/// has its own). A single node finds the files of the hosts itself.
fn lint_hosts(site: &Site, is_in_fleet: bool, findings: &mut Findings) {
    if is_in_fleet && site.shares_origin_file() {
        let host = shown(&site.backend.host);
        let message = format!(
            "in a fleet, all hosts below a wildcard get the robots.txt that the origin has for \
             '{host}', and are judged by it"
        );
        let help = "add each host with another file to 'hosts'";
        findings.note(site.at, "lint.shared_origin_file", message, help);
    }
}

#[cfg(test)]
mod tests;
