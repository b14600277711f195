//! `beadle crawlers evaluate`: the accuracy of identification on labelled User-Agents. The source of the
//! catalogue for all verbs: the built-in one, a policy or a file.

use std::{
    collections::BTreeMap,
    io::{BufReader, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    base::escape,
    program::console::{
        ConfigFile, Error, Exit, Format,
        input::{lines, open},
        json, load,
    },
    rules::{
        crawlers::{Catalogue, Name, SiteNames},
        policy::{built_in_catalogue, catalogue_of, read_catalogue_file},
    },
    state::publication,
};

/// The most kinds of confusion with a count of their own; others are counted together.
const MAX_KINDS: usize = 10_000;

/// Measure accuracy on labelled User-Agents
///
/// Each line of a FILE is a JSON object: {"user_agent": "…", "product_tokens": ["…"]}. A line
/// without product_tokens is a browser, in which no token is expected. Tokens are compared without
/// case; the lines "same case" count matches in exact case. Exits with 1 if any result differs from
/// its label.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Files of JSON lines.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    source: Source,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Deserialize)]
struct Row {
    user_agent: String,
    #[serde(default)]
    product_tokens: Option<Vec<String>>,
}

#[derive(Default, Serialize)]
struct Totals {
    /// User-Agents with expected tokens.
    user_agents: usize,
    /// User-Agents whose first token is found as the first.
    first: usize,
    first_same_case: usize,
    /// User-Agents in which exactly the expected tokens are found.
    exact: usize,
    exact_same_case: usize,
    /// User-Agents without expected tokens.
    browsers: usize,
    /// Browsers in which a token is found.
    browsers_with_token: usize,
    /// Confusions of kinds without a count of their own.
    further_confusions: usize,
}

/// A token that was expected, `None` for an additional one, and the one that was found instead.
type Kind = (Option<String>, Option<String>);

#[derive(Default)]
struct Evaluation {
    totals: Totals,
    /// Each kind with its number, and the first User-Agent with it.
    confusions: BTreeMap<Kind, (usize, String)>,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let catalogue = args.source.read()?;
    let mut evaluation = Evaluation::default();
    for file in &args.files {
        evaluation.read(file, &catalogue)?;
    }
    let Evaluation { totals, confusions } = evaluation;
    let mut confusions: Vec<_> = confusions.into_iter().collect();
    confusions.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    match args.format {
        Format::Json => {
            json(out, &totals)?;
            for ((expected, found), (count, example)) in &confusions {
                let row = json!({
                    "expected": expected, "found": found, "count": count, "example": example,
                });
                json(out, &row)?;
            }
        }
        Format::Text => print(&totals, &confusions, out)?,
    }
    Ok(if confusions.is_empty() { Exit::Fine } else { Exit::Findings })
}

impl Evaluation {
    /// Reads line by line, because a file may have any length.
    fn read(&mut self, file: &Path, catalogue: &Catalogue) -> Result<(), Error> {
        let name = escape::path(file);
        for (number, line) in (1..).zip(lines(BufReader::new(open(file)?), &name)) {
            let line = line?;
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let row: Row = serde_json::from_slice(&line).map_err(|error| {
                let error = escape::shown(error.to_string());
                Error::Refused(format!(
                    "{name}:{number}: {error} (write {{\"user_agent\": \"…\", \"product_tokens\": \
                     […]}})"
                ))
            })?;
            self.add(&row, catalogue);
        }
        Ok(())
    }

    fn add(&mut self, row: &Row, catalogue: &Catalogue) {
        let no_names = SiteNames::default();
        let claim = catalogue.identify(row.user_agent.as_bytes(), &no_names);
        let found: Vec<&str> = claim.tokens().map(Name::as_str).collect();
        let expected: Vec<&str> = row.product_tokens.iter().flatten().map(String::as_str).collect();
        let totals = &mut self.totals;
        if expected.is_empty() {
            totals.browsers += 1;
            totals.browsers_with_token += usize::from(!found.is_empty());
        } else {
            let is_first =
                |same: Same| found.first().zip(expected.first()).is_some_and(|(a, b)| same(a, b));
            totals.user_agents += 1;
            totals.first += usize::from(is_first(in_any_case));
            totals.first_same_case += usize::from(is_first(exactly));
            totals.exact += usize::from(are_the_same(&expected, &found, in_any_case));
            totals.exact_same_case += usize::from(are_the_same(&expected, &found, exactly));
        }
        for kind in kinds(&expected, &found) {
            if let Some((count, _)) = self.confusions.get_mut(&kind) {
                *count += 1;
            } else if self.confusions.len() < MAX_KINDS {
                let example = escape::shown(&row.user_agent);
                self.confusions.insert(kind, (1, example));
            } else {
                self.totals.further_confusions += 1;
            }
        }
    }
}

type Same = fn(&str, &str) -> bool;

fn in_any_case(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
}

fn exactly(a: &str, b: &str) -> bool {
    a == b
}

/// The tokens of `of` that are not in `other`.
fn missing<'t>(of: &[&'t str], other: &[&str], same: Same) -> Vec<&'t str> {
    let is_missing = |name: &&&str| !other.iter().any(|known| same(name, known));
    of.iter().filter(is_missing).copied().collect()
}

