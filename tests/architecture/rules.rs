//! The rules that one file can break.

use crate::{
    code::Name,
    design::{
        ADDRESSES, BASE, CLOCK_ROOMS, CLOCKS, CRATES, EFFECTS, HANDED_ON, MOST_LINES, PRINTING,
        PURE_ROOMS, SOCKET_ROOMS, SOCKETS, rooms,
    },
    program::{is_below, room_of},
    source::Source,
    uses::stated_use,
};

/// The sentence of a rule, if a name in a file breaks it.
type Rule = fn(&Source, &Name) -> Option<String>;

const RULES: [Rule; 11] = [
    later_room,
    room_by_super,
    foreign_name,
    glob,
    distant_crate,
    clock,
    socket,
    effect,
    printing,
    build_facts,
    unwrap,
];

/// The sentences of the rules that a file breaks, each with its place.
pub(crate) fn faults(source: &Source) -> Vec<String> {
    let of_name = |name| RULES.iter().filter_map(move |rule| rule(source, name));
    let names = source.code.names.iter();
    let faults = names.flat_map(|name| of_name(name).map(|sentence| (name.line, sentence)));
    let faults = faults.chain(faults_of_file(source));
    faults.map(|(line, sentence)| format!("src/{}:{line}: {sentence}", source.path)).collect()
}

fn faults_of_file(source: &Source) -> Vec<(usize, String)> {
    let mut faults = Vec::new();
    let length = source.text.lines().count();
    if length > MOST_LINES {
        faults.push((length, format!("a file has at most {MOST_LINES} lines, not {length}")));
    }
    let stem = source.path.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs");
    if stem.ends_with("ed") {
        faults.push((1, format!("a file is named by a noun, not by a participle: {stem}")));
    }
    if source.is_room() && stated_use(&source.text).is_none() {
        faults.push((1, "the doc of a room ends with the line 'May use: …'".to_owned()));
    }
    faults
}

fn later_room(source: &Source, name: &Name) -> Option<String> {
    name.way
        .iter()
        .filter_map(|path| room_of(path))
        .find_map(|used| may_not_use(source.room(), used))
}

/// The sentence that is broken where one room uses another, if it may not.
fn may_not_use(room: &str, other: &str) -> Option<String> {
    if room == other {
        return None;
    }
    if room == "main" {
        return (other != "cli").then(|| format!("main may know cli only, but uses {other}"));
    }
    let place = |name: &str| rooms().position(|room| room == name);
    match (place(room), place(other)) {
        (None, _) => Some(format!("'{room}' is no room of the design: add it to the table here")),
        (_, None) => Some(format!("'{other}' is no room: a path names the street and the room")),
        (Some(_), Some(_)) if BASE.contains(&room) && !BASE.contains(&other) => {
            Some(format!("the base knows no room, but {room} uses {other}"))
        }
        (Some(_), Some(_)) if BASE.contains(&other) => None,
        (Some(own), Some(used)) if used < own => None,
        _ => Some(format!("{room} may know the rooms before it, but uses {other}")),
    }
}

fn room_by_super(source: &Source, name: &Name) -> Option<String> {
    let is_named = name.path.starts_with("crate::") || name.path.starts_with("beadle::");
    let reached = name.way.first().and_then(|path| room_of(path)).filter(|_| !is_named)?;
    let sentence = "another room is named by crate::, never reached by super::";
    (reached != source.room()).then(|| sentence.to_owned())
}

fn foreign_name(source: &Source, name: &Name) -> Option<String> {
    let mut rooms = name.way.iter().filter_map(|path| room_of(path));
    let is_foreign = name.is_handed_on && rooms.any(|room| room != source.room());
    is_foreign.then(|| "a room hands on no names of another one: name their owner".to_owned())
}

fn glob(_: &Source, name: &Name) -> Option<String> {
    let is_glob = name.path.ends_with("::*");
    is_glob.then(|| format!("an import says which names it brings: {}", name.path))
}

fn distant_crate(source: &Source, name: &Name) -> Option<String> {
    let meant = name.way.last().filter(|path| !HANDED_ON.iter().any(|one| is_below(path, one)))?;
    let (first, places) = CRATES.iter().find(|(first, _)| is_below(meant, first))?;
    let is_at_home = places.split_whitespace().any(|place| source.place().starts_with(place));
    let places = places.replace(' ', " and ");
    (!is_at_home).then(|| format!("the crate '{first}' is known in {places} only"))
}

fn clock(source: &Source, name: &Name) -> Option<String> {
    let clock = CLOCKS.iter().find(|clock| name.meant().ends_with(**clock))?;
    let rooms = CLOCK_ROOMS.replace(' ', ", ");
    let sentence = || format!("a clock is read in {rooms} only, and given to others: {clock}");
    (!has(CLOCK_ROOMS, source.room())).then(sentence)
}

fn socket(source: &Source, name: &Name) -> Option<String> {
    let meant = name.meant();
    let is_socket = SOCKETS.iter().any(|socket| is_below(meant, socket));
    let is_address = ADDRESSES.iter().any(|address| is_below(meant, address));
    let is_allowed = !is_socket || is_address || has(SOCKET_ROOMS, source.room());
    let rooms = SOCKET_ROOMS.replace(' ', ", ");
    (!is_allowed).then(|| format!("sockets are opened in {rooms} only: {meant}"))
}

fn effect(source: &Source, name: &Name) -> Option<String> {
    let meant = name.meant();
    let is_effect = EFFECTS.iter().any(|effect| is_below(meant, effect));
    let room = source.room();
    (is_effect && has(PURE_ROOMS, room))
        .then(|| format!("{room} does no input and no output: {meant}"))
}

fn printing(source: &Source, name: &Name) -> Option<String> {
    let printing = PRINTING.iter().find(|printing| name.meant().ends_with(**printing))?;
    (source.room() != "cli").then(|| format!("nothing is printed outside cli: {printing}"))
}

fn build_facts(source: &Source, name: &Name) -> Option<String> {
    let is_read = name.path.ends_with("env!") && source.room() != "version";
    is_read.then(|| "what cargo says of the build is read in version only".to_owned())
}

fn unwrap(_: &Source, name: &Name) -> Option<String> {
    let is_unwrap = name.path == ".unwrap(" || name.meant().ends_with("::unwrap");
    is_unwrap.then(|| "no unwrap outside tests; expect names the invariant".to_owned())
}

/// Whether a list of words has this one.
fn has(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|one| one == word)
}
