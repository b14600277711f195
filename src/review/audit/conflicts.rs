//! What contradicts what.

use serde::Serialize;

use crate::formats::robots::Access;

use super::{page::Site, signals::Signal, source_rules::RulesOf};

/// Two statements that do not go together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// A stable code.
    pub code: &'static str,
    /// What contradicts what.
    pub message: String,
    /// The repair.
    pub help: &'static str,
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

/// The statements of one signal that forbid training, and those that permit it.
const TRAINING: [(&str, &[&str], &[&str]); 3] = [
    ("Content-Signal", &["ai-train=no"], &["ai-train=yes"]),
    ("Content-Usage", &["train-ai=n", "ai=n"], &["train-ai=y", "ai=y"]),
    ("TDMRep", &["1"], &["0"]),
];

/// All contradictions about one page.
pub(super) fn of(
    access: Access,
    sources: &[RulesOf],
    rules: &[String],
    signals: &[Signal],
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
    found.extend(about_training(signals));
    let permits_search = signals.iter().find(|signal| {
        signal.name == "Content-Signal" && words(&signal.value).any(|word| word == "search=yes")
    });
    if let Some(signal) = permits_search.filter(|_| is_closed) {
        found.push(Conflict {
            code: "audit.signal_for_closed_page",
            message: format!(
                "{} says 'search=yes', but robots.txt disallows the page",
                signal.place
            ),
            help: "allow the page for search, or say 'search=no'",
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

/// One signal that permits training, and one that forbids it.
fn about_training(signals: &[Signal]) -> Option<Conflict> {
    let says = |signal: &&Signal, is_open: bool| {
        TRAINING.iter().any(|(name, closed, open)| {
            let statements = if is_open { open } else { closed };
            let has = |word: String| statements.contains(&word.as_str());
            let is_tdm_file = signal.value.contains("\"tdm-reservation\":1") && !is_open
                || signal.value.contains("\"tdm-reservation\":0") && is_open;
            signal.name == *name && (words(&signal.value).any(has) || is_tdm_file)
        })
    };
    let opens = signals.iter().find(|signal| says(signal, true))?;
    let closes = signals.iter().find(|signal| says(signal, false))?;
    Some(Conflict {
        code: "audit.training_contradicts",
        message: format!(
            "{} ({}) permits training, {} ({}) forbids it",
            opens.name, opens.place, closes.name, closes.place
        ),
        help: "say the same in every form",
    })
}

/// The statements of a value, in lower case.
fn words(value: &str) -> impl Iterator<Item = String> {
    value.split([',', ' ', ';']).map(|word| word.trim().to_ascii_lowercase())
}
