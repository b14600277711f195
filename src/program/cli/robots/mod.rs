//! `beadle robots`: the robots.txt of a site, and its history.

use std::io::Write;

use clap_complete::ArgValueCompleter;
use jiff::Timestamp;

use crate::{
    program::{
        cli::memory,
        console::{ConfigFile, Error, Exit, Format, completions, load_with_database, remark, site},
    },
    rules::policy,
};

mod acceptance; // what an operator decides about a quarantined file
mod history; // the editions that were published
pub(super) mod kept; // an edition in the database

use acceptance::Verb;

/// Print the robots.txt of a site as it is served, or its history
///
/// Prints the file as crawlers get it. The file of an origin comes from the database, so the server
/// need not run.
///
///   beadle robots
///   beadle robots --history
///   beadle robots --edition 3f2a91c0
///   beadle robots accept --site www.example.com
///   beadle robots discard --site www.example.com
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
#[command(mut_arg("config", |arg| arg.global(true)))]
#[command(mut_arg("config_key", |arg| arg.global(true)))]
#[command(mut_arg("config_copy", |arg| arg.global(true)))]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigFile,
    /// The site, named by one of its hosts. Required if the policy has several sites.
    #[arg(long, value_name = "HOST", global = true, add = ArgValueCompleter::new(completions::sites))]
    site: Option<String>,
    /// List the editions in the database, with the start and end of each period in force.
    #[arg(long)]
    history: bool,
    /// Print the bytes of an edition in the database, named by the first digits of its hash, 8 at
    /// least.
    #[arg(long, value_name = "ID", conflicts_with = "history")]
    edition: Option<String>,
    /// Output format of a history.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(subcommand)]
    verb: Option<Verb>,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let policy = load_with_database(&args.config)?;
    let memory = memory::read(&policy)?;
    let policy = memory.with_hosts(policy, Timestamp::now());
    let host = args.site.as_deref();
    if let Some(verb) = args.verb {
        if args.history || args.edition.is_some() {
            let message = "a decision takes neither --history nor --edition (run them separately)";
            return Err(Error::Refused(message.to_owned()));
        }
        return acceptance::decide(verb, &policy, host, out);
    }
    // Of hosts that the policy has as one site, the first stands for all.
    let only = policy.written_sites().next().filter(|_| policy.written_sites().count() == 1);
    let rulebook = memory::rulebook(&policy, &memory);
    let site = site::find(&rulebook, host.or_else(|| only.map(policy::Site::name)));
    if let Some(id) = &args.edition {
        let named = host.map(|_| site).transpose()?;
        out.write_all(&kept::named(&policy, named, id)?.bytes)?;
        return Ok(Exit::Fine);
    }
    if args.history {
        let named = host.map(|_| site).transpose()?;
        history::print(&policy, named, args.format, out)?;
    } else {
        let site = site?;
        site::known_edition(site)?;
        if let Some(file) = memory.quarantine_of(&site.name) {
            let state = match file.discarded {
                Some(at) => format!("was discarded at {at:.0}"),
                None => format!("is in quarantine since {:.0}", file.since),
            };
            remark(&format!("{}: the origin's file {} {state}", site.name, file.id));
        }
        let host = host.filter(|host| !host.starts_with('*')).map(str::to_ascii_lowercase);
        out.write_all(&site.robots_txt(host.as_deref()).0)?;
    }
    Ok(Exit::Fine)
}
