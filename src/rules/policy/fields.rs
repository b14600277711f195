//! The entries of a section, read as the table of keys has them.

use std::{ops::RangeInclusive, path::PathBuf, str::FromStr, time::Duration};

use jiff::Timestamp;

use crate::{
    base::diagnostic::Diagnostic,
    rules::keys::{self, Absent, Section, Shape},
};

use super::{
    duration,
    findings::Findings,
    scalar,
    shape::{At, join},
    size,
    spelling::{closest, contained},
    yaml::{Key, Node, Value},
};

/// What stands for a section that is not there.
static NOTHING: Node = Node { value: Value::Null, line: 0, column: 0 };

/// The entries of a mapping, taken by name.
pub(super) struct Fields<'n> {
    at: At<'n>,
    section: &'static Section,
    entries: &'n [(Key, Node)],
}

impl<'n> At<'n> {
    /// The entries of a mapping, each key one of the section.
    pub(super) fn fields(
        &self,
        section: &'static Section,
        findings: &mut Findings,
    ) -> Option<Fields<'n>> {
        let entries = self.entries(findings)?;
        for (key, _) in entries.iter().filter(|(key, _)| !section.has(&key.text)) {
            findings.push(unknown_key(&self.path, key, section));
        }
        Some(Fields { at: self.clone(), section, entries })
    }
}

impl<'n> Fields<'n> {
    /// The entries of a section. One that is absent or no mapping has none, so each key has its default.
    pub(super) fn of(
        at: Option<&At<'n>>,
        section: &'static Section,
        findings: &mut Findings,
    ) -> Self {
        at.and_then(|at| at.fields(section, findings)).unwrap_or_else(|| Self::absent(section))
    }

    /// A section without entries.
    pub(super) const fn absent(section: &'static Section) -> Self {
        Self { at: At { node: &NOTHING, path: String::new() }, section, entries: &[] }
    }

