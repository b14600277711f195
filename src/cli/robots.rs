//! `beadle robots`: what a site publishes, what it published before, and what changed.

use std::{io::Write, path::Path};

use jiff::Timestamp;
use serde::Serialize;

use crate::{
    cli::{ConfigFile, Error, Exit, Format, json, load, memory},
    enforce::{Edition, Rulebook, Site},
    escape,
    policy::Policy,
    robots::{self, Difference, Judged},
    violations::{self, Store},
};

/// Print a site's robots.txt, byte for byte as it is served; or what was published before
///
///   beadle robots --history
///   beadle robots --diff 3f2a91c0 policy
///   beadle robots accept --site www.example.com
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
#[command(mut_arg("config", |arg| arg.global(true)))]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigFile,
    /// The site, by one of its hosts; needed where the policy has several sites.
    #[arg(long, value_name = "HOST", global = true)]
    site: Option<String>,
    /// List the editions that the database keeps: since when and until when each was in force.
    #[arg(long)]
    history: bool,
    /// Show what changes between two editions: which crawler, which path, before and after. Name
    /// them by the first digits of their hash, or `policy` for what the policy publishes now.
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with = "history")]
    diff: Option<Vec<String>>,
    /// How to print a history or a difference.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Put the origin's file in force that is held back because it closes the whole site.
    ///
    /// A running server takes it within seconds.
    Accept,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    if let Some(Verb::Accept) = &args.verb {
        return accept(args, out);
    }
    let (policy, _) = load(&args.config.config)?;
    let memory = memory::read(&policy)?;
    let rulebook = memory::rulebook(&policy, &memory);
    let site = site(&rulebook, args.site.as_deref());
    match &args.diff {
        Some(pair) => difference(&policy, site.ok(), pair, args.format, out)?,
        None if args.history => {
            let named = args.site.as_ref().map(|_| site).transpose()?;
            history(&policy, named, args.format, out)?;
        }
        None => out.write_all(known(site?)?.bytes())?,
    }
    Ok(Exit::Fine)
}

/// The site that serves this host, or has this name; the only site where none is named.
fn site<'b>(rulebook: &'b Rulebook, host: Option<&str>) -> Result<&'b Site, Error> {
    let sites = rulebook.sites();
    let names = || sites.iter().map(|site| site.name.as_str()).collect::<Vec<_>>().join(", ");
    let Some(host) = host else {
        return match sites {
            [only] => Ok(only),
            _ => Err(Error::Refused(format!("name the site with --site (one of {})", names()))),
        };
    };
    let host = host.to_ascii_lowercase();
    let served = rulebook.site_of_host(&host).map(|(_, site)| site);
    served.or_else(|| sites.iter().find(|site| site.name == host)).ok_or_else(|| {
        let host = escape::text(host.as_bytes());
        Error::Refused(format!("no site has the host '{host}' (the sites are {})", names()))
    })
}

/// The edition in force, unless nobody knows it here.
fn known(site: &Site) -> Result<&Edition, Error> {
    if site.edition().is_provisional() {
        let (name, source) = (&site.name, site.source.as_str());
        return Err(Error::Refused(format!(
            "{name} publishes what its origin says (source: {source}), which no database here has \
             (run 'beadle serve' with 'violations.database', or ask the server for /robots.txt)"
        )));
    }
    Ok(site.edition())
}

// --- accept

fn accept(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    if args.history || args.diff.is_some() {
        let message = "'accept' lists and compares nothing (ask for that first, then accept)";
        return Err(Error::Refused(message.to_owned()));
    }
    let (policy, _) = load(&args.config.config)?;
    let rulebook = Rulebook::compile(&policy, Timestamp::UNIX_EPOCH, None);
    let site = site(&rulebook, args.site.as_deref())?;
    let mut store = Store::open_existing(database(&policy)?).map_err(refused)?;
    match store.accept(&site.name, Timestamp::now()).map_err(refused)? {
        Some(held) => {
            writeln!(
                out,
                "{}: edition {} of {} bytes, held back since {}, is accepted",
                site.name,
                held.id,
                held.bytes.len(),
                time(held.since)
            )?;
            Ok(Exit::Fine)
        }
        None => Err(Error::Refused(format!("{}: nothing is held back", site.name))),
    }
}

fn database(policy: &Policy) -> Result<&Path, Error> {
    policy.violations.database.as_deref().ok_or_else(|| {
        Error::Refused("the policy names no database (set 'violations.database')".to_owned())
    })
}

fn refused(error: violations::Error) -> Error {
    Error::Refused(error.to_string())
}

// --- history

#[derive(Serialize)]
struct EditionRow<'a> {
    site: &'a str,
    edition: &'a str,
    sha256: &'a str,
    source: &'a str,
    from: String,
    until: Option<String>,
    bytes: usize,
    rules: usize,
}

