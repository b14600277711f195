//! `beadle test`: the policy's own tests.

use std::{io::Write, path::PathBuf};

use serde_json::json;

use crate::{
    base::{
        diagnostic::Place,
        escape::{self, shown},
    },
    program::console::{ConfigFile, Error, Exit, json, load},
    review::trial::{self, Found, Trial},
    rules::policy::Policy,
};

/// Run the tests of a policy
///
/// Each entry of `tests` in the policy is a request and the expected decision. Beadle judges it as
/// the proxy would, without a server, a database or a network. Exits with 1 if a test fails, and
/// with 2 if a policy has errors.
///
///   beadle test --config beadle.yaml
///   beadle test policies/*.yaml
///   beadle test --format junit beadle.yaml > report.xml
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Policy files. Override --config.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    config: ConfigFile,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Text for people: failed tests, and the count.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
    /// One XML document for CI systems.
    Junit,
}

struct Suite {
    file: String,
    trials: Vec<Trial>,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let one = [args.config.place().to_owned()];
    let files = if args.files.is_empty() { one.as_slice() } else { &args.files };
    let files: Vec<ConfigFile> = files.iter().map(|file| args.config.at(file)).collect();
    // Every policy has to be sound before the first result is printed.
    let policies = files.iter().map(|file| Ok((file, load(file)?.0)));
    let policies = policies.collect::<Result<Vec<_>, Error>>()?;
    let suite = |(file, policy): &(&ConfigFile, Policy)| {
        Ok(Suite { file: file.name(), trials: trial::run(policy)? })
    };
    let suites = policies.iter().map(suite).collect::<Result<Vec<_>, Error>>()?;
    match args.format {
        Format::Text => text(&suites, out)?,
        Format::Json => rows(&suites, out)?,
        Format::Junit => document(&suites, out)?,
    }
    let failed = suites.iter().map(Suite::failed).sum::<usize>();
    Ok(if failed > 0 { Exit::Findings } else { Exit::Fine })
}

impl Suite {
    fn failed(&self) -> usize {
        self.trials.iter().filter(|trial| !trial.is_passed()).count()
    }

    fn place(&self, trial: &Trial) -> String {
        let file = Some(escape::text(self.file.as_bytes()));
        Place { file, line: Some(trial.line), column: Some(trial.column) }.to_string()
    }
}

fn text(suites: &[Suite], out: &mut dyn Write) -> Result<(), Error> {
    for suite in suites {
        for trial in suite.trials.iter().filter(|trial| !trial.is_passed()) {
            writeln!(out, "{}: FAILED: {}", suite.place(trial), shown(&trial.name))?;
            details(trial).iter().try_for_each(|line| writeln!(out, "    {line}"))?;
        }
        let (all, failed) = (suite.trials.len(), suite.failed());
        let plural = if all == 1 { "" } else { "s" };
        let file = escape::text(suite.file.as_bytes());
        match failed {
            0 => writeln!(out, "{file}: {all} test{plural}, all passed")?,
            _ => writeln!(out, "{file}: {all} test{plural}, {failed} failed")?,
        }
    }
    Ok(())
}

fn details(trial: &Trial) -> Vec<String> {
    let mut lines = vec![format!("{:<12} {}", "request", shown(&trial.request))];
    for one in trial.differences() {
        let value = |text: &str| if text.is_empty() { "none".to_owned() } else { shown(text) };
        let (expected, found) = (value(&one.expected), value(&one.found));
        lines.push(format!("{:<12} expected {expected}, found {found}", one.key));
    }
    match &trial.found {
        Found::Decision { rule: Some(rule), .. } => {
            let (directive, pattern) = (rule.directive, shown(&rule.pattern));
            lines.push(format!(
                "{:<12} {directive} {pattern} (robots.txt line {})",
                "rule", rule.line
            ));
        }
        Found::Decision { rule: None, .. } => lines.push(format!("{:<12} none matches", "rule")),
        Found::Fault { fault } => lines.push(format!("{:<12} {fault}", "fault")),
    }
    lines
}

fn rows(suites: &[Suite], out: &mut dyn Write) -> Result<(), Error> {
    for (suite, trial) in suites.iter().flat_map(|one| one.trials.iter().map(move |t| (one, t))) {
        let row = json!({
            "name": trial.name,
            "outcome": if trial.is_passed() { "passed" } else { "failed" },
            "expected": trial.expected,
            "found": trial.found,
            "place": suite.place(trial),
        });
        json(out, &row)?;
    }
    Ok(())
}

/// The document that CI systems read: a suite for each policy.
fn document(suites: &[Suite], out: &mut dyn Write) -> Result<(), Error> {
    let xml = |text: &str| escape::html(&shown(text));
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>")?;
    for suite in suites {
        let (file, all) = (xml(&suite.file), suite.trials.len());
        let failed = suite.failed();
        writeln!(out, "<testsuite name=\"{file}\" tests=\"{all}\" failures=\"{failed}\">")?;
        for trial in &suite.trials {
            let (name, line) = (xml(&trial.name), trial.line);
            write!(out, "<testcase name=\"{name}\" classname=\"{file}\" line=\"{line}\"")?;
            if trial.is_passed() {
                writeln!(out, "/>")?;
                continue;
            }
            let (place, details) = (xml(&suite.place(trial)), details(trial).join("\n"));
            let details = escape::html(&details);
            writeln!(out, ">\n<failure message=\"{place}\">{details}</failure>\n</testcase>")?;
        }
        writeln!(out, "</testsuite>")?;
    }
    Ok(writeln!(out, "</testsuites>")?)
}
