//! The page of the policy, made of its keys.

use clap_mangen::roff::{Roff, bold};

use super::roff::{self, Page};
use crate::rules::{
    crawlers::Purpose,
    keys::{Absent, Key, POLICY, Section, Shape},
};

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

pub(super) fn page() -> Page {
    let mut roff = Roff::new();
    roff.control("SH", ["NAME"]).text(roff::marked("beadle.yaml - the policy of Beadle"));
    roff.control("SH", ["DESCRIPTION"]);
    roff::text(&mut roff, DESCRIPTION);
    roff.control("SH", ["KEYS"]);
    write(&mut roff, &POLICY, &mut Vec::new());
    let pages = ["beadle", "beadle-check", "beadle-init", "beadle-reload", "beadle-test"];
    roff::see_also(&mut roff, &pages.map(|name| (name.to_owned(), 1)));
    let text = roff::page(&(roff::title("beadle.yaml", 5) + &roff.render()));
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
        roff.text(roff::marked(&format!("One of `{}`.", section.one_of.join("`, `"))));
    }
    for key in section.keys {
        roff.control("TP", []).text([bold(key.name)]);
        roff.text(roff::marked(&explanation(key)));
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
