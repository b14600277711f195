//! Circles between the files of one room.
//!
//! A file uses another where it names something that the other defines: by `super::`, `self::` or
//! `crate::ROOM::`, in an import or in the code. A name that a `mod.rs` hands on by `pub use` counts
//! for the file that defines it, so a map of its room makes no circle.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::Source;

/// A path of names, as it is written behind `crate::`.
type Names = Vec<String>;

/// The modules of all rooms: each by its path of names, with the number of its file.
struct Modules<'s> {
    sources: &'s [Source],
    by_path: BTreeMap<Names, usize>,
    /// What each module hands on: its name there, and the path that defines it.
    handed_on: Vec<BTreeMap<String, Names>>,
}

/// An import: the path, and the name under which it is known here.
struct Import {
    path: Names,
    alias: String,
    is_public: bool,
}

/// One circle for each set of files that use each other, as `a -> b -> a`.
pub(crate) fn circles(sources: &[Source]) -> Vec<String> {
    let modules = Modules::of(sources);
    let uses: Vec<BTreeSet<usize>> = (0..sources.len()).map(|file| modules.used_by(file)).collect();
    let mut found = BTreeSet::new();
    for start in 0..sources.len() {
        if let Some(mut circle) = way_back(&uses, start) {
            let least = circle.iter().enumerate().min_by_key(|(_, file)| **file);
            let first = least.map_or(0, |(at, _)| at);
            circle.rotate_left(first);
            let names = circle.iter().chain(circle.first());
            let names: Vec<&str> = names.map(|file| sources[*file].path.as_str()).collect();
            found.insert(names.join(" -> "));
        }
    }
    found.into_iter().collect()
}

/// The shortest way from a file back to itself.
fn way_back(uses: &[BTreeSet<usize>], start: usize) -> Option<Vec<usize>> {
    let mut ways = vec![vec![start]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            let last = *way.last()?;
            for &next in &uses[last] {
                if next == start {
                    return Some(way);
                }
                if seen.insert(next) {
                    longer.push([way.as_slice(), &[next]].concat());
                }
            }
        }
        ways = longer;
    }
    None
}

impl<'s> Modules<'s> {
    fn of(sources: &'s [Source]) -> Self {
        let by_path = sources.iter().enumerate().map(|(file, one)| (module(&one.path), file));
        let mut modules = Self { sources, by_path: by_path.collect(), handed_on: Vec::new() };
        modules.handed_on = sources
            .iter()
            .map(|source| {
                let public = imports(source).into_iter().filter(|one| one.is_public);
                let of = |one: Import| {
                    Some((one.alias, modules.absolute(&module(&source.path), &one.path)?))
                };
                public.filter_map(of).collect()
            })
            .collect();
        modules
    }

    /// The files of the same room that a file uses.
    fn used_by(&self, file: usize) -> BTreeSet<usize> {
        let source = &self.sources[file];
        let own = module(&source.path);
        let imported = imports(source).into_iter().filter(|one| !one.is_public);
        let below =
            self.by_path.keys().filter(|path| path.split_last().is_some_and(|(_, up)| up == own));
        let below = below.filter_map(|path| path.last());
        let roots = ["crate", "super", "self"].into_iter().chain(below.map(String::as_str));
        let in_code = roots.flat_map(|root| paths_in_code(source, root));
        let paths = imported.map(|one| one.path).chain(in_code);
        let absolute = paths.filter_map(|path| self.absolute(&own, &path));
        absolute
            .filter(|path| path.first() == own.first())
            .filter_map(|path| self.defining_file(&path, 8))
            .filter(|used| *used != file)
            .collect()
    }

    /// A written path as it is behind `crate::`; `None` for one of another crate.
    fn absolute(&self, own: &[String], path: &[String]) -> Option<Names> {
        let mut names = path.iter();
        let mut absolute = match names.next()?.as_str() {
            "crate" => Vec::new(),
            "self" => own.to_vec(),
            "super" => own[..own.len() - 1].to_vec(),
            // A module of one's own, as in `pub use rule::Rule`.
            name => {
                let child = [own, &[name.to_owned()]].concat();
                self.by_path.contains_key(&child).then_some(child)?
            }
        };
        for name in names {
            match name.as_str() {
                "super" => drop(absolute.pop()),
                "self" => {}
                name => absolute.push(name.to_owned()),
            }
        }
        Some(absolute)
    }

    /// The file that defines the last name of a path.
    fn defining_file(&self, path: &[String], depth: usize) -> Option<usize> {
        let known = (1..=path.len()).rev().find_map(|length| {
            let file = self.by_path.get(&path[..length])?;
            Some((length, *file))
        });
        let (length, file) = known?;
        let handed_on = path.get(length).and_then(|name| self.handed_on[file].get(name));
        match handed_on {
            Some(elsewhere) if depth > 0 => {
                let rest = &path[length + 1..];
                self.defining_file(&[elsewhere.as_slice(), rest].concat(), depth - 1)
            }
            _ => Some(file),
        }
    }
}

/// The module of a file: `[gate, visit]` for `gate/visit.rs`, `[gate]` for `gate/mod.rs`.
fn module(path: &str) -> Names {
    let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
    path.split('/').map(str::to_owned).collect()
}

