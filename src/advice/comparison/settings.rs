//! What changes at a site beside rules: its settings, as the policy names them, and the tags of responses, by path,
//! media type and status.
//!
//! Statuses and media types that no entry of either side tells apart are one. For each of the rest,
//! the paths of a tag are compared exactly.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::row::{Comparison, Row, State};
use crate::{
    base::product_token::ProductToken,
    formats::{
        robots::{self, Directive, Reading, Rule},
        robots_tag::Scope,
        usage::Carrier,
    },
    rules::policy::{
        self, Breaker, Health, HealthCheck, Ladder, Mode, OtherForms, PeopleFirst, Preferences,
        RateLimit, Site, TagRule, Watch, duration_text as time,
    },
};

pub(super) fn compare(name: &Arc<str>, before: &Site, after: &Site, comparison: &mut Comparison) {
    rate_limits(name, (before, after), comparison);
    for ((what, old), (_, new)) in settings(before).into_iter().zip(settings(after)) {
        if old != new {
            comparison.add(Row::setting(Some(name), what, State::of(old), State::of(new)));
        }
    }
}

/// Compares the rate limits, by the crawlers that they name. Their order has no meaning.
fn rate_limits(name: &Arc<str>, sites: (&Site, &Site), comparison: &mut Comparison) {
    let (old, new) = (limits(sites.0), limits(sites.1));
    let crawlers: BTreeSet<&Vec<String>> = old.keys().chain(new.keys()).collect();
    for crawlers in crawlers {
        let [before, after] = [&old, &new].map(|limits| {
            State::of(limits.get(crawlers).map_or(String::new(), |all| all.join("; ")))
        });
        if before != after {
            let row = Row::setting(Some(name), "enforcement.rate_limits", before, after);
            comparison.add(Row { product_tokens: crawlers.as_slice().into(), ..row });
        }
    }
}

/// The rate limits as text, by the crawlers that they name.
fn limits(site: &Site) -> BTreeMap<Vec<String>, Vec<String>> {
    let mut limits: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    for limit in &site.enforcement.rate_limits {
        let names = limit.tokens.iter().map(|token| token.as_str().to_owned());
        let mut names: Vec<String> = names.chain(limit.all.then(|| "*".to_owned())).collect();
        names.sort_unstable();
        limits.entry(names).or_default().push(rate_limit(limit));
    }
    limits.values_mut().for_each(|texts| texts.sort_unstable());
    limits
}

fn rate_limit(limit: &RateLimit) -> String {
    let paths: Vec<String> = limit.paths.iter().map(robots::Pattern::to_text).collect();
    let paths = if paths.is_empty() { String::new() } else { format!(": {}", paths.join(", ")) };
    let burst = limit.pace.map_or(String::new(), |_| format!(", burst {}", limit.burst));
    let published = if limit.is_published { ", published" } else { "" };
    format!("{limit}{paths}{burst}{published}, {}", limit.mode.as_str())
}

/// The settings with their values as text; an empty text is none.
fn settings(site: &Site) -> Vec<(&'static str, String)> {
    let (robots_txt, enforcement) = (&site.robots_txt, &site.enforcement);
    let (backend, limits) = (&site.backend, &site.backend.timeouts);
    let Reading { case_insensitive, decode_depth, .. } = site.reading;
    let classes: Vec<&str> = enforcement.star_binds.iter().map(|class| class.as_str()).collect();
    vec![
        ("origin", backend.urls()),
        ("origin.balance", backend.balance.as_str().to_owned()),
        ("origin.protocol", backend.protocol.as_str().to_owned()),
        ("origin.health", health(&backend.health)),
        ("origin.case_insensitive", case_insensitive.to_string()),
        ("origin.decode_depth", decode_depth.to_string()),
        ("origin.forms", site.forms()),
        ("origin.probe_path", backend.probe_path.clone().unwrap_or_default()),
        ("default", site.default.to_string()),
        ("underscore_fields", backend.underscore_fields.to_string()),
        ("request_fields", fields(&backend.request_fields)),
        ("via", backend.via.to_string()),
        ("rewrite_location", backend.rewrite_location.to_string()),
        ("timeouts.origin_connect", time(limits.origin_connect)),
        ("timeouts.origin_read", time(limits.origin_read)),
        ("timeouts.origin_write", time(limits.origin_write)),
        ("timeouts.tunnel_idle", time(limits.tunnel_idle)),
        ("preferences", preferences(&site.preferences)),
        ("license", site.preferences.license.clone().unwrap_or_default()),
        ("control_tokens", site.preferences.closes_control_tokens.to_string()),
        (
            "tdm",
            site.preferences.tdm_policy.clone().unwrap_or_else(|| site.preferences.tdm.to_string()),
        ),
        ("robots_txt.source", robots_txt.source.as_str().to_owned()),
        ("robots_txt.sitemaps", robots_txt.host_sitemaps.join(", ")),
        ("robots_txt.max_age", time(robots_txt.max_age)),
        ("robots_txt.cache_window", time(robots_txt.cache_window)),
        ("robots_txt.accept_full_disallow", robots_txt.accept_full_disallow.to_string()),
        ("robots_txt.vanish_after", time(robots_txt.vanish_after)),
        ("robots_tag_legacy", site.robots_tag_legacy.to_string()),
        ("enforcement.grace", enforcement.grace.as_str().to_owned()),
        (
            "enforcement.other_forms",
            enforcement.other_forms.map_or("", OtherForms::as_str).to_owned(),
        ),
        ("enforcement.star_binds", classes.join(", ")),
        ("enforcement.impostors", enforcement.impostors.map_or("", Mode::as_str).to_owned()),
        ("enforcement.ladder", enforcement.ladder.as_ref().map(ladder).unwrap_or_default()),
        ("enforcement.breaker", enforcement.breaker.as_ref().map(breaker).unwrap_or_default()),
        (
            "enforcement.people_first",
            enforcement.people_first.as_deref().map(people_first).unwrap_or_default(),
        ),
        ("enforcement.block", block(site)),
        ("watch", site.watch.as_ref().map(watch).unwrap_or_default()),
    ]
}

