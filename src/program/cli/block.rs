//! `beadle block`, `limit`, `quiet` and `unblock`: one entry of the policy file, after a look at what it
//! changes.

use std::io::Write;

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::{reload, robots::memory};
use crate::{
    advice::comparison::{self, Comparison, Side},
    base::escape::{self, shown},
    program::console::{
        ConfigFile, Error, Exit, Format, database, good, input::agrees, json, read_now, refuse,
        remark, site,
    },
    review::proposal::{Act, Current, Declined, PastRow, Proposal, Request, past, propose},
    rules::policy::{self, Mode, Policy},
    state::publication,
};

/// The options of all four verbs.
#[derive(Debug, clap::Args)]
struct Common {
    /// The crawler: its product token, or what else user_agents of a policy takes, for example
    /// purpose:ai-training.
    #[arg(value_name = "CRAWLER")]
    name: String,
    #[command(flatten)]
    config: ConfigFile,
    /// The site, by one of its hosts. Not needed if the policy has one site.
    #[arg(long, value_name = "HOST")]
    site: Option<String>,
    /// Show the change and write nothing.
    #[arg(long)]
    preview: bool,
    /// Ask nothing; write.
    #[arg(long, short)]
    yes: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Block a crawler: set its mode in the policy file
///
/// Adds one line to the policy file and keeps every other byte of it. Shows the change of the text and of
/// its meaning first, and what the last seven days would have been. Asks, writes, and has the running
/// server reload. A policy that fails its own tests is not written.
///
/// A block refuses what robots.txt disallows for the crawler. With --path, robots.txt disallows that path
/// from now on.
///
///   beadle block GPTBot --preview
///   beadle block GPTBot --site www.example.com --for 7d
///   beadle block GPTBot --path /articles/ --yes
///   beadle block purpose:ai-training --mode log
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct BlockArgs {
    #[command(flatten)]
    common: Common,
    /// The mode.
    #[arg(long, value_name = "MODE", default_value = "block", value_parser = mode)]
    mode: Mode,
    /// Close this path for the crawler in robots.txt too.
    #[arg(long, value_name = "PATTERN")]
    path: Option<String>,
    /// End after this time, for example 7d.
    #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
    within: Option<SignedDuration>,
}

/// Limit the requests of a crawler in the policy file
///
/// Adds one rate limit to the policy file, as 'beadle block' adds a mode. Requests beyond it get 429.
///
///   beadle limit bingbot 60/1m --preview
///   beadle limit GPTBot 10/1m --path /search --for 2d --yes
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct LimitArgs {
    #[command(flatten)]
    common: Common,
    /// The requests in a time, for example 60/1m.
    #[arg(value_name = "REQUESTS/TIME")]
    requests: String,
    /// Requests that may come at once.
    #[arg(long, value_name = "NUMBER")]
    burst: Option<u32>,
    /// Only requests to these paths count. Repeat it for more.
    #[arg(long = "path", value_name = "PATTERN")]
    paths: Vec<String>,
    /// End after this time, for example 7d.
    #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
    within: Option<SignedDuration>,
}

/// Send no more alerts about a crawler
///
/// Adds one entry of 'quiet' to the policy file, as 'beadle block' adds a mode. The crawler's violations are
/// recorded as before. Its impostors still count for alerts.
///
///   beadle quiet GPTBot --preview
///   beadle quiet GPTBot --site www.example.com --for 30d --yes
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct QuietArgs {
    #[command(flatten)]
    common: Common,
    /// End after this time, for example 7d.
    #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
    within: Option<SignedDuration>,
}

/// Take back what 'beadle block', 'limit' and 'quiet' wrote for a crawler
///
/// The policy file then has the bytes that it had before. Entries that you wrote yourself stay.
///
///   beadle unblock GPTBot
///   beadle unblock GPTBot --site www.example.com --yes
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct UnblockArgs {
    #[command(flatten)]
    common: Common,
}

fn mode(text: &str) -> Result<Mode, String> {
    Mode::from_word(text).ok_or_else(|| "write off, log, throttle or block".to_owned())
}

fn duration(text: &str) -> Result<SignedDuration, String> {
    let time = policy::duration(text).and_then(|time| SignedDuration::try_from(time).ok());
    time.filter(SignedDuration::is_positive).ok_or_else(|| "write for example 7d or 12h".to_owned())
}

pub(super) fn block(args: &BlockArgs, out: &mut dyn Write) -> Result<Exit, Error> {
    if args.path.is_some() && args.within.is_some() {
        let why = "--path: robots.txt knows no end of a rule; leave out --for, and end it with \
                   'beadle unblock'";
        return Err(Error::Refused(why.to_owned()));
    }
    let until = end(args.within)?;
    let act = Act::Mode { mode: args.mode, until, path: args.path.clone() };
    run(&args.common, act, out)
}

pub(super) fn limit(args: &LimitArgs, out: &mut dyn Write) -> Result<Exit, Error> {
    let LimitArgs { requests, burst, paths, within, .. } = args;
    let (requests, paths) = (requests.clone(), paths.clone());
    run(&args.common, Act::Limit { requests, burst: *burst, paths, until: end(*within)? }, out)
}

pub(super) fn quiet(args: &QuietArgs, out: &mut dyn Write) -> Result<Exit, Error> {
    run(&args.common, Act::Quiet { until: end(args.within)? }, out)
}

pub(super) fn unblock(args: &UnblockArgs, out: &mut dyn Write) -> Result<Exit, Error> {
    run(&args.common, Act::Nothing, out)
}

/// The end of an entry that lasts so long from now, on a whole second.
fn end(within: Option<SignedDuration>) -> Result<Option<Timestamp>, Error> {
    let Some(within) = within else { return Ok(None) };
    let end = Timestamp::now().checked_add(within);
    let end = end.and_then(|end| Timestamp::from_second(end.as_second()));
    end.map(Some).map_err(|_| Error::Refused("--for: too long".to_owned()))
}

fn run(args: &Common, act: Act, out: &mut dyn Write) -> Result<Exit, Error> {
    let name = args.config.name();
    let read = read_now(&args.config)?;
    let bytes = read.bytes.clone();
    let (policy, _) = good(read)?;
    let stored = memory(&policy)?;
    let rulebook = stored.rulebook(&policy, Timestamp::now());
    let site = site::find(&rulebook, args.site.as_deref())?.name.clone();
    let request = Request { site: &site, name: &args.name, act };
    let current = Current { file: args.config.file(), name: &name, bytes: &bytes, policy: &policy };
    let proposal = propose(current, &request).map_err(|declined| refusal(&name, declined))?;
    let next = stored.rulebook(&proposal.policy, Timestamp::now());
    let meaning = comparison::policies(
        Side { policy: &policy, rulebook: &rulebook },
        Side { policy: &proposal.policy, rulebook: &next },
    );
    let rows = last_days(&proposal.policy, &request);
    let shown_name = escape::text(name.as_bytes());
    let row = |outcome: &str| {
        json!({
            "file": shown_name,
            "site": site,
            "user_agent": args.name,
            "patch": proposal.patch,
            "meaning": meaning.rows,
            "last_7_days": rows,
            "outcome": outcome,
        })
    };
    if args.format == Format::Text {
        show(&request, &proposal, &meaning, rows.as_deref(), out)?;
    }
    let writes = !args.preview && (args.yes || agrees(&format!("Write {shown_name}?"))?);
    if writes {
        let written = match args.config.remote()? {
            Some(_) => Err("it comes from a server".to_owned()),
            None => publication::rewrite(args.config.file(), &bytes, &proposal.after),
        };
        if let Err(why) = written {
            if args.format == Format::Json {
                // The caller gets the patch; a failed write is told by the exit.
                let _ = json(out, &row("unwritten"));
            }
            let hint = "apply the patch above by hand";
            return refuse(format!("{shown_name} is not written: {why} ({hint})"));
        }
    }
    match args.format {
        Format::Json => json(out, &row(if writes { "written" } else { "unwritten" }))?,
        Format::Text if writes => writeln!(out, "{shown_name}: written")?,
        Format::Text => {}
    }
    if writes {
        match reload::ask_to_reload(&policy) {
            Ok(Some(answer)) => remark(&answer),
            Ok(None) => {}
            Err(Error::Refused(why)) => remark(&format!("no server was told: {why}")),
            Err(_) => remark("no server was told"),
        }
    }
    Ok(if writes || args.preview { Exit::Fine } else { Exit::Findings })
}

fn show(
    request: &Request<'_>,
    proposal: &Proposal,
    meaning: &Comparison,
    rows: Option<&[PastRow]>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    for line in proposal.patch.lines() {
        writeln!(out, "{}", escape::text(line.as_bytes()))?;
    }
    writeln!(out, "\nMeaning:")?;
    comparison::text(meaning).iter().try_for_each(|line| writeln!(out, "  {line}"))?;
    let name = shown(request.name);
    // A block changes nothing if no rule binds the crawler.
    if matches!(request.act, Act::Mode { mode: Mode::Block, .. }) && meaning.is_empty() {
        writeln!(
            out,
            "  Nothing changes: violations of {name} are blocked already, or robots.txt disallows \
             nothing for it. Close a path with --path, for example --path /"
        )?;
    }
    let Some(rows) = rows else { return Ok(()) };
    writeln!(out, "\nLast 7 days:")?;
    if rows.is_empty() {
        writeln!(out, "  no request of {name} is counted")?;
    }
    for row in rows {
        writeln!(out, "  {}", escape::text(row.text(&request.act).as_bytes()))?;
    }
    Ok(writeln!(out)?)
}

/// The last days by the counts; `None` without a database.
fn last_days(policy: &Policy, request: &Request<'_>) -> Option<Vec<PastRow>> {
    let location = database::location(policy).ok().flatten()?;
    let store = database::open(&location).ok()?;
    match past(&store, policy, request, Timestamp::now()) {
        Ok(rows) => Some(rows),
        Err(error) => {
            remark(&format!("the last days are not known: {error}"));
            None
        }
    }
}

fn refusal(name: &str, declined: Declined) -> Error {
    let name = escape::text(name.as_bytes());
    match declined {
        Declined::Senseless(why) => Error::Refused(why),
        Declined::Refused(findings) => Error::Findings(findings),
        Declined::ByHand { line, why, entry } => {
            let entry: String = entry.lines().map(|line| format!("\n    {line}")).collect();
            let hint = if entry.is_empty() { "" } else { "; write it by hand:" };
            Error::Refused(format!("{name}:{line}: {why}{hint}{entry}"))
        }
    }
}