/// The code of a file as one text.
fn text(source: &Source) -> String {
    source.code().into_iter().map(|(_, code)| code + "\n").collect()
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// All imports, one for each name.
fn imports(source: &Source) -> Vec<Import> {
    let text = text(source);
    let mut all = Vec::new();
    for (at, _) in text.match_indices("use ") {
        let statement = text[..at].rfind([';', '{', '}']).map_or(0, |end| end + 1);
        // Behind a line for the compiler, `#[…]`, or a visibility, but not as a part of a word.
        let before = text[statement..at].trim();
        let before = before.rsplit(']').next().unwrap_or_default().trim();
        if !(before.is_empty() || before.starts_with("pub")) {
            continue;
        }
        let Some(end) = text[at..].find(';') else { continue };
        let tree: String = text[at + 4..at + end].split_whitespace().collect::<Vec<_>>().join(" ");
        let mut paths = Vec::new();
        expand(&tree, &[], &mut paths);
        all.extend(paths.into_iter().map(|(path, alias)| Import {
            path,
            alias,
            is_public: before.starts_with("pub"),
        }));
    }
    all
}

/// The paths of an import's tree: `a::{b, c::{self, D as E}}` has `a::b`, `a::c` and `a::c::D`.
fn expand(tree: &str, prefix: &[String], paths: &mut Vec<(Names, String)>) {
    let tree = tree.trim();
    if let Some(inside) = tree.strip_prefix('{') {
        let inside = inside.trim_end().trim_end_matches('}');
        let (mut depth, mut start) = (0_usize, 0);
        for (at, character) in inside.char_indices().chain([(inside.len(), ',')]) {
            match character {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                ',' if depth == 0 || at == inside.len() => {
                    if !inside[start..at].trim().is_empty() {
                        expand(&balanced(&inside[start..at]), prefix, paths);
                    }
                    start = at + 1;
                }
                _ => {}
            }
        }
        return;
    }
    match tree.split_once("::") {
        Some((first, rest)) if !first.contains(' ') => {
            expand(rest, &[prefix, &[first.trim().to_owned()]].concat(), paths);
        }
        _ => {
            let (name, alias) = tree.split_once(" as ").unwrap_or((tree, tree));
            let mut path = prefix.to_vec();
            if name.trim() != "self" || path.is_empty() {
                path.push(name.trim().to_owned());
            }
            let alias = match alias.trim() {
                "self" => path.last().cloned().unwrap_or_default(),
                alias => alias.to_owned(),
            };
            paths.push((path, alias));
        }
    }
}

/// A part of a tree with as many closing braces as it opens: the last one was trimmed.
fn balanced(part: &str) -> String {
    let missing = part.matches('{').count().saturating_sub(part.matches('}').count());
    format!("{part}{}", "}".repeat(missing))
}

/// The paths outside imports that begin with a name, such as `crate` or a module below.
fn paths_in_code(source: &Source, root: &str) -> Vec<Names> {
    let text = text(source);
    let mut all = Vec::new();
    for (at, _) in text.match_indices(&format!("{root}::")) {
        let before = &text[..at];
        // `pub(in crate::room)` says who may use a name, and uses none.
        if before.ends_with(|c: char| is_name(c) || c == ':') || before.ends_with("(in ") {
            continue;
        }
        let path: String = text[at..].chars().take_while(|c| is_name(*c) || *c == ':').collect();
        let names = path.split("::").filter(|name| !name.is_empty()).map(str::to_owned);
        let names: Names = names.collect();
        // Imports are read as such.
        let statement = before.rfind(';').map_or(0, |end| end + 1);
        let is_import = before[statement..].split_whitespace().any(|word| word == "use");
        if !is_import && !path.ends_with("::") && names.len() > 1 {
            all.push(names);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> String {
        let source = |(path, text): &(&str, &str)| Source {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        };
        circles(&files.iter().map(source).collect::<Vec<_>>()).join("; ")
    }

    #[test]
    fn a_circle_is_found_through_imports_paths_and_what_is_handed_on() {
        for (files, expected) in [
            (
                [
                    ("a/mod.rs", "mod b;\nmod c;\npub use self::{b::B, c::C};"),
                    ("a/b.rs", "use super::C;\npub struct B;"),
                    ("a/c.rs", "use super::b::B;\npub struct C;"),
                ],
                "a/b.rs -> a/c.rs -> a/b.rs",
            ),
            (
                [
                    ("a/mod.rs", "mod b;\npub struct A;\nuse self::b::f;"),
                    ("a/b.rs", "use crate::{x, a::{self, A}};\npub fn f() {}"),
                    ("a/c.rs", ""),
                ],
                "a/b.rs -> a/mod.rs -> a/b.rs",
            ),
            (
                [
                    ("a/mod.rs", "mod b;\nfn f() { b::g() }\npub struct A;"),
                    ("a/b.rs", "pub fn g() -> super::A {}"),
                    ("a/c.rs", ""),
                ],
                "a/b.rs -> a/mod.rs -> a/b.rs",
            ),
            (
                [
                    ("a/mod.rs", "mod b;\nmod c;"),
                    ("a/b.rs", "fn f() { super::c::g() }"),
                    ("a/c.rs", "pub(super) fn g() { crate::a::b::f() }"),
                ],
                "a/b.rs -> a/c.rs -> a/b.rs",
            ),
        ] {
            let mut files = files;
            files.sort_unstable();
            assert_eq!(found(&files), expected);
        }
    }

    #[test]
    fn a_map_of_its_room_makes_no_circle() {
        let files = [
            (
                "a/b.rs",
                "use super::C;\n#[cfg(test)]\nmod tests {\n use super::*; use crate::a::A;\n}",
            ),
            ("a/c.rs", "pub struct C; // use super::b::B;"),
            ("a/mod.rs", "mod b;\nmod c;\npub use b::B;\npub use self::c::{C, D as E};"),
            ("z/b.rs", "use crate::a::b::B;"),
        ];
        assert_eq!(found(&files), "");
    }
}
