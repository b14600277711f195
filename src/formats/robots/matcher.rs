//! A robots.txt compiled for judging: crawler, group, rule, verdict (§2.2.1, §2.2.2), as the doc of the room
//! says.
//!
//! A [`Target`] is judged by its letter, with dot segments resolved. If that is allowed, the path as sent and
//! each form that an origin may see is judged, and the first disallowed form decides. If there are more
//! forms than are made, the first disallow rule decides.
//!
//! Groups with the same names are compiled into one set of rules (`rule_set`). A verdict takes no lock and
//! usually allocates nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    evasion::{View, mark_all, release},
    name::{self, GroupIndex, NameKey, NameMap},
    pace_record::{PaceRecord, Usage},
    path::{Target, is_robots_txt},
    robots_txt::{Group, RobotsTxt},
    rule::{Access, Directive, Explanation, Form, Rule, Verdict},
    rule_set::{Ranked, RuleSet, precedence},
};
use crate::formats::usage::Carrier;

/// A robots.txt compiled for judging. Immutable; share it behind an `Arc`.
#[derive(Debug)]
pub struct Matcher {
    sets: Vec<RuleSet>,
    /// For each scope the numbers of its sets, in the order of the file.
    scopes: Vec<Vec<usize>>,
    names: NameMap<Scope>,
    /// The names in lists in one user-agent line.
    listed: NameMap<Scope>,
    star: Option<Scope>,
}

/// The merged groups that a crawler obeys: a small number, valid for one [`Matcher`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scope(u32);

/// A verdict on a form that is not the letter, without its rule.
const DISALLOWED: Verdict<'static> =
    Verdict { access: Access::Disallow, rule: None, form: Form::Other };

/// The most names in lists that a file has. Only a hostile file has more.
const MOST_LISTED: usize = 1_000;

struct OtherForm<'a, T> {
    rule: &'a Rule,
    /// What is made of the form; `None` if the target has too many forms.
    form: Option<T>,
}

impl Scope {
    /// The scope as an index, from 0.
    pub(super) const fn number(self) -> usize {
        self.0 as usize
    }
}

impl Matcher {
    /// Compiles `robots`. To judge by the published file, with its line numbers, compile what
    /// [`super::parse`] reads from the published bytes.
    pub fn new(robots: &RobotsTxt) -> Self {
        Self::with_index(robots, &GroupIndex::new(&robots.groups))
    }

    /// Compiles `robots`, whose groups have this index.
    pub(crate) fn with_index(robots: &RobotsTxt, index: &GroupIndex) -> Self {
        // Groups with the same names are one set. Merging by name alone would copy the rules of a
        // group for each of its names, which a hostile file could drive to any size.
        let mut members: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
        for (number, group) in robots.groups.iter().enumerate() {
            members.entry(sorted_names(group)).or_default().push(number);
        }
        let mut members: Vec<_> = members.into_values().collect();
        members.sort_unstable();
        let sets = members.iter().map(|groups| RuleSet::new(robots, groups)).collect();

        let mut set_of_group = vec![0; robots.groups.len()];
        for (set, groups) in members.iter().enumerate() {
            groups.iter().for_each(|&group| set_of_group[group] = set);
        }
        let mut scopes = Vec::new();
        let mut add_scope = |groups: &[usize]| {
            let mut sets: Vec<_> = groups.iter().map(|&group| set_of_group[group]).collect();
            sets.sort_unstable();
            sets.dedup();
            scopes.push(sets);
            let number = u32::try_from(scopes.len() - 1);
            Scope(number.expect("a robots.txt has less than 4 GiB of names"))
        };
        let star = index.star().map(|list| add_scope(index.groups(list)));
        let names =
            index.keys().map(|(key, list)| (key.clone(), add_scope(index.groups(list)))).collect();
        let listed = listed(robots, index).into_iter().map(|(name, groups)| {
            let key = NameKey { form: 0, name: name.into() };
            (key, add_scope(&groups))
        });
        let listed = NameMap::new(listed.collect());
        Self { sets, scopes, names: NameMap::new(names), listed, star }
    }

    /// The groups that name the crawler `name`: a product token in any case, with or without a
    /// version or a remark. Never those for `*`.
    pub fn group(&self, name: &str) -> Option<Scope> {
        self.names.find(name).next().copied()
    }

    /// The groups that name a crawler if a list in one user-agent line names each crawler in it, and
    /// a list names `name`. RFC 9309 has no lists, so [`Self::group`] ignores them.
    pub fn listed(&self, name: &str) -> Option<Scope> {
        self.listed.find(name).next().copied()
    }

    pub(crate) fn has_lists(&self) -> bool {
        !self.listed.is_empty()
    }

