//! What the doc of a room says that it may use, against what its files use. A folder of a room may have
//! such a line, too; it also names the files beside it that it may use.

use std::collections::BTreeSet;

use crate::{
    circles::beside,
    design::rooms,
    program::{Program, is_below, room_of},
    source::Source,
};

/// What is used and not said, or said and not used.
pub(crate) fn misstatements(program: &Program) -> Vec<String> {
    let stated = program.sources.iter().filter_map(|map| Some((map, stated_use(&map.text)?)));
    let limited = stated.filter(|(_, stated)| !stated.starts_with("everything"));
    limited.flat_map(|(map, stated)| misstatements_of(program, map, &stated)).collect()
}

fn misstatements_of(program: &Program, map: &Source, stated: &str) -> Vec<String> {
    let parent = map.module.rsplit_once("::").map_or("", |(parent, _)| parent);
    let is_known = |word: &&str| {
        let beside = format!("{parent}::{word}");
        rooms().any(|room| room == *word) || program.modules.contains(&beside)
    };
    let words = stated.split(|c: char| !c.is_alphanumeric() && c != '_');
    let stated: BTreeSet<&str> = words.filter(is_known).collect();
    let used = used_outside(program, map);
    let used: BTreeSet<&str> = used.iter().map(String::as_str).collect();
    let unsaid = used.difference(&stated);
    let unsaid = unsaid.map(|one| format!("it uses {one}, its doc doesn't say so"));
    let unused = stated.difference(&used);
    let unused = unused.map(|one| format!("its doc allows {one}, which it doesn't use"));
    unsaid.chain(unused).map(|fault| format!("src/{}:1: {fault}", map.path)).collect()
}

/// The rooms that the files of a folder use, and what they use beside the folder in their own room.
fn used_outside(program: &Program, map: &Source) -> BTreeSet<String> {
    let files = program.sources.iter().filter(|source| is_below(&source.module, &map.module));
    let ways = files.flat_map(|source| &source.code.names).flat_map(|name| &name.way);
    let names = ways.filter_map(|path| {
        let room = room_of(path)?;
        if room != map.room() {
            return Some(room.to_owned());
        }
        let used = program.module_of(path).filter(|used| !is_below(used, &map.module))?;
        beside(used, &map.module).rsplit("::").next().map(str::to_owned)
    });
    names.collect()
}

/// What the doc of a room says that it may use: the last paragraph.
pub(crate) fn stated_use(text: &str) -> Option<String> {
    let doc: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//!")).collect();
    let doc = doc.iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n");
    let last = doc.rsplit("\n\n").next()?;
    let stated = last.strip_prefix("May use: ").or_else(|| {
        let (_, stated) = last.split_once("\nMay use: ")?;
        Some(stated)
    })?;
    Some(stated.split("Must not").next().unwrap_or(stated).to_owned())
}