    fn key(&self, name: &str) -> &'static keys::Key {
        let found = self.section.keys.iter().find(|key| key.name == name);
        found.expect("readers ask for keys of the table")
    }

    /// The value of `key`, if there is one.
    pub(super) fn take(&self, key: &str) -> Option<At<'n>> {
        debug_assert!(self.section.has(key), "{key} is no key of {}", self.section.path);
        let (_, node) = self.entries.iter().find(|(k, _)| k.text == key)?;
        Some(At { node, path: join(&self.at.path, key) })
    }

    /// The items of the list `key`; none where it is absent.
    pub(super) fn list(&self, key: &str, findings: &mut Findings) -> Vec<At<'n>> {
        self.take(key).map_or_else(Vec::new, |at| at.items(findings))
    }

    /// The value of `key`; its absence is a finding.
    pub(super) fn require(&self, key: &str, help: &str, findings: &mut Findings) -> Option<At<'n>> {
        let found = self.take(key);
        // A misspelt key has been reported already, with this one as its repair.
        let is_misspelt = || {
            self.entries.iter().any(|(other, _)| closest(&other.text, [key].into_iter()).is_some())
        };
        if found.is_none() && !is_misspelt() {
            let message = format!("'{}' is missing", join(&self.at.path, key));
            let (line, column) = (self.at.node.line, self.at.node.column);
            findings
                .push(Diagnostic::error("policy.missing_key", message).at(line, column).help(help));
        }
        found
    }

    /// The value of `key`, as `read` reads it.
    pub(super) fn read<T>(
        &self,
        key: &str,
        read: impl FnOnce(&At<'n>, &mut Findings) -> Option<T>,
        findings: &mut Findings,
    ) -> Option<T> {
        read(&self.take(key)?, findings)
    }

    /// The value of `key`, as `read` reads it; its default in the table, as `parse` reads that.
    pub(super) fn value<T>(
        &self,
        key: &str,
        read: impl FnOnce(&At<'n>, &mut Findings) -> Option<T>,
        parse: impl FnOnce(&'static str) -> Option<T>,
        findings: &mut Findings,
    ) -> T {
        let default = || match self.key(key).absent {
            Absent::Value(value) => parse(value),
            Absent::Required | Absent::Words(_) => None,
        };
        let found = self.read(key, read, findings).or_else(default);
        found.expect("the table has a default of this type")
    }

    /// The items of the list `key`, as `read` reads them; none where it is absent.
    pub(super) fn each<T>(
        &self,
        key: &str,
        mut read: impl FnMut(&At<'n>, &mut Findings) -> Option<T>,
        findings: &mut Findings,
    ) -> Vec<T> {
        self.list(key, findings).iter().filter_map(|item| read(item, findings)).collect()
    }

    /// The switch `key`, or its default.
    pub(super) fn is(&self, key: &str, findings: &mut Findings) -> bool {
        self.value(key, At::boolean, |text| text.parse().ok(), findings)
    }

    /// The duration under `key`, in `range`, or its default.
    pub(super) fn time(
        &self,
        key: &str,
        range: RangeInclusive<Duration>,
        findings: &mut Findings,
    ) -> Duration {
        self.value(key, |at, findings| at.duration(range, findings), duration::parse, findings)
    }

    /// The size under `key`, in `range`, or its default.
    pub(super) fn size(
        &self,
        key: &str,
        range: RangeInclusive<u64>,
        findings: &mut Findings,
    ) -> u64 {
        self.value(key, |at, findings| at.size(range, findings), size::parse, findings)
    }

    fn in_range<T: TryFrom<i64>>(
        &self,
        key: &str,
    ) -> impl FnOnce(&At<'n>, &mut Findings) -> Option<T> + use<'n, T> {
        let shape = self.key(key).shape;
        move |at, findings| match shape {
            Shape::Integer(least, most) => T::try_from(at.integer(least..=most, findings)?).ok(),
            _ => None,
        }
    }

    /// The number under `key`, in the range of the table.
    pub(super) fn some_number<T: TryFrom<i64>>(
        &self,
        key: &str,
        findings: &mut Findings,
    ) -> Option<T> {
        self.read(key, self.in_range(key), findings)
    }

    /// The number under `key`, in the range of the table, or its default.
    pub(super) fn number<T: TryFrom<i64> + FromStr>(
        &self,
        key: &str,
        findings: &mut Findings,
    ) -> T {
        self.value(key, self.in_range(key), |text| text.parse().ok(), findings)
    }

    /// The point in time under `key`.
    pub(super) fn instant(&self, key: &str, findings: &mut Findings) -> Option<Timestamp> {
        let help = "write a time with its zone, for example 2026-12-04T14:00:00Z";
        let read = |at: &At<'n>, findings: &mut Findings| {
            at.parsed(|text| text.parse().ok(), "is no time", help, findings)
        };
        self.read(key, read, findings)
    }

    /// The file or folder under `key`.
    pub(super) fn some_file(&self, key: &str, findings: &mut Findings) -> Option<PathBuf> {
        self.read(key, scalar::path, findings)
    }

    /// The file or folder under `key`, or its default.
    pub(super) fn file(&self, key: &str, findings: &mut Findings) -> PathBuf {
        self.value(key, scalar::path, |text| Some(text.into()), findings)
    }

    /// The words of `key`, with these values in the order of the table.
    pub(super) fn words<T, const N: usize>(
        &self,
        key: &str,
        values: [T; N],
    ) -> Vec<(&'static str, T)> {
        let words: &[&str] = match &self.key(key).shape {
            Shape::Choice(words) | Shape::List(Shape::Choice(words)) => words,
            _ => &[],
        };
        debug_assert_eq!(words.len(), N, "the words of {key}");
        words.iter().copied().zip(values).collect()
    }

    /// The value of the word under `key`; the values are in the order of the table.
    pub(super) fn choice<T: Copy, const N: usize>(
        &self,
        key: &str,
        values: [T; N],
        findings: &mut Findings,
    ) -> Option<T> {
        self.take(key)?.choice(&self.words(key, values), findings)
    }

    /// The mapping itself.
    pub(super) const fn at(&self) -> &At<'n> {
        &self.at
    }
}

fn unknown_key(path: &str, key: &Key, section: &Section) -> Diagnostic {
    let message = format!("unknown key '{}'", join(path, &key.text));
    let known = section.names();
    let below = section.below().find(|(_, section)| section.has(&key.text));
    let help = match (closest(&key.text, known.iter().copied()), below) {
        (Some(name), _) => format!("did you mean '{name}'?"),
        (None, Some((name, _))) => format!("it belongs into '{name}'"),
        (None, None) => match (section.home_of(&key.text), contained(&key.text, &known)) {
            (Some(home), _) => format!("it belongs into '{}'", home.path),
            (None, Some(name)) => format!("did you mean '{name}'?"),
            (None, None) => format!("the keys here are {}", known.join(", ")),
        },
    };
    Diagnostic::error("policy.unknown_key", message).at(key.line, key.column).help(help)
}
