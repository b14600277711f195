//! `beadle crawlers`: the catalogue, the claims of User-Agents, scorecards, and catalogue updates.

use std::{
    fs::OpenOptions,
    io::{self, Write},
};

use clap_complete::ArgValueCompleter;
use serde_json::{Value, json};

use self::evaluation::Source;
use crate::{
    base::{escape, product_token::ProductToken},
    program::{
        cli::report::{Scene, Scope, screen},
        console::{
            ConfigFile, Error, Exit, Format, completions,
            input::{STANDARD_INPUT, lines},
            json, load, refuse,
        },
    },
    review::report::{
        Document, Impostors,
        score::{Score, document, json_line},
        text,
    },
    rules::{
        crawlers::{Catalogue, Crawler, Name, Purpose, SiteNames},
        policy::suggestion,
    },
};

mod evaluation; // evaluate, and the catalogue to use
mod update; // update

/// List known crawlers, identify User-Agents, score a crawler, and update the catalogue.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Identify the User-Agents on standard input, one per line.
    Identify {
        #[command(flatten)]
        source: Source,
        /// Output format.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// List the crawlers in the catalogue.
    List {
        /// Filter by purpose, such as search, ai-training or archiver.
        #[arg(long, value_name = "PURPOSE", add = ArgValueCompleter::new(completions::purposes))]
        purpose: Option<String>,
        #[command(flatten)]
        source: Source,
        /// Output format.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Show one crawler in the catalogue.
    Show {
        /// The product token or another name of the crawler.
        #[arg(value_name = "NAME", add = ArgValueCompleter::new(completions::tokens))]
        name: String,
        #[command(flatten)]
        source: Source,
        /// Output format.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    Score(ScoreArgs),
    Impostors(ImpostorsArgs),
    Evaluate(evaluation::Args),
    Update(update::Args),
    Accept(AcceptArgs),
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    match &args.verb {
        Verb::Identify { source, format } => identify(&source.read()?, *format, out),
        Verb::List { purpose, source, format } => {
            list(&source.read()?, purpose.as_deref(), *format, out)
        }
        Verb::Show { name, source, format } => show(&source.read()?, name, *format, out),
        Verb::Score(args) => score(args, out),
        Verb::Impostors(args) => impostors(args, out),
        Verb::Evaluate(args) => evaluation::run(args, out),
        Verb::Update(args) => update::run(args, out),
        Verb::Accept(args) => accept(args, out),
    }
}

fn identify(catalogue: &Catalogue, format: Format, out: &mut dyn Write) -> Result<Exit, Error> {
    let no_names = SiteNames::new(catalogue, []);
    for line in lines(io::stdin().lock(), STANDARD_INPUT) {
        let line = line?;
        let claim = catalogue.identify(&line, &no_names);
        let tokens: Vec<&str> = claim.tokens().map(Name::as_str).collect();
        let (class, user_agent) = (claim.class(), escape::text(&line));
        match format {
            Format::Json => json(
                out,
                &json!({
                    "user_agent": user_agent,
                    "class": class,
                    "product_token": claim.primary().map(Name::as_str),
                    "product_tokens": tokens,
                }),
            )?,
            Format::Text => {
                let tokens = if tokens.is_empty() { "-".to_owned() } else { tokens.join(", ") };
                writeln!(out, "{class:<14} {tokens:<24} {user_agent}")?;
            }
        }
    }
    Ok(Exit::Fine)
}

fn row(crawler: &Crawler) -> Value {
    let mut row = json!({
        "product_token": crawler.product_token(),
        "aliases": crawler.aliases,
        "operator": crawler.operator(),
        "purpose": crawler.purpose(),
        "kind": crawler.kind(),
        "governs": crawler.governs(),
        "status": crawler.entry.status,
        "documentation": crawler.entry.documentation,
        "contact": crawler.entry.contact,
        "honours": crawler.entry.honours,
        "falls_back_to": crawler.falls_back_to,
        "ignores_star": crawler.ignores_star(),
    });
    let Value::Object(fields) = &mut row else { return row };
    if crawler.governs().is_empty() {
        fields.shift_remove("governs");
    }
    if let Some(list) = crawler.list() {
        fields.insert("list".to_owned(), json!(list));
    }
    if crawler.is_pending() {
        fields.insert("pending".to_owned(), json!(true));
    }
    row
}

pub(super) fn purpose_of(name: &str) -> Result<Purpose, Error> {
    Purpose::from_word(name).ok_or_else(|| {
        let known = || Purpose::ALL.iter().map(|purpose| purpose.as_str());
        let hint = suggestion(name, known()).unwrap_or_else(|| {
            format!("the purposes are {}", known().collect::<Vec<_>>().join(", "))
        });
        let name = escape::bounded(name.as_bytes(), 100);
        Error::Refused(format!("no purpose '{name}' ({hint})"))
    })
}

fn list(
    catalogue: &Catalogue,
    purpose: Option<&str>,
    format: Format,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let purpose = purpose.map(purpose_of).transpose()?;
    let wanted = |crawler: &&Crawler| purpose.is_none_or(|wanted| crawler.purpose() == wanted);
    for crawler in catalogue.iter().filter(wanted) {
        match format {
            Format::Json => json(out, &row(crawler))?,
            Format::Text => writeln!(
                out,
                "{:<28} {:<13} {}{}",
                crawler.product_token(),
                crawler.purpose().as_str(),
                crawler.operator().unwrap_or("-"),
                crawler.list_in_words().map(|list| format!(", from {list}")).unwrap_or_default()
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
            || "'beadle crawlers list' shows all of them".to_owned(),
            |close| format!("did you mean '{close}'?"),
        );
        let name = escape::bounded(name.as_bytes(), 100);
        return refuse(format!("no crawler named '{name}' is known ({hint})"));
    };
    if format == Format::Json {
        json(out, &row(crawler))?;
        return Ok(Exit::Fine);
    }
    let joined = |tokens: &[ProductToken]| {
        tokens.iter().map(ProductToken::as_str).collect::<Vec<_>>().join(", ")
    };
    writeln!(out, "{}", crawler.product_token())?;
    let groups = joined(&crawler.groups().cloned().collect::<Vec<_>>());
    let obeys = if crawler.ignores_star() { groups } else { format!("{groups}, then *") };
    for (label, value) in [
        ("also", joined(&crawler.aliases)),
        ("operator", crawler.operator().unwrap_or_default().to_owned()),
        ("purpose", crawler.purpose().as_str().to_owned()),
        (
            "governs",
            crawler.governs().iter().map(Purpose::to_string).collect::<Vec<_>>().join(", "),
        ),
        ("group", obeys),
        ("contact", crawler.entry.contact.clone().unwrap_or_default()),
        ("from", crawler.list_in_words().unwrap_or_default()),
        ("see", crawler.entry.documentation.clone().unwrap_or_default()),
    ] {
        if !value.is_empty() {
            writeln!(out, "  {label:<9} {value}")?;
        }
    }
    Ok(Exit::Fine)
}

/// Show how one crawler behaves on your sites.
///
/// Requests and violations against the span before, how often it reads robots.txt, how long it takes
/// to follow a change, whether it keeps its pace, and how many of its claims are confirmed. Counts
/// are kept by hour, so the span has whole hours. Exits with 2 for an unknown name.
#[derive(Debug, clap::Args)]
struct ScoreArgs {
    /// The product token or another name of the crawler.
    #[arg(value_name = "TOKEN", add = ArgValueCompleter::new(completions::tokens))]
    token: String,
    #[command(flatten)]
    config: ConfigFile,
    #[command(flatten)]
    scope: Scope,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

fn score(args: &ScoreArgs, out: &mut dyn Write) -> Result<Exit, Error> {
    let scene = args.scope.open(&args.config)?;
    let (span, product_token) = (scene.span(), scene.crawler(&args.token)?);
    let Scene { policy, store, site, .. } = scene;
    let score = Score::of(&store, &policy.catalogue, span, site, product_token)?;
    let written = match args.format {
        Format::Json => json_line(&score),
        Format::Text => text(&document(&score), screen(None)),
    };
    out.write_all(written.as_bytes())?;
    Ok(Exit::Fine)
}

/// List the crawlers whose names impostors use.
///
/// An impostor is a client whose claim evidence contradicts. Shows their requests, since when they
/// come, and the networks with the most violations. Counts are kept by hour, so the span has whole
/// hours.
#[derive(Debug, clap::Args)]
struct ImpostorsArgs {
    #[command(flatten)]
    config: ConfigFile,
    #[command(flatten)]
    scope: Scope,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

fn impostors(args: &ImpostorsArgs, out: &mut dyn Write) -> Result<Exit, Error> {
    let scene = args.scope.open(&args.config)?;
    let span = scene.span();
    let all = Impostors::all(&scene.store, span, scene.site.as_deref())?;
    match args.format {
        Format::Json => all.iter().try_for_each(|one| json(out, one))?,
        Format::Text => {
            let (title, sections) = ("Impostors".to_owned(), vec![Impostors::section(&all)]);
            let document = Document { title, lead: vec![span.in_words()], sections };
            out.write_all(text(&document, screen(None)).as_bytes())?;
        }
    }
    Ok(Exit::Fine)
}

/// Accept crawlers of the lists that the policy follows
///
/// Rules are enforced for an accepted crawler as for any other. A running server takes it within a
/// second.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
struct AcceptArgs {
    /// Names of crawlers. Without any, lists those that wait.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    config: ConfigFile,
}

fn accept(args: &AcceptArgs, out: &mut dyn Write) -> Result<Exit, Error> {
    let (policy, _) = load(&args.config)?;
    let Some(following) = &policy.following else {
        let name = args.config.name();
        return refuse(format!("{name} follows no list (add 'catalogue.follow')"));
    };
    let pending: Vec<&Crawler> = policy.catalogue.iter().filter(|one| one.is_pending()).collect();
    if args.names.is_empty() {
        for crawler in pending {
            let (token, purpose) = (crawler.product_token(), crawler.purpose().as_str());
            writeln!(out, "{token:<28} {purpose:<13} {}", crawler.list().unwrap_or_default())?;
        }
        return Ok(Exit::Fine);
    }
    let mut lines = String::new();
    for name in &args.names {
        let known = policy.catalogue.find(name).filter(|known| known.list().is_some());
        let known = known.ok_or_else(|| {
            let (name, help) = (escape::shown(name), "without names, the command lists them");
            Error::Refused(format!("no followed list has a crawler named '{name}' ({help})"))
        })?;
        lines.push_str(known.product_token().as_str());
        lines.push('\n');
    }
    let file = following.accepted();
    std::fs::create_dir_all(&following.folder)
        .and_then(|()| OpenOptions::new().create(true).append(true).open(&file))
        .and_then(|mut file| file.write_all(lines.as_bytes()))
        .map_err(|error| Error::Refused(format!("{}: {error}", escape::path(&file))))?;
    lines.lines().try_for_each(|token| writeln!(out, "{token}: accepted"))?;
    Ok(Exit::Fine)
}
