//! `beadle policy`: the policies that came into force, and the way back to one of them.

use std::{io::Write, path::PathBuf};

use serde_json::json;

use crate::{
    advice::comparison,
    base::escape::shown,
    program::{
        cli::reload,
        console::{
            ConfigFile, Error, Exit, Format, after_trial, input::agrees, json, read_now, refuse,
            remark, site,
        },
    },
    records::{record::PolicyEntry, violations::Store},
    state::publication::{PastPolicies, difference, read_policy_bytes, rewrite, summary},
};

/// The most policies in a text, unless the operator says otherwise.
const SHOWN: usize = 20;

/// List the policies that came into force, print one, or restore one
///
/// A running server keeps each policy that comes into force in its database, also the same one at each
/// start: the last 1,000. With ClickHouse, each node keeps its own in its local database.
///
///   beadle policy history
///   beadle policy show 12
///   beadle policy restore 12
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigFile,
    /// The database, if the policy file is too broken to name it.
    #[arg(long, value_name = "FILE", global = true)]
    database: Option<PathBuf>,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// List the policies that came into force, the newest first, and what each changed.
    ///
    /// Compares the meaning for crawlers, as 'beadle diff' does. Settings of the server and of records
    /// are not compared.
    History {
        /// Most policies to list (default: 20 in text, else all).
        #[arg(long, short = 'n', value_name = "N")]
        limit: Option<usize>,
        /// Output format.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Print the file of a policy, byte for byte.
    Show {
        /// The number of the policy in the history.
        id: i64,
        /// Print what it changed instead, compared with the one before.
        #[arg(long)]
        changes: bool,
    },
    /// Write a policy of the history into the policy file, and reload it.
    ///
    /// Shows what would change, and asks. Keeps the mode and the owner of the file. A policy with
    /// errors or failing tests is not written. A symbolic link or a mounted file is not replaced: the
    /// policy is printed instead.
    Restore {
        /// The number of the policy in the history.
        id: i64,
        /// Ask nothing.
        #[arg(long, short)]
        yes: bool,
    },
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let store = open(args)?;
    let mut past = PastPolicies::new(&store, args.config.file(), STEPS);
    match args.verb {
        Verb::History { limit, format } => list(&store, &mut past, limit, format, out)?,
        Verb::Show { id, changes: false } => out.write_all(&file(&store, id)?)?,
        Verb::Show { id, changes: true } => {
            let (entry, before) = (entry(&store, id)?, store.policies(None, Some(id), 1)?.pop());
            let change = past.change(&entry, before.as_ref())?;
            let lines = change.as_ref().map_or_else(|_| vec![summary(&change)], comparison::text);
            lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
        }
        Verb::Restore { id, yes } => {
            return restore(&file(&store, id)?, &args.config, (id, yes), out);
        }
    }
    Ok(Exit::Fine)
}

/// The database of this machine. A policy with errors may still name it.
fn open(args: &Args) -> Result<Store, Error> {
    if let Some(database) = &args.database {
        return Ok(Store::open_read_only(database)?);
    }
    let read = read_now(&args.config)?;
    let Some(policy) = read.policy.or(read.draft) else {
        let message = "the policy can't be read: name its database with --database";
        return refuse(format!("{}: {message}", args.config.name()));
    };
    Ok(Store::open_read_only(site::database(&policy)?)?)
}

fn list(
    store: &Store,
    past: &mut PastPolicies<'_>,
    limit: Option<usize>,
    format: Format,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let limit = limit.unwrap_or(if format == Format::Text { SHOWN } else { usize::MAX });
    let entries = store.policies(None, None, limit.saturating_add(1))?;
    if format == Format::Text {
        writeln!(out, "{:>5}  {:<20}  {:<6}  CHANGE", "ID", "TIME", "BY")?;
    }
    for (at, entry) in entries.iter().enumerate().take(limit) {
        let change = past.change(entry, entries.get(at + 1))?;
        let PolicyEntry { id, by, sha256, length, .. } = entry;
        let (time, summary) = (entry.at.strftime("%FT%H:%M:%SZ").to_string(), summary(&change));
        match format {
            Format::Text => writeln!(out, "{id:>5}  {time}  {:<6}  {summary}", shown(by.as_str()))?,
            Format::Json => json(
                out,
                &json!({
                    "id": id, "time": time, "by": by, "sha256": sha256, "bytes": length,
                    "summary": summary, "changes": change.ok().map(|found| found.rows),
                }),
            )?,
        }
    }
    if format == Format::Text && entries.len() > limit {
        writeln!(out, "older ones follow: --limit N shows more")?;
    }
    Ok(())
}

fn entry(store: &Store, id: i64) -> Result<PolicyEntry, Error> {
    let found = store.policies(None, Some(id.saturating_add(1)), 1)?.pop();
    found.filter(|entry| entry.id == id).ok_or_else(|| {
        let hint = "'beadle policy history' lists the numbers";
        Error::Refused(format!("no policy has the number {id} ({hint})"))
    })
}

fn file(store: &Store, id: i64) -> Result<Vec<u8>, Error> {
    Ok(store.policy_file(&entry(store, id)?.sha256)?.unwrap_or_default())
}

/// The steps of an exact search, as `beadle diff` takes.
const STEPS: usize = 100_000_000;

/// Restores the policy with this number. Asks first, unless the operator said yes.
fn restore(
    bytes: &[u8],
    config: &ConfigFile,
    (id, is_agreed): (i64, bool),
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let (name, place) = (format!("policy {id}"), shown(config.name()));
    let (policy, _) = after_trial(read_policy_bytes(config.file(), &name, bytes.into()), &name)?;
    let now = read_now(config)?;
    if now.bytes == bytes {
        writeln!(out, "{place} has this policy already")?;
        return Ok(Exit::Fine);
    }
    match &now.policy {
        Some(now) => {
            let lines = comparison::text(&difference(now, &policy, STEPS));
            lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
        }
        None => writeln!(out, "{place} has errors now, so nothing is compared")?,
    }
    out.flush()?;
    if !is_agreed && !agrees(&format!("Write {name} into {place}?"))? {
        writeln!(out, "nothing is written")?;
        return Ok(Exit::Findings);
    }
    let written = match config.remote()? {
        Some(_) => Err("it is on a server".to_owned()),
        None => rewrite(config.file(), &now.bytes, bytes),
    };
    if let Err(error) = written {
        remark(&format!("{place} is not written: {error}; write this text there"));
        out.write_all(bytes)?;
        return Ok(Exit::Failed);
    }
    writeln!(out, "{place}: {name} is written")?;
    match reload::run(config, Format::Text, out) {
        // The file is what was asked for; a server that does not run takes it at its start.
        Err(Error::Refused(why)) => remark(&format!("not reloaded: {why}")),
        reloaded => return reloaded,
    }
    Ok(Exit::Fine)
}
