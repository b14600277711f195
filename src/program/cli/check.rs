//! `beadle check`: the findings of a policy or of a robots.txt, each with its repair.

use std::{
    io::{self, Write},
    path::PathBuf,
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};

use crate::{
    advice::{comparison, lint},
    base::diagnostic::{Diagnostic, Severity, Shown, SourceText, Style, github, sarif},
    formats::robots,
    outside::tls,
    program::console::{
        ConfigFile, Error, Exit, control_runtime,
        input::{self, STANDARD_INPUT},
        json, read_now,
    },
    records::{
        counts::{Dimension, Question},
        tally::Claimant,
        violations::Store,
    },
    review::{report::Screen, trial},
    rules::{
        crawlers::Purpose,
        policy::{self, Policy},
    },
    state::publication,
};

/// Check a policy, or any robots.txt, without starting a server
///
/// Prints each finding with its code, its line and the repair. Exits with 1 on errors or warnings,
/// and with 0 otherwise. A comment silences a warning: # beadle: allow CODE
///
///   beadle check beadle.yaml
///   beadle check --online beadle.yaml
///   beadle check --robots-txt https://www.example.com
///   beadle check --format github beadle.yaml
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
#[command(mut_arg("config_key", |arg| arg.hide(false)))]
#[command(mut_arg("config_copy", |arg| arg.hide(false)))]
pub(super) struct Args {
    /// The policy: a file, an https:// address, or - for standard input. Overrides --config.
    #[arg(value_name = "FILE|URL")]
    file: Option<PathBuf>,
    #[command(flatten)]
    config: ConfigFile,
    /// Check a robots.txt instead: a file, - or the URL of a site.
    #[arg(long, value_name = "FILE|URL", conflicts_with = "file")]
    robots_txt: Option<String>,
    /// Fetch robots.txt from the origins too, and list the rules that the policy replaces.
    #[arg(long, conflicts_with = "robots_txt")]
    online: bool,
    /// Ask each origin for forms of its origin.probe_path: 40 requests at most.
    #[arg(long, requires = "online")]
    probe: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The output format of findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Text for people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
    /// One SARIF 2.1.0 document.
    Sarif,
    /// Annotations for GitHub workflows.
    Github,
}

