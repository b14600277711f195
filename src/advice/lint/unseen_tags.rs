//! Tags that no crawler sees: `noindex` on pages that no crawler may fetch. Tags for too many crawlers.

use crate::{
    formats::{
        robots::{Pattern, Scope},
        robots_tag::{self, RobotsTag},
    },
    rules::policy::{Server, Site, Spot, TagRule},
};

use super::subject::{Findings, Ranked, Subject};

/// The most lines of `X-Robots-Tag` without a finding. Common clients refuse a response with more than
/// 100 fields.
const MOST_LINES: usize = 80;

/// The octets of one line of `X-Robots-Tag` without a finding, where another server copies it. Its fields
/// have some 3,500 in all.
const LONGEST_LINE: usize = 3_000;

/// Reports responses with too many lines of `X-Robots-Tag`, which has one for each crawler, and too long
/// ones for servers that ask (`decide`).
pub(super) fn lint_lines(site: &Site, server: &Server, findings: &mut Findings) {
    let Some(first) = site.robots_tag.first().filter(|_| site.robots_tag_legacy) else { return };
    let all = site.robots_tag.iter().fold(RobotsTag::new(), |all, rule| all.union(&rule.tag));
    let legacy = all.to_legacy();
    let lines = legacy.len();
    let octets: usize = legacy.iter().map(|line| line.len() + 2).sum();
    let message = if server.decide.is_some() && octets > LONGEST_LINE {
        format!(
            "X-Robots-Tag may have {octets} octets; servers that ask Beadle get replies of at most 3,500, so \
             it is left out"
        )
    } else if lines > MOST_LINES {
        format!(
            "a response may have {lines} lines of X-Robots-Tag; common clients refuse more than 100 \
             fields"
        )
    } else {
        return;
    };
    let help = "use '*' instead of many crawlers, or set 'robots_tag_legacy: false'";
    findings.warn(first.spot, "lint.many_tag_lines", message, help);
}

pub(super) fn lint(subject: &Subject<'_>, rules: &[TagRule], findings: &mut Findings) {
    let Ok(everything) = Pattern::new("/") else { return };
    for rule in rules {
        let Some(scopes) = scopes(subject, rule) else { continue };
        let everywhere = (&everything, rule.spot);
        let paths: Vec<(&Pattern, Spot)> = match rule.paths.is_empty() {
            true => vec![everywhere],
            false => rule.paths.iter().zip(rule.path_spots.iter().copied()).collect(),
        };
        for (path, at) in paths {
            let closing: Option<Vec<Ranked<'_>>> =
                scopes.iter().map(|scope| subject.is_closed(*scope, path)).collect();
            let Some(by) = closing.as_ref().and_then(|all| all.first()) else { continue };
            let message = format!(
                "no crawler sees 'noindex' here: {} closes these pages, which may still be indexed \
                 by links to them",
                by.rule.quoted_with_line()
            );
            let help =
                "remove the rule from robots.txt to take the pages out of indexes, or this tag";
            findings.warn(at, "lint.unseen_tag", message, help);
        }
    }
}

/// The scopes of the crawlers that the `noindex` of an entry is for; `None` if it has none, or if a
/// crawler obeys no group.
fn scopes(subject: &Subject<'_>, rule: &TagRule) -> Option<Vec<Scope>> {
    let mut found = Vec::new();
    for (scope, rules) in rule.tag.scopes() {
        if !rules.iter().any(|rule| matches!(rule.name(), "noindex" | "none")) {
            continue;
        }
        match scope {
            robots_tag::Scope::Any => {
                // Without a group for `*`, other crawlers fetch the pages.
                subject.matcher.star()?;
                found.extend(subject.matcher.distinct_scopes());
            }
            robots_tag::Scope::Token(token) => found.push(subject.scope_of(token)?),
        }
    }
    (!found.is_empty()).then_some(found)
}
