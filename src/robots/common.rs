//! What a file has in common with an older one of the same site, so that most verdicts of the older
//! one follow from that of the newer.
//!
//! Where the newer file disallows a path by some rule, the older one does so too if it has that rule
//! in the group of the same crawler and no allow rule there that the newer one lacks: whatever
//! allow rule matches in the older file matches in the newer, where it was less specific than the
//! rule that decided (§2.2.2). From one edition to the next few rules change, so this answers nearly
//! always, and costs a look into a short list.

use std::collections::{BTreeMap, HashSet};

use super::{Directive, Matcher, Rule, Scope};

/// The rules that two files share, by the scopes of the newer one.
#[derive(Debug)]
pub struct Common {
    /// For each scope of the newer file the one that binds the same crawlers in the older; `None`
    /// where that can't be told by the scope alone.
    scopes: Vec<Option<Shared>>,
}

#[derive(Clone, Debug)]
struct Shared {
    older: Scope,
    /// The lines of the newer file's disallow rules that the older one lacks, ascending; `None`
    /// where it has an allow rule that the newer one lacks.
    added: Option<Vec<u32>>,
}

/// The sets that a scope of the newer file and one of the older are made of.
type Sets<'a> = (&'a [usize], &'a [usize]);

impl Common {
    /// Compares two files, as rules were written.
    pub fn of(newer: &Matcher, older: &Matcher) -> Self {
        let names: HashSet<_> = newer.names().map(|(form, name, _)| (form, name)).collect();
        let mut scopes = vec![None; newer.scope_count()];
        // A name that only the older file has may bind a crawler that now obeys another group.
        if older.names().any(|(form, name, _)| !names.contains(&(form, name))) {
            return Self { scopes };
        }
        let of_older: BTreeMap<_, _> =
            older.names().map(|(form, name, scope)| ((form, name), scope)).collect();
        let named = newer.names().filter_map(|(form, name, scope)| {
            of_older.get(&(form, name)).map(|&older| (scope, older))
        });
        // Many names share their groups: these are compared once.
        let mut compared: BTreeMap<Sets<'_>, Option<Vec<u32>>> = BTreeMap::new();
        for (scope, in_older) in named.chain(newer.star().zip(older.star())) {
            let sets = (newer.sets(scope), older.sets(in_older));
            let added = compared
                .entry(sets)
                .or_insert_with(|| added(newer.rules(scope), older.rules(in_older)));
            if let Some(place) = scopes.get_mut(scope.number()) {
                *place = Some(Shared { older: in_older, added: added.clone() });
            }
        }
        Self { scopes }
    }

    /// The scope of the older file that binds whom `newer` binds; `None` where their names have to
    /// be looked up in it.
    pub fn scope(&self, newer: Scope) -> Option<Scope> {
        self.shared(newer).map(|shared| shared.older)
    }

    /// Whether a target that the newer file disallows by this rule of `newer` is disallowed by the
    /// older one for certain.
    pub fn keeps(&self, newer: Scope, rule: &Rule) -> bool {
        self.shared(newer)
            .and_then(|shared| shared.added.as_ref())
            .is_some_and(|added| added.binary_search(&rule.line).is_err())
    }

    fn shared(&self, scope: Scope) -> Option<&Shared> {
        self.scopes.get(scope.number()).and_then(Option::as_ref)
    }
}

fn added<'a>(
    newer: impl Iterator<Item = &'a Rule>,
    older: impl Iterator<Item = &'a Rule>,
) -> Option<Vec<u32>> {
    let older: HashSet<(Directive, &str)> =
        older.map(|rule| (rule.directive, rule.pattern.as_str())).collect();
    let (mut allowed, mut added) = (HashSet::new(), Vec::new());
    for rule in newer {
        match rule.directive {
            Directive::Allow => drop(allowed.insert(rule.pattern.as_str())),
            Directive::Disallow if older.contains(&(rule.directive, rule.pattern.as_str())) => {}
            Directive::Disallow => added.push(rule.line),
        }
    }
    let lacks = |(directive, pattern): &(Directive, &str)| {
        *directive == Directive::Allow && !allowed.contains(pattern)
    };
    added.sort_unstable();
    older.iter().all(|rule| !lacks(rule)).then_some(added)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::robots::{Access, Target, parse};

    fn matcher(text: &str) -> Matcher {
        Matcher::new(&parse(text.as_bytes()).0)
    }

    #[test]
    fn ours_a_rule_is_kept_where_the_older_file_must_disallow_too() {
        let newer = matcher("User-agent: a\nDisallow: /x\nDisallow: /y\nAllow: /x/open\n");
        let newer_scope = newer.group("a").expect("a group");
        for (older, kept) in [
            ("User-agent: a\nDisallow: /x\nDisallow: /y\nAllow: /x/open\n", [true, true]),
            ("User-agent: a\nDisallow: /x\n", [true, false]),
            ("User-agent: a\nDisallow: /x\nAllow: /x/1\n", [false, false]),
            ("User-agent: a\n", [false, false]),
            ("User-agent: *\nDisallow: /x\n", [false, false]),
            // Another name may bind a crawler that falls back from one to the other.
            ("User-agent: a\nDisallow: /x\n\nUser-agent: b\n", [false, false]),
        ] {
            let common = Common::of(&newer, &matcher(older));
            for (path, kept) in ["/x", "/y"].into_iter().zip(kept) {
                let verdict = newer.verdict(newer_scope, &Target::new(path.as_bytes()));
                let rule = verdict.rule.expect("a rule");
                assert_eq!(common.keeps(newer_scope, rule), kept, "{older}{path}");
            }
        }
    }

    fn file() -> impl Strategy<Value = String> {
        let rule = ("(Allow|Disallow)", "/[ab]{0,2}(/[ab*]{0,2})?[$]?");
        let group = ("(a|b|\\*)", prop::collection::vec(rule, 0..5)).prop_map(|(name, rules)| {
            let rules = rules.into_iter().map(|(word, path)| format!("{word}: {path}\n"));
            format!("User-agent: {name}\n{}\n", rules.collect::<String>())
        });
        prop::collection::vec(group, 0..4).prop_map(|groups| groups.concat())
    }

    proptest! {
        #[test]
        fn ours_what_is_kept_is_disallowed_by_the_older_file(
            newer in file(), older in file(), path in "/[ab/]{0,6}",
        ) {
            let (newer, older) = (matcher(&newer), matcher(&older));
            let common = Common::of(&newer, &older);
            let target = Target::new(path.as_bytes());
            for name in ["a", "b", "c"] {
                let bound = |matcher: &Matcher| matcher.group(name).or_else(|| matcher.star());
                let Some(scope) = bound(&newer) else { continue };
                if let Some(in_older) = common.scope(scope) {
                    prop_assert_eq!(Some(in_older), bound(&older));
                }
                let verdict = newer.verdict(scope, &target);
                let kept = verdict.rule.is_some_and(|rule| common.keeps(scope, rule));
                if verdict.access == Access::Disallow && kept {
                    let before = bound(&older).expect("a group that has the rule");
                    prop_assert_eq!(older.verdict(before, &target).access, Access::Disallow);
                }
            }
        }
    }
}
