//! `beadle completions`: completions for shells, which know the sites of the policy and the crawlers.
//!
//! The script of a shell asks the program itself: it runs it with [`VARIABLE`] and the words of the
//! line so far.

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{self, Write},
    path::PathBuf,
};

use clap_complete::{CompletionCandidate, env::Shells};

use crate::{
    program::console::{
        config::ConfigFile,
        output::{Error, Exit},
    },
    rules::{
        crawlers::{Crawler, Purpose},
        policy::{self, Host, Policy},
    },
    state::publication,
};

/// The variable with the name of the shell that asks.
const VARIABLE: &str = "BEADLE_COMPLETE";

const PROGRAM: &str = "beadle";

/// Print completions for a shell
///
/// Completes commands, options, sites, product tokens and purposes. The sites and your own crawlers
/// come from the policy that the line names, else from $BEADLE_CONFIG or beadle.yaml.
///
///   beadle completions bash > /etc/bash_completion.d/beadle
///   beadle completions zsh > /usr/local/share/zsh/site-functions/_beadle
///   beadle completions fish > ~/.config/fish/completions/beadle.fish
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// The shell.
    #[arg(value_parser = ["bash", "zsh", "fish"])]
    shell: String,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let shells = Shells::builtins();
    if let Some(shell) = shells.completer(&args.shell) {
        shell.write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, out)?;
    }
    Ok(Exit::Fine)
}

/// Answers a shell, if one asks. `command` is the whole command line.
pub(crate) fn answer(command: impl FnOnce() -> clap::Command) -> Option<Result<Exit, Error>> {
    let shell = env::var_os(VARIABLE).filter(|shell| !shell.is_empty())?;
    let shells = Shells::builtins();
    let shell = shell.to_str().and_then(|shell| shells.completer(shell))?;
    let (mut command, folder) = (command(), env::current_dir().ok());
    let mut out = io::stdout().lock();
    let written = shell.write_complete(&mut command, words(), folder.as_deref(), &mut out);
    Some(written.map(|()| Exit::Fine).map_err(Error::from))
}

/// The words of the line so far, after the `--` of the script.
fn words() -> Vec<OsString> {
    env::args_os().skip_while(|word| word != "--").skip(1).collect()
}

/// The policy of the line, if it can be read.
fn policy() -> Option<Policy> {
    let words = words();
    let named = words.iter().enumerate().find_map(|(at, word)| {
        let word = word.to_str()?;
        let inside = word.strip_prefix("--config=").map(PathBuf::from);
        let next = || words.get(at + 1).map(PathBuf::from);
        inside.or_else(|| ["--config", "-c"].contains(&word).then(next).flatten())
    });
    let usual = || env::var_os("BEADLE_CONFIG").map_or_else(|| "beadle.yaml".into(), PathBuf::from);
    // Of a policy on a server, the copy answers at once.
    let config = ConfigFile::of(&named.unwrap_or_else(usual));
    publication::read_policy(config.file()).ok()?.policy
}

/// The candidates that begin with the word, without regard to case.
fn beginning<'n>(
    word: &OsStr,
    names: impl Iterator<Item = (&'n str, Option<&'n str>)>,
) -> Vec<CompletionCandidate> {
    let word = word.to_string_lossy().to_ascii_lowercase();
    let begins = |(name, _): &(&str, _)| name.to_ascii_lowercase().starts_with(&word);
    let candidate = |(name, help): (&str, Option<&str>)| {
        CompletionCandidate::new(name).help(help.map(|help| help.to_owned().into()))
    };
    names.filter(begins).map(candidate).collect()
}

pub(crate) fn sites(word: &OsStr) -> Vec<CompletionCandidate> {
    let Some(policy) = policy() else { return Vec::new() };
    beginning(
        word,
        policy.sites.iter().flat_map(|site| &site.hosts).map(|host| (Host::as_str(host), None)),
    )
}

/// Product tokens of crawlers, with their operators.
pub(crate) fn tokens(word: &OsStr) -> Vec<CompletionCandidate> {
    let known =
        policy().map_or_else(|| policy::built_in_catalogue().into(), |policy| policy.catalogue);
    let names = known
        .iter()
        .map(|crawler: &Crawler| (crawler.product_token().as_str(), crawler.operator()));
    beginning(word, names)
}

pub(crate) fn purposes(word: &OsStr) -> Vec<CompletionCandidate> {
    beginning(word, Purpose::ALL.iter().map(|purpose| (purpose.as_str(), None)))
}
