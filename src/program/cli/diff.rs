//! `beadle diff`: two policies, robots.txt files or editions, compared by their meaning.

use std::{io::Write, path::Path};

use jiff::Timestamp;

use crate::{
    advice::comparison::{self, Comparison, Side},
    base::{escape, fetch::page::is_url},
    formats::robots::{self, RobotsTxt},
    program::{
        cli::robots::{kept_edition, memory},
        console::{
            ConfigFile, Error, Exit, Format, input, json, load, load_with_database, refuse, remark,
            site,
        },
    },
    rules::{enforce::Rulebook, policy::Policy},
};

/// Compare two policies, robots.txt files or editions by their meaning
///
/// Shows for each crawler and path pattern what becomes allowed, disallowed, blocked, paced or
/// tagged. A and B are policy files, robots.txt files or their URLs, or editions: the first digits of
/// an edition's hash, or `policy` for the edition of the policy file.
///
///   beadle diff beadle.yaml beadle.new.yaml
///   beadle diff https://www.example.com/ robots.txt
///   beadle diff --config beadle.yaml 3f2a91c0 policy
///
/// Exits with 0 if nothing differs, with 1 if something does, and with 2 if it could not compare.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Before: a policy file, a robots.txt or its URL, an edition, or `policy`.
    #[arg(value_name = "A")]
    before: String,
    /// After, in any of the forms of A.
    #[arg(value_name = "B")]
    after: String,
    #[command(flatten)]
    config: ConfigFile,
    /// The site, named by one of its hosts: to choose an edition, or the robots.txt of a policy that
    /// is compared with a file.
    #[arg(long, value_name = "HOST")]
    site: Option<String>,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

enum Operand {
    Policy(Box<Policy>, Box<Rulebook>),
    File(RobotsTxt, Option<String>),
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let found = compare(read(args, &args.before)?, read(args, &args.after)?, args)?;
    match args.format {
        Format::Json => {
            found.rows.iter().try_for_each(|row| json(out, row))?;
            found.remarks.iter().for_each(|sentence| remark(sentence));
            if found.omitted > 0 {
                remark(&format!("{} more differences are not listed", found.omitted));
            }
            remark(found.exactness());
        }
        Format::Text => {
            comparison::text(&found).iter().try_for_each(|line| writeln!(out, "{line}"))?;
        }
    }
    Ok(if found.is_empty() { Exit::Fine } else { Exit::Findings })
}

fn compare(before: Operand, after: Operand, args: &Args) -> Result<Comparison, Error> {
    if let (Operand::Policy(old, old_book), Operand::Policy(new, new_book)) = (&before, &after) {
        let before = Side { policy: old, rulebook: old_book };
        return Ok(comparison::policies(before, Side { policy: new, rulebook: new_book }));
    }
    let (before, first) = file(before, args)?;
    let (after, second) = file(after, args)?;
    Ok(comparison::files(second.or(first).as_deref(), &before, &after))
}

/// The robots.txt of an operand, with the name of its site.
fn file(operand: Operand, args: &Args) -> Result<(RobotsTxt, Option<String>), Error> {
    match operand {
        Operand::File(file, site) => Ok((file, site)),
        Operand::Policy(_, rulebook) => {
            let site = site::find(&rulebook, args.site.as_deref())?;
            Ok((site::known_edition(site)?.file().clone(), Some(site.name.clone())))
        }
    }
}

fn read(args: &Args, name: &str) -> Result<Operand, Error> {
    let file = Path::new(name);
    if !is_url(name) && !file.exists() {
        return edition(args, name);
    }
    let is_policy = matches!(
        file.extension().and_then(|extension| extension.to_str()),
        Some("yaml" | "yml" | "json")
    );
    if is_policy && !is_url(name) {
        let (policy, _) = load(&args.config.at(file))?;
        let rulebook = memory(&policy)?.rulebook(&policy, Timestamp::now());
        return Ok(Operand::Policy(Box::new(policy), Box::new(rulebook)));
    }
    Ok(Operand::File(robots::parse(&input::robots_txt(name)?).0, None))
}

/// An edition in the database of the policy, or the one that the policy makes.
fn edition(args: &Args, name: &str) -> Result<Operand, Error> {
    let is_digits = !name.is_empty() && name.bytes().all(|digit| digit.is_ascii_hexdigit());
    let may_be_edition = name == "policy" || is_digits;
    if !may_be_edition {
        let name = escape::shown(name);
        return refuse(format!(
            "'{name}' is neither a file, a URL nor an edition ('beadle robots --history' lists the \
             editions)"
        ));
    }
    let policy = load_with_database(&args.config)?;
    let rulebook = memory(&policy)?.rulebook(&policy, Timestamp::now());
    let site = site::find(&rulebook, args.site.as_deref());
    if name == "policy" {
        let site = site?;
        let file = site::known_edition(site)?.file().clone();
        return Ok(Operand::File(file, Some(site.name.clone())));
    }
    let named = args.site.as_ref().map(|_| site).transpose()?;
    let edition = kept_edition(&policy, named, name)?;
    let site = edition.site.to_string();
    Ok(Operand::File(robots::parse(&edition.bytes).0, Some(site)))
}