    /// All scopes of the file: its groups, merged by name as crawlers merge them.
    pub fn scopes(&self) -> impl Iterator<Item = Scope> + '_ {
        self.names.iter().map(|(_, scope)| *scope).chain(self.star)
    }

    /// A scope for each set of rules that some crawler obeys.
    pub(crate) fn distinct_scopes(&self) -> Vec<Scope> {
        let mut known = BTreeSet::new();
        self.star
            .into_iter()
            .chain(self.scopes())
            .filter(|&one| known.insert(self.sets(one)))
            .collect()
    }

    /// The groups for `*`.
    pub fn star(&self) -> Option<Scope> {
        self.star
    }

    /// The names in the user-agent lines of the scope, as written, each once.
    pub fn tokens(&self, scope: Scope) -> Vec<&str> {
        let mut sets = self.sets_of(scope);
        if let (Some(only), None) = (sets.next(), sets.next()) {
            // The usual case: a set has each name once.
            return only.tokens.iter().map(|token| &**token).collect();
        }
        let mut known = BTreeSet::new();
        let tokens = self.sets_of(scope).flat_map(|set| &set.tokens).map(|token| &**token);
        tokens.filter(|token| known.insert(token.to_ascii_lowercase())).collect()
    }

    /// The record with the strictest pace at a minute of the day (UTC, 0 to 1439).
    pub fn pace(&self, scope: Scope, minute_of_day: u16) -> Option<&PaceRecord> {
        PaceRecord::strictest(self.sets_of(scope).flat_map(|set| &set.paces), minute_of_day)
    }

    pub(crate) fn sets_pace(&self) -> bool {
        self.sets.iter().any(|set| !set.paces.is_empty())
    }

    /// Whether a group of the scope sets a pace, at least for a part of the day.
    pub(crate) fn is_paced(&self, scope: Scope) -> bool {
        self.sets_of(scope).any(|set| !set.paces.is_empty())
    }

    /// What the records of a carrier state about the use of `target`. A target that may not be
    /// fetched has no preferences (draft-ietf-aipref-attach §3.1). Tries each record.
    pub fn usage(&self, scope: Scope, carrier: Carrier, target: &Target<'_>) -> Usage<'_> {
        match self.verdict_judged(scope, target).access {
            Access::Allow => self.usage_as_written(scope, carrier, target),
            Access::Disallow => Usage::default(),
        }
    }

    /// What the records of a carrier state about `target`, whether it may be fetched or not.
    pub fn usage_as_written(
        &self,
        scope: Scope,
        carrier: Carrier,
        target: &Target<'_>,
    ) -> Usage<'_> {
        let records = self.sets_of(scope).flat_map(|set| &set.usages);
        Usage::about(records.filter(|one| one.carrier == carrier), target.judged())
    }

    /// Judges `target` by its letter and, if that is allowed, in each other form that an origin may
    /// see. The strictest answer counts.
    pub fn verdict(&self, scope: Scope, target: &Target<'_>) -> Verdict<'_> {
        let judged = self.verdict_judged(scope, target);
        match self.other_form(scope, target, &judged, |_| ()) {
            Some(OtherForm { rule, .. }) => Verdict { rule: Some(rule), ..DISALLOWED },
            None => judged,
        }
    }

    /// Judges `target` by its letter, with dot segments resolved: as a crawler judges it.
    pub fn verdict_judged(&self, scope: Scope, target: &Target<'_>) -> Verdict<'_> {
        self.verdict_of(scope, target.judged())
    }

    /// Judges `target` as sent, with its dot segments, by RFC 9309 alone.
    pub fn verdict_letter(&self, scope: Scope, target: &Target<'_>) -> Verdict<'_> {
        self.verdict_of(scope, target.letter())
    }

    fn verdict_of(&self, scope: Scope, path: &[u8]) -> Verdict<'_> {
        let best = self.best(scope, View::default(), path);
        let rule = best.map(|ranked| &ranked.rule);
        let access = rule.map_or(Access::Allow, |rule| rule.directive);
        Verdict { access, rule, form: Form::Letter }
    }

    /// The verdict with all rules that match. Tries each rule of the scope, so it is not for the
    /// request path.
    pub fn explain(&self, scope: Scope, target: &Target<'_>) -> Explanation<'_> {
        let judged = self.verdict_judged(scope, target);
        let owned = |(text, view): (&[u8], View)| (text.to_vec(), view);
        let other = self.other_form(scope, target, &judged, owned);
        let (verdict, form) = match other {
            Some(OtherForm { rule, form }) => (Verdict { rule: Some(rule), ..DISALLOWED }, form),
            None => (judged, None),
        };
        let is_cut = verdict.form == Form::Other && form.is_none();
        let (path, view) = form.unwrap_or_else(|| owned((target.judged(), View::default())));
        let mut matches: Vec<_> = match is_robots_txt(&path) {
            true => Vec::new(),
            false => self.sets_of(scope).flat_map(|set| set.matches(view, &path)).collect(),
        };
        matches.sort_by_key(|found| precedence(found.rule, found.specificity));
        Explanation { verdict, path, matches, is_cut }
    }

    /// The first other form that is disallowed, if the letter is allowed.
    fn other_form<'m, T>(
        &'m self,
        scope: Scope,
        target: &Target<'_>,
        judged: &Verdict<'m>,
        made: impl Fn((&[u8], View)) -> T,
    ) -> Option<OtherForm<'m, T>> {
        if judged.access == Access::Disallow {
            return None;
        }
        let letter = match target.resolved.is_some() {
            true => self.verdict_letter(scope, target),
            false => *judged,
        };
        if let (Access::Disallow, Some(rule)) = (letter.access, letter.rule) {
            // An origin that does not resolve dot segments.
            return Some(OtherForm { rule, form: Some(made((target.letter(), View::default()))) });
        }
        let names_query = || self.sets_of(scope).any(|set| set.names_query);
        let forms = target.forms(names_query).filter(|_| !target.is_robots_txt())?;
        let disallow = |text: &[u8], view: View| {
            let best = self.best(scope, view, text)?;
            (best.rule.directive == Directive::Disallow).then_some(best)
        };
        let found =
            forms.find_map(|text, view| Some((&disallow(text, view)?.rule, made((text, view)))));
        if found.is_none() && !forms.is_cut {
            return None;
        }
        let encodes = self.sets_of(scope).any(|set| set.encodes);
        let marked = target.forms_spelled_by(letter.rule, encodes);
        let (found, is_cut) = match &marked {
            None => (found, forms.is_cut),
            Some(forms) => {
                let judge = |text: &[u8], view: View| {
                    let released = release(text, view.is_folded);
                    let best = disallow(&released, view)?;
                    let text = mark_all(text);
                    let allows = |set: &RuleSet| set.allows_decoded(view.is_folded, &text);
                    let is_allowed =
                        self.sets_of(scope).filter_map(allows).max() >= Some(best.specificity);
                    (!is_allowed).then(|| (&best.rule, made((&released, view))))
                };
                (forms.find_map(judge), forms.is_cut)
            }
        };
        if let Some((rule, form)) = found {
            return Some(OtherForm { rule, form: Some(form) });
        }
        let first = self.sets_of(scope).filter(|_| is_cut).filter_map(RuleSet::first_disallow);
        let first = first.min_by_key(|ranked| ranked.precedence())?;
        Some(OtherForm { rule: &first.rule, form: None })
    }

    /// The rule that decides for a form; robots.txt has none.
    fn best(&self, scope: Scope, view: View, path: &[u8]) -> Option<&Ranked> {
        match is_robots_txt(path) {
            true => None,
            false => self
                .sets_of(scope)
                .filter_map(|set| set.best_of(view, path))
                .min_by_key(|ranked| ranked.precedence()),
        }
    }

    /// Each form of each name with its scope, ordered by key; without `*`.
    pub(super) fn names(&self) -> impl Iterator<Item = (&NameKey, Scope)> {
        self.names.iter().map(|(key, scope)| (key, *scope))
    }

    pub(super) fn scope_count(&self) -> usize {
        self.scopes.len()
    }

    /// The numbers of the scope's sets. Equal numbers mean equal rules.
    pub(super) fn sets(&self, scope: Scope) -> &[usize] {
        self.scopes.get(scope.number()).map(Vec::as_slice).unwrap_or_default()
    }

    /// The rules of the scope, save those with an empty pattern.
    pub fn rules(&self, scope: Scope) -> impl Iterator<Item = &Rule> {
        self.sets_of(scope).flat_map(|set| &set.rules).map(|ranked| &ranked.rule)
    }

    fn sets_of(&self, scope: Scope) -> impl Iterator<Item = &RuleSet> {
        self.sets(scope).iter().filter_map(|&set| self.sets.get(set))
    }
}

