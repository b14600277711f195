//! What a file has in common with older ones of the same site, so that most verdicts of those
//! follow from that of the newer.
//!
//! Where the newer file disallows a path by some rule, an older one does so too if it has that rule
//! in the group of the same crawler and no allow rule there that the newer one lacks: whatever
//! allow rule matches in the older file matches in the newer, where it was less specific than the
//! rule that decided (§2.2.2). From one edition to the next few rules change, so this answers nearly
//! always, and for all older files at once: each of them is a bit, and one look into a short list
//! says which of them have to be asked.

use std::{
    collections::{BTreeMap, HashSet},
    ops::BitOr,
};

use super::{
    Directive, Matcher, Rule, Scope,
    filed::{Filed, Key},
};

/// How many rules are compared at most with those of one older file; a file whose groups share more
/// of them with each other is a hostile one, and its older ones are asked every time.
const MAX_COMPARED: usize = 1 << 20;

/// The rules that a file shares with older ones, by its own scopes.
#[derive(Debug)]
pub struct Common {
    /// How many older files there are.
    older: usize,
    /// For each scope which of `shared` it has.
    scopes: Vec<usize>,
    shared: Vec<Shared>,
    /// For each scope the one of each older file under the same name.
    in_older: Vec<Option<Scope>>,
    /// The names that only older files have groups for, and which do.
    gone: Filed<Files>,
}

/// Some of the older files, by their places in the list that was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Files(u64);

/// What scopes that are made of the same sets in every file have in common.
#[derive(Debug, Default)]
struct Shared {
    /// The older files that may allow what any rule disallows.
    open: Files,
    /// The lines of the newer file's disallow rules that older ones lack, ascending, and which do.
    added: Vec<(u32, Files)>,
}

/// The sets that a scope is made of; `None` where a file has no such scope.
type Sets<'a> = Option<&'a [usize]>;

impl Common {
    /// How many older files can be compared; what is beyond is not looked at.
    pub const MAX_OLDER: usize = u64::BITS as usize;

    /// Compares a file with older ones, as rules were written.
    pub fn of(newer: &Matcher, older: &[&Matcher]) -> Self {
        let older = older.get(..Self::MAX_OLDER).unwrap_or(older);
        let names: BTreeMap<&Key, Scope> = newer.names().collect();
        let mut gone: BTreeMap<Key, Files> = BTreeMap::new();
        let mut in_older = vec![None; newer.scope_count() * older.len()];
        for (place, file) in older.iter().enumerate() {
            let named = file.names().filter_map(|(key, scope)| match names.get(key) {
                Some(&own) => Some((own, scope)),
                None => {
                    let files = gone.entry(key.clone()).or_default();
                    *files = *files | Files::only(place);
                    None
                }
            });
            for (own, scope) in named.chain(newer.star().zip(file.star())) {
                if let Some(slot) = in_older.get_mut(own.number() * older.len() + place) {
                    *slot = Some(scope);
                }
            }
        }
        let mut common = Self {
            older: older.len(),
            scopes: vec![0; newer.scope_count()],
            shared: Vec::new(),
            in_older,
            gone: Filed::new(gone),
        };
        common.compare(newer, older);
        common
    }

