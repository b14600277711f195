//! The rules of one source for one crawler, as they are written; what each carrier says about crawling, training
//! and search; what contradicts what.

use serde::Serialize;

use super::{
    page::{Page, Site},
    signals::Signal,
};
use crate::{
    base::{escape, product_token::ProductToken, text::words},
    formats::{
        robots::{Access, Matcher, Target},
        robots_tag::{Document, RobotsTag, Rule, Scope},
        usage::{Category, Preference},
    },
    rules::{
        crawlers::{Catalogue, Class, Crawler, Kind, Name, Purpose},
        enforce,
    },
};

#[derive(Clone, Debug, Serialize)]
pub(crate) struct RulesOf {
    /// `Robots-Tag`, `X-Robots-Tag`, or `meta`.
    pub(crate) source: &'static str,
    /// The rules for the crawler, also those without effect, such as `index`.
    pub(crate) rules: Vec<String>,
}

/// Rules without effect: they permit what is permitted anyway.
const PERMISSIONS: [&str; 4] = ["index", "follow", "archive", "all"];
/// Rules of `X-Robots-Tag` that take a value behind a colon.
const WITH_VALUES: [&str; 4] =
    ["max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"];

impl RulesOf {
    /// The rules of a tag for a crawler, with the permissions that the text of its source has.
    pub(super) fn new(
        source: &'static str,
        tag: &RobotsTag,
        permissions: Vec<String>,
        token: &ProductToken,
    ) -> Self {
        let own = tag.scopes().filter(|(scope, _)| is_in(scope, token));
        let rules = own.flat_map(|(_, rules)| rules);
        let mut rules: Vec<String> = rules.map(Rule::to_string).chain(permissions).collect();
        rules.sort();
        rules.dedup();
        Self { source, rules }
    }
}

/// The permissions in `Robots-Tag`: `*;index, ExampleBot;follow`.
pub(super) fn of_field(page: &Page, token: &ProductToken) -> Vec<String> {
    let mut found = Vec::new();
    for value in page.values("Robots-Tag") {
        let text = String::from_utf8_lossy(value).into_owned();
        for member in text.split(',') {
            let mut parts = member.split(';').map(str::trim);
            if is_for(parts.next().unwrap_or_default(), token) {
                found.extend(parts.filter_map(permission));
            }
        }
    }
    found
}

/// The permissions in `X-Robots-Tag`: `index, examplebot: follow`.
pub(super) fn of_older_field(page: &Page, token: &ProductToken) -> Vec<String> {
    let mut found = Vec::new();
    for value in page.values("X-Robots-Tag") {
        let text = String::from_utf8_lossy(value).into_owned();
        let mut applies = true;
        for part in text.split(',') {
            let named = part.split_once(':').map(|(name, rule)| (name.trim(), rule));
            let named = named.filter(|(name, _)| {
                !WITH_VALUES.iter().any(|rule| name.eq_ignore_ascii_case(rule))
            });
            if let Some((name, _)) = named {
                applies = is_for(name, token);
            }
            let rule = named.map_or(part, |(_, rule)| rule);
            found.extend(permission(rule.trim()).filter(|_| applies));
        }
    }
    found
}

pub(super) fn of_document(document: &Document, token: &ProductToken) -> Vec<String> {
    let metas = document.metas.iter().filter(|meta| is_in(&meta.scope, token));
    metas
        .flat_map(|meta| meta.content.split(',').filter_map(|word| permission(word.trim())))
        .collect()
}

fn is_in(scope: &Scope, token: &ProductToken) -> bool {
    match scope {
        Scope::Any => true,
        Scope::Token(other) => other == token,
    }
}

fn is_for(name: &str, token: &ProductToken) -> bool {
    name == "*" || name.trim_matches('"').eq_ignore_ascii_case(token.key())
}

