//! Preferences and tags that part with the rules: permissions to use what may not be fetched
//! (`Content-Signal: search=yes` under `Disallow: /`), wishes that no rule enforces, `noindex` on pages that no
//! crawler may fetch. Tags for too many crawlers.

use super::subject::{Findings, Ranked, Subject};
use crate::{
    base::{
        diagnostic::Diagnostic,
        escape::{first_of, shown},
    },
    formats::{
        robots::{Access, Pattern, Record, Scope, Target},
        robots_tag::{self, RobotsTag},
        usage::{Carrier, Category, Preference, Statement, split_path},
    },
    rules::{
        crawlers::{Crawler, Kind, Name, Purpose},
        policy::{Entry, Server, Site, Spot, TagRule},
    },
};

pub(super) fn lint(subject: &Subject<'_>, findings: &mut Findings) {
    for (group, record, at) in subject.records() {
        let Some((path, permission)) = permission(record) else { continue };
        let Ok(pattern) = Pattern::new(path) else { continue };
        let mut names = group.user_agents.iter().map(|one| one.name.trim());
        let scope = match names.next() {
            Some("*") => subject.matcher.star(),
            Some(name) => subject.matcher.group(name),
            None => None,
        };
        let Some(rule) = scope.and_then(|scope| subject.is_closed(scope, &pattern)) else {
            continue;
        };
        let message = format!(
            "'{}: {}' permits a use ({permission}) of pages that {} closes",
            shown(&record.name),
            shown(&record.value),
            rule.rule.quoted_with_line()
        );
        let finding = Diagnostic::note("lint.unusable_permission", message)
            .help("allow the paths, or remove the permission");
        findings.add(at, Diagnostic { severity: subject.severity(), ..finding });
    }
}

/// Wishes that part with the rules of a policy: no training, but crawlers for training may come. And
/// records of groups that say something else.
pub(super) fn lint_wishes(site: &Site, subject: &Subject<'_>, findings: &mut Findings) {
    let train = |(_, said): &(Option<&str>, Statement)| said.get(Category::TrainAi);
    let first_page = Target::new(b"/");
    let mut free = Vec::new();
    let (mut at, is_trainer) = (None, |one: &&Crawler| {
        one.purpose() == Purpose::AiTraining && one.kind() == Kind::Crawler && one.is_identifiable()
    });
    for crawler in subject.catalogue.iter().filter(is_trainer) {
        let name = crawler.product_token();
        let whole = site.preferences.stated(Some(name.as_str())).into_iter().next();
        let wish = whole.filter(|one| one.0.is_none() && train(one) == Some(Preference::Disallow));
        let star =
            || subject.matcher.star().filter(|_| subject.is_bound_by_star(Name::Known(crawler)));
        let scope = subject.scope_of(name).or_else(star);
        let verdict = |scope| subject.matcher.verdict(scope, &first_page).access;
        if wish.is_some() && scope.is_none_or(|scope| verdict(scope) == Access::Allow) {
            let says = |entry: &&Entry| {
                entry.statement.get(Category::TrainAi) == Some(Preference::Disallow)
            };
            at = at.or_else(|| site.preferences.entries.iter().find(says).map(|entry| entry.spot));
            free.push(shown(name.as_str()));
        }
    }
    if let Some(at) = at {
        let message = format!(
            "'train-ai' is no, but crawlers whose purpose is training may fetch '/': {}",
            first_of(free, 3)
        );
        let help = "a wish is not enforced; to refuse them, add a group with 'user_agents: \
                    [\"purpose:ai-training\"]' and 'disallow: [\"/\"]'";
        findings.note(at, "lint.unenforced_preference", message, help);
    }
    for (group, record, at) in subject.records() {
        let contradicted =
            group.user_agents.iter().find_map(|name| contradiction(site, &name.name, record));
        let Some(category) = contradicted else { continue };
        let message = format!(
            "'{}: {}' and 'preferences' say different things of {}",
            shown(&record.name),
            shown(&record.value),
            category.as_str()
        );
        let help = "crawlers take the stricter one; remove the record";
        findings.warn(at, "lint.contradicting_preference", message, help);
    }
}

/// The category of which a record and the preferences say different things, about the same path.
fn contradiction(site: &Site, name: &str, record: &Record) -> Option<Category> {
    let carrier = Carrier::named(&record.name)?;
    let (path, said) = split_path(record.value.trim());
    let said = carrier.read(said.as_bytes());
    let stated = site.preferences.stated(Some(name.trim()));
    let (_, wish) = stated.into_iter().find(|(of, _)| *of == path)?;
    let differs = |one: &Category| matches!((said.get(*one), wish.get(*one)), (Some(one), Some(other)) if one != other);
    Category::ALL.into_iter().find(differs)
}

/// The path and the first permission of a preference record.
fn permission(record: &Record) -> Option<(&str, String)> {
    let carrier = Carrier::named(&record.name)?;
    let (path, said) = split_path(record.value.trim());
    let stated = carrier.read(said.as_bytes());
    let (category, said) = stated.stated().find(|(_, said)| *said == Preference::Allow)?;
    let permission = Statement::default().with(category, Some(said));
    Some((path.unwrap_or("/"), carrier.write(&permission)?))
}

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

pub(super) fn lint_tags(subject: &Subject<'_>, rules: &[TagRule], findings: &mut Findings) {
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
