//! The crawler that a user-agent line names (§2.2.1), and values by such names.
//!
//! In the RFC the value equals the product token, without regard to case, or it is `*`. A quarter of
//! the lines in live files have other values: versions, digits and dots (`Mail.RU_Bot`), words, stars
//! (`Googlebot*`). They are compared in up to three forms, as the doc of the room says. `FooBot (news)`
//! names FooBot. `MJ12bot` does not name MJ, `foo bar` not foo, `panscient.com` not panscient. An empty
//! form names no crawler, nor does a value with control characters (§3). A URL has one form, itself.

use std::{array, cmp::Ordering, collections::BTreeMap, ops::Range};

use super::{line_kind::is_break, robots_txt::Group};

/// The white space of the grammar; any other, such as U+00A0, is a part of the name.
pub(super) const SPACE: [char; 2] = [' ', '\t'];

pub(super) const FORMS: usize = 3;

/// Whether the value is `*`, or `*` and a space and anything but control characters.
pub(super) fn is_star(value: &str) -> bool {
    value.strip_prefix('*').is_some_and(|rest| rest.is_empty() || rest.starts_with(SPACE))
        && !value.contains(is_break)
}

/// The forms of a name, the most faithful first. A form equal to an earlier one is `None`.
pub(crate) fn forms(value: &str) -> [Option<&str>; FORMS] {
    let value = value.trim_matches(SPACE);
    // A product token is one form, without a look at anything below.
    let is_word = |octet: u8| octet.is_ascii_alphanumeric() || octet == b'-' || octet == b'_';
    if !value.is_empty() && value.bytes().all(is_word) {
        return [Some(value), None, None];
    }
    if value.contains(is_break) {
        return [None; FORMS];
    }
    if value.contains("://") {
        return [Some(value), None, None];
    }
    let whole = value.split('/').next().unwrap_or_default().trim_end_matches(SPACE);
    if whole.is_empty() || is_star(whole) {
        return [None; FORMS];
    }
    let rfc_length = whole
        .bytes()
        .position(|b| !(b.is_ascii_alphabetic() || b == b'-' || b == b'_'))
        .unwrap_or(whole.len());
    let (prefix, rest) = whole.split_at(rfc_length);
    let prefix =
        (!prefix.is_empty() && !rest.is_empty() && !continues_name(rest)).then_some(prefix);
    [Some(whole), without_version(whole), prefix]
}

/// The names in a list such as `One, Two`. Each names a crawler for the parsers that read lists: Google
/// reads the first, others read all.
pub(super) fn listed(value: &str) -> impl Iterator<Item = &str> {
    let is_list = value.contains(',') && !value.contains(is_break);
    let parts = value.split(',').filter(move |_| is_list);
    parts.filter_map(|part| forms(part).into_iter().next().flatten())
}

/// Compares `key`, which is in lower case, with `name` in any case.
fn compare(key: &str, name: &str) -> Ordering {
    key.bytes().cmp(name.bytes().map(|b| b.to_ascii_lowercase()))
}

/// The name before a version such as ` 1.0` or ` v2`.
fn without_version(whole: &str) -> Option<&str> {
    let (name, version) = whole.rsplit_once(SPACE)?;
    let digits = version.strip_prefix(['v', 'V']).unwrap_or(version);
    let is_version = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let name = name.trim_end_matches(SPACE);
    (is_version && !name.is_empty()).then_some(name)
}

/// Whether the text after the leading letters may belong to the name.
fn continues_name(rest: &str) -> bool {
    let glued = rest.split(['(', '[', ';', '*']).next().unwrap_or_default();
    glued.bytes().any(|b| b.is_ascii_alphanumeric() || !b.is_ascii())
}

/// One form of a name. Ordered by form, then by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NameKey {
    /// The place of the form in [`forms`]; 0 is the whole name.
    pub(super) form: usize,
    /// The name in lower case.
    pub(super) name: Box<str>,
}

/// Values by name. Several forms of a name can lead to one value.
#[derive(Clone, Debug)]
pub(super) struct NameMap<T> {
    rows: Vec<(NameKey, T)>,
    /// The rows of each form. Most files have none but those of whole names.
    of_form: [Range<usize>; FORMS],
    /// A bit for each first octet of a name. All forms of a name begin with the same octet, so a
    /// small map rejects most names at once.
    starts: [u64; 4],
}

impl<T> NameMap<T> {
    pub(super) fn new(rows: BTreeMap<NameKey, T>) -> Self {
        let mut starts = [0; 4];
        for first in rows.keys().filter_map(|key| key.name.bytes().next()) {
            starts[usize::from(first / 64)] |= 1 << (first % 64);
        }
        let rows: Vec<_> = rows.into_iter().collect();
        let before = |form| rows.partition_point(|(key, _): &(NameKey, T)| key.form < form);
        let of_form = array::from_fn(|form| before(form)..before(form + 1));
        Self { rows, of_form, starts }
    }

