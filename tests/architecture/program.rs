//! All files as one program, in which each name leads to its definition.

use std::{
    collections::{HashMap, HashSet},
    iter,
};

use crate::{code::Name, source::Source};

/// The most steps from a name to its definition; names that stand for each other have no end.
const MOST_STEPS: usize = 9;

pub(crate) struct Program {
    pub(crate) sources: Vec<Source>,
    pub(crate) modules: HashSet<String>,
    /// What modules know by an import or an alias: the absolute path there, and the path that is meant.
    aliases: HashMap<String, String>,
}

impl Program {
    pub(crate) fn of(mut sources: Vec<Source>) -> Self {
        let modules = sources.iter().map(|source| source.module.clone()).collect();
        let mut program = Self { sources: Vec::new(), modules, aliases: HashMap::new() };
        let aliases = || {
            let names = sources.iter().flat_map(|source| &source.code.names);
            names.filter_map(|name| Some((within(name, name.alias.as_ref()?), name)))
        };
        // A path may begin with an alias, so all of them are known before the first path is read.
        program.aliases = aliases().map(|(alias, _)| (alias, String::new())).collect();
        program.aliases = aliases().map(|(alias, name)| (alias, program.absolute(name))).collect();
        for name in sources.iter_mut().flat_map(|source| &mut source.code.names) {
            name.way = program.way(name);
        }
        program.sources = sources;
        program
    }

    fn way(&self, name: &Name) -> Vec<String> {
        // One name alone that no import brings is defined where it is used.
        let first = self.absolute(name);
        let first = Some(first).filter(|path| name.alias.is_some() || path.contains("::"));
        iter::successors(first, |path| self.meant(path)).take(MOST_STEPS).collect()
    }

    /// A written path as an absolute one; one of another crate begins with the crate's name.
    fn absolute(&self, name: &Name) -> String {
        let first = name.path.split("::").next().unwrap_or_default();
        let here = within(name, first);
        // `use axum;` means a crate, not what the line itself brings.
        let is_alias = name.alias.as_deref() != Some(first) && self.aliases.contains_key(&here);
        let mut absolute = match first {
            "crate" | "beadle" => "crate".to_owned(),
            "self" | "super" => name.module.clone(),
            _ if is_alias || self.modules.contains(&here) => name.module.clone(),
            _ => return name.path.clone(),
        };
        for name in name.path.split("::") {
            match name {
                "crate" | "beadle" | "self" => {}
                "super" => absolute.truncate(absolute.rfind("::").unwrap_or(absolute.len())),
                name => absolute = absolute + "::" + name,
            }
        }
        absolute
    }

    /// The path that an absolute one stands for, if one of its names is an alias.
    fn meant(&self, path: &str) -> Option<String> {
        let ends = path.match_indices("::").map(|(end, _)| end).chain([path.len()]);
        ends.map(|end| path.split_at(end)).find_map(|(known, rest)| {
            let meant = self.aliases.get(known).filter(|_| !self.modules.contains(known))?;
            Some(meant.clone() + rest)
        })
    }

    /// The module of the file that has the end of an absolute path.
    pub(crate) fn module_of<'p>(&self, path: &'p str) -> Option<&'p str> {
        let ends = [path.len()].into_iter().chain(path.rmatch_indices("::").map(|(end, _)| end));
        ends.map(|end| &path[..end]).find(|module| self.modules.contains(*module))
    }
}

fn within(name: &Name, own: &str) -> String {
    format!("{}::{own}", name.module)
}

/// `policy` of `crate::rules::policy::yaml::read`; of a path without a room, the last name.
pub(crate) fn room_of(path: &str) -> Option<&str> {
    let names = path.strip_prefix("crate::")?;
    names.split("::").take(2).last()
}

/// Whether a path is this one or leads through it.
pub(crate) fn is_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}
