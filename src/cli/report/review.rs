//! What crawlers did in a span of time, against the span before.

use std::io::Write;

use jiff::Timestamp;

use super::{Args, evidence::save, format::Format, lookup};
use crate::{
    cli::{
        config::load_with_database,
        exit::{Error, Exit},
        screen::Screen,
    },
    report::{
        self, Span, TALLIED_BY, html, markdown,
        review::{Answers, FIRST_BY, Period, RULES_BY, Review, document, json_lines, most_paths},
        text,
    },
    violations::{Dimension, PlaceKind, Question, Store},
};

/// The columns of text that no terminal shows.
const USUAL_WIDTH: usize = 80;
/// The most rows of a table: on a terminal, and in a file for mail and print.
const MOST_ROWS: (usize, usize) = (10, 20);

/// Writes the review.
pub(super) fn write(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let policy = load_with_database(&args.config.config)?;
    let now = Timestamp::now();
    let (since, until) = lookup::span(&args.since, args.until.as_deref(), now)?;
    let store = lookup::database(&policy)?;
    let site = args.site.as_deref().map(|host| lookup::site(&policy, &store, host)).transpose()?;
    let answers = answers(&store, Span::new(since, until, now), site)?;
    let review = Review::of(&answers, &policy.catalogue);
    let written = match args.format {
        Format::Json => json_lines(&review),
        Format::Text => text(&document(&review, MOST_ROWS.0), screen(args)),
        Format::Markdown => markdown(&document(&review, MOST_ROWS.1)),
        Format::Html => html(&document(&review, MOST_ROWS.1)),
    };
    match args.output.as_deref().filter(|file| file.as_os_str() != "-") {
        Some(file) => save(file, written.as_bytes(), args.force)?,
        None => out.write_all(written.as_bytes())?,
    }
    Ok(Exit::Fine)
}

fn screen(args: &Args) -> report::Screen {
    let screen = Screen::of_standard_output();
    let to_terminal = args.output.is_none();
    report::Screen {
        width: screen.width.filter(|_| to_terminal).unwrap_or(USUAL_WIDTH),
        has_colours: screen.has_colours && to_terminal,
    }
}

fn answers(store: &Store, span: Span, site: Option<String>) -> Result<Answers, Error> {
    let of = |question: Question| Question { site: site.clone(), ..question };
    let (here, before) = (of(span.question()), of(span.question_before()));
    let both = Question { since: before.since, by: FIRST_BY.to_vec(), ..here.clone() };
    let first = store.counted(&both)?.into_iter().next();
    let times = vec![Dimension::ProductToken, span.period()];
    let (most, most_before) = most_paths();
    Ok(Answers {
        span,
        now: period(store, &here, most)?,
        before: period(store, &before, most_before)?,
        times: store.counted(&Question { by: times, ..here })?,
        first_counts: first.and_then(|one| one.key.first()?.parse().ok()),
        site,
    })
}

fn period(store: &Store, question: &Question, paths: usize) -> Result<Period, Error> {
    let by = |by: &[Dimension]| Question { by: by.to_vec(), ..question.clone() };
    let people = store.people(question)?;
    Ok(Period {
        crawlers: store.counted(&by(&TALLIED_BY))?,
        rules: store.counted(&by(&RULES_BY))?,
        paths: store.places(PlaceKind::Path, question, paths)?,
        people: people.iter().map(|one| one.requests).sum(),
        referrals: store.referrals(question)?,
    })
}
