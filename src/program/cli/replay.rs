//! `beadle replay`: access logs run through a policy. On a terminal, a line tells how far it is.

use std::{
    io::{self, IsTerminal, Write},
    num::NonZero,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use super::report::{Format, save, screen};
use crate::{
    formats::access_log,
    program::console::{ConfigFile, Error, Exit, database::location, input, load, refuse, remark},
    records::{record::Violation, tally::Claimant, violations::jsonl},
    review::{
        replay::{
            Basis, Changes, Judge, Logs, Progress, Source, Stop, Tally, document, json_lines,
        },
        report::{html, markdown, number::grouped, text},
    },
};

/// The most rows of a table: on a terminal, and in a file.
const MOST_ROWS: (usize, usize) = (10, 50);
const RECORDS_AT_ONCE: usize = 64 << 10;

/// Run access logs through a policy
///
/// Judges each request of the logs as the proxy would have judged it at that time, and reports what
/// would have been logged, throttled or blocked: by crawler, rule, path and day. Starts no server,
/// stores nothing, and needs no database. Logs may be compressed by gzip or zstd; '-' is standard
/// input. Several logs are read as one, in the order of time.
///
/// The policy counts as in force before the first line. Claims are checked by the lists that
/// 'evidence' keeps on this machine; names and signatures are not looked up.
///
///   beadle replay /var/log/nginx/access.log*
///   beadle replay --robots-txt https://www.example.com access.log
///   beadle replay --against stricter.yaml access.log
///   beadle replay --format html --output replay.html access.log.gz
///   zcat old/*.gz | beadle replay --violations --format json -
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// The logs; '-' is standard input.
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<PathBuf>,
    #[command(flatten)]
    config: ConfigFile,
    /// Judge by this robots.txt alone, without a policy. Every host belongs to it.
    #[arg(long, value_name = "FILE|URL", conflicts_with_all = ["against", "history", "origin_robots_txt"])]
    robots_txt: Option<String>,
    /// The robots.txt of the origin, for sites with 'source: origin' or 'merge'.
    #[arg(long, value_name = "FILE|URL", conflicts_with = "history")]
    origin_robots_txt: Option<String>,
    /// Compare with this policy: report the requests that it would treat otherwise.
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Judge by the robots.txt editions that the policy's database has, each in its time.
    #[arg(long)]
    history: bool,
    /// The log format: combined, common, vhost_combined, json, caddy, traefik, haproxy, cloudflare, alb,
    /// cloudfront, w3c, iis, beadle, beadle-access, or a pattern as nginx's log_format or Apache's
    /// LogFormat writes it (default: told by the first lines).
    #[arg(long, value_name = "NAME|PATTERN")]
    log_format: Option<String>,
    /// The host of lines without one (default: that of the default or only site).
    #[arg(long, value_name = "HOST")]
    site: Option<String>,
    /// Print each violation as a record, instead of the report.
    #[arg(long, conflicts_with = "against")]
    violations: bool,
    /// The file to write (default: standard output).
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite an existing file.
    #[arg(long)]
    force: bool,
    /// Output format. Records are text or json.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Threads that parse (default: one for each processor).
    #[arg(long, value_name = "NUMBER")]
    threads: Option<NonZero<usize>>,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let format = args.log_format.as_deref().map(access_log::Format::of).transpose();
    let format = format.map_err(Error::Refused)?;
    let (basis, name) = basis(args)?;
    let unknown = unknown(&basis);
    let other = args.against.as_deref().map(|file| args.config.at(file));
    let against = other.map(|config| basis_of(args, &config)).transpose()?;
    let own = || thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    let threads = args.threads.unwrap_or_else(own);
    let source = |log: &PathBuf| match log.as_os_str() == "-" {
        true => Source::StandardInput,
        false => Source::File(log.clone()),
    };
    let sources = args.logs.iter().map(source).collect();
    let logs = Logs::open(sources, format, threads).map_err(Error::Refused)?;
    let (judge, findings) = Judge::new(basis, against, args.site.clone())?;
    findings.iter().for_each(|finding| remark(&finding.to_string()));
    let remarks: Vec<String> = unknown.into_iter().chain(formats(&logs)).collect();
    let mut bar = Bar::start();
    if args.violations {
        let (tally, _) = records(args, judge, logs, &mut bar, out)?;
        bar.end();
        remark(&format!(
            "{} violations in {} lines, {} lines not judged",
            tally.violations(),
            tally.lines,
            tally.malformed()
        ));
        return Ok(Exit::Fine);
    }
    let judged = judge.run(logs, None, |logs, lines| bar.show(logs.progress(), lines));
    bar.end();
    let (tally, changes) = judged.map_err(stopped)?;
    let against = args.against.as_deref().map(Path::display).map(|file| file.to_string());
    let document = |most| {
        let changes = changes.as_ref().zip(against.as_deref());
        document(&tally, changes, &name, &remarks, most)
    };
    let file = args.output.as_deref().filter(|file| file.as_os_str() != "-");
    let written = match args.format {
        Format::Json => json_lines(&tally, changes.as_ref()),
        Format::Text => text(&document(MOST_ROWS.0), screen(file)),
        Format::Markdown => markdown(&document(MOST_ROWS.1)),
        Format::Html => html(&document(MOST_ROWS.1)),
    };
    match file {
        Some(file) => save(file, written.as_bytes(), args.force)?,
        None => out.write_all(written.as_bytes())?,
    }
    Ok(Exit::Fine)
}

