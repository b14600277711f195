//! `beadle crawlers`: who is known, who a User-Agent says it is, and a newer state of that
//! knowledge.

use std::{io::Write, path::PathBuf};

use serde::Serialize;

use crate::{
    cli::{Error, Exit, Format, input_lines, json, load},
    crawlers::{Catalogue, Class, Crawler, Name, Purpose, SiteNames},
    escape,
    policy::{built_in_catalogue, read_catalogue_file},
    product_token::ProductToken,
    proxy,
};

mod evaluate;
mod update;

/// Show the crawlers that are known, identify User-Agents, and take a newer catalogue.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Identify the User-Agents on standard input, one a line.
    Identify {
        #[command(flatten)]
        source: Source,
        /// How to print.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// List the catalogue.
    List {
        /// Only crawlers of this purpose.
        #[arg(long, value_name = "PURPOSE")]
        purpose: Option<String>,
        #[command(flatten)]
        source: Source,
        /// How to print.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Show all that is known about one crawler.
    Show {
        /// Its product token or another of its names.
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        source: Source,
        /// How to print.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    Evaluate(evaluate::Args),
    Update(update::Args),
}

/// Whose knowledge is asked; the built-in catalogue without either.
#[derive(Debug, clap::Args)]
struct Source {
    /// The crawlers of this policy: its catalogue, and its own.
    #[arg(long, short, value_name = "FILE", conflicts_with = "catalogue")]
    config: Option<PathBuf>,
    /// The crawlers of this catalogue file.
    #[arg(long, value_name = "FILE")]
    catalogue: Option<PathBuf>,
}

impl Source {
    fn read(&self) -> Result<Catalogue, Error> {
        match (&self.config, &self.catalogue) {
            (Some(file), _) => {
                let (policy, _) = load(file)?;
                Ok(Catalogue::clone(&policy.catalogue))
            }
            (None, Some(file)) => {
                let name = file.display().to_string();
                let bytes = proxy::read_catalogue_file(file)
                    .map_err(|error| Error::Refused(format!("{name}: {error}")))?;
                let read = read_catalogue_file(&name, &bytes).map_err(Error::Findings)?;
                Catalogue::new(read.crawlers).map_err(Error::Findings)
            }
            (None, None) => Ok(built_in_catalogue()),
        }
    }
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    match &args.verb {
        Verb::Identify { source, format } => identify(&source.read()?, *format, out),
        Verb::List { purpose, source, format } => {
            list(&source.read()?, purpose.as_deref(), *format, out)
        }
        Verb::Show { name, source, format } => show(&source.read()?, name, *format, out),
        Verb::Evaluate(args) => evaluate::run(args, out),
        Verb::Update(args) => update::run(args, out),
    }
}

#[derive(Serialize)]
struct Identified<'a> {
    user_agent: String,
    class: Class,
    product_token: Option<&'a str>,
    product_tokens: Vec<&'a str>,
}

fn identify(catalogue: &Catalogue, format: Format, out: &mut dyn Write) -> Result<Exit, Error> {
    let no_names = SiteNames::new(catalogue, []);
    for line in input_lines() {
        let line = line?;
        let claim = catalogue.identify(&line, &no_names);
        let row = Identified {
            user_agent: escape::text(&line),
            class: claim.class(),
            product_token: claim.primary().map(Name::as_str),
            product_tokens: claim.tokens().map(Name::as_str).collect(),
        };
        match format {
            Format::Json => json(out, &row)?,
            Format::Text => {
                let tokens = row.product_tokens.join(", ");
                let tokens = if tokens.is_empty() { "-" } else { &tokens };
                writeln!(out, "{:<14} {:<24} {}", row.class, tokens, row.user_agent)?;
            }
        }
    }
    Ok(Exit::Fine)
}

#[derive(Serialize)]
struct Known<'a> {
    product_token: &'a ProductToken,
    aliases: &'a [ProductToken],
    operator: Option<&'a str>,
    purpose: Purpose,
    kind: crate::crawlers::Kind,
    status: crate::crawlers::Status,
    documentation: Option<&'a str>,
    honours: crate::crawlers::Honours,
    falls_back_to: &'a [ProductToken],
    ignores_star: bool,
}

impl<'a> Known<'a> {
    fn of(crawler: &'a Crawler) -> Self {
        Self {
            product_token: crawler.product_token(),
            aliases: crawler.aliases(),
            operator: crawler.operator(),
            purpose: crawler.purpose(),
            kind: crawler.kind(),
            status: crawler.status(),
            documentation: crawler.documentation(),
            honours: crawler.honours(),
            falls_back_to: crawler.falls_back_to(),
            ignores_star: crawler.ignores_star(),
        }
    }
}

fn list(
    catalogue: &Catalogue,
    purpose: Option<&str>,
    format: Format,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let purpose = purpose.map(|name| {
        Purpose::from_name(name).ok_or_else(|| {
            let known: Vec<&str> = Purpose::ALL.iter().map(|purpose| purpose.as_str()).collect();
            let name = escape::bounded(name.as_bytes(), 100);
            Error::Refused(format!("no purpose '{name}' (the purposes are {})", known.join(", ")))
        })
    });
    let purpose = purpose.transpose()?;
    let wanted = |crawler: &&Crawler| purpose.is_none_or(|wanted| crawler.purpose() == wanted);
    for crawler in catalogue.iter().filter(wanted) {
        match format {
            Format::Json => json(out, &Known::of(crawler))?,
            Format::Text => writeln!(
                out,
                "{:<28} {:<13} {}",
                crawler.product_token(),
                crawler.purpose().as_str(),
                crawler.operator().unwrap_or("-")
            )?,
        }
    }
    Ok(Exit::Fine)
}

fn show(
    catalogue: &Catalogue,
    name: &str,
    format: Format,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let Some(crawler) = catalogue.find(name) else {
        let hint = catalogue.closest(name).map_or_else(
            || "'beadle crawlers list' shows all".to_owned(),
            |close| format!("did you mean '{close}'?"),
        );
        let name = escape::bounded(name.as_bytes(), 100);
        return Err(Error::Refused(format!("no crawler named '{name}' is known ({hint})")));
    };
    let known = Known::of(crawler);
    if format == Format::Json {
        json(out, &known)?;
        return Ok(Exit::Fine);
    }
    let joined = |tokens: &[ProductToken]| {
        tokens.iter().map(ProductToken::as_str).collect::<Vec<_>>().join(", ")
    };
    writeln!(out, "{}", known.product_token)?;
    let groups = joined(&crawler.groups().cloned().collect::<Vec<_>>());
    let obeys = if known.ignores_star { groups } else { format!("{groups}, then *") };
    for (label, value) in [
        ("also", joined(known.aliases)),
        ("operator", known.operator.unwrap_or_default().to_owned()),
        ("purpose", known.purpose.as_str().to_owned()),
        ("group", obeys),
        ("see", known.documentation.unwrap_or_default().to_owned()),
    ] {
        if !value.is_empty() {
            writeln!(out, "  {label:<9} {value}")?;
        }
    }
    Ok(Exit::Fine)
}