/// The names in lists, in lower case, each with the groups that name it in a list or otherwise.
fn listed(robots: &RobotsTxt, index: &GroupIndex) -> BTreeMap<String, Vec<usize>> {
    let groups = robots.groups.iter().enumerate();
    let lines = groups.flat_map(|(number, group)| {
        let names = group.user_agents.iter().flat_map(|one| name::listed(&one.name));
        names.map(move |name| (name, number))
    });
    let mut listed: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (name, number) in lines.take(MOST_LISTED) {
        let own = || index.named(name).map(|list| index.groups(list).to_vec()).unwrap_or_default();
        listed.entry(name.to_ascii_lowercase()).or_insert_with(own).push(number);
    }
    listed
}

/// Whether the rules for `*` disallow the pages that no rule mentions. An `Allow: /$` beside
/// `Disallow: /` leaves the first page alone open, and so closes the site.
pub fn closes_everything(robots: &RobotsTxt) -> bool {
    let matcher = Matcher::new(robots);
    matcher.star().is_some_and(|star| {
        [&b"/0"[..], b"/some-page-or-other"].into_iter().all(|path| {
            let verdict = matcher.verdict_letter(star, &Target::new(path));
            verdict.access == Access::Disallow
        })
    })
}

/// The names of a group in lower case, sorted; `* all` counts as `*`.
fn sorted_names(group: &Group) -> Vec<String> {
    let lower = |name: &str| match name::is_star(name) {
        true => "*".to_owned(),
        false => name.to_ascii_lowercase(),
    };
    let names = group.user_agents.iter().map(|ua| lower(ua.name.trim_matches(name::SPACE)));
    let names: BTreeSet<_> = names.collect();
    names.into_iter().collect()
}
