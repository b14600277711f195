//! The names of files tell their rooms: a reader who knows a name finds one file.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    design::{STREETS, rooms},
    program::Program,
};

/// Names that several files of a street share, or that a file shares with a room, and what makes them
/// brothers.
const BROTHERS: [(&str, &str, &str); 9] = [
    ("formats", "emit findings parse rule", "robots.txt and Robots-Tag have the same parts"),
    ("rules", "alerts evidence tls violations", "a reader is named by its section"),
    ("rules", "fleet server", "a section has its keys and its reader"),
    ("rules", "decide", "a decision, and the server that is asked for it"),
    ("clients", "fetch", "a fetch of robots.txt"),
    ("serving", "record", "the record that the gate makes of a request"),
    ("review", "json layout model review", "each document is made in the same steps"),
    ("desk", "counts crawlers policy records report robots", "a page is named by its address"),
    (
        "program",
        "alerts audit crawlers fleet import manual policy replay report robots violations",
        "a verb is named as it is typed",
    ),
];

/// The street that is not yet cut anew.
const EXEMPT: &str = "records";

/// The names that mislead a reader, and brothers without need.
pub(crate) fn misleading(program: &Program) -> Vec<String> {
    let mut places: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for source in program.sources.iter().filter(|source| source.street() != EXEMPT) {
        let path = source.path.trim_end_matches(".rs").trim_end_matches("/mod");
        if let Some((_, name)) = path.rsplit_once('/') {
            places.entry((source.street(), name)).or_default().push(path);
        }
    }
    let rooms: BTreeSet<&str> = rooms().chain(STREETS.map(|(street, ..)| street)).collect();
    let is_room = |path: &&str| path.split('/').count() == 2;
    places.retain(|(_, name), paths| {
        paths.len() > 1 || rooms.contains(name) && !paths.iter().all(is_room)
    });
    let brothers =
        BROTHERS.iter().flat_map(|(street, names, _)| names.split(' ').map(|name| (*street, name)));
    let brothers: BTreeSet<(&str, &str)> = brothers.collect();
    let nameless = places.iter().filter(|(place, _)| !brothers.contains(place));
    let nameless = nameless.map(|((_, name), paths)| {
        let paths = paths.join(".rs, src/");
        format!("src/{paths}.rs: a file's name tells its room; '{name}' means something else, too")
    });
    let lonely = brothers.iter().filter(|place| !places.contains_key(place));
    let lonely = lonely.map(|(street, name)| format!("{street}: '{name}' needs no brothers"));
    nameless.chain(lonely).collect()
}
