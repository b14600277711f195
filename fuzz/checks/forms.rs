//! A request target: whatever an origin resolves to a disallowed path is judged disallowed. The first
//! octet of the input selects the rules, the others are the target.

use beadle::robots::{
    Access, Directive, Group, Matcher, RobotsTxt, Rule, Scope, Target, UserAgent,
};

use crate::support::origin_models::{self, Model};

/// Rules of every kind. Those with `+` allow.
const RULES: [&[&str]; 12] = [
    &["/private/"],
    &["/", "+/public/"],
    &["/private/x$"],
    &["/*.pdf$"],
    &["/@admin/", "/Special:"],
    &["/a+b/", "/a;b/"],
    &["/*?filter[secret]=", "/*?q=admin/"],
    &["/*/x$", "+/a/"],
    &["/%C3%A9", "/*%3F"],
    &["/$", "+/a*", "/a/b"],
    &["/a/private", "/public/secret.html$"],
    &["/", "+/*.html$", "+/a%2Bb/"],
];

pub(crate) fn holds_for(octets: &[u8]) {
    let (first, octets) = octets.split_first().unwrap_or((&0, &[]));
    let rules = RULES[usize::from(*first) % RULES.len()];
    let rules: Vec<_> = rules.iter().map(|rule| (*rule).to_owned()).collect();
    let judge = Judge::new(&rules);
    let target = target(octets.get(..300).unwrap_or(octets));
    if let Some(model) = judge.evader(&target) {
        panic!("{} evades {rules:?} by {}", target.escape_ascii(), model.name);
    }
}

/// Octets as a target in origin-form without a fragment.
fn target(octets: &[u8]) -> Vec<u8> {
    let letters = b"/.%;\\:@?2f5ce3bax";
    let letter = |octet: &u8| match octet {
        b'!'..=b'~' if *octet != b'#' => *octet,
        _ => letters[usize::from(*octet) % letters.len()],
    };
    std::iter::once(b'/').chain(octets.iter().map(letter)).collect()
}

/// The rules of a file, compiled.
pub(crate) struct Judge {
    matcher: Matcher,
    scope: Scope,
}

impl Judge {
    /// Rules that begin with `+` allow, the others disallow.
    pub(crate) fn new(rules: &[String]) -> Self {
        let rule = |(line, text): (u32, &String)| {
            let (directive, pattern) = match text.strip_prefix('+') {
                Some(pattern) => (Directive::Allow, pattern),
                None => (Directive::Disallow, text.as_str()),
            };
            Rule { directive, pattern: pattern.to_owned(), line }
        };
        let rules = (1..).zip(rules).map(rule).collect();
        let user_agents = vec![UserAgent { name: "*".to_owned(), line: 0 }];
        let group = Group { user_agents, rules, ..Group::default() };
        let matcher = Matcher::new(&RobotsTxt { groups: vec![group], ..RobotsTxt::default() });
        let scope = matcher.star().expect("there is a group for all");
        Self { matcher, scope }
    }

    /// An origin that serves a disallowed path for a target that is judged allowed.
    pub(crate) fn evader(&self, target: &[u8]) -> Option<Model> {
        let judged = Target::new(target);
        let verdict = self.matcher.verdict(self.scope, &judged);
        if verdict.access == Access::Disallow || judged.is_robots_txt() {
            return None;
        }
        // What the rule itself spells so is another name.
        let is_spelt = |rule: &Rule| {
            rule.directive == Directive::Allow
                && ["%", ";", "//"].into_iter().any(|part| rule.pattern.contains(part))
        };
        if self.letter(&judged).rule.is_some_and(is_spelt) {
            return None;
        }
        let mut models = origin_models::ALL.into_iter().filter(|model| model.decode_depth == 1);
        models.find(|model| {
            let resolved = (model.resolve)(target).map(|path| with_last_slash(target, path));
            resolved.is_some_and(|path| self.is_disallowed(&path, target))
        })
    }

    /// Whether the rules allow a target by the letter and disallow another form of it.
    pub(crate) fn is_evasion(&self, target: &[u8]) -> bool {
        let judged = Target::new(target);
        let verdict = self.matcher.verdict(self.scope, &judged);
        verdict.access == Access::Disallow && self.letter(&judged).access == Access::Allow
    }

    /// The rule that decides by the letter.
    pub(crate) fn rule(&self, target: &[u8]) -> Option<&Rule> {
        self.matcher.verdict_letter(self.scope, &Target::new(target)).rule
    }

    fn letter(&self, target: &Target<'_>) -> beadle::robots::Verdict<'_> {
        self.matcher.verdict_letter(self.scope, target)
    }

    /// Whether what `sent` resolves to is disallowed. A decoded query counts for a rule that names
    /// the query.
    fn is_disallowed(&self, resolved: &[u8], sent: &[u8]) -> bool {
        let judged = Target::new(resolved);
        let letter = self.letter(&judged);
        let names_query = |rule: &Rule| rule.pattern.contains(['?', '&', '=']);
        if letter.access == Access::Allow || letter.rule.is_some_and(names_query) {
            return letter.access == Access::Disallow;
        }
        let as_sent = [&resolved[..query_of(resolved)], &sent[query_of(sent)..]].concat();
        self.letter(&Target::new(&as_sent)).access == Access::Disallow
    }
}

/// Where the query begins.
fn query_of(target: &[u8]) -> usize {
    target.iter().position(|octet| *octet == b'?').unwrap_or(target.len())
}

/// The resolved target. A slash that plainly ends a path makes another path of it, whatever the
/// origin serves there: `/fish/` is not `/fish`.
fn with_last_slash(target: &[u8], resolved: Vec<u8>) -> Vec<u8> {
    let path =
        |target: &[u8]| target.split(|octet| *octet == b'?').next().unwrap_or_default().len();
    let sent = &target[..path(target)];
    let last = sent.strip_suffix(b"/").and_then(|path| path.rsplit(|octet| *octet == b'/').next());
    let is_plain = last.is_some_and(|name| {
        let name = name.to_ascii_lowercase();
        let has = |part: &str| name.windows(part.len()).any(|window| window == part.as_bytes());
        let parts = [";", "\\", "%2f", "%5c", "%3b", "%u"];
        !matches!(&name[..], b"" | b"." | b".." | b"%2e" | b"%2e." | b".%2e" | b"%2e%2e")
            && !parts.into_iter().any(has)
    });
    let end = path(&resolved);
    if !is_plain || resolved[..end].ends_with(b"/") {
        return resolved;
    }
    [&resolved[..end], b"/", &resolved[end..]].concat()
}
