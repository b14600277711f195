//! `beadle report`: what crawlers did in a span of time; the evidence of violations as a file, and its
//! verification.

use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    io::{self, IsTerminal, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use clap_complete::ArgValueCompleter;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

use crate::{
    base::{
        escape::{self, shown},
        whole_file,
    },
    program::console::{
        self, ConfigFile, Error, Exit, completions, input::read_file, json, load_with_database,
        refuse, remark, site,
    },
    records::{record::Violation, tally::Claimant, violations::Store},
    review::report::{
        Screen, Span,
        bundle::{
            self, Finding, MAX_ARCHIVE, MAX_RECORDS, MOST_EDITIONS, Status, Verification, Wanted,
            digest, file_name, gather, pack, unpack,
        },
        html, markdown,
        review::{Answers, Review, document, json_lines},
        terms::{Names, time},
        text,
    },
    rules::policy::Policy,
};

/// Review what crawlers did, make evidence of violations, or verify such evidence
///
/// Without --evidence and --verify, compares the span with the one before: crawlers, rules, paths and
/// days, what was read, new offenders, the best behaved, and visits that operators sent.
/// Counts are kept by hour, so the span has whole hours, the current one included.
///
/// --evidence writes a zip file with the records, every robots.txt that counts, the crawler's
/// fetches, a summary, and the draft of a message to the operator of the crawler. --verify judges
/// every request again from that file alone, without policy and network.
///
///   beadle report --since 30d
///   beadle report --format html --output week.html
///   beadle report --evidence GPTBot --since 7d --output gptbot.zip
///   beadle report --evidence Googlebot --impostors only
///   beadle report --verify gptbot.zip
///
/// Exits with 1 if --verify finds a change or a difference, and with 2 if there is no database, the
/// file is unreadable, or there is no violation to prove.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigFile,
    /// Write the evidence bundle of this crawler.
    #[arg(long, value_name = "TOKEN", conflicts_with = "verify", add = ArgValueCompleter::new(completions::tokens))]
    evidence: Option<String>,
    /// Verify an evidence bundle.
    #[arg(long, value_name = "FILE")]
    verify: Option<PathBuf>,
    #[command(flatten)]
    scope: Scope,
    /// Make the evidence of the crawler's requests, or only of those by its impostors (default: without).
    #[arg(long, value_parser = Claimant::WORDS, value_name = "WHICH", requires = "evidence")]
    impostors: Option<String>,
    /// The file to write; '-' is standard output (default: evidence-TOKEN.zip, and standard output for a
    /// review).
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite an existing file.
    #[arg(long)]
    force: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The span of time and the site that the options name.
#[derive(Debug, clap::Args)]
pub(super) struct Scope {
    /// Start of the span: a time (2026-11-20T10:00:00Z), a day in UTC (2026-11-20) or an age (24h).
    #[arg(long, value_name = "TIME", default_value = "7d")]
    since: String,
    /// End of the span, as in --since (default: now).
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Only this site, named by one of its hosts.
    #[arg(long, value_name = "HOST", add = ArgValueCompleter::new(completions::sites))]
    site: Option<String>,
}

/// The database of a policy with the times and the site of a [`Scope`].
pub(super) struct Scene {
    pub(super) policy: Policy,
    pub(super) store: Store,
    /// As records name it.
    pub(super) site: Option<String>,
    since: Timestamp,
    until: Timestamp,
    now: Timestamp,
}

impl Scope {
    pub(super) fn open(&self, config: &ConfigFile) -> Result<Scene, Error> {
        let policy = load_with_database(config)?;
        let now = Timestamp::now();
        let since = time(&self.since, now)?;
        let until = self.until.as_deref().map_or(Ok(now), |text| time(text, now))?;
        if since >= until {
            return refuse(format!(
                "the span is empty: --until {until:.0} is not after --since {since:.0} (name a later \
                 end)"
            ));
        }
        let store = site::store(&policy)?;
        let site = self.site.as_deref().map(|host| Names::from(&policy).site(&store, host));
        let site = site.transpose()?;
        Ok(Scene { policy, store, site, since, until, now })
    }
}

impl Scene {
    pub(super) fn span(&self) -> Span {
        Span::new(self.since, self.until, self.now)
    }

    /// The product token of one crawler in records and counts.
    pub(super) fn crawler(&self, text: &str) -> Result<String, Error> {
        if text == Violation::NAMELESS {
            return refuse(
                "clients without a name are no crawler, and have no operator (name a crawler)",
            );
        }
        Ok(Names::from(&self.policy).counted_token(&self.store, text)?)
    }
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    match (&args.evidence, &args.verify) {
        (Some(product_token), _) => evidence(args, product_token, out),
        (None, Some(file)) => verify(file, args.format.of_lines()?, out),
        (None, None) => review(args, out),
    }
}

/// The output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// Text for people. On a terminal, as wide as the terminal.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
    /// Markdown with tables (a review only).
    Markdown,
    /// One HTML file, for mail and print (a review only).
    Html,
}

