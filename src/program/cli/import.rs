//! `beadle import`: the rules of other programs as a policy.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::{
    advice::import::{self, Imported, Kind, Place},
    base::{
        escape,
        fetch::page::{host, is_url},
    },
    program::console::{Error, Exit, Format, input, json, write_file},
};

/// Make a policy from rules of other programs
///
/// Reads a robots.txt, robots.json of ai.robots.txt, bot policies of Anubis, or lists of User-Agents of
/// nginx or Apache. Prints a policy that passes 'beadle check'. What could not be carried over is
/// listed on standard error, with the reason.
///
///   beadle import https://www.example.com/ > beadle.yaml
///   beadle import blocked-bots.conf --host www.example.com --output beadle.yaml
///
/// Exits with 0 if nothing is lost, with 1 if something is, and with 2 if it could not read the rules.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// A file, `-` for standard input, or the URL of a site or of its robots.txt.
    #[arg(value_name = "FILE|URL")]
    source: String,
    /// The kind of rules. By default, the content tells.
    #[arg(long, value_name = "KIND", value_parser = kinds())]
    from: Option<Kind>,
    /// The host of the site (default: that of the URL, else www.example.com).
    #[arg(long)]
    host: Option<String>,
    /// The server behind Beadle.
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:3000")]
    origin: String,
    /// Write the policy to this file. With --format json, standard output has the losses.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace that file if it exists.
    #[arg(long, requires = "output")]
    force: bool,
    /// Output format of the losses: sentences on standard error, or JSON lines on standard output.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

fn kinds() -> impl TypedValueParser<Value = Kind> {
    let names = PossibleValuesParser::new(Kind::ALL.map(Kind::as_str));
    names.try_map(|name| Kind::from_word(&name).ok_or("it is none of the kinds"))
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let bytes = input::robots_txt(&args.source)?;
    let kind = args.from.unwrap_or_else(|| import::guess(&bytes));
    let of_url = is_url(&args.source).then(|| host(&args.source)).flatten();
    let host = args.host.clone().or(of_url).unwrap_or_else(|| "www.example.com".to_owned());
    let place = Place { host, origin: args.origin.clone() };
    let Imported { policy, losses } = import::import(kind, &bytes, &place).map_err(|why| {
        let (source, kind) = (escape::shown(&args.source), kind.as_str());
        Error::Refused(format!("{source}: not {kind}: {why} (name the kind with --from)"))
    })?;
    match (&args.output, args.format) {
        (Some(file), _) => write_file(file, policy.as_bytes(), args.force)?,
        (None, Format::Text) => out.write_all(policy.as_bytes())?,
        (None, Format::Json) => {}
    }
    for loss in &losses {
        match args.format {
            Format::Json => json(out, loss)?,
            Format::Text => writeln!(io::stderr(), "beadle: not carried over: {loss}")?,
        }
    }
    Ok(if losses.is_empty() { Exit::Fine } else { Exit::Findings })
}