fn history(
    policy: &Policy,
    site: Option<&Site>,
    format: Format,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let store = Store::open_read_only(database(policy)?).map_err(refused)?;
    let name = site.map(|site| site.name.as_str());
    let editions = store.editions(name, None).map_err(refused)?;
    if format == Format::Text {
        if editions.is_empty() {
            writeln!(out, "no edition was written down yet")?;
            return Ok(());
        }
        writeln!(
            out,
            "{:<17} {:<20} {:<20} {:<7} {:>6} {:>8}  SITE",
            "EDITION", "FROM", "UNTIL", "SOURCE", "RULES", "BYTES"
        )?;
    }
    for edition in &editions {
        let (file, _) = robots::parse(&edition.bytes);
        let row = EditionRow {
            site: &edition.site,
            edition: &edition.id,
            sha256: &edition.sha256,
            source: &edition.source,
            from: time(edition.from),
            until: edition.until.map(time),
            bytes: edition.bytes.len(),
            rules: file.groups.iter().map(|group| group.rules.len()).sum(),
        };
        match format {
            Format::Json => json(out, &row)?,
            Format::Text => writeln!(
                out,
                "{:<17} {:<20} {:<20} {:<7} {:>6} {:>8}  {}",
                row.edition,
                row.from,
                row.until.as_deref().unwrap_or("in force"),
                row.source,
                row.rules,
                row.bytes,
                row.site
            )?,
        }
    }
    Ok(())
}

// --- difference

#[derive(Serialize)]
struct DifferenceRow<'a> {
    product_tokens: &'a [String],
    path: &'a str,
    before: JudgedRow<'a>,
    after: JudgedRow<'a>,
}

#[derive(Serialize)]
struct JudgedRow<'a> {
    verdict: &'static str,
    directive: Option<&'static str>,
    pattern: Option<&'a str>,
    line: Option<u32>,
}

fn difference(
    policy: &Policy,
    site: Option<&Site>,
    pair: &[String],
    format: Format,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let [before, after] = pair else { return Ok(()) };
    let (before, after) = (named(policy, site, before)?, named(policy, site, after)?);
    let differences = robots::differences(&before, &after);
    let mut tokens: Option<&[String]> = None;
    for row in &differences.rows {
        match format {
            Format::Json => json(
                out,
                &DifferenceRow {
                    product_tokens: &row.tokens,
                    path: &row.path,
                    before: judged(&row.before),
                    after: judged(&row.after),
                },
            )?,
            Format::Text => {
                if tokens != Some(&row.tokens) {
                    writeln!(out, "{}", shown_tokens(&row.tokens))?;
                }
                tokens = Some(&row.tokens);
                print(row, out)?;
            }
        }
    }
    if format == Format::Text {
        match (differences.rows.len(), differences.omitted) {
            (0, _) => writeln!(
                out,
                "no path of either's rules is judged differently (paces are not compared)"
            )?,
            (_, 0) => {}
            (_, more) => writeln!(out, "and {more} more")?,
        }
    }
    Ok(())
}

/// The file of an edition: by the first digits of its hash, or as the policy publishes it now.
fn named(policy: &Policy, site: Option<&Site>, name: &str) -> Result<robots::RobotsTxt, Error> {
    if name == "policy" {
        let site = site.ok_or_else(|| Error::Refused("name the site with --site".to_owned()))?;
        return Ok(known(site)?.file().clone());
    }
    let store = Store::open_read_only(database(policy)?).map_err(refused)?;
    let site = site.map(|site| site.name.as_str());
    let found = store.editions_by_id(name, site).map_err(refused)?;
    let shown = escape::bounded(name.as_bytes(), 80);
    match found.as_slice() {
        [only] => Ok(robots::parse(&only.bytes).0),
        [] => Err(Error::Refused(format!(
            "no edition begins with '{shown}' ('beadle robots --history' lists them)"
        ))),
        several => Err(Error::Refused(format!(
            "{} editions begin with '{shown}' (write more digits)",
            several.len()
        ))),
    }
}

fn judged(judged: &Judged) -> JudgedRow<'_> {
    let rule = judged.rule.as_ref();
    JudgedRow {
        verdict: judged.access.as_str(),
        directive: rule.map(|rule| rule.directive.as_str()),
        pattern: rule.map(|rule| rule.pattern.as_str()),
        line: rule.map(|rule| rule.line),
    }
}

fn print(row: &Difference, out: &mut dyn Write) -> Result<(), Error> {
    let change = format!("{} -> {}", row.before.access.as_str(), row.after.access.as_str());
    let rule = |side: &str, judged: &Judged| match &judged.rule {
        Some(rule) => {
            let directive = rule.directive.field_name();
            let pattern = escape::bounded(rule.pattern.as_bytes(), 200);
            format!("{side} by '{directive}: {pattern}' (line {})", rule.line)
        }
        None => format!("{side} by no rule"),
    };
    let path = escape::bounded(row.path.as_bytes(), 200);
    writeln!(out, "  {path:<28} {change}")?;
    writeln!(out, "      {}, {}", rule("before", &row.before), rule("after", &row.after))?;
    Ok(())
}

fn shown_tokens(tokens: &[String]) -> String {
    const SHOWN: usize = 5;
    let mut text = tokens.iter().take(SHOWN).map(|token| escape::bounded(token.as_bytes(), 80));
    let mut text = text.by_ref().collect::<Vec<_>>().join(", ");
    if tokens.len() > SHOWN {
        text.push_str(&format!(" and {} more", tokens.len() - SHOWN));
    }
    text
}

fn time(time: Timestamp) -> String {
    format!("{time:.0}")
}
