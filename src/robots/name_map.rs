//! Values by the names in user-agent lines, found by a crawler's name (§2.2.1).

use std::collections::BTreeMap;

use super::name;

/// One form of a name. Ordered by form, then by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NameKey {
    /// The place of the form in [`name::forms`]; 0 is the whole name.
    pub(super) form: usize,
    /// The name in lower case.
    pub(super) name: Box<str>,
}

/// Values by name. Several forms of a name can lead to one value.
#[derive(Clone, Debug)]
pub(super) struct NameMap<T> {
    /// Ordered by key.
    rows: Vec<(NameKey, T)>,
    /// A bit for each first octet of a name. All forms of a name begin with the same octet, so a
    /// small map rejects most names at once.
    starts: [u64; 4],
}

impl<T> NameMap<T> {
    /// The map with these rows.
    pub(super) fn new(rows: BTreeMap<NameKey, T>) -> Self {
        let mut starts = [0; 4];
        for first in rows.keys().filter_map(|key| key.name.bytes().next()) {
            starts[usize::from(first / 64)] |= 1 << (first % 64);
        }
        Self { rows: rows.into_iter().collect(), starts }
    }

    /// The values for the crawler `name`: a product token in any case, with or without a version
    /// or a remark. Ordered by the form of `name`, the most faithful first; then by the form in
    /// the map.
    pub(super) fn find(&self, name: &str) -> impl Iterator<Item = &T> {
        let forms = if self.may_have(name) { name::forms(name) } else { [None; name::FORMS] };
        let own = forms.into_iter().flatten();
        own.flat_map(|own| (0..name::FORMS).map(move |form| (form, own))).filter_map(
            |(form, own)| {
                let order = |(key, _): &(NameKey, T)| {
                    key.form.cmp(&form).then_with(|| name::compare(&key.name, own))
                };
                let at = self.rows.binary_search_by(order).ok()?;
                self.rows.get(at).map(|(_, value)| value)
            },
        )
    }

    fn may_have(&self, name: &str) -> bool {
        let first = name.trim_start_matches(name::SPACE).bytes().next();
        first.is_some_and(|first| {
            let first = first.to_ascii_lowercase();
            self.starts[usize::from(first / 64)] >> (first % 64) & 1 == 1
        })
    }

    /// All rows, ordered by key.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&NameKey, &T)> {
        self.rows.iter().map(|(key, value)| (key, value))
    }

    /// Whether the map has no rows.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}
