//! `beadle crawlers score`: the scorecard of one crawler.

use std::io::Write;

use jiff::Timestamp;

use crate::{
    cli::{
        config::{ConfigFile, load_with_database},
        exit::{Error, Exit},
        output::Format,
        report::lookup,
        screen::Screen,
    },
    policy::Policy,
    report::{
        self, Span, TALLIED_BY,
        score::{Answers, READ_BY, Score, document, json_line},
        text,
    },
    violations::{Dimension, Question, Store},
};

/// The columns of text that no terminal shows.
const USUAL_WIDTH: usize = 80;
/// The most bytes of robots.txt files that are read for their times in force.
const MOST_EDITIONS: usize = 16 << 20;

/// Show how one crawler behaves on your sites.
///
/// Requests and violations against the span before, how often it reads robots.txt, how long it takes
/// to follow a change, whether it keeps its pace, and how many of its claims are confirmed. Counts
/// are kept by hour, so the span has whole hours. Exits with 2 for an unknown name.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The product token or another name of the crawler.
    #[arg(value_name = "TOKEN")]
    token: String,
    #[command(flatten)]
    config: ConfigFile,
    /// Start of the span: a time (2026-11-20T10:00:00Z), a day in UTC (2026-11-20) or an age (24h).
    #[arg(long, value_name = "TIME", default_value = "7d")]
    since: String,
    /// End of the span, as in --since (default: now).
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Only this site, named by one of its hosts.
    #[arg(long, value_name = "HOST")]
    site: Option<String>,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let policy = load_with_database(&args.config.config)?;
    let now = Timestamp::now();
    let (since, until) = lookup::span(&args.since, args.until.as_deref(), now)?;
    let store = lookup::database(&policy)?;
    let product_token = lookup::counted_token(&policy, &store, &args.token)?;
    let site = args.site.as_deref().map(|host| lookup::site(&policy, &store, host)).transpose()?;
    let answers = answers(&policy, &store, Span::new(since, until, now), site, product_token)?;
    let score = Score::of(&answers, &policy.catalogue);
    let written = match args.format {
        Format::Json => json_line(&score),
        Format::Text => {
            let Screen { width, has_colours } = Screen::of_standard_output();
            let width = width.unwrap_or(USUAL_WIDTH);
            text(&document(&score), report::Screen { width, has_colours })
        }
    };
    out.write_all(written.as_bytes())?;
    Ok(Exit::Fine)
}

fn answers(
    policy: &Policy,
    store: &Store,
    span: Span,
    site: Option<String>,
    product_token: String,
) -> Result<Answers, Error> {
    let of = |question: Question, token: &str, by: &[Dimension]| Question {
        site: site.clone(),
        product_token: Some(token.to_owned()),
        by: by.to_vec(),
        ..question
    };
    let (here, before) = (span.question(), span.question_before());
    let both = Question { since: span.before, site: site.clone(), ..here.clone() };
    let first = store.counted(&Question { by: vec![Dimension::Day], ..both.clone() })?;
    let names: Vec<String> = match policy.catalogue.find(&product_token) {
        Some(entry) => entry.groups().map(|name| name.as_str().to_owned()).collect(),
        None => vec![product_token.clone()],
    };
    let mut read = Vec::new();
    for name in &names {
        read.extend(store.counted(&of(both.clone(), name, &READ_BY))?);
    }
    let mut fetches = store.fetches()?;
    fetches.retain(|fetch| {
        let is_here = site.as_ref().is_none_or(|site| fetch.site.eq_ignore_ascii_case(site));
        is_here && names.iter().any(|name| fetch.product_token.eq_ignore_ascii_case(name))
    });
    Ok(Answers {
        now: store.counted(&of(here.clone(), &product_token, &TALLIED_BY))?,
        before: store.counted(&of(before, &product_token, &TALLIED_BY))?,
        hours: store.counted(&of(here, &product_token, &[Dimension::Hour]))?,
        read,
        fetches,
        editions: store.latest_editions(span.before, None, MOST_EDITIONS)?.0,
        first_counts: first.first().and_then(|one| one.key.first()?.parse().ok()),
        span,
        site,
        product_token,
    })
}
