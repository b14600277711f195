//! The rules of one source for one crawler, as they are written; what each carrier says about crawling, training
//! and search.

use serde::Serialize;

use super::{page::Page, signals::Signal};
use crate::{
    base::{escape, product_token::ProductToken},
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
        let is_for = |scope: &Scope| match scope {
            Scope::Any => true,
            Scope::Token(other) => other == token,
        };
        let rules = tag.scopes().filter(|(scope, _)| is_for(scope)).flat_map(|(_, rules)| rules);
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

/// The permissions in the elements of a document.
pub(super) fn of_document(document: &Document, token: &ProductToken) -> Vec<String> {
    let is_for = |scope: &Scope| match scope {
        Scope::Any => true,
        Scope::Token(other) => other == token,
    };
    let metas = document.metas.iter().filter(|meta| is_for(&meta.scope));
    metas
        .flat_map(|meta| meta.content.split(',').filter_map(|word| permission(word.trim())))
        .collect()
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

/// Whether a use is permitted. The greater is the stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Answer {
    Unsaid,
    Yes,
    No,
}

/// What one carrier says about one use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Said {
    #[serde(rename = "use")]
    pub(crate) about: Use,
    pub(crate) says: Answer,
    /// The carrier: `robots.txt`, `Content-Usage`, or a control token such as `Google-Extended`.
    pub(crate) carrier: String,
    /// Where it says so: `robots.txt line 3`, `header field`, `document`, a file, or a rule.
    pub(crate) place: String,
    /// The line of robots.txt.
    pub(crate) line: Option<u32>,
}

impl Answer {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Unsaid => "unsaid",
            Self::Yes => "yes",
            Self::No => "no",
        }
    }
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
