//! The groups that name each crawler, by their numbers in the file (§2.2.1).
//!
//! [`Matcher`](super::Matcher) compiles them, [`merge`](super::merge) and
//! [`differences`](super::differences) compare them. Equal groups have equal [`GroupList`]s, however
//! many names lead to them, so a comparison of two names is free.

use std::collections::BTreeMap;

use super::{
    name,
    name_map::{NameKey, NameMap},
    robots_txt::Group,
};

/// Groups of a file, ascending. Valid for the [`GroupIndex`] that returned it; equal if the groups
/// are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupList(usize);

/// The names of a file with the groups that each leads to.
#[derive(Debug)]
pub struct GroupIndex {
    names: NameMap<Named>,
    star: Option<GroupList>,
    lists: Vec<Vec<usize>>,
}

/// A name in one of its forms.
#[derive(Debug)]
struct Named {
    /// The spelling in the first line that has it.
    spelling: String,
    groups: GroupList,
}

impl GroupIndex {
    /// The index of `groups`.
    pub fn new(groups: &[Group]) -> Self {
        let mut named: BTreeMap<NameKey, (&str, Vec<usize>)> = BTreeMap::new();
        let mut star = Vec::new();
        for (number, group) in groups.iter().enumerate() {
            for user_agent in &group.user_agents {
                let value = user_agent.name.trim_matches(name::SPACE);
                if name::is_star(value) {
                    push_new(&mut star, number);
                }
                for (form, name) in name::forms(value).into_iter().enumerate() {
                    let Some(name) = name else { continue };
                    let key = NameKey { form, name: name.to_ascii_lowercase().into() };
                    let (_, list) = named.entry(key).or_insert_with(|| (name, Vec::new()));
                    push_new(list, number);
                }
            }
        }
        let mut lists = Lists::default();
        let star = (!star.is_empty()).then(|| lists.add(star));
        let named = named.into_iter().map(|(key, (spelling, list))| {
            (key, Named { spelling: spelling.to_owned(), groups: lists.add(list) })
        });
        let names = NameMap::new(named.collect());
        Self { names, star, lists: lists.lists }
    }

    /// The groups that name the crawler `name`, in the first form that any line has. Never those
    /// for `*`.
    pub fn named(&self, name: &str) -> Option<GroupList> {
        self.names.find(name).next().map(|named| named.groups)
    }

    /// The groups for `*`.
    pub const fn star(&self) -> Option<GroupList> {
        self.star
    }

    /// The groups that the crawler `name` obeys: those that name it, or else those for `*`.
    pub(crate) fn obeyed(&self, name: &str) -> Option<GroupList> {
        self.named(name).or(self.star)
    }

    /// The numbers of the groups.
    pub fn groups(&self, list: GroupList) -> &[usize] {
        self.lists.get(list.0).map(Vec::as_slice).unwrap_or_default()
    }

    /// Each form of each name with its groups, ordered by key; without `*`.
    pub(super) fn keys(&self) -> impl Iterator<Item = (&NameKey, GroupList)> {
        self.names.iter().map(|(key, named)| (key, named.groups))
    }

    /// Each form of each name in its first spelling; without `*`. A name that is whole in one line
    /// and a part in another comes once for each form.
    pub fn spellings(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|(_, named)| named.spelling.as_str())
    }
}

/// The lists so far, each once.
#[derive(Default)]
struct Lists {
    lists: Vec<Vec<usize>>,
    known: BTreeMap<Vec<usize>, GroupList>,
}

impl Lists {
    fn add(&mut self, list: Vec<usize>) -> GroupList {
        if let Some(known) = self.known.get(&list) {
            return *known;
        }
        let added = GroupList(self.lists.len());
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
    fn equal_groups_have_one_list() {
        let text = "User-agent: A\nUser-agent: * all\nAllow: /\nUser-agent: b/1.0\nAllow: /\n\
                    User-agent: a\nUser-agent: B 2.0\nUser-agent: c\nAllow: /\n";
        let index = GroupIndex::new(&crate::formats::robots::parse(text.as_bytes()).0.groups);
        let groups = |name: &str| index.named(name).map(|list| index.groups(list).to_vec());
        assert_eq!(groups("a"), Some(vec![0, 2]));
        assert_eq!(groups("B"), Some(vec![1]), "the whole name goes before one without version");
        assert_eq!(groups("b 2.0"), Some(vec![2]));
        assert_eq!(index.named("B 2.0"), index.named("C"));
        assert_eq!(groups("*"), None);
        assert_eq!(index.obeyed("stranger"), index.star());
        let names: Vec<_> = index.spellings().collect();
        assert_eq!(names, ["A", "b", "B 2.0", "c", "B"]);
    }
}