fn permission(word: &str) -> Option<String> {
    let word = word.to_ascii_lowercase();
    PERMISSIONS.contains(&word.as_str()).then_some(word)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Use {
    Crawl,
    TrainAi,
    Search,
    /// To give it to a model for an answer.
    AiInput,
}

words! {
    /// Whether a use is permitted. The greater is the stricter.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub(crate) enum Answer {
        Unsaid = "unsaid",
        Yes = "yes",
        No = "no",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Said {
    #[serde(rename = "use")]
    pub(crate) about: Use,
    pub(crate) says: Answer,
    /// The carrier: `robots.txt`, `Content-Usage`, or a control token such as `Google-Extended`.
    pub(crate) carrier: String,
    /// Where it says so: `robots.txt line 3`, `header field`, `document`, a file, or a rule.
    pub(crate) place: String,
    pub(crate) line: Option<u32>,
}

impl Said {
    /// What robots.txt says about crawling, by a rule or by its status.
    pub(super) fn of_verdict(
        access: Access,
        rule: Option<&str>,
        line: Option<u32>,
        status: u16,
    ) -> Self {
        let place = match (rule, access) {
            (Some(rule), _) => rule.to_owned(),
            (None, Access::Allow) => "no rule".to_owned(),
            (None, Access::Disallow) => format!("status {status}"),
        };
        let carrier = "robots.txt".to_owned();
        Self { about: Use::Crawl, says: answer(access), carrier, place, line }
    }

    pub(super) fn of_signal(signal: &Signal) -> impl Iterator<Item = Self> {
        signal.statement.stated().map(|(category, says)| Self {
            about: match category {
                Category::TrainAi => Use::TrainAi,
                Category::Search => Use::Search,
                Category::AiInput => Use::AiInput,
            },
            says: match says {
                Preference::Allow => Answer::Yes,
                Preference::Disallow => Answer::No,
            },
            carrier: signal.name.to_owned(),
            place: signal.place.clone(),
            line: signal.line,
        })
    }

    pub(super) fn of_source(source: &RulesOf) -> impl Iterator<Item = Self> {
        let place = if source.source == "meta" { "document" } else { "header field" };
        let forbids = |rule: &String| match rule.as_str() {
            "noai" => Some(Use::TrainAi),
            "noindex" | "none" => Some(Use::Search),
            _ => None,
        };
        source.rules.iter().filter_map(forbids).map(move |about| Self {
            about,
            says: Answer::No,
            carrier: source.source.to_owned(),
            place: place.to_owned(),
            line: None,
        })
    }
}

/// What the groups of control tokens say about training with what the crawler fetches. A group for `*`
/// can forbid it, but only a rule in the token's own group permits it.
pub(super) fn of_control_tokens(
    catalogue: &Catalogue,
    token: &ProductToken,
    matcher: &Matcher,
    target: &Target<'_>,
) -> Vec<Said> {
    let said = |control: &Crawler| {
        let name = control.product_token().as_str();
        let scope = enforce::group_for(matcher, &Class::ALL, Name::Known(control))?;
        let verdict = matcher.verdict_letter(scope, target);
        let rule = verdict.rule?;
        let is_named = matcher.group(name) == Some(scope);
        (is_named || verdict.access == Access::Disallow).then(|| Said {
            about: Use::TrainAi,
            says: answer(verdict.access),
            carrier: escape::shown(name),
            place: format!("robots.txt line {}", rule.line),
            line: Some(rule.line),
        })
    };
    let Some(crawler) = catalogue.find(token.as_str()) else { return Vec::new() };
    controls(catalogue, crawler).filter_map(said).collect()
}

/// The control tokens that govern training with the copies of a crawler: those of its operator.
fn controls<'c>(catalogue: &'c Catalogue, crawler: &Crawler) -> impl Iterator<Item = &'c Crawler> {
    let (kind, token) = (crawler.kind(), crawler.product_token());
    let operator = crawler.operator().filter(|_| matches!(kind, Kind::Crawler | Kind::Control));
    let training = catalogue.by_purpose(Purpose::AiTraining);
    training.filter(move |one| {
        let is_own = match kind {
            Kind::Control => one.product_token() == token,
            _ => operator.is_some() && one.operator() == operator,
        };
        one.kind() == Kind::Control && is_own
    })
}