    fn compare(&mut self, newer: &Matcher, older: &[&Matcher]) {
        // Many names share their groups: these are compared once.
        let mut numbers: BTreeMap<(&[usize], Vec<Sets<'_>>), usize> = BTreeMap::new();
        let mut compared = vec![0; older.len()];
        for scope in newer.star().into_iter().chain(newer.names().map(|(_, scope)| scope)) {
            let theirs = (0..)
                .zip(older)
                .map(|(place, file)| self.scope(scope, place).map(|in_older| (file, in_older)));
            let theirs: Vec<_> = theirs.collect();
            let sets = theirs.iter().map(|one| one.map(|(file, scope)| file.sets(scope)));
            let key = (newer.sets(scope), sets.collect());
            let number = *numbers.entry(key).or_insert_with(|| {
                self.shared.push(Shared::of(newer, scope, &theirs, &mut compared));
                self.shared.len() - 1
            });
            if let Some(place) = self.scopes.get_mut(scope.number()) {
                *place = number;
            }
        }
    }

    /// The scope of an older file that has the same name as `newer`; `None` where it has none. It
    /// binds whom `newer` binds, save crawlers for which the file [has another](Self::renamed).
    pub fn scope(&self, newer: Scope, place: usize) -> Option<Scope> {
        let at = newer.number() * self.older + place;
        self.in_older.get(at).copied().flatten().filter(|_| place < self.older)
    }

    /// The older files that may allow what the newer one disallows by this rule of `newer`; all
    /// others disallow it to whom [`Self::scope`] binds.
    pub fn in_doubt(&self, newer: Scope, rule: &Rule) -> Files {
        let shared = self.scopes.get(newer.number()).and_then(|&number| self.shared.get(number));
        let Some(shared) = shared else { return self.all() };
        let at = shared.added.binary_search_by_key(&rule.line, |(line, _)| *line);
        let lacking = at.ok().and_then(|at| shared.added.get(at));
        shared.open | lacking.map_or(Files(0), |(_, files)| *files)
    }

    /// The older files that have groups for one of these names of a crawler, while the newer has
    /// none for that name: there the crawler may be bound by another scope.
    pub fn renamed<'n>(&self, names: impl Iterator<Item = &'n str>) -> Files {
        if self.gone.is_empty() {
            return Files::default();
        }
        names.flat_map(|name| self.gone.find(name)).fold(Files::default(), |all, one| all | *one)
    }

    /// All the older files.
    pub fn all(&self) -> Files {
        (0..self.older).map(Files::only).fold(Files::default(), BitOr::bitor)
    }
}

impl Shared {
    fn of(
        newer: &Matcher,
        scope: Scope,
        older: &[Option<(&&Matcher, Scope)>],
        compared: &mut [usize],
    ) -> Self {
        let mut shared = Self::default();
        let mut added: BTreeMap<u32, Files> = BTreeMap::new();
        let own = newer.rules(scope).count();
        for ((place, file), compared) in older.iter().enumerate().zip(compared) {
            let within = file.filter(|(file, in_older)| {
                *compared += own + file.rules(*in_older).count();
                *compared <= MAX_COMPARED
            });
            let lines = within
                .and_then(|(file, in_older)| lacking(newer.rules(scope), file.rules(in_older)));
            match lines {
                None => shared.open = shared.open | Files::only(place),
                Some(lines) => lines.into_iter().for_each(|line| {
                    let files = added.entry(line).or_default();
                    *files = *files | Files::only(place);
                }),
            }
        }
        shared.added = added.into_iter().collect();
        shared
    }
}

impl Files {
    const fn only(place: usize) -> Self {
        Self(1 << place)
    }

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the one at this place is among them.
    pub const fn contains(self, place: usize) -> bool {
        place < Common::MAX_OLDER && self.0 >> place & 1 == 1
    }

    /// Their places, ascending.
    pub fn places(self) -> impl Iterator<Item = usize> {
        let rest = |files: &u64| Some(files & (files - 1)).filter(|rest| *rest != 0);
        std::iter::successors(Some(self.0).filter(|files| *files != 0), rest)
            .map(|files| files.trailing_zeros() as usize)
    }
}

impl BitOr for Files {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The lines of the newer disallow rules that the older file lacks; `None` where it has an allow
/// rule that the newer one lacks.
fn lacking<'a>(
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
    let is_gone = |(directive, pattern): &(Directive, &str)| {
        *directive == Directive::Allow && !allowed.contains(pattern)
    };
    (!older.iter().any(is_gone)).then_some(added)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::robots::{Access, Target, parse};

    fn matcher(text: &str) -> Matcher {
        Matcher::new(&parse(text.as_bytes()).0)
    }

    /// The groups of a crawler that goes by these names, one after the other.
    fn bound(matcher: &Matcher, names: &[&str]) -> Option<Scope> {
        names.iter().find_map(|name| matcher.group(name)).or_else(|| matcher.star())
    }