struct Checked {
    name: String,
    bytes: Vec<u8>,
    findings: Vec<Diagnostic>,
    /// The content, if it can be used.
    content: Option<String>,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let file = args.file.as_deref().unwrap_or_else(|| args.config.place());
    let checked = match &args.robots_txt {
        Some(from) => check_robots_txt(from)?,
        None => check_policy(&args.config.at(file), args)?,
    };
    let Checked { name, bytes, findings, content } = checked;
    let source = SourceText::new(&name, &bytes);
    let findings = lint::silence(&source, findings, content.is_some());
    match args.format {
        Format::Text => {
            let Screen { width, has_colours } = Screen::of_standard_output();
            let style = Style { has_colours, width };
            for finding in &findings {
                write!(out, "{}", Shown { finding, source: &source, style })?;
            }
        }
        Format::Json => findings.iter().try_for_each(|finding| json(out, finding))?,
        Format::Sarif => json(out, &sarif(&findings, lint::RULES))?,
        Format::Github => findings.iter().try_for_each(|one| writeln!(out, "{}", github(one)))?,
    }
    let count = |severity| findings.iter().filter(|one| one.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    if args.format == Format::Text {
        let name = source.file();
        let found = [(errors, "error"), (warnings, "warning")].into_iter().filter(|one| one.0 > 0);
        let found: String = found.map(|(n, kind)| format!(", {}", counted(n, kind))).collect();
        match content {
            Some(content) if found.is_empty() => writeln!(out, "{name}: fine, {content}")?,
            Some(content) => writeln!(out, "{name}: {content}{found}")?,
            None => writeln!(out, "{name}: {}, not usable", counted(errors, "error"))?,
        }
    }
    Ok(if errors + warnings > 0 { Exit::Findings } else { Exit::Fine })
}

fn check_policy(config: &ConfigFile, args: &Args) -> Result<Checked, Error> {
    let name = config.name();
    let read = match name.as_str() {
        "-" => {
            let bytes = input::read(io::stdin().lock(), STANDARD_INPUT, policy::MAX_BYTES)?;
            publication::read_policy_bytes(config.file(), &name, bytes)
        }
        _ => read_now(config)?,
    };
    let mut findings = read.findings;
    let looked_at = read.policy.as_ref().or(read.draft.as_ref());
    let lints = looked_at.map(lint::policy).unwrap_or_default();
    findings.extend(lints.into_iter().map(|finding| finding.in_file(&name)));
    if let Some(policy) = &read.policy {
        findings.extend(trial::findings(policy, &name));
        let mut others = about_busy_hours(policy);
        others.extend(tls::findings(policy, &read.bytes));
        if args.online {
            others.extend(about_origins(policy)?);
        }
        findings.extend(others.into_iter().map(|finding| finding.in_file(&name)));
        if args.probe {
            let probed = publication::probe_findings(policy, &name);
            findings.extend(control_runtime()?.block_on(probed));
        }
    }
    // A finding about another file comes last.
    let first = findings.first().and_then(|first| first.place.file.clone());
    findings.sort_by_key(|one| {
        (one.place.file != first, one.place.line.unwrap_or(u32::MAX), one.place.column)
    });
    let content = read.policy.map(|policy| counted(policy.written_sites().count(), "site"));
    Ok(Checked { name, bytes: read.bytes, findings, content })
}

/// The days before now in which a busiest hour counts.
const BUSY: SignedDuration = SignedDuration::from_hours(30 * 24);

/// The limits that search engines would have felt, by the counts of the policy's file of records. One that
/// can't be read says nothing: a policy is checked on any machine.
fn about_busy_hours(policy: &Policy) -> Vec<Diagnostic> {
    let is_limited = |site: &policy::Site| !site.enforcement.rate_limits.is_empty();
    let file = policy.violations.local_database();
    let Some(file) = file.filter(|_| policy.written_sites().any(is_limited)) else {
        return Vec::new();
    };
    let question = Question {
        since: Timestamp::now() - BUSY,
        by: vec![Dimension::Site, Dimension::ProductToken, Dimension::Hour],
        purpose: Some(Purpose::Search.to_string()),
        claimant: Some(Claimant::Crawler),
        ..Question::default()
    };
    let store = Store::open_read_only(file);
    let counted = store.and_then(|store| store.counted(&question)).unwrap_or_default();
    let hours = counted.iter().filter_map(|one| match &one.key[..] {
        [site, token, _] => Some((&**site, &**token, one.requests)),
        _ => None,
    });
    lint::busy_hours(policy, hours)
}

/// The most time for the robots.txt of an origin.
const ORIGIN: Duration = Duration::from_secs(20);

fn about_origins(policy: &Policy) -> Result<Vec<Diagnostic>, Error> {
    let answers = control_runtime()?.block_on(publication::replaced(policy, ORIGIN));
    let answers = answers.map_err(|error| Error::Output(io::Error::other(error)))?;
    let finding = |site: &policy::Site| {
        let finding = match answers.get(site.name())? {
            Ok(replaced) if replaced.is_empty() => return None,
            Ok(replaced) => Diagnostic::warning("policy.replaces_origin", replaced.to_string())
                .help(comparison::KEEP_RULES),
            Err(why) => {
                let message = "the origin's robots.txt is not compared with the policy";
                Diagnostic::note("policy.origin_not_compared", message).help(why.clone())
            }
        };
        Some(finding.at(site.at.line, site.at.column))
    };
    Ok(policy.sites.iter().filter_map(finding).collect())
}

fn check_robots_txt(from: &str) -> Result<Checked, Error> {
    let bytes = input::robots_txt(from)?;
    let findings = lint::robots_txt(&bytes, &policy::built_in_catalogue());
    let findings = findings.into_iter().map(|finding| finding.in_file(from)).collect();
    let (file, _) = robots::parse(&bytes);
    let content = format!(
        "{} in {}",
        counted(file.rule_count(), "rule"),
        counted(file.groups.len(), "group")
    );
    Ok(Checked { name: from.to_owned(), bytes, findings, content: Some(content) })
}

/// `1 site`, `2 sites`.
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
