//! What each carrier says about crawling, training and search.

use serde::Serialize;

use crate::{
    base::{escape, product_token::ProductToken},
    formats::{
        robots::{Access, Matcher, Target},
        usage::{Category, Preference},
    },
    rules::{
        crawlers::{Catalogue, Class, Crawler, Kind, Name, Purpose},
        enforce,
    },
};

use super::{signals::Signal, source_rules::RulesOf};

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
