//! A filter, and what it chooses of a summary.

use super::builder::{numbers, unpack_names};
use crate::records::{
    record::{
        Filter, PathPattern,
        packing::Unpacker,
        path_pattern::{Step, Walk},
    },
    tally::FORM,
};

/// Before the action of a record that is no violation, in a summary.
pub(crate) const FORM_MARK: &str = "form:";

/// The conditions of a filter that summaries know, but for the times.
#[derive(Debug)]
pub(crate) struct Search<'a> {
    filter: &'a Filter,
    pub(crate) path: Option<PathPattern>,
}

/// The combinations of names, or the paths, that a search chose.
#[derive(Debug)]
pub(crate) struct Chosen {
    is_chosen: Vec<bool>,
    pub(crate) is_empty: bool,
    pub(crate) is_all: bool,
}

impl<'a> Search<'a> {
    pub(crate) fn of(filter: &'a Filter) -> Self {
        Self { filter, path: filter.path_pattern() }
    }

    /// Whether summaries know all conditions: of reasons they know one, no standing and no rule, and of
    /// exact paths the beginning.
    pub(crate) fn is_exact(&self) -> bool {
        let Filter { reason, claimant, rule, exact_path, .. } = self.filter;
        let has_more = claimant.is_some() || rule.is_some() || exact_path.is_some();
        !has_more && reason.as_ref().is_none_or(|reason| reason.eq_ignore_ascii_case(FORM))
    }

    /// Chooses of packed names; `None` if nothing packed these bytes.
    pub(crate) fn names(&self, packed: &[u8]) -> Option<Chosen> {
        let same = |wanted: &Option<String>, found: Option<&str>| {
            let Some(wanted) = wanted else { return true };
            found.is_some_and(|found| wanted.eq_ignore_ascii_case(found))
        };
        let Filter { site, product_token, purpose, action, reason, .. } = self.filter;
        let mut chosen = Chosen::default();
        for one in unpack_names(packed)? {
            let (is_form, own) = match one.action.strip_prefix(FORM_MARK) {
                Some(own) => (true, own),
                None => (false, one.action),
            };
            let is_asked_for = match reason {
                None => !is_form || self.filter.id.is_some(),
                Some(reason) => is_form == reason.eq_ignore_ascii_case(FORM),
            };
            chosen.push(
                is_asked_for
                    && same(product_token, Some(one.product_token))
                    && same(action, Some(own))
                    && same(purpose, one.purpose)
                    && same(site, Some(one.site)),
            );
        }
        Some(chosen)
    }

    pub(crate) fn paths(&self, packed: &[u8]) -> Option<Chosen> {
        let mut chosen = Chosen::default();
        let Some(pattern) = &self.path else { return None };
        let (mut unpacker, mut walk) = (Unpacker::new(packed), Walk::new(pattern));
        let mut length = 0;
        while !unpacker.is_at_end() {
            let (shared, rest) = unpacker.next_text()?;
            if shared > length {
                return None;
            }
            length = shared + rest.len();
            match walk.step(shared, rest) {
                Step::Over => break,
                step => chosen.push(step == Step::Match),
            }
        }
        Some(chosen)
    }
}

impl Default for Chosen {
    fn default() -> Self {
        // The number 0 stands for no record.
        Self { is_chosen: vec![false], is_empty: true, is_all: true }
    }
}

impl Chosen {
    fn push(&mut self, is_chosen: bool) {
        self.is_chosen.push(is_chosen);
        self.is_empty &= !is_chosen;
        self.is_all &= is_chosen;
    }

    fn has(&self, number: usize) -> bool {
        self.is_chosen.get(number).copied().unwrap_or(false)
    }
}

/// The places in a block that have what was chosen: of its names and paths both, if there are both.
pub(crate) fn positions(
    names: Option<(&Chosen, &[u8])>,
    paths: Option<(&Chosen, &[u8])>,
) -> Vec<usize> {
    let of_one = |(chosen, packed): (&Chosen, &[u8])| {
        let places = numbers(packed).enumerate();
        places.filter(|(_, number)| chosen.has(*number)).map(|(place, _)| place).collect()
    };
    match (names, paths) {
        (Some((names, names_of)), Some((paths, paths_of))) => {
            let places = numbers(names_of).zip(numbers(paths_of)).enumerate();
            places
                .filter(|(_, (name, path))| names.has(*name) && paths.has(*path))
                .map(|(place, _)| place)
                .collect()
        }
        (Some(one), None) | (None, Some(one)) => of_one(one),
        (None, None) => Vec::new(),
    }
}
