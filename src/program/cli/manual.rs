//! `beadle help`, `manual` and `schema`: what the program says of itself, and examples in the help of every
//! verb.
//!
//! The examples of a verb are the lines of its long help that begin with two spaces and run `beadle`.
//! The short help shows them too. For a verb whose long help is one text, they are in [`EXAMPLES`].

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::Command;

use crate::{
    advice::manual::pages as pages_of,
    base::escape,
    program::console::{Error, Exit, write_file},
    rules::keys,
};

/// Show the help of Beadle or of a command
///
///   beadle help
///   beadle help violations
///   beadle help crawlers score
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct HelpArgs {
    /// The command, and the command below it.
    #[arg(value_name = "COMMAND")]
    verb: Vec<String>,
}

/// Runs the line again as if it had asked for `--help`.
pub(super) fn help(args: &HelpArgs, command: Command) -> Result<Exit, Error> {
    let verb = args.verb.iter().map(String::as_str);
    let line = ["beadle"].into_iter().chain(verb).chain(["--help"]);
    Ok(command.try_get_matches_from(line).map_or_else(|error| print(&error), |_| Exit::Fine))
}

/// Prints what the parser answers instead of arguments: help and version are errors for clap, but no
/// failure.
pub(super) fn print(answer: &clap::Error) -> Exit {
    let _ = answer.print();
    if answer.use_stderr() { Exit::Failed } else { Exit::Fine }
}

/// Write the manual as pages for man
///
/// Writes beadle.1, a page for each command, such as beadle-serve.1, and beadle.yaml.5 with all keys of
/// a policy. Makes the folder, and replaces pages of an earlier version in it.
///
///   beadle manual pages
///   man ./pages/beadle-serve.1
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct ManualArgs {
    /// The folder of the pages.
    #[arg(value_name = "DIRECTORY")]
    folder: PathBuf,
}

pub(super) fn manual(
    args: &ManualArgs,
    command: Command,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let folder = &args.folder;
    std::fs::create_dir_all(folder)
        .map_err(|error| Error::Refused(format!("{}: {error}", escape::path(folder))))?;
    let pages = pages_of(command);
    for page in &pages {
        write_file(&folder.join(&page.name), page.text.as_bytes(), true)?;
    }
    writeln!(out, "{} pages in {}", pages.len(), escape::path(folder))?;
    Ok(Exit::Fine)
}

/// Print the JSON Schema of the policy
///
/// Editors complete and explain the keys of a policy with it. For editors with yaml-language-server,
/// write this comment into the first line of the policy:
///
///   # yaml-language-server: $schema=./beadle.schema.json
///
/// Example:
///
///   beadle schema > beadle.schema.json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct SchemaArgs {}

pub(super) fn schema(out: &mut dyn Write) -> Result<Exit, Error> {
    let text = serde_json::to_string_pretty(&keys::schema()).map_err(io::Error::other)?;
    writeln!(out, "{text}")?;
    Ok(Exit::Fine)
}

