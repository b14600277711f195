//! What is filed under the names of user-agent lines, found by a crawler's name (§2.2.1).

use std::collections::BTreeMap;

use super::name;

/// By which form a name counts, and the name in lower case.
pub(super) type Key = (usize, Box<str>);

/// Values by the names that lead to them.
#[derive(Clone, Debug)]
pub(super) struct Filed<T> {
    /// Ordered by form and name.
    rows: Vec<(Key, T)>,
    /// A bit for each octet with which a name begins. All forms of a name begin with the same, so
    /// that most names are seen off at once where few are filed.
    starts: [u64; 4],
}

impl<T> Filed<T> {
    /// What is filed under these names, each of which has one value.
    pub(super) fn new(named: BTreeMap<Key, T>) -> Self {
        let mut starts = [0; 4];
        for first in named.keys().filter_map(|(_, name)| name.bytes().next()) {
            starts[usize::from(first / 64)] |= 1 << (first % 64);
        }
        Self { rows: named.into_iter().collect(), starts }
    }

    /// What is found for the crawler `name`, a product token in any case, which may carry a version
    /// or a remark as user-agent lines do: the most faithful form of the name first, and for each
    /// the most faithful form in which it is filed.
    pub(super) fn find(&self, name: &str) -> impl Iterator<Item = &T> {
        let forms = if self.may_hold(name) { name::forms(name) } else { [None; name::FORMS] };
        let own = forms.into_iter().flatten();
        own.flat_map(|own| (0..name::FORMS).map(move |form| (form, own))).filter_map(
            |(form, own)| {
                let order = |((other, key), _): &(Key, T)| {
                    other.cmp(&form).then_with(|| name::compare(key, own))
                };
                let at = self.rows.binary_search_by(order).ok()?;
                self.rows.get(at).map(|(_, value)| value)
            },
        )
    }

    fn may_hold(&self, name: &str) -> bool {
        let first = name.trim_start_matches(name::SPACE).bytes().next();
        first.is_some_and(|first| {
            let first = first.to_ascii_lowercase();
            self.starts[usize::from(first / 64)] >> (first % 64) & 1 == 1
        })
    }

    /// All names with what is filed under them, ordered by form and name.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Key, &T)> {
        self.rows.iter().map(|(key, value)| (key, value))
    }

    /// Whether nothing is filed.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}
