//! Patterns over whole User-Agents, for crawlers that do not send their name: a script that sends
//! `Mozilla/5.0 (compatible)`, a fetcher that calls itself `Google`.
//!
//! No built-in entry has a pattern; a site's operator adds them in the policy. All patterns are one
//! automaton, so their number costs little, and time is linear in the User-Agent.

use regex_automata::{
    Input, MatchKind, PatternSet,
    meta::{BuildError, Regex},
    util::syntax,
};

use crate::base::{diagnostic::Diagnostic, escape};

use super::crawler::Crawler;

/// The most bytes of a User-Agent that are matched.
const MAX_MATCHED: usize = 4 * 1024;
/// The size limit of all patterns together, compiled, in bytes.
const MAX_COMPILED: usize = 1 << 20;

#[derive(Clone, Debug, Default)]
pub(super) struct Patterns {
    regex: Option<Regex>,
    /// The crawler of each pattern.
    crawlers: Vec<u16>,
}

impl Patterns {
    pub(super) fn compile(crawlers: &[Crawler], findings: &mut Vec<Diagnostic>) -> Self {
        let (mut texts, mut numbers) = (Vec::new(), Vec::new());
        for (crawler, number) in crawlers.iter().zip(0u16..) {
            let Some(text) = crawler.entry.user_agent_pattern.as_deref() else { continue };
            match check_pattern(text) {
                Ok(()) => {
                    texts.push(text);
                    numbers.push(number);
                }
                Err(finding) => findings.push(finding),
            }
        }
        if texts.is_empty() {
            return Self::default();
        }
        match build(&texts) {
            Ok(regex) => Self { regex: Some(regex), crawlers: numbers },
            Err(_) => {
                let message = "all User-Agent patterns together are too large";
                findings.push(Diagnostic::error("crawlers.patterns_too_large", message).help(
                    "use fewer counted repetitions, or identify the crawlers by their tokens",
                ));
                Self::default()
            }
        }
    }

    /// Calls `found` for each crawler whose pattern matches, in the order of the catalogue. Returns
    /// whether the whole User-Agent was matched. Allocates only if there are patterns.
    pub(super) fn find(&self, user_agent: &[u8], mut found: impl FnMut(u16)) -> bool {
        let Some(regex) = &self.regex else { return true };
        let matched = user_agent.get(..MAX_MATCHED).unwrap_or(user_agent);
        let mut patterns = PatternSet::new(regex.pattern_len());
        regex.which_overlapping_matches(&Input::new(matched), &mut patterns);
        for pattern in patterns.iter() {
            if let Some(number) = self.crawlers.get(pattern.as_usize()) {
                found(*number);
            }
        }
        matched.len() == user_agent.len()
    }
}

/// Builds the automaton. It matches bytes, not characters: a User-Agent need not be UTF-8.
fn build(texts: &[&str]) -> Result<Regex, Box<BuildError>> {
    Regex::builder()
        .syntax(syntax::Config::new().unicode(false).utf8(false))
        .configure(
            Regex::config()
                .utf8_empty(false)
                .match_kind(MatchKind::All)
                .nfa_size_limit(Some(MAX_COMPILED)),
        )
        .build_many(texts)
        .map_err(Box::new)
}

/// Checks one User-Agent pattern.
///
/// # Errors
/// A finding if the pattern does not compile.
pub fn check_pattern(text: &str) -> Result<(), Diagnostic> {
    build(&[text]).map(drop).map_err(|error| refusal(text, &error))
}

fn refusal(text: &str, error: &BuildError) -> Diagnostic {
    let shown = escape::bounded(text.as_bytes(), 100);
    let why = match (error.syntax_error(), error.size_limit()) {
        (Some(syntax), _) => {
            let text = syntax.to_string();
            let last = text.lines().last().unwrap_or_default();
            escape::text(last.strip_prefix("error: ").unwrap_or(last).as_bytes())
        }
        (None, Some(limit)) => format!("it is larger than {limit} bytes when compiled"),
        (None, None) => escape::text(error.to_string().as_bytes()),
    };
    let message = format!("'{shown}' is not a regular expression: {why}");
    Diagnostic::error("crawlers.bad_pattern", message).help(
        "write a regular expression over ASCII without look-around, for example '^Acme/[0-9]'",
    )
}