const fn answer(access: Access) -> Answer {
    match access {
        Access::Allow => Answer::Yes,
        Access::Disallow => Answer::No,
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Conflict {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) help: &'static str,
}

/// Rules that permit, and the rule that each contradicts.
const OPPOSITES: [(&str, &str); 6] = [
    ("index", "noindex"),
    ("follow", "nofollow"),
    ("archive", "noarchive"),
    ("all", "noindex"),
    ("all", "nofollow"),
    ("all", "none"),
];

/// The code of carriers that contradict each other about training.
pub(super) const TRAINING: &str = "audit.training_contradicts";

pub(super) fn conflicts(
    access: Access,
    sources: &[RulesOf],
    rules: &[String],
    signals: &[Signal],
    said: &[Said],
    site: &Site,
) -> Vec<Conflict> {
    let mut found = Vec::new();
    let is_closed = access == Access::Disallow;
    let has = |rule: &str| rules.iter().any(|other| other == rule);
    if is_closed && (has("noindex") || has("none")) {
        found.push(Conflict {
            code: "audit.noindex_unseen",
            message: "robots.txt disallows the page, so the crawler never sees 'noindex'".to_owned(),
            help: "allow the page, or remove 'noindex': a disallowed page can be listed by its links",
        });
    }
    if site.robots_status >= 500 || site.robots_status == 0 {
        found.push(Conflict {
            code: "audit.robots_unreachable",
            message: format!(
                "/robots.txt has status {}: crawlers read it as closed",
                site.robots_status
            ),
            help: "answer with 200 and the rules, or with 404 for none",
        });
    }
    found.extend(between_sources(sources));
    found.extend(fields_differ(sources));
    found.extend(about(said, Use::TrainAi, TRAINING, "training"));
    found.extend(about(said, Use::Search, "audit.search_contradicts", "search"));
    let permits = |signal: &&Signal| {
        signal.line.is_some()
            && signal.statement.stated().any(|(_, says)| says == Preference::Allow)
    };
    if let Some(signal) = signals.iter().find(permits).filter(|_| is_closed) {
        found.push(Conflict {
            code: "audit.signal_for_closed_page",
            message: format!(
                "{} says '{}', but robots.txt disallows the page",
                signal.place, signal.value
            ),
            help: "allow the page, or forbid the use: what is not fetched is not used",
        });
    }
    found
}

/// A rule that one source permits and another forbids. Every crawler follows the stricter one.
fn between_sources(sources: &[RulesOf]) -> Vec<Conflict> {
    let mut found = Vec::new();
    for (open, closed) in OPPOSITES {
        let of = |rule: &str| {
            let has = |source: &&RulesOf| source.rules.iter().any(|other| other == rule);
            sources.iter().find(has).map(|source| source.source)
        };
        if let (Some(opens), Some(closes)) = (of(open), of(closed)) {
            found.push(Conflict {
                code: "audit.rules_contradict",
                message: format!(
                    "{opens} says '{open}', {closes} says '{closed}'; the stricter counts"
                ),
                help: "remove one of them",
            });
        }
    }
    found
}

/// Two fields that should say the same.
fn fields_differ(sources: &[RulesOf]) -> Option<Conflict> {
    let of = |name: &str| sources.iter().find(|source| source.source == name);
    let (new, old) = (of("Robots-Tag")?, of("X-Robots-Tag")?);
    let same = |rule: &str| rule.replace(": ", "=").replace(':', "=");
    let rules = |source: &RulesOf| {
        let mut rules: Vec<String> = source.rules.iter().map(|rule| same(rule)).collect();
        rules.sort();
        rules
    };
    (rules(new) != rules(old)).then(|| Conflict {
        code: "audit.fields_differ",
        message: format!(
            "Robots-Tag says '{}', X-Robots-Tag says '{}'",
            new.rules.join(", "),
            old.rules.join(", ")
        ),
        help: "send the same rules in both, as a crawler may read one of them only",
    })
}

/// One carrier that permits a use, and one that forbids it.
fn about(said: &[Said], about: Use, code: &'static str, what: &str) -> Option<Conflict> {
    let find = |says: Answer| said.iter().find(|one| one.about == about && one.says == says);
    let (opens, closes) = (find(Answer::Yes)?, find(Answer::No)?);
    Some(Conflict {
        code,
        message: format!(
            "{} ({}) permits {what}, {} ({}) forbids it",
            opens.carrier, opens.place, closes.carrier, closes.place
        ),
        help: "say the same in every form",
    })
}
