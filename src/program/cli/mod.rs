//! The command line: one file for each verb, which reads arguments, calls one function and prints.
//!
//! Exit codes: 0 fine, 1 findings, 2 could not run. A closed pipe is no error, because the reader
//! has read enough. With `--format json` every verb prints one object per line.
//!
//! May use: everything. Must not know: how anything is decided.

use std::{io, process::ExitCode};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::{
    base::version,
    program::{
        console::{Exit, completions},
        service::Control,
    },
};

mod alerts;
mod audit;
mod block;
mod check;
mod crawlers;
mod demo;
mod diff;
mod explain;
mod fleet;
mod import;
mod init;
mod manual; // with 'help', 'schema' and the examples in the help
mod policy;
mod reload;
mod replay;
mod report;
mod robots; // with what the server stored
mod serve;
mod store;
mod tags;
mod test;
mod violations;

/// Holds crawlers to your site's own robots rules.
///
/// Beadle runs in front of your server. From one policy file it serves robots.txt, sets Robots-Tag
/// on responses, identifies crawlers, and logs or blocks requests that break your rules.
#[derive(Debug, Parser)]
#[command(name = "beadle", version = version::NUMBER, long_version = version::WHOLE)]
#[command(max_term_width = 100, disable_help_subcommand = true, after_help = AFTER)]
struct Args {
    #[command(subcommand)]
    verb: Verb,
}

/// What a newcomer needs first, and what holds for all verbs.
const AFTER: &str = "\
Examples:
  beadle demo                            look at Beadle without a site
  beadle replay --robots-txt URL LOG     judge an access log by a robots.txt
  beadle init                            write a first policy, beadle.yaml
  beadle check                           find mistakes in it
  beadle serve                           serve its sites
  beadle serve --origin URL              serve a site without a policy
  beadle violations --since 24h          list what crawlers did
  beadle help violations                 show all options of a command

Environment:
  BEADLE_CONFIG   the policy file (default: beadle.yaml in the current folder)
  BEADLE_LOG      log level of the server: error, warn, info (default) or debug
  NO_COLOR        no colours, if set

Exit codes:
  0   fine
  1   findings: violations, failed tests, differences
  2   the command could not run";

#[derive(Debug, Subcommand)]
enum Verb {
    Serve(serve::Args),
    Reload(reload::Args),
    Demo(demo::Args),
    Init(init::Args),
    Check(check::Args),
    Diff(diff::Args),
    Import(import::Args),
    Test(test::Args),
    Block(block::BlockArgs),
    Limit(block::LimitArgs),
    Quiet(block::QuietArgs),
    Unblock(block::UnblockArgs),
    Schema(manual::SchemaArgs),
    Robots(robots::Args),
    Explain(explain::Args),
    Crawlers(crawlers::Args),
    Tags(tags::Args),
    Replay(replay::Args),
    Audit(audit::Args),
    Violations(violations::Args),
    Report(report::Args),
    Store(store::Args),
    Policy(policy::Args),
    Alerts(alerts::Args),
    Fleet(fleet::Args),
    Completions(completions::Args),
    Manual(manual::ManualArgs),
    Help(manual::HelpArgs),
}

fn command() -> clap::Command {
    manual::with_examples(Args::command(), "")
}

/// Runs the program.
pub fn run() -> ExitCode {
    // Before anything else: a SIGHUP without a handler ends the process.
    let is_server =
        std::env::args_os().nth(1).is_some_and(|verb| verb == "serve" || verb == "demo");
    let control = match is_server.then(Control::start).transpose() {
        Ok(control) => control,
        Err(error) => return Exit::of(Err(error)).into(),
    };
    if let Some(answered) = completions::answer(command) {
        return Exit::of(answered).into();
    }
    let matches = command().try_get_matches();
    let args = match matches.and_then(|matches| Args::from_arg_matches(&matches)) {
        Ok(args) => args,
        Err(error) => return manual::print(&error).into(),
    };
    let mut out = io::stdout().lock();
    let outcome = match args.verb {
        Verb::Serve(args) => {
            drop(out);
            serve::run(&args, control)
        }
        Verb::Demo(args) => {
            drop(out);
            demo::run(&args, control)
        }
        Verb::Reload(args) => reload::run(&args.config, args.format, &mut out),
        Verb::Init(args) => init::run(&args, &mut out),
        Verb::Check(args) => check::run(&args, &mut out),
        Verb::Diff(args) => diff::run(&args, &mut out),
        Verb::Import(args) => import::run(&args, &mut out),
        Verb::Test(args) => test::run(&args, &mut out),
        Verb::Block(args) => block::block(&args, &mut out),
        Verb::Limit(args) => block::limit(&args, &mut out),
        Verb::Quiet(args) => block::quiet(&args, &mut out),
        Verb::Unblock(args) => block::unblock(&args, &mut out),
        Verb::Schema(_) => manual::schema(&mut out),
        Verb::Robots(args) => robots::run(&args, &mut out),
        Verb::Explain(args) => explain::run(&args, &mut out),
        Verb::Crawlers(args) => crawlers::run(&args, &mut out),
        Verb::Tags(args) => tags::run(&args, &mut out),
        Verb::Replay(args) => replay::run(&args, &mut out),
        Verb::Audit(args) => audit::run(&args, &mut out),
        Verb::Violations(args) => violations::run(&args, &mut out),
        Verb::Report(args) => report::run(&args, &mut out),
        Verb::Store(args) => store::run(&args, &mut out),
        Verb::Policy(args) => policy::run(&args, &mut out),
        Verb::Completions(args) => completions::run(&args, &mut out),
        Verb::Alerts(args) => alerts::run(&args, &mut out),
        Verb::Fleet(args) => fleet::run(&args, &mut out),
        Verb::Manual(args) => manual::manual(&args, command(), &mut out),
        Verb::Help(args) => manual::help(&args, command()),
    };
    Exit::of(outcome).into()
}
