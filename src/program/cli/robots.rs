//! `beadle robots`: the robots.txt of a site, and its history.

use std::{
    io::{self, IsTerminal, Write},
    path::Path,
};

use clap_complete::ArgValueCompleter;
use jiff::Timestamp;

use crate::{
    advice::edit::patch,
    base::escape,
    program::console::{
        ConfigFile, Error, Exit, Format, completions, json, load_with_database, refuse, remark,
        site,
    },
    records::{
        record::{Edition, QuarantineAct},
        violations::Store,
    },
    review::report::EditionRow,
    rules::{
        enforce::{Rulebook, Site},
        policy::{self, Policy},
    },
    state::publication::Memory,
};

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
    let memory = memory(&policy)?;
    let policy = memory.with_hosts(policy, Timestamp::now());
    let host = args.site.as_deref();
    if let Some(verb) = args.verb {
        if args.history || args.edition.is_some() {
            return refuse(
                "a decision takes neither --history nor --edition (run them separately)",
            );
        }
        return decide(verb, &policy, host, out);
    }
    // Of hosts that the policy has as one site, the first stands for all.
    let only = policy.written_sites().next().filter(|_| policy.written_sites().count() == 1);
    let rulebook = memory.rulebook(&policy, Timestamp::now());
    let site = site::find(&rulebook, host.or_else(|| only.map(policy::Site::name)));
    if let Some(id) = &args.edition {
        let named = host.map(|_| site).transpose()?;
        if id.len() < LEAST_DIGITS {
            let shown = escape::shown(id);
            return refuse(format!(
                "'{shown}' is too short (write {LEAST_DIGITS} or more hexadecimal digits; 'beadle \
                 robots --history' lists the editions)"
            ));
        }
        out.write_all(&kept_edition(&policy, named, id)?.bytes)?;
        return Ok(Exit::Fine);
    }
    if args.history {
        let named = host.map(|_| site).transpose()?;
        print_history(&policy, named, args.format, out)?;
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

/// What the operator decides.
#[derive(Clone, Copy, Debug, clap::Subcommand)]
enum Verb {
    /// Publish the quarantined robots.txt of the origin.
    ///
    /// Beadle quarantines a robots.txt that suddenly closes the whole site, or lost its rules. A
    /// running server publishes the accepted file within seconds.
    Accept,
    /// Keep the last good robots.txt, and end the alert about the quarantined one.
    ///
    /// Beadle ignores the same file for as long as the origin sends it. Another file is judged
    /// anew. 'beadle robots accept' still publishes a discarded file.
    Discard,
}

fn decide(
    verb: Verb,
    policy: &Policy,
    host: Option<&str>,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let rulebook = Rulebook::compile(policy, Timestamp::UNIX_EPOCH, None);
    let site = site::find(&rulebook, host)?;
    let mut store = Store::open_existing(site::database(policy)?)?;
    let (decision, done) = match verb {
        Verb::Accept => (QuarantineAct::Accept, "accepted"),
        Verb::Discard => (QuarantineAct::Discard, "discarded"),
    };
    let Some(file) = store.decide((&site.name, None), decision, Timestamp::now())? else {
        return refuse(format!("{}: no robots.txt is in quarantine", site.name));
    };
    writeln!(
        out,
        "{}: {done} the origin's file {} ({} bytes, in quarantine since {:.0})",
        site.name,
        file.id,
        file.bytes.len(),
        file.since
    )?;
    Ok(Exit::Fine)
}

/// The most changed lines of an edition.
const MOST_LINES: usize = 20;

fn print_history(
    policy: &Policy,
    site: Option<&Site>,
    format: Format,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let store = site::store(policy)?;
    let name = site.map(|site| site.name.as_str());
    let editions = store.editions(name, None)?;
    if format == Format::Text {
        if editions.is_empty() {
            writeln!(out, "the database has no edition yet")?;
            return Ok(());
        }
        let (edition, from, until, source) = ("EDITION", "FROM", "UNTIL", "SOURCE");
        let (rules, bytes) = ("RULES", "BYTES");
        writeln!(
            out,
            "{edition:<17} {from:<20} {until:<20} {source:<7} {rules:>6} {bytes:>8}  SITE"
        )?;
    }
    for (at, edition) in editions.iter().enumerate() {
        let row = EditionRow::of(edition);
        if format == Format::Json {
            json(out, &row)?;
            continue;
        }
        let EditionRow { edition: id, from, source, rules, bytes, site, .. } = &row;
        let until = row.until.as_deref().unwrap_or("in force");
        writeln!(out, "{id:<17} {from:<20} {until:<20} {source:<7} {rules:>6} {bytes:>8}  {site}")?;
        let earlier = editions.iter().take(at).rfind(|one| one.site == edition.site);
        changes(earlier, edition, out)?;
    }
    Ok(())
}

/// The lines that an edition has and the one before it has not, and those that went.
fn changes(before: Option<&Edition>, edition: &Edition, out: &mut dyn Write) -> Result<(), Error> {
    let Some(before) = before else { return Ok(()) };
    let [before, after] = [before, edition].map(|one| String::from_utf8_lossy(&one.bytes));
    let patch = patch("", &before, &after);
    // The first two lines name the files.
    let lines: Vec<&str> =
        patch.lines().skip(2).filter(|one| one.len() > 1 && one.starts_with(['+', '-'])).collect();
    for line in lines.iter().take(MOST_LINES) {
        writeln!(out, "  {}", escape::text(line.as_bytes()))?;
    }
    match lines.len().saturating_sub(MOST_LINES) {
        0 => Ok(()),
        more => Ok(writeln!(out, "  and {more} more: 'beadle robots --edition' shows the file")?),
    }
}

/// The fewest digits by which an operator names an edition: a part of its hash that is not there by chance.
const LEAST_DIGITS: usize = 8;

/// The edition whose hash begins with `id`; of `site` alone, if given.
pub(super) fn kept_edition(
    policy: &Policy,
    site: Option<&Site>,
    id: &str,
) -> Result<Edition, Error> {
    let store = site::store(policy)?;
    let mut found = store.editions_by_id(id, site.map(|site| site.name.as_str()))?;
    let shown = escape::bounded(id.as_bytes(), 80);
    match (found.pop(), found.len()) {
        (Some(only), 0) => Ok(only),
        (None, _) => refuse(format!(
            "no edition begins with '{shown}' ('beadle robots --history' lists them)"
        )),
        (Some(_), others) => {
            refuse(format!("{} editions begin with '{shown}' (write more digits)", others + 1))
        }
    }
}

/// What the server stored, as the policy's database keeps it. Where there is none yet, the answer is that of a first start; a
/// remark on a terminal says so.
pub(super) fn memory(policy: &Policy) -> Result<Memory, Error> {
    let database = policy.violations.local_database();
    let is_missing = |file: &&Path| file.try_exists().is_ok_and(|is_there| !is_there);
    if let Some(file) = database.filter(is_missing)
        && io::stderr().is_terminal()
    {
        let file = escape::path(file);
        remark(&format!("'{file}' does not exist yet: no edition and no fetch is known"));
    }
    Memory::read(policy, Timestamp::now()).map_err(|error| Error::Refused(error.to_string()))
}
