//! A site of a policy in words.

use std::{collections::HashSet, time::Duration};

use crate::{
    base::{escape, product_token::ProductToken},
    desk::pages::{
        facts::{self, Fact, Group, fact, list, yes},
        time::length,
        words::class,
    },
    review::report::number::count,
    rules::policy::{
        Breaker, Enforcement, Grace, Ladder, Mode, OtherForms, Override, PaceMode, RateLimit, Site,
        Source,
    },
};

/// The most crawlers of an override that are named.
const SHOWN: usize = 8;

pub(super) fn group(site: &Site) -> Group {
    let mut facts = vec![
        list("hosts", hosts(site), ""),
        fact("origin", origin(site)),
        fact("robots.txt", robots_txt(site)),
        fact("tags", tags(site)),
        fact("mode", mode(&site.enforcement)),
    ];
    facts.extend(enforcement(&site.enforcement));
    facts::group(format!("Site {}", site.name()), facts)
}

fn hosts(site: &Site) -> impl Iterator<Item = String> {
    let hosts = site.hosts.iter().map(ToString::to_string);
    hosts.chain(site.default.then(|| "all hosts that no site names".to_owned()))
}

fn origin(site: &Site) -> String {
    let mut origin = site.backend.urls();
    if site.reading.case_insensitive {
        origin.push_str(", ignores case in paths");
    }
    if site.reading.decode_depth > 1 {
        origin.push_str(&format!(", decodes paths {} times", site.reading.decode_depth));
    }
    match site.forms().as_str() {
        "all" => {}
        "" => origin.push_str(", forms of paths: none but dot segments"),
        forms => origin.push_str(&format!(", forms of paths: {forms}")),
    }
    if site.backend.underscore_fields {
        origin.push_str(", gets fields with an underscore");
    }
    origin
}

fn robots_txt(site: &Site) -> String {
    let robots_txt = &site.robots_txt;
    let groups = count(robots_txt.file.groups.len() as u64, "group");
    let source = match robots_txt.source {
        Source::Policy => format!("{groups} of the policy"),
        Source::Origin => "the origin's file, as it is".to_owned(),
        Source::Merge => format!("the origin's file, merged with {groups} of the policy"),
    };
    let closing = match (robots_txt.source, robots_txt.accept_full_disallow) {
        (Source::Policy, _) => "",
        (_, true) => "; a file that closes the site is published at once",
        (_, false) => "; a file that suddenly closes the site waits for a confirmation",
    };
    let vanishing = match (robots_txt.source, robots_txt.vanish_after) {
        (Source::Policy, _) => String::new(),
        (_, Duration::ZERO) => "; rules that vanish are gone at once".to_owned(),
        (_, after) => format!("; rules that vanish stay for {}", length(after)),
    };
    let (max_age, window) = (length(robots_txt.max_age), length(robots_txt.cache_window));
    format!(
        "{source}; crawlers may keep it for {max_age} and follow it for {window}{closing}{vanishing}"
    )
}

fn tags(site: &Site) -> String {
    let rules = count(site.robots_tag.len() as u64, "rule");
    match (site.robots_tag.is_empty(), site.robots_tag_legacy) {
        (true, _) => "none".to_owned(),
        (_, true) => format!("{rules}, in Robots-Tag and X-Robots-Tag"),
        (_, false) => format!("{rules}, in Robots-Tag alone"),
    }
}

fn mode(enforcement: &Enforcement) -> String {
    match &enforcement.ladder {
        Some(_) => "ladder: each crawler is treated by its own conduct".to_owned(),
        None => format!("{}: {}", enforcement.mode.as_str(), effect(enforcement.mode)),
    }
}

/// What a mode does with a violation.
const fn effect(mode: Mode) -> &'static str {
    match mode {
        Mode::Off => "requests are not judged",
        Mode::Log => "violations are recorded and pass",
        Mode::Throttle => "violations are recorded and pass; requests that come too soon get 429",
        Mode::Block => "violations are recorded and refused",
    }
}

