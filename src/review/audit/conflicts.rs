//! What contradicts what.

use serde::Serialize;

use crate::formats::{robots::Access, usage::Preference};

use super::{
    page::Site,
    said::{Answer, RulesOf, Said, Use},
    signals::Signal,
};

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

/// All contradictions about one page.
pub(super) fn of(
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
