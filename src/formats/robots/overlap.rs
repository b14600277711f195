//! The rules that a file shares with older ones of the same site. Most verdicts of the older files
//! follow from the newer file's.
//!
//! Suppose that the newer file disallows a path by some rule. An older file disallows it too if, in
//! the group of the same crawler, it has that rule and no allow rule that the newer file lacks. For
//! any allow rule that matches in the older file matches in the newer, where it was less specific
//! than the rule that decided (§2.2.2). Few rules change from one edition to the next, so this
//! almost always answers. It answers for all older files at once: each is a bit, and one look-up in
//! a short list gives the files that are in doubt.

use std::{
    collections::{BTreeMap, HashSet},
    ops::BitOr,
};

use super::{
    matcher::{Matcher, Scope},
    name::{NameKey, NameMap},
    rule::{Directive, Rule},
};

/// How many rules are compared with one older file. Only a hostile file has groups that share more
/// rules. Its older files are then always in doubt.
const MAX_COMPARED: usize = 1 << 20;

/// The rules that a file shares with older ones, by its own scopes.
#[derive(Debug)]
pub struct Overlap {
    /// How many older files there are.
    older: usize,
    /// For each scope its place in `shared`.
    scopes: Vec<usize>,
    shared: Vec<Shared>,
    /// For each scope the scope of each older file under the same name.
    in_older: Vec<Option<Scope>>,
    /// The names with groups in older files only, with those files.
    gone: NameMap<Files>,
    /// The older files with lists of names.
    listing: Files,
}

/// A set of older files, by their places in the list of older files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Files(u64);

/// The result for scopes with the same sets in every file.
#[derive(Debug, Default)]
struct Shared {
    /// The older files that may allow a path whatever rule disallows it.
    open: Files,
    /// The lines of the newer file's disallow rules that older files lack, ascending, each with these
    /// files.
    added: Vec<(u32, Files)>,
}

/// The sets of a scope; `None` if a file has no such scope.
type Sets<'a> = Option<&'a [usize]>;

impl Overlap {
    /// How many older files are compared. Further ones are ignored.
    pub(crate) const MAX_OLDER: usize = u64::BITS as usize;

    /// The overlap of `newer` with `older`, by the text of the rules.
    pub fn new(newer: &Matcher, older: &[&Matcher]) -> Self {
        let older = older.get(..Self::MAX_OLDER).unwrap_or(older);
        let names: BTreeMap<&NameKey, Scope> = newer.names().collect();
        let mut gone: BTreeMap<NameKey, Files> = BTreeMap::new();
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
        let listing = (0..).zip(older).filter(|(_, file)| file.has_lists());
        let mut overlap = Self {
            older: older.len(),
            scopes: vec![0; newer.scope_count()],
            shared: Vec::new(),
            in_older,
            gone: NameMap::new(gone),
            listing: Files::of(listing.map(|(place, _)| place)),
        };
        overlap.compare(newer, older);
        overlap
    }

    fn compare(&mut self, newer: &Matcher, older: &[&Matcher]) {
        // Many names share their groups, which are compared once.
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
                self.shared.push(Shared::new(newer, scope, &theirs, &mut compared));
                self.shared.len() - 1
            });
            if let Some(place) = self.scopes.get_mut(scope.number()) {
                *place = number;
            }
        }
    }

    /// The scope of an older file under the same name as `newer`, if it has one. It binds the same
    /// crawlers, except those for which the older file [has another scope](Self::renamed).
    pub fn scope(&self, newer: Scope, place: usize) -> Option<Scope> {
        let at = newer.number() * self.older + place;
        self.in_older.get(at).copied().flatten().filter(|_| place < self.older)
    }

    /// The older files that may allow a path that this rule of `newer` disallows. All others
    /// disallow it for the crawlers that [`Self::scope`] binds.
    pub fn in_doubt(&self, newer: Scope, rule: &Rule) -> Files {
        let shared = self.scopes.get(newer.number()).and_then(|&number| self.shared.get(number));
        let Some(shared) = shared else { return self.all() };
        let at = shared.added.binary_search_by_key(&rule.line, |(line, _)| *line);
        let added = at.ok().and_then(|at| shared.added.get(at));
        shared.open | added.map_or(Files(0), |(_, files)| *files)
    }

    /// The older files with groups for one of these names of a crawler, if the newer file has none
    /// for that name, and those with [lists of names](Matcher::listed). In those files another scope
    /// may bind the crawler.
    pub fn renamed<'n>(&self, names: impl Iterator<Item = &'n str>) -> Files {
        if self.gone.is_empty() {
            return self.listing;
        }
        names.flat_map(|name| self.gone.find(name)).fold(self.listing, |all, one| all | *one)
    }

    /// All older files.
    pub fn all(&self) -> Files {
        Files::of(0..self.older)
    }
}

impl Shared {
    fn new(
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

    fn of(places: impl Iterator<Item = usize>) -> Self {
        places.map(Self::only).fold(Self::default(), BitOr::bitor)
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the set contains the file at this place.
    pub const fn contains(self, place: usize) -> bool {
        place < Overlap::MAX_OLDER && self.0 >> place & 1 == 1
    }

    /// The places of the files, ascending.
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

/// The lines of the newer disallow rules that the older file lacks; `None` if the older file has an
/// allow rule that the newer one lacks.
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
