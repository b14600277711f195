//! Pages in the language of roff.

use clap_mangen::roff::{Inline, Roff, bold, roman};

use crate::base::version;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// The name of its file, `beadle-serve.1`.
    pub(crate) name: String,
    /// The page in the language of roff, in ASCII.
    pub(crate) text: String,
}

/// The page of rendered sections. Each comes with the definition of the apostrophe, which a page needs once,
/// and text of any language is written in ASCII, which every formatter reads.
pub(super) fn page(rendered: &str) -> String {
    let is_definition = |line: &&str| line.contains(".ds Aq");
    let definition: Vec<&str> = rendered.lines().filter(is_definition).take(2).collect();
    let lines = rendered.lines().filter(|line| !is_definition(line));
    let lines = definition.into_iter().chain(lines).filter(|line| !line.is_empty());
    // Names of options are neither hyphenated nor spaced out.
    let lines = lines.flat_map(|line| match line.starts_with(".TH ") {
        true => vec![line, ".nh", ".ad l"],
        false => vec![line],
    });
    let mut page = String::new();
    for character in lines.flat_map(|line| line.chars().chain(['\n'])) {
        match character.is_ascii() {
            true => page.push(character),
            false => page.push_str(&format!("\\[u{:04X}]", u32::from(character))),
        }
    }
    page
}

/// The head of a page. The page has no date, as it would differ from build to build.
pub(super) fn title(name: &str, section: u8) -> String {
    format!(".TH {name} {section} \"\" \"beadle {}\" \"Beadle Manual\"\n", version::NUMBER)
}

/// Adds paragraphs. Lines that begin with two spaces keep their form.
pub(super) fn text(roff: &mut Roff, text: &str) {
    let mut is_literal = false;
    let mut is_first = true;
    for line in text.lines() {
        let literal = line.strip_prefix("  ");
        if line.trim().is_empty() {
            continue_literal(roff, &mut is_literal, false);
            if !is_first {
                roff.control("PP", []);
            }
            continue;
        }
        is_first = false;
        continue_literal(roff, &mut is_literal, literal.is_some());
        match literal {
            Some(line) => roff.text([roman(line)]),
            None => roff.text(marked(line)),
        };
    }
    continue_literal(roff, &mut is_literal, false);
}

/// Begins or ends a block of literal lines.
fn continue_literal(roff: &mut Roff, is_literal: &mut bool, is_next: bool) {
    match (*is_literal, is_next) {
        (false, true) => roff.control("RS", ["4"]).control("nf", []),
        (true, false) => roff.control("fi", []).control("RE", []),
        _ => return,
    };
    *is_literal = is_next;
}

/// A line in which words between back quotes are bold.
pub(super) fn marked(line: &str) -> Vec<Inline> {
    let parts = line.split('`').enumerate();
    let part = |(at, part): (usize, &str)| if at % 2 == 1 { bold(part) } else { roman(part) };
    parts.filter(|(_, part)| !part.is_empty()).map(part).collect()
}

/// References to other pages, by name and section.
pub(super) fn see_also(roff: &mut Roff, pages: &[(String, u8)]) {
    roff.control("SH", ["SEE ALSO"]);
    for (at, (name, section)) in pages.iter().enumerate() {
        let comma = if at + 1 < pages.len() { "," } else { "" };
        roff.text([bold(name.as_str()), roman(format!("({section}){comma}"))]);
    }
}
