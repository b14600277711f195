//! The page of a command, made of its arguments.

use std::io;

use clap::Command;
use clap_mangen::{
    Man,
    roff::{Roff, roman},
};

use super::roff::{self, Page};

/// The pages of a command that is built, and of those below it.
pub(super) fn pages(command: &Command) -> Vec<Page> {
    below(command, None)
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
    let mut sections = roff::title(name(command), 1);
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
    roff::page(&sections)
}

fn description(command: &Command) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["DESCRIPTION"]);
    let about = command.get_long_about().or_else(|| command.get_about());
    roff::text(&mut roff, &about.map(ToString::to_string).unwrap_or_default());
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
    roff::see_also(&mut roff, &pages.collect::<Vec<_>>());
    roff
}
