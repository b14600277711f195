//! The rules that one file can break.

use crate::{
    design::{
        BASE, CLOCK_ROOMS, CLOCKS, CRATES, EFFECTS, MOST_LINES, PRINTING, PURE_ROOMS, SOCKET_ROOMS,
        SOCKETS, rooms,
    },
    source::Source,
};

/// The sentences of the rules that a file breaks, each with its place.
pub(crate) fn faults(source: &Source) -> Vec<String> {
    let mut faults = Vec::new();
    let mut fault = |line: usize, sentence: String| {
        faults.push(format!("src/{}:{line}: {sentence}", source.path));
    };
    for (line, room) in rooms_used(source) {
        if let Some(sentence) = may_not_use(source.room(), &room) {
            fault(line, sentence);
        }
    }
    for (line, code) in source.code() {
        for (name, places) in CRATES {
            let is_at_home = places.iter().any(|place| source.place().starts_with(place));
            if !is_at_home && names_crate(&code, name) {
                let places = places.join(" and ");
                fault(line, format!("the crate '{name}' is known in {places} only"));
            }
        }
        let clock = CLOCKS.iter().find(|clock| code.contains(**clock));
        if let Some(clock) = clock.filter(|_| !CLOCK_ROOMS.contains(&source.room())) {
            let rooms = CLOCK_ROOMS.join(", ");
            fault(line, format!("a clock is read in {rooms} only, and given to others: {clock}"));
        }
        let printing = PRINTING.iter().find(|name| has_word(&code, name));
        if let Some(name) = printing.filter(|_| source.room() != "cli") {
            fault(line, format!("nothing is printed outside cli: {name}"));
        }
        let socket = SOCKETS.iter().find(|name| has_word(&code, name));
        if let Some(name) = socket.filter(|_| !SOCKET_ROOMS.contains(&source.room())) {
            let rooms = SOCKET_ROOMS.join(", ");
            fault(line, format!("sockets are opened in {rooms} only: {name}"));
        }
        let effect = EFFECTS.iter().find(|name| code.contains(**name));
        if let Some(name) = effect.filter(|_| PURE_ROOMS.contains(&source.room())) {
            fault(line, format!("{} does no input and no output: {name}", source.room()));
        }
        if code.contains("env!(") && source.room() != "version" {
            fault(line, "what cargo says of the build is read in version only".to_owned());
        }
        if code.contains("pub use crate::") || code.contains("pub(crate) use crate::") {
            let sentence = "a room hands on no names of another one: name their owner";
            fault(line, sentence.to_owned());
        }
        if code.contains(".unwrap()") {
            let sentence = "no unwrap outside tests; expect names the invariant";
            fault(line, sentence.to_owned());
        }
        if supers(&code) >= source.depth() {
            fault(line, "another room is named by crate::, never reached by super::".to_owned());
        }
    }
    let length = source.text.lines().count();
    if length > MOST_LINES {
        fault(length, format!("a file has at most {MOST_LINES} lines, not {length}"));
    }
    let stem = source.path.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs");
    if stem.ends_with("ed") {
        fault(1, format!("a file is named by a noun, not by a participle: {stem}"));
    }
    if source.is_room() && stated_use(&source.text).is_none() {
        fault(1, "the doc of a room ends with the line 'May use: …'".to_owned());
    }
    faults
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

/// The rooms that a file names by `crate::`, with the line; `beadle::` in the program.
pub(crate) fn rooms_used(source: &Source) -> Vec<(usize, String)> {
    let mut used = Vec::new();
    let mut text = String::new();
    let mut starts = Vec::new();
    for (line, code) in source.code() {
        starts.push((text.len(), line));
        text.push_str(&code);
        text.push('\n');
    }
    let line_of = |at: usize| {
        let before = starts.iter().take_while(|(start, _)| *start <= at);
        before.last().map_or(1, |(_, line)| *line)
    };
    for root in ["crate::", "beadle::"] {
        for (at, _) in text.match_indices(root) {
            let is_word = text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            if is_word {
                continue;
            }
            let rest = &text[at + root.len()..];
            let mut rooms = Vec::new();
            second_names((rest, 0), 0, &mut rooms);
            for (offset, name) in rooms {
                used.push((line_of(at + root.len() + offset), name));
            }
        }
    }
    used
}

/// The second names of a path, or of every path in its braces: `{a::b, c::{d, e::f}}` has `b`, `d` and `e`.
/// Returns where the path ends.
fn second_names(
    (text, at): (&str, usize),
    level: usize,
    names: &mut Vec<(usize, String)>,
) -> usize {
    let rest = &text[at..];
    if rest.starts_with('{') {
        let mut at = at + 1;
        loop {
            at += text[at..].find(|c: char| !(c.is_whitespace() || c == ',')).unwrap_or(0);
            if !text[at..].starts_with(|c: char| c.is_alphanumeric() || "_{".contains(c)) {
                return at + 1;
            }
            at = second_names((text, at), level, names);
        }
    }
    let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let is_longer = rest[length..].starts_with("::");
    if level == 0 && is_longer {
        return second_names((text, at + length + 2), 1, names);
    }
    names.push((at, rest[..length].to_owned()));
    let mut depth = 0;
    let end = rest.find(|c| {
        let is_end = depth == 0 && matches!(c, ',' | '}' | ';');
        depth += i32::from(c == '{') - i32::from(c == '}');
        is_end
    });
    at + end.unwrap_or(rest.len())
}

/// Whether the code names an external crate: `name::`, or `use name;`, not as a part of a path.
fn names_crate(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + name.len()..]);
        let stands_alone = !before.ends_with(|c: char| c.is_alphanumeric() || "_:.".contains(c));
        let is_imported = before.trim_end().ends_with("use");
        stands_alone && (after.starts_with("::") || (is_imported && after.starts_with([';', ' '])))
    })
}

fn has_word(code: &str, word: &str) -> bool {
    code.match_indices(word)
        .any(|(at, _)| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// The most `super::` in a row.
fn supers(code: &str) -> usize {
    let mut most = 0;
    for (at, _) in code.match_indices("super::") {
        let mut rest = &code[at..];
        let mut count = 0;
        while let Some(next) = rest.strip_prefix("super::") {
            (rest, count) = (next, count + 1);
        }
        most = most.max(count);
    }
    most
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
