//! The pages: of a command and those below it, made of its arguments; of the policy, made of its keys; in the
//! language of roff.

use std::io;

use clap::Command;
use clap_mangen::{
    Man,
    roff::{Inline, Roff, bold, roman},
};

use crate::{
    base::version,
    rules::{
        crawlers::Purpose,
        keys::{Absent, Key, POLICY, Section, Shape},
    },
};

/// The pages of a command, of all commands below it, and of the policy.
pub(crate) fn pages(mut command: Command) -> Vec<Page> {
    command.build();
    let mut pages = below(&command, None);
    pages.push(of_policy());
    pages
}

fn below(command: &Command, above: Option<&str>) -> Vec<Page> {
    let name = name(command);
    let mut pages = vec![Page { text: page(command, above), name: format!("{name}.1") }];
    for one in shown(command) {
        pages.extend(below(one, Some(name)));
    }
    pages
}

fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// The commands below, in the order of the help.
fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|one| !one.is_hide_set())
}

fn page(command: &Command, above: Option<&str>) -> String {
    let mut whole = command.clone().subcommand_help_heading("COMMANDS");
    // The usage of the help: options in short, and what has to be there.
    let usage = whole.render_usage().to_string();
    let man = Man::new(whole.override_usage(usage.trim_start_matches("Usage: ").to_owned()));
    let mut sections = title(name(command), 1);
    let mut add = |render: &dyn Fn(&mut dyn io::Write) -> io::Result<()>| {
        let mut octets = Vec::new();
        render(&mut octets).expect("memory takes all");
        sections.push_str(&String::from_utf8_lossy(&octets));
    };
    add(&|out| man.render_name_section(out));
    add(&|out| man.render_synopsis_section(out));
    add(&|out| description(command).to_writer(out));
    if shown(command).next().is_some() {
        add(&|out| man.render_subcommands_section(out));
    }
    add(&|out| man.render_options_section(out));
    add(&|out| after(command).to_writer(out));
    add(&|out| see_also(command, above).to_writer(out));
    finished(&sections)
}

fn description(command: &Command) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["DESCRIPTION"]);
    let about = command.get_long_about().or_else(|| command.get_about());
    paragraphs(&mut roff, &about.map(ToString::to_string).unwrap_or_default());
    roff
}

/// What follows the options in the help: blocks of lines, each with a heading of its own.
fn after(command: &Command) -> Roff {
    let mut roff = Roff::new();
    let after = command.get_after_long_help().or_else(|| command.get_after_help());
    let after = after.map(ToString::to_string).unwrap_or_default();
    for block in after.split("\n\n").filter(|block| !block.trim().is_empty()) {
        let (heading, lines) = block.split_once(":\n").unwrap_or(("Notes", block));
        roff.control("SH", [heading.to_uppercase().as_str()]);
        roff.control("nf", []);
        for line in lines.lines() {
            roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
        }
        roff.control("fi", []);
    }
    roff
}

fn see_also(command: &Command, above: Option<&str>) -> Roff {
    let above = above.map(str::to_owned).into_iter();
    let pages = above.chain(shown(command).map(|one| name(one).to_owned()));
    let pages = pages.map(|name| (name, 1)).chain([("beadle.yaml".to_owned(), 5)]);
    let mut roff = Roff::new();
    references(&mut roff, &pages.collect::<Vec<_>>());
    roff
}

