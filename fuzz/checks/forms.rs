//! A request target: whatever an origin resolves to a disallowed path is judged disallowed. The first
//! octet of the input selects the rules, the others are the target.

use beadle::robots::{
    Access, Directive, Group, Matcher, Reading, RobotsTxt, Rule, Scope, Target, UserAgent,
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
    text: Vec<String>,
    rules: Compiled,
    /// The rules in lower case.
    folded: Compiled,
}

struct Compiled {
    matcher: Matcher,
    scope: Scope,
}

impl Judge {
    /// Rules that begin with `+` allow, the others disallow.
    pub(crate) fn new(rules: &[String]) -> Self {
        let folded: Vec<_> = rules.iter().map(|rule| rule.to_ascii_lowercase()).collect();
        Self { text: rules.to_vec(), rules: Compiled::new(rules), folded: Compiled::new(&folded) }
    }

    /// An origin that serves a disallowed path for a target that is judged allowed.
    pub(crate) fn evader(&self, target: &[u8]) -> Option<Model> {
        let judged = Target::new(target);
        let decisive = self.rules.letter(&judged).rule;
        let spelt = decisive.filter(|rule| rule.directive == Directive::Allow).map(spelt);
        let spelt = spelt.unwrap_or_default();
        if judged.is_robots_txt() || spelt.iter().any(|part| part == "//") {
            return None;
        }
        if !spelt.is_empty() {
            return self.evader_of_names(target, &spelt);
        }
        let any_case = Reading { case_insensitive: true, ..Reading::default() };
        let twice = Reading { decode_depth: 2, ..Reading::default() };
        [Reading::default(), any_case, twice].into_iter().find_map(|reading| {
            let judged = Target::read_by(target, reading);
            let verdict = self.rules.matcher.verdict(self.rules.scope, &judged);
            (verdict.access == Access::Allow).then_some(())?;
            let mut origins = origins(reading.decode_depth);
            origins.find(|model| {
                let resolved = (model.resolve)(target)
                    .map(|path| with_last_slash(target, path, model.decode_depth));
                resolved.is_some_and(|path| match reading.case_insensitive {
                    true => self.folded.is_disallowed(&lower(&path), &lower(target)),
                    false => self.rules.is_disallowed(&path, target),
                })
            })
        })
    }

    /// The same where the decisive rule allows and spells these parts: what it spells so is a name
    /// of its own, here in other letters.
    fn evader_of_names(&self, target: &[u8], spelt: &[String]) -> Option<Model> {
        let verdict = self.rules.matcher.verdict(self.rules.scope, &Target::new(target));
        (verdict.access == Access::Allow).then_some(())?;
        let text: Vec<_> = self.text.iter().map(|rule| renamed(rule, spelt)).collect();
        let rules = Compiled::new(&text);
        let target = renamed(&String::from_utf8_lossy(target), spelt).into_bytes();
        origins(1).find(|model| {
            let resolved = (model.resolve)(&target).map(|path| with_last_slash(&target, path, 1));
            resolved.is_some_and(|path| rules.is_disallowed(&path, &target))
        })
    }

    /// Whether the rules allow a target by the letter and disallow another form of it.
    #[allow(dead_code, reason = "the fuzz target uses a part of this")]
    pub(crate) fn is_evasion(&self, target: &[u8]) -> bool {
        let judged = Target::new(target);
        let verdict = self.rules.matcher.verdict(self.rules.scope, &judged);
        verdict.access == Access::Disallow && self.rules.letter(&judged).access == Access::Allow
    }

    /// The rule that decides by the letter.
    #[allow(dead_code, reason = "the fuzz target uses a part of this")]
    pub(crate) fn rule(&self, target: &[u8]) -> Option<&Rule> {
        self.rules.matcher.verdict_letter(self.rules.scope, &Target::new(target)).rule
    }
}

impl Compiled {
    fn new(rules: &[String]) -> Self {
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

/// Every origin that decodes this often or less.
fn origins(decode_depth: u8) -> impl Iterator<Item = Model> {
    let all = origin_models::ALL.into_iter().chain(origin_models::COMPOSED);
    all.filter(move |model| model.decode_depth <= decode_depth)
}

/// What a rule spells that an origin would read in another way.
fn spelt(rule: &Rule) -> Vec<String> {
    let pattern = &rule.pattern;
    let escapes = pattern.match_indices('%').filter_map(|(at, _)| pattern.get(at..at + 3));
    let others = [";", "//"].into_iter().filter(|part| pattern.contains(part));
    escapes.chain(others).map(str::to_ascii_uppercase).collect()
}

/// Each of the parts as an ordinary name.
fn renamed(text: &str, parts: &[String]) -> String {
    parts.iter().fold(text.to_owned(), |text, part| {
        let name = format!("~{}", part.trim_start_matches('%').replace(';', "3B"));
        text.replace(part, &name).replace(&part.to_ascii_lowercase(), &name)
    })
}

/// The normal form in lower case.
fn lower(target: &[u8]) -> Vec<u8> {
    Target::new(target).letter().to_ascii_lowercase()
}

/// Where the query begins.
fn query_of(target: &[u8]) -> usize {
    target.iter().position(|octet| *octet == b'?').unwrap_or(target.len())
}

/// The resolved target. A slash that plainly ends a path makes another path of it, whatever the
/// origin serves there: `/fish/` is not `/fish`. Where a path is decoded twice, what stands behind an
/// encoded end of it is not its slash.
fn with_last_slash(target: &[u8], resolved: Vec<u8>, decode_depth: u8) -> Vec<u8> {
    let path =
        |target: &[u8]| target.split(|octet| *octet == b'?').next().unwrap_or_default().len();
    let sent = &target[..path(target)];
    let last = sent.strip_suffix(b"/").and_then(|path| path.rsplit(|octet| *octet == b'/').next());
    let is_plain = last.is_some_and(|name| {
        let name = name.to_ascii_lowercase();
        let name = String::from_utf8_lossy(&name).replace("%5c", "%2f").replace('\\', "%2f");
        let name = name.rsplit("%2f").next().unwrap_or_default();
        let name = name.split(';').next().unwrap_or_default();
        let name = name.split("%3b").next().unwrap_or_default().as_bytes().to_vec();
        let last = String::from_utf8_lossy(last.unwrap_or_default()).to_ascii_lowercase();
        let has = |part: &str| name.windows(part.len()).any(|window| window == part.as_bytes());
        let ends = ["%3f", "%23", "%20", "%0", "%1", "%7f"];
        let is_dots =
            matches!(&name[..], b"" | b"." | b".." | b"%2e" | b"%2e." | b".%2e" | b"%2e%2e");
        let may_end_before = decode_depth > 1 && ends.into_iter().any(has);
        !(is_dots || last.contains("%u") || may_end_before)
    });
    let end = path(&resolved);
    if !is_plain || resolved[..end].ends_with(b"/") {
        return resolved;
    }
    [&resolved[..end], b"/", &resolved[end..]].concat()
}