/// Examples of verbs without any in their long help.
const EXAMPLES: [(&str, &str); 34] = [
    ("serve", "beadle serve --config beadle.yaml"),
    ("serve", "beadle serve --origin http://127.0.0.1:3000"),
    ("reload", "beadle reload --config beadle.yaml"),
    ("reload", "beadle reload --format json"),
    ("demo", "beadle demo"),
    ("demo", "beadle demo --port 8088 --no-traffic"),
    ("robots accept", "beadle robots accept --site www.example.com"),
    ("robots discard", "beadle robots discard --site www.example.com"),
    ("crawlers", "beadle crawlers list --purpose ai-training"),
    ("crawlers", "beadle crawlers show GPTBot"),
    ("crawlers identify", "beadle crawlers identify < user-agents.txt"),
    ("crawlers list", "beadle crawlers list --purpose ai-training"),
    ("crawlers show", "beadle crawlers show GPTBot"),
    ("crawlers score", "beadle crawlers score GPTBot"),
    ("crawlers score", "beadle crawlers score bingbot --since 30d"),
    ("crawlers impostors", "beadle crawlers impostors"),
    ("crawlers impostors", "beadle crawlers impostors --since 30d --format json"),
    ("crawlers accept", "beadle crawlers accept"),
    ("crawlers accept", "beadle crawlers accept ExampleBot"),
    ("crawlers update", "beadle crawlers update --from crawlers.yaml"),
    ("crawlers evaluate", "beadle crawlers evaluate labelled.jsonl"),
    ("store check", "beadle store check"),
    ("store check", "beadle store check --format json"),
    ("store backup", "beadle store backup /var/backups/violations.db"),
    ("store compact", "beadle store compact"),
    ("policy history", "beadle policy history"),
    ("policy history", "beadle policy history --format json"),
    ("policy show", "beadle policy show 12"),
    ("policy show", "beadle policy show 12 --changes"),
    ("policy restore", "beadle policy restore 12 --yes"),
    ("fleet", "beadle fleet --config beadle.yaml"),
    ("fleet", "beadle fleet --format json"),
    ("alerts", "beadle alerts test"),
    ("alerts test", "beadle alerts test --config beadle.yaml"),
];

/// The command with examples in the help of each verb below `path`.
pub(super) fn with_examples(command: Command, path: &str) -> Command {
    let names: Vec<String> =
        command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| {
        let path = format!("{path} {name}");
        command.mut_subcommand(name, |verb| with_examples(shown(verb, path.trim_start()), &path))
    })
}

fn shown(verb: Command, path: &str) -> Command {
    let long = verb.get_long_about().map(ToString::to_string).unwrap_or_default();
    let own = long.lines().filter(|line| line.starts_with("  ") && line.contains("beadle "));
    let own: Vec<&str> = own.map(str::trim).collect();
    let (examples, is_in_long) = match own.is_empty() {
        false => (own, true),
        true => {
            (EXAMPLES.iter().filter(|(of, _)| *of == path).map(|(_, one)| *one).collect(), false)
        }
    };
    if examples.is_empty() {
        return verb;
    }
    let text = format!("Examples:\n  {}", examples.join("\n  "));
    let verb = verb.after_help(text);
    // The long help has them in its text.
    if is_in_long { verb.after_long_help("") } else { verb }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of an example, as a shell would split them, up to a pipe or a redirection.
    fn words(example: &str) -> Vec<String> {
        let program = example.find("beadle ").expect("it runs the program");
        let ours = example[program..].split([' ', '\t']).filter(|word| !word.is_empty());
        let ours = ours.take_while(|word| !["|", ">", "<"].contains(word));
        ours.map(|word| word.trim_matches('\'').to_owned()).collect()
    }

    fn check(command: &Command, path: &str, all: &Command) {
        for verb in command.get_subcommands() {
            let path = format!("{path} {}", verb.get_name());
            let help = verb.clone().render_help().to_string();
            let (_, examples) = help.split_once("Examples:\n").unwrap_or_else(|| {
                panic!("no example for '{path}': write some into its long help or the table here")
            });
            for example in examples.lines().map(str::trim).filter(|line| !line.is_empty()) {
                assert!(example.contains(&format!("beadle{path}")), "'{path}': {example}");
                let parsed = all.clone().try_get_matches_from(words(example));
                assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
            }
            check(verb, &path, all);
        }
    }

    #[test]
    fn every_verb_has_examples_that_it_understands() {
        let command = crate::program::cli::command();
        check(&command, "", &command);
    }

    #[test]
    fn no_example_is_for_a_verb_that_is_not_there() {
        for (path, _) in EXAMPLES {
            let command = crate::program::cli::command();
            let verb = path.split(' ').try_fold(&command, |at, name| at.find_subcommand(name));
            let long = verb.expect(path).get_long_about().map(ToString::to_string);
            let has_own = long.is_some_and(|long| long.contains("\n  beadle "));
            assert!(!has_own, "{path}: its long help has examples");
        }
    }
}