const DESCRIPTION: &str = "The policy says where Beadle listens, which sites it serves, which rules \
their robots.txt publishes, and what happens to requests that break them. It is a file in YAML.

  violations:
    database: violations.db
  sites:
    - hosts: [www.example.com]
      default: true
      origin: http://127.0.0.1:3000
      robots_txt:
        groups:
          - { user_agents: [\"*\"], disallow: [/private/] }
          - { user_agents: [GPTBot], disallow: [/] }

Relative names of files start in the folder of the policy. A list also accepts a single value. Times \
have a unit (`ms`, `s`, `m`, `h`, `d`), and so do sizes (`kB`, `MB`, `GB`, `KiB`, `MiB`, `GiB`).

`beadle check` finds mistakes in a policy, `beadle test` runs its tests, and `beadle reload` puts a \
changed policy in force. `beadle init` writes a first one.";

fn of_policy() -> Page {
    let mut roff = Roff::new();
    roff.control("SH", ["NAME"]).text(marked("beadle.yaml - the policy of Beadle"));
    roff.control("SH", ["DESCRIPTION"]);
    paragraphs(&mut roff, DESCRIPTION);
    roff.control("SH", ["KEYS"]);
    write(&mut roff, &POLICY, &mut Vec::new());
    let pages = ["beadle", "beadle-check", "beadle-init", "beadle-reload", "beadle-test"];
    references(&mut roff, &pages.map(|name| (name.to_owned(), 1)));
    let text = finished(&(title("beadle.yaml", 5) + &roff.render()));
    Page { name: "beadle.yaml.5".to_owned(), text }
}

/// The keys of a section, then those of the sections in it. Each section is written once.
fn write(roff: &mut Roff, section: &'static Section, written: &mut Vec<&'static str>) {
    if written.contains(&section.path) {
        return;
    }
    written.push(section.path);
    if !section.path.is_empty() {
        roff.control("SS", [section.path]);
    }
    if !section.one_of.is_empty() {
        roff.text(marked(&format!("One of `{}`.", section.one_of.join("`, `"))));
    }
    for key in section.keys {
        roff.control("TP", []).text([bold(key.name)]);
        roff.text(marked(&explanation(key)));
    }
    for key in section.keys {
        for inner in key.shape.sections() {
            write(roff, inner, written);
        }
    }
}

/// What a key is for, its value, and what its absence means.
fn explanation(key: &Key) -> String {
    let mut meaning = key.meaning.chars();
    let first: String = meaning.next().into_iter().flat_map(char::to_uppercase).collect();
    let absent = match key.absent {
        Absent::Required => "Required".to_owned(),
        Absent::Value(value) => format!("Default: `{value}`"),
        Absent::Words(words) => format!("Default: {words}"),
    };
    format!("{first}{}. Value: {}. {absent}.", meaning.as_str(), value(key.shape))
}

fn value(shape: Shape) -> String {
    let either = |words: Vec<String>| match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    };
    match shape {
        Shape::Text => "text".to_owned(),
        Shape::Form(form) => format!("text such as `{}`", form.example),
        Shape::Boolean => "`true` or `false`".to_owned(),
        Shape::Integer(least, most) => format!("a whole number from {least} to {most}"),
        Shape::Number(least, most) => format!("a number from {least} to {most}"),
        Shape::OneNumber(numbers) => either(numbers.iter().map(i64::to_string).collect()),
        Shape::Choice(words) => either(words.iter().map(|word| format!("`{word}`")).collect()),
        Shape::Purpose => either(Purpose::ALL.iter().map(|one| format!("`{one}`")).collect()),
        Shape::Crawlers => "a product token, `set:NAME`, `purpose:NAME` or `*`".to_owned(),
        Shape::SomeCrawlers => "a product token, `set:NAME` or `purpose:NAME`".to_owned(),
        Shape::Either(shapes) => either(shapes.iter().map(|shape| value(*shape)).collect()),
        Shape::List(item) => format!("a list of: {}", value(*item)),
        Shape::Some(item) => format!("a list with at least one of: {}", value(*item)),
        Shape::Sections(section) => format!("a list of mappings (see `{}`)", section.path),
        Shape::Section(section) => format!("a mapping (see `{}`)", section.path),
        Shape::Mapping(item) => format!("a mapping of names to: {}", value(*item)),
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// The name of its file, `beadle-serve.1`.
    pub(crate) name: String,
    /// The page in the language of roff, in ASCII.
    pub(crate) text: String,
}

/// The page of rendered sections. Each comes with the definition of the apostrophe, which a page needs once,
/// and text of any language is written in ASCII, which every formatter reads.
fn finished(rendered: &str) -> String {
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
fn title(name: &str, section: u8) -> String {
    format!(".TH {name} {section} \"\" \"beadle {}\" \"Beadle Manual\"\n", version::NUMBER)
}

/// Adds paragraphs. Lines that begin with two spaces keep their form.
fn paragraphs(roff: &mut Roff, text: &str) {
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
fn marked(line: &str) -> Vec<Inline> {
    let parts = line.split('`').enumerate();
    let part = |(at, part): (usize, &str)| if at % 2 == 1 { bold(part) } else { roman(part) };
    parts.filter(|(_, part)| !part.is_empty()).map(part).collect()
}

/// References to other pages, by name and section.
fn references(roff: &mut Roff, pages: &[(String, u8)]) {
    roff.control("SH", ["SEE ALSO"]);
    for (at, (name, section)) in pages.iter().enumerate() {
        let comma = if at + 1 < pages.len() { "," } else { "" };
        roff.text([bold(name.as_str()), roman(format!("({section}){comma}"))]);
    }
}
