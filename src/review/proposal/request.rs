//! What an operator asks for, as entries of the policy file.

use jiff::Timestamp;

use crate::{
    advice::edit::{self, Entry, List, Refusal, quoted},
    base::diagnostic::Diagnostic,
    formats::robots::{Directive, Group},
    rules::policy::{Mode, Policy, Site},
};

/// What is asked for, at one site.
#[derive(Clone, Debug)]
pub(crate) struct Request<'r> {
    pub(crate) site: &'r str,
    /// The crawler, or another word that `user_agents` of a policy takes.
    pub(crate) name: &'r str,
    pub(crate) act: Act,
}

/// What a crawler gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Mode {
        mode: Mode,
        until: Option<Timestamp>,
        /// A path that robots.txt closes for the crawler from now on.
        path: Option<String>,
    },
    Limit {
        /// Requests in a time, as a policy writes it: `60/1m`.
        requests: String,
        burst: Option<u32>,
        /// The paths that count; empty is every path.
        paths: Vec<String>,
        until: Option<Timestamp>,
    },
    Quiet {
        until: Option<Timestamp>,
    },
    /// Nothing of all this: what was written for it is taken back.
    Nothing,
}

/// Why there is no change.
#[derive(Debug)]
pub(crate) enum Declined {
    /// The request makes no sense here; a sentence with the repair.
    Senseless(String),
    /// The text can't be edited here; the entry is for an editor.
    ByHand {
        /// The line, from 1; 0 is unknown.
        line: u32,
        why: String,
        entry: String,
    },
    /// The changed policy has these errors, or fails these tests.
    Refused(Vec<Diagnostic>),
}

impl Request<'_> {
    /// The text with the entries that are asked for.
    pub(super) fn edited(&self, text: &str, policy: &Policy) -> Result<String, Declined> {
        let sites = policy.written_sites();
        let site = policy.sites.iter().find(|site| site.name() == self.site);
        // Of a site that is several, the text has the first.
        let site = site.and_then(|site| sites.into_iter().find(|one| one.at == site.at));
        let Some(site) = site else {
            return Err(Declined::Senseless(format!("no site has the name {}", self.site)));
        };
        let at = (site.at.line, site.at.column);
        match &self.act {
            Act::Nothing => self.taken(text, at),
            _ => self.entries(site, policy)?.iter().try_fold(text.to_owned(), |text, entry| {
                edit::put(&text, at, entry).map_err(|refusal| by_hand(refusal, entry))
            }),
        }
    }

    fn entries(&self, site: &Site, policy: &Policy) -> Result<Vec<Entry>, Declined> {
        let entry = |list, rest: String| Entry { list, name: self.name.to_owned(), rest };
        let end = |until: &Option<Timestamp>| until.map(|until| format!("until: {until:.0}"));
        let until = |until| end(until).map_or(String::new(), |end| format!(", {end}"));
        match &self.act {
            Act::Nothing => Ok(Vec::new()),
            Act::Quiet { until } => Ok(vec![entry(List::Quiet, end(until).unwrap_or_default())]),
            Act::Mode { until: Some(_), path: Some(_), .. } => {
                let why = "a rule of robots.txt has no end: leave out the path or the time";
                Err(Declined::Senseless(why.to_owned()))
            }
            Act::Mode { mode, until: end, path } => {
                // YAML reads a bare `off` as a boolean.
                let mode = if *mode == Mode::Off { "\"off\"" } else { mode.as_str() };
                let own = entry(List::Overrides, format!("mode: {mode}{}", until(end)));
                let rule =
                    path.as_deref().map(|path| self.rules(path, site, policy)).transpose()?;
                let rule = rule.map(|rules| entry(List::Groups, rules));
                Ok(rule.into_iter().chain([own]).collect())
            }
            Act::Limit { requests, burst, paths, until: end } => {
                let burst = burst.map_or(String::new(), |burst| format!(", burst: {burst}"));
                let paths = match &paths[..] {
                    [] => String::new(),
                    paths => format!(", paths: [{}]", list(paths)),
                };
                let rest =
                    format!("requests: {}{burst}{paths}{}", quoted_pace(requests), until(end));
                Ok(vec![entry(List::RateLimits, rest)])
            }
        }
    }

    /// The rules of a group for this crawler that closes a path. A crawler with a group of its own no
    /// longer follows another one (RFC 9309 §2.2.1), so the rules that it follows now are copied into
    /// its first group.
    fn rules(&self, path: &str, site: &Site, policy: &Policy) -> Result<String, Declined> {
        let known = policy.catalogue.find(self.name);
        if known.is_none() && (self.name == "*" || self.name.contains(':')) {
            let why = format!("a path can be closed for one crawler, not for '{}'", self.name);
            return Err(Declined::Senseless(why));
        }
        let groups = &site.robots_txt.file.groups;
        let mut rules: [Vec<String>; 2] = [Vec::new(), vec![path.to_owned()]];
        if !groups.iter().any(|group| is_for(group, self.name)) {
            let names = known.into_iter().flat_map(|one| one.groups()).map(|token| token.as_str());
            let mut names = names.chain(["*"]);
            let followed = names.find(|name| groups.iter().any(|group| is_for(group, name)));
            let is_followed = |group: &&Group| followed.is_some_and(|name| is_for(group, name));
            for group in groups.iter().filter(is_followed) {
                if !group.records.is_empty() {
                    let why = "the group that it follows now has lines that are no rules: write the \
                               group by hand";
                    return Err(Declined::Senseless(why.to_owned()));
                }
                for rule in &group.rules {
                    let kind = usize::from(rule.directive == Directive::Disallow);
                    rules[kind].push(rule.pattern.clone());
                }
            }
        }
        let [allow, disallow] = rules;
        let allow = match &allow[..] {
            [] => String::new(),
            allow => format!("allow: [{}], ", list(allow)),
        };
        Ok(format!("{allow}disallow: [{}]", list(&disallow)))
    }

    fn taken(&self, text: &str, at: (u32, u32)) -> Result<String, Declined> {
        let mut taken = None;
        for list in [List::Overrides, List::RateLimits, List::Quiet, List::Groups] {
            let now = taken.as_deref().unwrap_or(text);
            let next = edit::take(now, at, list, self.name).map_err(|refusal| {
                let Refusal { line, why } = refusal;
                Declined::ByHand { line, why, entry: String::new() }
            })?;
            taken = next.or(taken);
        }
        taken.ok_or_else(|| {
            let name = self.name;
            Declined::Senseless(format!(
                "'beadle block', 'limit' and 'quiet' wrote nothing for {name} at {}; what you wrote \
                 yourself is yours to change",
                self.site
            ))
        })
    }
}

/// Whether a group names this crawler.
fn is_for(group: &Group, name: &str) -> bool {
    group.user_agents.iter().any(|one| one.name.eq_ignore_ascii_case(name))
}

fn by_hand(refusal: Refusal, entry: &Entry) -> Declined {
    Declined::ByHand { line: refusal.line, why: refusal.why, entry: entry.to_string() }
}

fn list(values: &[String]) -> String {
    values.iter().map(|value| quoted(value)).collect::<Vec<_>>().join(", ")
}

/// A pace as it is, if it is one; anything else in quotation marks, for the reader of policies to refuse.
fn quoted_pace(text: &str) -> String {
    let is_pace = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'/');
    if is_pace { text.to_owned() } else { quoted(text) }
}