fn are_the_same(a: &[&str], b: &[&str], same: Same) -> bool {
    missing(a, b, same).is_empty() && missing(b, a, same).is_empty()
}

/// The confusions of one User-Agent: each missing token with an additional one, in their order. If
/// only the order of tokens differs, the first of both.
fn kinds(expected: &[&str], found: &[&str]) -> Vec<Kind> {
    let shown = |name: &&str| escape::shown(name);
    let missed = missing(expected, found, in_any_case);
    let too_many = missing(found, expected, in_any_case);
    if missed.is_empty() && too_many.is_empty() {
        return match (expected.first(), found.first()) {
            (Some(a), Some(b)) if !in_any_case(a, b) => vec![(Some(shown(a)), Some(shown(b)))],
            _ => Vec::new(),
        };
    }
    (0..missed.len().max(too_many.len()))
        .map(|at| (missed.get(at).map(shown), too_many.get(at).map(shown)))
        .collect()
}

fn print(
    totals: &Totals,
    confusions: &[(Kind, (usize, String))],
    out: &mut dyn Write,
) -> Result<(), Error> {
    let all = totals.user_agents;
    share(out, "first token", totals.first, all)?;
    share(out, "  same case", totals.first_same_case, all)?;
    share(out, "exact set", totals.exact, all)?;
    share(out, "  same case", totals.exact_same_case, all)?;
    share(out, "browsers with a token", totals.browsers_with_token, totals.browsers)?;
    if !confusions.is_empty() {
        writeln!(out, "\n{:>6}  {:<28} {:<28} FIRST USER-AGENT", "COUNT", "EXPECTED", "FOUND")?;
    }
    for ((expected, found), (count, example)) in confusions {
        let [expected, found] = [expected, found].map(|name| name.as_deref().unwrap_or("-"));
        writeln!(out, "{count:>6}  {expected:<28} {found:<28} {example}")?;
    }
    if totals.further_confusions > 0 {
        writeln!(out, "{:>6}  of further kinds", totals.further_confusions)?;
    }
    Ok(())
}

fn share(out: &mut dyn Write, label: &str, part: usize, all: usize) -> Result<(), Error> {
    let percent = if all == 0 { 0.0 } else { 100.0 * part as f64 / all as f64 };
    Ok(writeln!(out, "{label:<22} {part:>7} of {all:>7}  {percent:>7.3}%")?)
}

/// The catalogue to use; the built-in one by default.
#[derive(Debug, clap::Args)]
pub(super) struct Source {
    /// Use the catalogue of this policy, with the policy's own crawlers.
    #[arg(long, short, value_name = "FILE|URL", conflicts_with = "catalogue")]
    config: Option<PathBuf>,
    /// Use this catalogue file.
    #[arg(long, value_name = "FILE")]
    catalogue: Option<PathBuf>,
}

impl Source {
    pub(super) fn read(&self) -> Result<Catalogue, Error> {
        match (&self.config, &self.catalogue) {
            (Some(file), _) => {
                let (policy, _) = load(&ConfigFile::of(file))?;
                Ok(Catalogue::clone(&policy.catalogue))
            }
            (None, Some(file)) => {
                let name = file.display().to_string();
                let bytes = publication::read_catalogue_file(file)
                    .map_err(|error| Error::Refused(format!("{name}: {error}")))?;
                let read = read_catalogue_file(&name, &bytes).map_err(Error::Findings)?;
                catalogue_of(read).map_err(Error::Findings)
            }
            (None, None) => Ok(built_in_catalogue()),
        }
    }
}