    #[test]
    fn ours_a_rule_is_kept_where_the_older_file_must_disallow_too() {
        let newer = matcher("User-agent: a\nDisallow: /x\nDisallow: /y\nAllow: /x/open\n");
        let newer_scope = newer.group("a").expect("a group");
        let cases = [
            ("User-agent: a\nDisallow: /x\nDisallow: /y\nAllow: /x/open\n", [true, true]),
            ("User-agent: a\nDisallow: /x\n", [true, false]),
            ("User-agent: a\nDisallow: /x\nAllow: /x/1\n", [false, false]),
            ("User-agent: a\n", [false, false]),
            ("User-agent: *\nDisallow: /x\n", [false, false]),
            ("User-agent: a\nDisallow: /x\n\nUser-agent: b\n", [true, false]),
        ];
        let older = cases.map(|(text, _)| matcher(text));
        let common = Common::of(&newer, &older.each_ref());
        for ((place, path), column) in (0..cases.len())
            .flat_map(|place| [(place, "/x"), (place, "/y")])
            .zip([0, 1].iter().cycle())
        {
            let verdict = newer.verdict(newer_scope, &Target::new(path.as_bytes()));
            let rule = verdict.rule.expect("a rule");
            let (text, kept) = cases[place];
            let in_doubt = common.in_doubt(newer_scope, rule);
            assert_eq!(!in_doubt.contains(place), kept[*column], "{text}{path}");
            assert!(in_doubt.places().all(|place| in_doubt.contains(place)));
        }
        // Another name may bind a crawler that falls back from one to the other.
        let places =
            |names: &[&str]| common.renamed(names.iter().copied()).places().collect::<Vec<_>>();
        assert_eq!(places(&["b", "a"]), [5]);
        assert_eq!(places(&["B 1.0"]), [5]);
        assert!(places(&["a", "c"]).is_empty());
    }

    fn file() -> impl Strategy<Value = String> {
        let rule = ("(Allow|Disallow)", "/[ab]{0,2}(/[ab*]{0,2})?[$]?");
        let names = "(a|b|a 1\\.0|b\\*|\\*)";
        let group = (names, prop::collection::vec(rule, 0..5)).prop_map(|(name, rules)| {
            let rules = rules.into_iter().map(|(word, path)| format!("{word}: {path}\n"));
            format!("User-agent: {name}\n{}\n", rules.collect::<String>())
        });
        prop::collection::vec(group, 0..4).prop_map(|groups| groups.concat())
    }

    proptest! {
        #[test]
        fn ours_what_is_not_in_doubt_is_disallowed_by_the_older_file(
            newer in file(), older in prop::collection::vec(file(), 0..4), path in "/[ab/]{0,6}",
        ) {
            let newer = matcher(&newer);
            let older: Vec<_> = older.iter().map(|text| matcher(text)).collect();
            let common = Common::of(&newer, &older.iter().collect::<Vec<_>>());
            let target = Target::new(path.as_bytes());
            let crawlers: [&[&str]; 7] =
                [&["a"], &["b"], &["c"], &["a", "b"], &["b", "a"], &["c", "b"], &["a 1.0"]];
            for names in crawlers {
                let Some(scope) = bound(&newer, names) else { continue };
                let renamed = common.renamed(names.iter().copied());
                let verdict = newer.verdict(scope, &target);
                for (place, older) in older.iter().enumerate() {
                    if renamed.contains(place) {
                        continue;
                    }
                    let in_older = common.scope(scope, place);
                    if in_older.is_some() {
                        prop_assert_eq!(in_older, bound(older, names));
                    }
                    let doubt = |rule| common.in_doubt(scope, rule).contains(place);
                    let kept = verdict.rule.is_some_and(|rule| !doubt(rule));
                    if verdict.access == Access::Disallow && kept {
                        let before = in_older.expect("a group that has the rule");
                        prop_assert_eq!(older.verdict(before, &target).access, Access::Disallow);
                    }
                }
            }
        }

        #[test]
        fn ours_a_rule_that_all_files_have_is_not_in_doubt(older in prop::collection::vec(file(), 1..4)) {
            let newest = older.last().map(|text| matcher(text)).expect("one at least");
            let older: Vec<_> = older.iter().map(|text| matcher(text)).collect();
            let common = Common::of(&newest, &older.iter().collect::<Vec<_>>());
            let same = older.len() - 1;
            for scope in newest.scopes() {
                prop_assert!(newest.rules(scope).all(|rule| !common.in_doubt(scope, rule).contains(same)));
            }
        }
    }
}