impl Format {
    /// The format of what is no review.
    fn of_lines(self) -> Result<console::Format, Error> {
        match self {
            Self::Text => Ok(console::Format::Text),
            Self::Json => Ok(console::Format::Json),
            Self::Markdown | Self::Html => {
                refuse("--evidence and --verify print text or json (take another --format)")
            }
        }
    }
}

/// The most rows of a table: on a terminal, and in a file for mail and print.
const MOST_ROWS: (usize, usize) = (10, 20);

fn review(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let scene = args.scope.open(&args.config)?;
    let answers = Answers::of(&scene.store, scene.span(), scene.site)?;
    let review = Review::of(&answers, &scene.policy.catalogue);
    let file = args.output.as_deref().filter(|file| file.as_os_str() != "-");
    let written = match args.format {
        Format::Json => json_lines(&review),
        Format::Text => text(&document(&review, MOST_ROWS.0), screen(file)),
        Format::Markdown => markdown(&document(&review, MOST_ROWS.1)),
        Format::Html => html(&document(&review, MOST_ROWS.1)),
    };
    match file {
        Some(file) => save(file, written.as_bytes(), args.force)?,
        None => out.write_all(written.as_bytes())?,
    }
    Ok(Exit::Fine)
}

/// The screen of a document: the terminal, unless it goes into a file.
pub(super) fn screen(file: Option<&Path>) -> Screen {
    let in_file = Screen { width: None, has_colours: false };
    file.map_or_else(Screen::of_standard_output, |_| in_file)
}

/// Only the owner reads the file: it has the addresses of clients.
const FILE_MODE: u32 = 0o600;

#[derive(Serialize)]
struct BundleRow<'a> {
    kind: &'static str,
    file: &'a str,
    bytes: usize,
    sha256: &'a str,
    product_token: &'a str,
    /// Of a bundle about impostors.
    #[serde(skip_serializing_if = "Option::is_none")]
    standing: Option<&'static str>,
    violations: usize,
    files: usize,
}

fn evidence(args: &Args, crawler: &str, out: &mut dyn Write) -> Result<Exit, Error> {
    let format = args.format.of_lines()?;
    let claimant = args.impostors.as_deref().and_then(Claimant::of_word).unwrap_or_default();
    let scene = args.scope.open(&args.config)?;
    let product_token = scene.crawler(crawler)?;
    let Scene { policy, store, site, since, until, now } = scene;
    let output = output(args, &product_token)?;
    let wanted = Wanted {
        product_token: &product_token,
        site: site.as_deref(),
        claimant,
        since,
        until,
        made: now,
    };
    // The words between violations and the crawler's name.
    let of = if claimant.standing().is_some() { "by impostors of" } else { "of" };
    let Some(bundle) = gather(&store, &policy, &wanted)? else {
        let place = site.map(|site| format!(" on {site}")).unwrap_or_default();
        let or = match claimant {
            Claimant::Crawler => " (or ask for its impostors: --impostors only)",
            Claimant::Impostor => "",
        };
        return refuse(format!(
            "no violations {of} {product_token}{place} from {since:.0} to {until:.0}, so there is \
             nothing to prove: name an earlier --since{or}"
        ));
    };
    if bundle.are_editions_cut {
        let most = MOST_EDITIONS >> 20;
        remark(&format!("only the latest {most} MiB of robots.txt files are considered"));
    }
    let bytes = pack(&bundle.files);
    let Some(file) = output else {
        out.write_all(&bytes)?;
        return Ok(Exit::Fine);
    };
    save(&file, &bytes, args.force)?;
    let row = BundleRow {
        kind: "bundle",
        file: &escape::path(&file),
        bytes: bytes.len(),
        sha256: &digest(&bytes),
        product_token: &product_token,
        standing: claimant.standing(),
        violations: bundle.violations,
        files: bundle.files.len(),
    };
    match format {
        console::Format::Json => json(out, &row)?,
        console::Format::Text => {
            let BundleRow { file, violations, product_token, sha256, .. } = row;
            let noun = if violations == 1 { "violation" } else { "violations" };
            writeln!(out, "{file}: {violations} {noun} {of} {product_token}")?;
            writeln!(out, "SHA-256 {sha256}\nTo: {}", bundle.recipient)?;
            let sentence =
                "is the draft of a message; read it and the records before you send them.";
            writeln!(out, "'message.txt' in it {sentence}")?;
        }
    }
    if bundle.is_cut {
        remark(&format!(
            "only the latest {MAX_RECORDS} violations are in it (choose a later --since)"
        ));
    }
    Ok(Exit::Fine)
}