fn fields(fields: &[(String, String)]) -> String {
    let fields: Vec<String> =
        fields.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    fields.join(", ")
}

fn health(health: &Health) -> String {
    let Health { failures, pause, check } = health;
    let passive = format!("{failures} failures, pause {}", time(*pause));
    match check {
        None => passive,
        Some(HealthCheck { path, interval, timeout }) => {
            format!("{passive}, {path} every {} within {}", time(*interval), time(*timeout))
        }
    }
}

/// What is said to all crawlers. The lines of robots.txt are compared with its other records.
fn preferences(preferences: &Preferences) -> String {
    let stated = preferences.stated(None);
    let said =
        stated.iter().filter_map(|(path, said)| Carrier::ContentUsage.write_about(*path, said));
    said.collect::<Vec<_>>().join("; ")
}

fn ladder(ladder: &Ladder) -> String {
    let Ladder { period, share, min_violations, throttle } = ladder;
    format!("{share} and {min_violations} violations in {}, {throttle}", time(*period))
}

fn breaker(breaker: &Breaker) -> String {
    let Breaker { share, min_requests, window, pause } = breaker;
    format!("{share} of {min_requests} requests in {}, pause {}", time(*window), time(*pause))
}

fn people_first(people_first: &PeopleFirst) -> String {
    let PeopleFirst { latency, errors, crawlers_at_once, wait, order, status } = people_first;
    let latency =
        latency.map_or("usual times".to_owned(), |time| format!("{} ms", time.as_millis()));
    let most = crawlers_at_once.map_or(String::new(), |most| format!(", {most} crawlers at once"));
    let order: Vec<&str> = order.iter().map(|purpose| purpose.as_str()).collect();
    let order = if order.is_empty() { "no purpose".to_owned() } else { order.join(", ") };
    let wait = if wait.is_zero() { String::new() } else { format!(", wait {}", time(*wait)) };
    format!("{latency}, {errors} errors{most}{wait}, {order} first, status {status}")
}

fn watch(watch: &Watch) -> String {
    let crawlers = watch.crawlers.iter().map(ProductToken::as_str);
    let names: Vec<&str> = watch.pages.iter().map(String::as_str).chain(crawlers).collect();
    format!("{} every {}: {}", watch.url, time(watch.every), names.join(", "))
}

/// The answer to a refused request; its text by a checksum, as texts are long.
fn block(site: &Site) -> String {
    let block = &site.enforcement.block;
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for octet in format!("{:?}{:?}{:?}", block.body, block.impostor_body, block.form_body).bytes() {
        hash = (hash ^ u64::from(octet)).wrapping_mul(0x0100_0000_01b3);
    }
    let fields = match fields(&block.fields) {
        none if none.is_empty() => none,
        some => format!(", {some}"),
    };
    format!("{} {}, text {:08x}{fields}", block.status, block.content_type, hash >> 32)
}

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

pub(super) fn compare_tags(
    site: &Arc<str>,
    before: &Site,
    after: &Site,
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
                let paths = [paths(&old), paths(&new)];
                let sets = paths.each_ref().map(|paths| paths.iter().collect());
                let Some(found) = super::regions::regions(sets, &mut { MOST_STEPS }) else {
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