fn enforcement(enforcement: &Enforcement) -> Vec<Fact> {
    let block = &enforcement.block;
    let too_soon = match enforcement.crawl_delay {
        None => "as the mode says",
        Some(PaceMode::Log) => "requests before their pace allows them are recorded",
        Some(PaceMode::Throttle) => "requests before their pace allows them get 429",
    };
    let impostors = enforcement.impostors.map(|mode| format!("every request: {}", mode.as_str()));
    let new_rules = match enforcement.grace {
        Grace::Count => "while a crawler may use an older file, they are counted only",
        Grace::Enforce => "enforced at once, also where a crawler may use an older file",
    };
    let other_forms = match enforcement.other_forms {
        None => "refused where the plain path would be refused, else recorded",
        Some(OtherForms::Pass) => "pass",
        Some(OtherForms::Log) => "recorded",
        Some(OtherForms::Refuse) => "refused",
    };
    let bound: Vec<_> = enforcement.star_binds.iter().map(|one| class(one.as_str())).collect();
    let bound = if bound.is_empty() { "no client".to_owned() } else { bound.join(", ") };
    let quiet = enforcement.quiet.iter().map(|one| crawlers(&one.tokens, one.all));
    let mut facts = Vec::new();
    facts.extend(enforcement.ladder.as_ref().map(|ladder| fact("ladder", steps(ladder))));
    facts.extend([
        list("overrides", enforcement.overrides.iter().map(exception), "none"),
        list("rate limits", enforcement.rate_limits.iter().map(limit), "none"),
        list("no alerts about", quiet, "none"),
        fact("breaker", breaker(enforcement.breaker.as_ref())),
        fact("too soon", too_soon),
        fact("impostors", impostors.unwrap_or_else(|| "as the rules say".to_owned())),
        fact("new rules", new_rules),
        fact("other forms of closed paths", other_forms),
        fact("'*' binds", bound),
        fact("'*' may block confirmed search engines", yes(enforcement.block_confirmed_search)),
        fact("refusal", format!("{}, {}", block.status, escape::shown(&block.content_type))),
    ]);
    facts.extend(block.fields.iter().map(|(name, value)| {
        fact("field of a refusal", format!("{}: {}", escape::shown(name), escape::shown(value)))
    }));
    facts
}

fn steps(ladder: &Ladder) -> String {
    let Ladder { period, share, min_violations, throttle } = ladder;
    format!(
        "a crawler climbs with {min_violations} violations that are {share} of its requests in {}; \
         on the rung throttle it gets {} in {}",
        length(*period),
        count(throttle.requests().into(), "request"),
        length(throttle.per())
    )
}

fn breaker(breaker: Option<&Breaker>) -> String {
    let Some(Breaker { share, min_requests, window, pause }) = breaker else {
        return "off".to_owned();
    };
    format!(
        "refusing stops for {} if {share} of at least {min_requests} requests in {} would be refused",
        length(*pause),
        length(*window)
    )
}

/// Crawlers, or every one.
fn crawlers(tokens: &HashSet<ProductToken>, all: bool) -> String {
    let mut tokens: Vec<String> = tokens.iter().map(|token| token.to_string()).collect();
    tokens.sort_unstable();
    let more = tokens.len().saturating_sub(SHOWN);
    tokens.truncate(SHOWN);
    if all {
        tokens.insert(0, "every crawler".to_owned());
    }
    let mut text = match tokens.join(", ") {
        none if none.is_empty() => "no crawler".to_owned(),
        names => names,
    };
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}

fn exception(one: &Override) -> String {
    let mut text = crawlers(&one.tokens, one.all);
    let standings: Vec<&str> = one.standings.iter().map(|standing| standing.as_str()).collect();
    if !standings.is_empty() {
        text.push_str(&format!(", if {}", standings.join(" or ")));
    }
    format!("{text}: {}", one.mode.as_str())
}

fn limit(one: &RateLimit) -> String {
    format!("{}: {one}, {}", crawlers(&one.tokens, one.all), one.mode.as_str())
}