/// The file to write; `None` is standard output.
fn output(args: &Args, product_token: &str) -> Result<Option<PathBuf>, Error> {
    let file = match &args.output {
        Some(file) if file.as_os_str() == "-" => {
            if io::stdout().is_terminal() {
                return refuse("a terminal can't show a zip file (write '--output FILE')");
            }
            return Ok(None);
        }
        Some(file) => file.clone(),
        None => PathBuf::from(file_name(product_token)),
    };
    if !args.force && fs::symlink_metadata(&file).is_ok() {
        return Err(there_already(&file));
    }
    Ok(Some(file))
}

fn there_already(file: &Path) -> Error {
    Error::Refused(format!("{} is there already (overwrite it with --force)", escape::path(file)))
}

/// Writes the file whole, or not at all.
pub(super) fn save(file: &Path, bytes: &[u8], force: bool) -> Result<(), Error> {
    let refused = |error: &io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists if !force => there_already(file),
        _ => Error::Refused(format!("{}: {error}", escape::path(file))),
    };
    let mut options = OpenOptions::new();
    options.write(true).mode(FILE_MODE);
    if !force {
        let mut new = options.create_new(true).open(file).map_err(|error| refused(&error))?;
        let written = new.write_all(bytes).and_then(|()| new.sync_all());
        return written.map_err(|error| {
            // A part of a bundle is of no use. A failure to remove it adds nothing to the first one.
            let _ = fs::remove_file(file);
            refused(&error)
        });
    }
    whole_file::replace(file, bytes, |_| Ok(())).map_err(|error| refused(&error))
}

fn verify(file: &Path, format: console::Format, out: &mut dyn Write) -> Result<Exit, Error> {
    let bytes = read_file(file, MAX_ARCHIVE)?;
    let refused = |error| Error::Refused(format!("{}: {error}", escape::path(file)));
    let verification = bundle::verify(unpack(&bytes).map_err(refused)?);
    match format {
        console::Format::Json => print_rows(&verification, out)?,
        console::Format::Text => print_text(&verification, out)?,
    }
    Ok(if verification.is_verified() { Exit::Fine } else { Exit::Findings })
}

fn print_rows(verification: &Verification, out: &mut dyn Write) -> Result<(), Error> {
    for finding in &verification.findings {
        let Finding { status, file, line, id, what, recorded, recomputed } = finding;
        let row = json!({
            "kind": "finding",
            "status": status.as_str(),
            "file": shown(file),
            "line": line,
            "id": id,
            "what": shown(what),
            "recorded": recorded.as_ref().map(shown),
            "recomputed": recomputed.as_ref().map(shown),
        });
        json(out, &row)?;
    }
    let total = json!({
        "kind": "total",
        "product_token": verification.product_token.as_ref().map(shown),
        "verified": verification.is_verified(),
        "records": verification.records,
        "agreeing": verification.agreeing,
        "differing": verification.differing,
        "not_recomputed": verification.not_recomputed,
    });
    json(out, &total)
}

fn print_text(verification: &Verification, out: &mut dyn Write) -> Result<(), Error> {
    let mut unknown: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for finding in &verification.findings {
        match finding.status {
            Status::Changed | Status::Differs => writeln!(out, "{}", told(finding))?,
            Status::NotRecomputed | Status::Remark => {
                *unknown.entry((finding.status.as_str(), &finding.what)).or_default() += 1;
            }
        }
    }
    for ((status, what), count) in unknown {
        let times = if count > 1 { format!(" ({count} records)") } else { String::new() };
        writeln!(out, "{}: {}{times}", status.replace('-', " "), shown(what))?;
    }
    let Verification { records, agreeing, differing, not_recomputed, .. } = verification;
    let token = verification.product_token.as_ref().map_or_else(|| "-".to_owned(), shown);
    writeln!(
        out,
        "{token}: of {records} verdicts, {agreeing} agree, {differing} differ, and \
         {not_recomputed} can't be judged again from the bundle alone"
    )?;
    let verdict = match verification.is_verified() {
        true => {
            "verified: every hash is right, and every request that can be judged again was a \
                 violation"
        }
        false if verification.is_wrong() => "NOT verified",
        false => "NOT verified: no verdict can be judged again",
    };
    Ok(writeln!(out, "{verdict}")?)
}

fn told(finding: &Finding) -> String {
    let mut text = shown(&finding.file);
    if let Some(line) = finding.line {
        text.push_str(&format!(":{line}"));
    }
    text.push_str(&format!(": {}: {}", finding.status.as_str(), shown(&finding.what)));
    match (&finding.recorded, &finding.recomputed) {
        (Some(recorded), Some(recomputed)) => {
            text.push_str(&format!(" (says {}, is {})", shown(recorded), shown(recomputed)));
        }
        (None, Some(recomputed)) => text.push_str(&format!(" (is {})", shown(recomputed))),
        _ => {}
    }
    if let Some(id) = &finding.id {
        text.push_str(&format!(", record {id}"));
    }
    text
}
