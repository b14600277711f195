//! Circles of imports: between streets, between rooms, between the folders and files of a room.
//!
//! A file uses another one if it names something that the other one defines. A name that a `mod.rs` hands
//! on counts for the file that defines it, so a map of its room makes no circle. What two files use of
//! each other counts for the folders that separate them, too.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::Program;

/// Files and folders, what each of them uses, and a line that does so.
type Uses = BTreeMap<String, BTreeMap<String, String>>;

/// One circle for each set of modules that use each other, as `a -> b -> a`.
pub(crate) fn circles(program: &Program) -> Vec<String> {
    let uses = uses(program);
    let mut found = BTreeSet::new();
    for start in uses.keys() {
        if let Some(mut circle) = way_back(&uses, start) {
            let least = circle.iter().enumerate().min_by_key(|(_, module)| **module);
            let first = least.map_or(0, |(at, _)| at);
            circle.rotate_left(first);
            circle.push(circle[0]);
            let steps = circle
                .windows(2)
                .map(|step| format!("{} -> {} (src/{})", step[0], step[1], uses[step[0]][step[1]]));
            found.insert(steps.collect::<Vec<_>>().join(", "));
        }
    }
    found.into_iter().collect()
}

fn uses(program: &Program) -> Uses {
    let mut uses = Uses::new();
    for source in &program.sources {
        let own = &source.module;
        for name in source.code.names.iter().filter(|name| !name.is_handed_on) {
            let used = name.way.last().and_then(|path| program.module_of(path));
            if let Some(used) = used.filter(|used| used != own) {
                let line = format!("{}:{}", source.path, name.line);
                let of_own = uses.entry(beside(own, used)).or_default();
                of_own.entry(beside(used, own)).or_insert(line);
            }
        }
    }
    uses
}

/// The first file or folder on the way to a module that is not on the way to the other one: `a::b` of
/// `a::b::c`, seen from `a::d`, and `a::mod` of `a`, seen from `a::b`.
pub(crate) fn beside(module: &str, other: &str) -> String {
    let mut others = other.split("::");
    let mut names = Vec::new();
    for name in module.split("::") {
        names.push(name);
        if others.next() != Some(name) {
            return names.join("::");
        }
    }
    names.join("::") + "::mod"
}

/// The shortest way from a module back to itself.
fn way_back<'u>(uses: &'u Uses, start: &'u String) -> Option<Vec<&'u String>> {
    let mut ways = vec![vec![start]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            for next in uses.get(*way.last()?).into_iter().flat_map(BTreeMap::keys) {
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
