//! What changes in the tags of responses, by path, media type and status.
//!
//! Statuses and media types that no entry of either side tells apart are one. For each of the rest,
//! the paths of a tag are compared exactly.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    base::product_token::ProductToken,
    formats::{
        robots::{self, Directive, Rule},
        robots_tag::Scope,
    },
    rules::policy::{self, TagRule},
};

use super::row::{Comparison, Row, State};

/// How many steps the search for one tag takes at most.
const MOST_STEPS: usize = 2_000_000;

/// Media types and statuses that are treated alike.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    main: String,
    sub: String,
    status: u16,
    /// The words for it; empty for the rest.
    label: String,
}

/// The tags that each kind of response loses and gains.
type ByKind = BTreeMap<Kind, [BTreeSet<String>; 2]>;

/// The paths with a tag on one side, as rules: `/drafts/`.
type Paths = Vec<Rule>;

pub(super) fn compare(
    site: &Arc<str>,
    before: &policy::Site,
    after: &policy::Site,
    comparison: &mut Comparison,
) {
    let sides = [&before.robots_tag, &after.robots_tag];
    let kinds = kinds(sides);
    // By crawler and path: the kinds, and what each loses and gains.
    let mut changes: BTreeMap<(String, String), ByKind> = BTreeMap::new();
    for token in tokens(sides) {
        for kind in &kinds {
            let [old, new] = sides.map(|rules| tags(rules, token.as_ref(), kind));
            for tag in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
                let paths =
                    |tags: &BTreeMap<String, Paths>| tags.get(tag).cloned().unwrap_or_default();
                let (old, new) = (paths(&old), paths(&new));
                let Some(found) = super::regions::regions(&old, &new, &mut { MOST_STEPS }) else {
                    comparison.is_by_sample = true;
                    continue;
                };
                for region in found {
                    let token = token.as_ref().map_or("*", ProductToken::as_str).to_owned();
                    let key = (token, region.pattern().to_owned());
                    let pair = changes.entry(key).or_default().entry(kind.clone()).or_default();
                    let place = usize::from(region.before.is_none());
                    if let Some(tags) = pair.get_mut(place) {
                        tags.insert(tag.clone());
                    }
                }
            }
        }
    }
    // What every crawler gets is not repeated for those that a tag names.
    let of_star: BTreeSet<_> = changes
        .iter()
        .filter(|((token, _), _)| token == "*")
        .map(|((_, path), kinds)| (path.clone(), kinds.clone()))
        .collect();
    for ((token, path), kinds_changed) in changes {
        if token != "*" && of_star.contains(&(path.clone(), kinds_changed.clone())) {
            continue;
        }
        let mut alike: BTreeMap<[BTreeSet<String>; 2], Vec<String>> = BTreeMap::new();
        for (kind, pair) in kinds_changed {
            alike.entry(pair).or_default().push(kind.label);
        }
        for ([lost, gained], labels) in alike {
            let is_all = labels.len() == kinds.len();
            let state = |tags: &BTreeSet<String>| {
                let text = tags.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
                match is_all || text.is_empty() {
                    true => State::of(text),
                    false => State::Value(format!("{text} ({})", labels.join("; "))),
                }
            };
            let row = Row::setting(Some(site), "tagged", state(&lost), state(&gained));
            let product_tokens = Arc::from([token.clone()]);
            comparison.add(Row { product_tokens, path: Some(path.clone()), ..row });
        }
    }
}

/// Every crawler (`None`), and those that a tag names.
fn tokens(sides: [&Vec<TagRule>; 2]) -> BTreeSet<Option<ProductToken>> {
    let scopes = sides.into_iter().flatten().flat_map(|rule| rule.tag.scopes());
    let named = scopes.filter_map(|(scope, _)| match scope {
        Scope::Any => None,
        Scope::Token(token) => Some(Some(token.clone())),
    });
    named.chain([None]).collect()
}

/// The tags for a crawler in responses of a kind, each with its paths.
fn tags(rules: &[TagRule], token: Option<&ProductToken>, kind: &Kind) -> BTreeMap<String, Paths> {
    let mut tags: BTreeMap<String, Paths> = BTreeMap::new();
    for rule in rules.iter().filter(|rule| applies(rule, kind)) {
        let paths = match rule.paths.is_empty() {
            true => vec!["*".to_owned()],
            false => rule.paths.iter().map(robots::Pattern::to_text).collect(),
        };
        for restriction in rule.tag.restrictions(token) {
            let paths = paths.iter().map(|pattern| Rule {
                directive: Directive::Disallow,
                pattern: pattern.clone(),
                line: 0,
            });
            tags.entry(restriction.to_string()).or_default().extend(paths);
        }
    }
    tags
}

fn applies(rule: &TagRule, kind: &Kind) -> bool {
    let is_status = |range: &policy::StatusRange| (range.from..=range.to).contains(&kind.status);
    let is_type = |range: &policy::MediaRange| {
        range.main == kind.main && range.sub.as_ref().is_none_or(|sub| *sub == kind.sub)
    };
    (rule.statuses.is_empty() || rule.statuses.iter().any(is_status))
        && (rule.content_types.is_empty() || rule.content_types.iter().any(is_type))
}

/// The kinds of responses that either side tells apart.
fn kinds(sides: [&Vec<TagRule>; 2]) -> Vec<Kind> {
    let rules = || sides.into_iter().flatten();
    let mut statuses: BTreeSet<u16> = BTreeSet::from([200]);
    for range in rules().flat_map(|rule| &rule.statuses) {
        statuses.extend([range.from, range.to + 1]);
    }
    let mut types: BTreeSet<(String, String)> = BTreeSet::from([("-".into(), "-".into())]);
    for range in rules().flat_map(|rule| &rule.content_types) {
        let sub = range.sub.clone().unwrap_or_else(|| "*".to_owned());
        types.extend([(range.main.clone(), sub), (range.main.clone(), "*".to_owned())]);
    }
    let statuses: Vec<u16> = statuses.into_iter().filter(|status| *status < 600).collect();
    let mut kinds = Vec::new();
    for (main, sub) in &types {
        for (at, &status) in statuses.iter().enumerate() {
            let last = statuses.get(at + 1).map_or(599, |next| next - 1);
            let of_type = match main.as_str() {
                "-" if types.len() == 1 => None,
                "-" => Some("any other type".to_owned()),
                _ => Some(format!("{main}/{sub}")),
            };
            let of_status = match (statuses.len(), last == status) {
                (1, _) => None,
                (_, true) => Some(format!("status {status}")),
                (_, false) => Some(format!("status {status} to {last}")),
            };
            let label = of_type.into_iter().chain(of_status).collect::<Vec<_>>().join(", ");
            kinds.push(Kind { main: main.clone(), sub: sub.clone(), status, label });
        }
    }
    kinds
}