fn records(
    args: &Args,
    judge: Judge,
    logs: Logs,
    bar: &mut Bar,
    out: &mut dyn Write,
) -> Result<(Tally, Option<Changes>), Error> {
    let push: fn(&mut Vec<u8>, &Violation) = match args.format {
        Format::Json => jsonl::push,
        Format::Text => push_text,
        Format::Markdown | Format::Html => {
            return refuse("--violations prints text or json (take another --format)");
        }
    };
    let mut waiting = Vec::new();
    let mut record = |violation: &Violation| {
        push(&mut waiting, violation);
        if waiting.len() > RECORDS_AT_ONCE {
            out.write_all(&waiting)?;
            waiting.clear();
        }
        Ok(())
    };
    let judged = judge.run(logs, Some(&mut record), |logs, lines| bar.show(logs.progress(), lines));
    let judged = judged.map_err(stopped)?;
    out.write_all(&waiting)?;
    Ok(judged)
}

/// One line: time, crawler, action, rule, path. An impostor is named by its claim.
fn push_text(line: &mut Vec<u8>, one: &Violation) {
    let rule = match (&*one.robots.directive, &*one.robots.pattern) {
        ("", _) => one.reason.to_string(),
        (directive, pattern) => crate::records::record::rule_line(directive, pattern)
            .unwrap_or_else(|| format!("{directive}: {pattern}")),
    };
    let crawler = Claimant::of(&one.standing).name(&one.product_token);
    let text = format!(
        "{:.3}  {:<20}  {:<8}  {:<30}  {}{}\n",
        one.time, crawler, one.action, rule, one.host, one.path
    );
    line.extend(text.bytes());
}

fn stopped(stop: Stop) -> Error {
    match stop {
        Stop::Log(why) => Error::Refused(why),
        Stop::Output(error) => Error::Output(error),
    }
}

fn basis(args: &Args) -> Result<(Basis, String), Error> {
    match &args.robots_txt {
        Some(from) => {
            let basis = Basis::of_robots_txt(input::robots_txt(from)?.into());
            let basis = basis.map_err(|findings| Error::Findings(findings.0))?;
            Ok((basis, format!("the robots.txt {from}")))
        }
        None => Ok((basis_of(args, &args.config)?, format!("the policy {}", args.config.name()))),
    }
}

fn basis_of(args: &Args, config: &ConfigFile) -> Result<Basis, Error> {
    let (policy, _) = load(config)?;
    if args.history {
        let Some(database) = location(&policy)? else {
            return refuse(
                "the policy has no database, so no editions are known \
                 (add 'violations.database', or leave out --history)",
            );
        };
        return Ok(Basis::with_history(policy, database.open()?.editions(None, None)?));
    }
    let origin = args.origin_robots_txt.as_deref().map(input::robots_txt).transpose()?;
    Ok(Basis::of(policy, origin.map(Into::into)))
}

fn unknown(basis: &Basis) -> Option<String> {
    let sites = basis.unknown_origins().join(", ");
    let sentence = format!(
        "The robots.txt of the origin of {sites} is not known here, so none of its rules is enforced (name \
         it with --origin-robots-txt)."
    );
    (!sites.is_empty()).then_some(sentence)
}

fn formats(logs: &Logs) -> Option<String> {
    let formats = logs.formats();
    let named = formats.iter().map(|(name, count)| match count {
        1 => name.clone(),
        several => format!("{name} ({several} logs)"),
    });
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| format!("Log format: {}.", named.join(", ")))
}

const STEP: Duration = Duration::from_millis(200);

/// The progress on standard error, if that is a terminal.
struct Bar {
    start: Instant,
    shown: Option<Instant>,
    is_watched: bool,
}

impl Bar {
    fn start() -> Self {
        Self { start: Instant::now(), shown: None, is_watched: io::stderr().is_terminal() }
    }

    fn show(&mut self, progress: Progress, lines: u64) {
        let is_due = self.shown.is_none_or(|shown| shown.elapsed() > STEP);
        if self.is_watched && is_due {
            self.shown = Some(Instant::now());
            let line = line(progress, lines, self.start.elapsed());
            // A failed write to standard error cannot be reported anywhere.
            let _ = write!(io::stderr(), "\r\x1b[K{line}");
        }
    }

    fn end(&self) {
        if self.shown.is_some() {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

fn line(Progress { read, size }: Progress, lines: u64, passed: Duration) -> String {
    let seconds = passed.as_secs_f64().max(0.001);
    let rate = grouped((lines as f64 / seconds) as u64);
    let lines = grouped(lines);
    if size == 0 || read == 0 {
        return format!("{lines} lines, {rate} lines/s");
    }
    let share = read as f64 / size.max(read) as f64;
    let left = Duration::from_secs_f64(seconds * (1.0 - share) / share).as_secs();
    let (minutes, seconds) = (left / 60, left % 60);
    let percent = (share * 100.0) as u64;
    format!("{percent:>3} %  {lines} lines, {rate} lines/s, {minutes}:{seconds:02} left")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_rate_and_time_left() {
        let line = |read, size| line(Progress { read, size }, 5_000_000, Duration::from_secs(10));
        assert_eq!(line(1, 4), " 25 %  5,000,000 lines, 500,000 lines/s, 0:30 left");
        assert_eq!(line(4, 4), "100 %  5,000,000 lines, 500,000 lines/s, 0:00 left");
        assert_eq!(line(4, 0), "5,000,000 lines, 500,000 lines/s");
    }
}
