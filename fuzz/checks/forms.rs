//! A request target: whatever an origin resolves to a disallowed path is judged disallowed. The first
//! octet of the input selects the rules, the others are the target.

use beadle::formats::robots::{
    Access, Directive, Group, Matcher, Pattern, Reading, RobotsTxt, Rule, Scope, Target, UserAgent,
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

/// Octets as a target in origin-form without a fragment, as the proxy passes it on: the octets that
/// it encodes are left out.
fn target(octets: &[u8]) -> Vec<u8> {
    let letters = b"/.%;\\:@?2f5ce3bax";
    let letter = |octet: &u8| match octet {
        b'!'..=b'~' if !b"#\"<>`".contains(octet) => *octet,
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

/// A text with the escapes in it that rules spell, each with the letter of a name for it.
struct Escapes<'t> {
    text: &'t str,
    /// The place and length of each, and its letter.
    found: Vec<(usize, usize, char)>,
}

impl<'t> Escapes<'t> {
    /// The most escapes of which every choice is tried.
    const FEW: usize = 6;

    fn of(text: &'t str, letters: &[(String, char)], decode_depth: u8) -> Self {
        let mut found = Vec::new();
        for (at, _) in text.match_indices('%') {
            let rest = &text[at..];
            let (digits, before) = match rest.strip_prefix("%25").filter(|_| decode_depth > 1) {
                Some(digits) => (digits, 3),
                None => (&rest[1..], 1),
            };
            let known = letters.iter().find(|(escape, _)| {
                digits.get(..2).is_some_and(|digits| digits.eq_ignore_ascii_case(&escape[1..]))
            });
            found.extend(known.map(|(_, letter)| (at, before + 2, *letter)));
        }
        Self { text, found }
    }

    /// Choices of escapes, as bits: every one if there are few, else all of them together.
    fn choices(&self) -> std::ops::RangeInclusive<u32> {
        match self.found.len() {
            count if count <= Self::FEW => 1..=(1 << count) - 1,
            _ => u32::MAX..=u32::MAX,
        }
    }

    /// The text with these escapes as letters.
    fn renamed(&self, which: u32) -> String {
        let mut named = String::with_capacity(self.text.len());
        let mut copied = 0;
        for (number, (at, length, letter)) in self.found.iter().enumerate() {
            if which & 1 << number.min(31) != 0 {
                named.push_str(&self.text[copied..*at]);
                named.push(*letter);
                copied = at + length;
            }
        }
        named.push_str(&self.text[copied..]);
        named
    }
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
        let decisive = decisive.filter(|rule| rule.directive == Directive::Allow);
        let spells = |part: &str| decisive.is_some_and(|rule| rule.pattern.contains(part));
        let spells_empty_query = target.ends_with(b"?") && spells("?");
        // A stray `%` before a query is common in links, and only an origin that takes the `?` for a
        // digit finds another path in it.
        let has_stray_end = target.windows(2).any(|pair| pair == b"%?")
            && !target.windows(3).any(|part| part == b"/..");
        if judged.is_robots_txt() || spells("//") || spells_empty_query || has_stray_end {
            return None;
        }
        if spells(";") {
            let escapes = self.encoded().into_iter();
            let parts: Vec<_> = escapes.chain([";".to_owned()]).collect();
            return self.evader_of_names(target, &parts);
        }
        let any_case = Reading { case_insensitive: true, ..Reading::default() };
        let twice = Reading { decode_depth: 2, ..Reading::default() };
        [Reading::default(), any_case, twice].into_iter().find_map(|reading| {
            let judged = Target::read_by(target, reading);
            let verdict = self.rules.matcher.verdict(self.rules.scope, &judged);
            (verdict.access == Access::Allow).then_some(())?;
            let mut origins = origins(reading.decode_depth);
            let folds = reading.case_insensitive;
            origins.find(|model| {
                let resolved = resolved(model, target);
                resolved.is_some_and(|path| {
                    let length = match folds {
                        true => self.folded.disallowed_by(&lower(&path), &lower(target)),
                        false => self.rules.disallowed_by(&path, target),
                    };
                    length.is_some_and(|length| {
                        self.allowed_as_encoded(model, target, &path, folds) < Some(length)
                    })
                })
            })
        })
    }

    /// What allow rules encode that an origin may decode.
    fn encoded(&self) -> Vec<String> {
        let reserved = "3A 5B 5D 40 21 26 27 28 29 2B 2C 3B 3D 2F 5C";
        let escapes = reserved.split(' ').map(|digits| format!("%{digits}"));
        let is_spelt = |escape: &String| {
            let mut allowed = self.text.iter().filter(|rule| rule.starts_with('+'));
            allowed.any(|rule| rule.to_ascii_uppercase().contains(escape.as_str()))
        };
        escapes.filter(is_spelt).collect()
    }

    /// The length of the longest allow rule that encodes what the origin decodes in the same place: in
    /// a world where that is one letter of a name, the origin comes to the same path, and the rule
    /// allows it. The rule may mean some of the escapes, and others be slashes to the origin.
    fn allowed_as_encoded(
        &self,
        model: &Model,
        target: &[u8],
        path: &[u8],
        folds: bool,
    ) -> Option<u32> {
        let letters: Vec<_> = self.encoded().into_iter().zip("~_-JKW".chars()).collect();
        let case = |text: &[u8]| if folds { text.to_ascii_lowercase() } else { text.to_vec() };
        let read_back = |path: &[u8]| {
            let text = String::from_utf8_lossy(path).into_owned();
            letters.iter().fold(text, |text, (escape, letter)| text.replace(*letter, escape))
        };
        let allowing = self.text.iter().filter_map(|rule| rule.strip_prefix('+'));
        let encoding: Vec<_> = allowing
            .filter_map(|rule| {
                let named = Escapes::of(rule, &letters, 1).renamed(u32::MAX);
                (named != rule).then(|| Some((rule, Pattern::new(case(named.as_bytes())).ok()?)))?
            })
            .collect();
        let target = String::from_utf8_lossy(target);
        let escapes = Escapes::of(&target, &letters, model.decode_depth);
        let allowed_by = |which: u32| {
            let named = resolved(model, escapes.renamed(which).as_bytes())?;
            // Jetty leaves a parameter where it met an encoded slash.
            let bare = |path: &[u8]| {
                let path = plain(path);
                let last = path.iter().rposition(|octet| *octet == b'/').unwrap_or(0);
                let end = path[last..].iter().position(|octet| *octet == b';');
                path[..end.map_or(path.len(), |end| last + end)].to_vec()
            };
            (bare(read_back(&named).as_bytes()) == bare(path)).then_some(())?;
            let named = case(&named);
            let named = Target::new(&named);
            let matching = encoding.iter().filter(|(_, rule)| rule.matches(named.letter()));
            matching.map(|(rule, _)| length(rule)).max()
        };
        escapes.choices().filter_map(allowed_by).max()
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
            let resolved = resolved(model, &target);
            resolved.is_some_and(|path| rules.disallowed_by(&path, &target).is_some())
        })
    }

    /// Whether the rules allow a target by the letter and disallow another form of it.
    #[allow(dead_code, reason = "the fuzz target uses a part of this")]
    pub(crate) fn is_evasion(&self, target: &[u8]) -> bool {
        let judged = Target::new(target);
        let verdict = self.rules.matcher.verdict(self.rules.scope, &judged);
        verdict.access == Access::Disallow && self.rules.letter(&judged).access == Access::Allow
    }

    /// Whether by the letter a disallow rule decides that is longer than `rule`.
    #[allow(dead_code, reason = "the fuzz target uses a part of this")]
    pub(crate) fn disallows_more_specifically(&self, target: &[u8], rule: &Rule) -> bool {
        let other = self.rule(target).filter(|other| other.directive == Directive::Disallow);
        other.is_some_and(|other| length(&other.pattern) > length(&rule.pattern))
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

    fn letter(&self, target: &Target<'_>) -> beadle::formats::robots::Verdict<'_> {
        self.matcher.verdict_letter(self.scope, target)
    }

    /// The length of the rule that disallows what `sent` resolves to. A decoded query counts for a
    /// rule that names the query.
    fn disallowed_by(&self, resolved: &[u8], sent: &[u8]) -> Option<u32> {
        let disallow = |target: &[u8]| {
            let judged = Target::new(target);
            let rule = self.letter(&judged).rule?;
            let names_query = rule.pattern.contains(['?', '&', '=']);
            let length = length(&rule.pattern);
            (rule.directive == Directive::Disallow).then_some((length, names_query))
        };
        let (length, names_query) = disallow(resolved)?;
        if names_query {
            return Some(length);
        }
        let as_sent = [&resolved[..query_of(resolved)], &sent[query_of(sent)..]].concat();
        disallow(&as_sent).map(|(length, _)| length)
    }
}

/// Every origin that decodes this often or less.
fn origins(decode_depth: u8) -> impl Iterator<Item = Model> {
    let all = origin_models::ALL.into_iter().chain(origin_models::COMPOSED);
    all.filter(move |model| model.decode_depth <= decode_depth)
}

/// How specific a rule is.
fn length(pattern: &str) -> u32 {
    Pattern::new(pattern).map_or(0, |pattern| pattern.specificity())
}

/// The target that an origin resolves.
fn resolved(model: &Model, target: &[u8]) -> Option<Vec<u8>> {
    let path = (model.resolve)(target)?;
    Some(with_last_slash(target, path, model.decode_depth))
}

/// A target decoded, with merged slashes.
fn plain(target: &[u8]) -> Vec<u8> {
    let whole: Vec<_> =
        target.iter().map(|octet| if *octet == b'?' { 1 } else { *octet }).collect();
    let mut plain = origin_models::path_of(&whole);
    plain.dedup_by(|octet, before| *octet == b'/' && *before == b'/');
    plain
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