    /// The values for the crawler `name`: a product token in any case, with or without a version
    /// or a remark. Ordered by the form of `name`, the most faithful first; then by the form in
    /// the map.
    pub(super) fn find(&self, name: &str) -> impl Iterator<Item = &T> {
        let forms = if self.may_have(name) { forms(name) } else { [None; FORMS] };
        let own = forms.into_iter().flatten();
        own.flat_map(|own| self.of_form.iter().map(move |rows| (rows, own))).filter_map(
            |(rows, own)| {
                let rows = self.rows.get(rows.clone())?;
                let at = rows.binary_search_by(|(key, _)| compare(&key.name, own)).ok()?;
                rows.get(at).map(|(_, value)| value)
            },
        )
    }

    fn may_have(&self, name: &str) -> bool {
        let first = name.trim_start_matches(SPACE).bytes().next();
        first.is_some_and(|first| {
            let first = first.to_ascii_lowercase();
            self.starts[usize::from(first / 64)] >> (first % 64) & 1 == 1
        })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&NameKey, &T)> {
        self.rows.iter().map(|(key, value)| (key, value))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

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
                let value = user_agent.name.trim_matches(SPACE);
                if is_star(value) {
                    push_new(&mut star, number);
                }
                for (form, name) in forms(value).into_iter().enumerate() {
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
    fn names_outside_the_grammar_have_up_to_three_forms() {
        for (value, expected) in [
            ("Googlebot", [Some("Googlebot"), None, None]),
            ("FooBot/1.2 (x)", [Some("FooBot"), None, None]),
            ("Brightbot 1.0", [Some("Brightbot 1.0"), Some("Brightbot"), None]),
            ("Sogou web spider", [Some("Sogou web spider"), None, None]),
            ("Sogou web spider v4", [Some("Sogou web spider v4"), Some("Sogou web spider"), None]),
            ("Googlebot*", [Some("Googlebot*"), None, Some("Googlebot")]),
            ("FooBot *", [Some("FooBot *"), None, Some("FooBot")]),
            ("FooBot (news)", [Some("FooBot (news)"), None, Some("FooBot")]),
            ("MJ12bot", [Some("MJ12bot"), None, None]),
            ("W3C_Validator", [Some("W3C_Validator"), None, None]),
            ("foo bar", [Some("foo bar"), None, None]),
            ("One, Two", [Some("One, Two"), None, None]),
            ("Mail.RU_Bot", [Some("Mail.RU_Bot"), None, None]),
            ("Yahoo! Slurp", [Some("Yahoo! Slurp"), None, None]),
            ("360Spider", [Some("360Spider"), None, None]),
            ("008", [Some("008"), None, None]),
            ("http://h/bot", [Some("http://h/bot"), None, None]),
            ("foo\u{e9}", [Some("foo\u{e9}"), None, None]),
            ("/1.0", [None, None, None]),
            ("", [None, None, None]),
            ("*", [None, None, None]),
            ("* x", [None, None, None]),
            (" \tFooBot\t", [Some("FooBot"), None, None]),
            ("\u{a0}FooBot", [Some("\u{a0}FooBot"), None, None]),
            ("FooBot\u{a0}", [Some("FooBot\u{a0}"), None, None]),
            ("FooBot\0", [None, None, None]),
            ("FooBot\u{b}", [None, None, None]),
            ("FooBot (\u{2028}", [None, None, None]),
        ] {
            assert_eq!(forms(value), expected, "{value}");
        }
    }

    #[test]
    fn a_list_has_the_names_between_its_commas() {
        for (value, expected) in [
            ("One, Two/1.0 ,,MJ12bot", &["One", "Two", "MJ12bot"][..]),
            ("*, One", &["One"]),
            ("One Two", &[]),
            ("One", &[]),
            ("One,\u{b}Two", &[]),
            (",", &[]),
        ] {
            assert_eq!(listed(value).collect::<Vec<_>>(), expected, "{value}");
        }
    }

    #[test]
    fn the_star_may_be_followed_by_a_remark() {
        assert!(is_star("*") && is_star("* all") && is_star("*\tall"));
        assert!(
            !is_star("* \0") && !is_star("* x\u{b}"),
            "a name with control characters names no crawler"
        );
        assert!(!is_star("*bot") && !is_star("**") && !is_star("") && !is_star("bot*"));
    }
}

#[cfg(test)]
mod group_index_tests {
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
