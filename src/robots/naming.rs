//! Which groups of a file name a crawler, by their numbers (§2.2.1).
//!
//! What [`Matcher`](super::Matcher) finds for judging, for those who put files together or hold
//! them against each other: the groups themselves. The same groups have the same [`List`], however
//! many names lead to them, so that two names are compared at no cost.

use std::collections::BTreeMap;

use super::{Group, name};

/// Groups of a file, ascending: good for the [`Naming`] that gave it, equal where the groups are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct List(usize);

/// The names of a file with the groups that they lead to.
#[derive(Debug, Default)]
pub(super) struct Naming {
    /// By form and name in lower case: the name as it was first written, and its groups.
    named: BTreeMap<(usize, String), (String, List)>,
    star: Option<List>,
    lists: Vec<Vec<usize>>,
}

impl Naming {
    /// The names in `groups`.
    pub(super) fn of(groups: &[Group]) -> Self {
        let mut named: BTreeMap<(usize, String), (String, Vec<usize>)> = BTreeMap::new();
        let mut star = Vec::new();
        for (number, group) in groups.iter().enumerate() {
            for user_agent in &group.user_agents {
                let value = user_agent.name.trim_matches(name::SPACE);
                if name::is_star(value) {
                    push_new(&mut star, number);
                }
                for (form, name) in name::forms(value).into_iter().enumerate() {
                    let Some(name) = name else { continue };
                    let key = (form, name.to_ascii_lowercase());
                    let (_, list) =
                        named.entry(key).or_insert_with(|| (name.to_owned(), Vec::new()));
                    push_new(list, number);
                }
            }
        }
        let mut lists = Lists::default();
        let star = (!star.is_empty()).then(|| lists.add(star));
        let named = named.into_iter().map(|(key, (name, list))| (key, (name, lists.add(list))));
        Self { named: named.collect(), star, lists: lists.lists }
    }

    /// The groups that name the crawler `name`, in the first form in which any does. Never those
    /// for `*`.
    pub(super) fn named(&self, name: &str) -> Option<List> {
        name::forms(name).into_iter().flatten().find_map(|own| {
            let own = own.to_ascii_lowercase();
            (0..name::FORMS).find_map(|form| {
                let (_, list) = self.named.get(&(form, own.clone()))?;
                Some(*list)
            })
        })
    }

    /// The groups for `*`.
    pub(super) fn star(&self) -> Option<List> {
        self.star
    }

    /// The groups that the crawler `name` obeys: those that name it, or those for `*`.
    pub(super) fn obeyed(&self, name: &str) -> Option<List> {
        self.named(name).or(self.star)
    }

    /// The numbers of the groups.
    pub(super) fn groups(&self, list: List) -> &[usize] {
        self.lists.get(list.0).map(Vec::as_slice).unwrap_or_default()
    }

    /// Every name in every form, as first written; without `*`. A name that is whole in one line
    /// and a part in another comes once for each form.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.named.values().map(|(name, _)| name.as_str())
    }
}

#[derive(Default)]
struct Lists {
    lists: Vec<Vec<usize>>,
    known: BTreeMap<Vec<usize>, List>,
}

impl Lists {
    fn add(&mut self, list: Vec<usize>) -> List {
        if let Some(known) = self.known.get(&list) {
            return *known;
        }
        let added = List(self.lists.len());
        self.lists.push(list.clone());
        self.known.insert(list, added);
        added
    }
}

fn push_new(list: &mut Vec<usize>, number: usize) {
    if list.last() != Some(&number) {
        list.push(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_the_same_groups_are_the_same_list() {
        let text = "User-agent: A\nUser-agent: * all\nAllow: /\nUser-agent: b/1.0\nAllow: /\n\
                    User-agent: a\nUser-agent: B 2.0\nUser-agent: c\nAllow: /\n";
        let naming = Naming::of(&crate::robots::parse(text.as_bytes()).0.groups);
        let groups = |name: &str| naming.named(name).map(|list| naming.groups(list).to_vec());
        assert_eq!(groups("a"), Some(vec![0, 2]));
        assert_eq!(groups("B"), Some(vec![1]), "the whole name goes before one without version");
        assert_eq!(groups("b 2.0"), Some(vec![2]));
        assert_eq!(naming.named("B 2.0"), naming.named("C"));
        assert_eq!(groups("*"), None);
        assert_eq!(naming.obeyed("stranger"), naming.star());
        let names: Vec<_> = naming.names().collect();
        assert_eq!(names, ["A", "b", "B 2.0", "c", "B"]);
    }
}
