//! Values by the names in user-agent lines, found by a crawler's name (§2.2.1).

use std::{array, collections::BTreeMap, ops::Range};

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
    rows: Vec<(NameKey, T)>,
    /// The rows of each form. Most files have none but those of whole names.
    of_form: [Range<usize>; name::FORMS],
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
        let forms = if self.may_have(name) { name::forms(name) } else { [None; name::FORMS] };
        let own = forms.into_iter().flatten();
        own.flat_map(|own| self.of_form.iter().map(move |rows| (rows, own))).filter_map(
            |(rows, own)| {
                let rows = self.rows.get(rows.clone())?;
                let at = rows.binary_search_by(|(key, _)| name::compare(&key.name, own)).ok()?;
                rows.get(at).map(|(_, value)| value)
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

    pub(super) fn iter(&self) -> impl Iterator<Item = (&NameKey, &T)> {
        self.rows.iter().map(|(key, value)| (key, value))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}
