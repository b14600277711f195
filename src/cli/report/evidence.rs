//! The evidence bundle of one crawler, written to a file.

use std::{
    collections::{BTreeSet, HashMap},
    fs::{self, OpenOptions},
    io::{self, IsTerminal, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::Timestamp;
use serde::Serialize;

use super::lookup;
use crate::{
    cli::{
        config::load_with_database,
        exit::{Error, Exit},
        input::name,
        output::{Format, json, remark},
    },
    crawlers::Name,
    enforce::{Chronicle, HostPeriod, is_bound_by_star},
    policy::{self, Policy},
    report::bundle::{Counts, MAX_RECORDS, Material, Served, contents, digest, pack},
    violations::{Edition, Filter, Question, Store, Violation},
};

/// The most bytes of robots.txt files that are read; older ones are left out.
const MOST_EDITIONS: usize = 128 << 20;
/// Only the owner reads the file: it has the addresses of clients.
const FILE_MODE: u32 = 0o600;

/// The options of a bundle.
pub(super) struct Options<'a> {
    /// The policy file.
    pub(super) config: &'a Path,
    pub(super) product_token: &'a str,
    pub(super) since: &'a str,
    pub(super) until: Option<&'a str>,
    pub(super) site: Option<&'a str>,
    /// The file to write; `-` is standard output.
    pub(super) output: Option<&'a Path>,
    pub(super) force: bool,
    pub(super) format: Format,
}

/// What was written.
#[derive(Serialize)]
struct BundleRow<'a> {
    kind: &'static str,
    file: &'a str,
    bytes: usize,
    sha256: &'a str,
    product_token: &'a str,
    violations: usize,
    files: usize,
}

/// Writes the bundle of a crawler.
pub(super) fn write(options: &Options<'_>, out: &mut dyn Write) -> Result<Exit, Error> {
    let policy = load_with_database(options.config)?;
    let now = Timestamp::now();
    let (since, until) = lookup::span(options.since, options.until, now)?;
    let store = lookup::database(&policy)?;
    let product_token = lookup::crawler(&policy, &store, options.product_token)?;
    let site = options.site.map(|host| lookup::site(&policy, &store, host)).transpose()?;
    let output = output(options, &product_token)?;
    let filter = Filter {
        product_token: Some(product_token.clone()),
        site: site.clone(),
        since: Some(since),
        until: Some(until),
        limit: Some(MAX_RECORDS + 1),
        ..Filter::default()
    };
    let mut records: Vec<Violation> =
        store.query(&filter)?.records.into_iter().map(|(_, record)| record).collect();
    let is_cut = records.len() > MAX_RECORDS;
    records.drain(..records.len().saturating_sub(MAX_RECORDS));
    let Some(first) = records.iter().map(|record| record.time).min() else {
        let place = site.map(|site| format!(" on {site}")).unwrap_or_default();
        return Err(Error::Refused(format!(
            "no violations of {product_token}{place} from {since:.0} to {until:.0}, so there is \
             nothing to prove (name an earlier --since)"
        )));
    };
    let leaps = store.clock_leaps(back(first, policy::MAX_CACHE_WINDOW * 2))?;
    let jumps = leaps.iter().fold(Duration::ZERO, |sum, leap| sum.saturating_add(leap.by));
    let start = back(first, policy::MAX_CACHE_WINDOW.saturating_add(jumps));
    let editions = editions(&store, start, &records)?;
    let chronicle = chronicle(&store, start, now)?;
    let crawler = policy.catalogue.find(&product_token);
    let material = Material {
        crawler,
        counts: counts(&store, &filter)?,
        sites: served(&policy, &chronicle, &product_token, now),
        product_token: &product_token,
        site: site.as_deref(),
        since,
        until,
        made: now,
        records,
        is_cut,
        editions,
        fetches: store.fetches()?,
        leaps,
    };
    let files = contents(&material);
    let bytes = pack(&files);
    let Some(file) = output else {
        out.write_all(&bytes)?;
        return Ok(Exit::Fine);
    };
    save(&file, &bytes, options.force)?;
    let row = BundleRow {
        kind: "bundle",
        file: &name(&file),
        bytes: bytes.len(),
        sha256: &digest(&bytes),
        product_token: &product_token,
        violations: material.records.len(),
        files: files.len(),
    };
    report(&row, options.format, out)?;
    if is_cut {
        remark(&format!(
            "only the latest {MAX_RECORDS} violations are in it (choose a later --since)"
        ));
    }
    Ok(Exit::Fine)
}

fn report(row: &BundleRow<'_>, format: Format, out: &mut dyn Write) -> Result<(), Error> {
    if format == Format::Json {
        return json(out, row);
    }
    let BundleRow { file, violations, product_token, sha256, .. } = row;
    let noun = if *violations == 1 { "violation" } else { "violations" };
    writeln!(out, "{file}: {violations} {noun} of {product_token}")?;
    writeln!(out, "SHA-256 {sha256}")?;
    writeln!(
        out,
        "'message.txt' in it is the draft of a message; read it and the records before you send them."
    )?;
    Ok(())
}

/// The file to write; `None` is standard output.
fn output(options: &Options<'_>, product_token: &str) -> Result<Option<PathBuf>, Error> {
    let file = match options.output {
        Some(file) if file.as_os_str() == "-" => {
            if io::stdout().is_terminal() {
                let message = "a terminal can't show a zip file (write '--output FILE')";
                return Err(Error::Refused(message.to_owned()));
            }
            return Ok(None);
        }
        Some(file) => file.to_owned(),
        None => {
            let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
            let token: String = product_token.chars().map(safe).collect();
            PathBuf::from(format!("evidence-{token}.zip"))
        }
    };
    if !options.force && fs::symlink_metadata(&file).is_ok() {
        return Err(there_already(&file));
    }
    Ok(Some(file))
}

fn there_already(file: &Path) -> Error {
    Error::Refused(format!("{} is there already (overwrite it with --force)", name(file)))
}

/// Writes the file whole, or not at all.
pub(super) fn save(file: &Path, bytes: &[u8], force: bool) -> Result<(), Error> {
    let refused = |error: &io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists if !force => there_already(file),
        _ => Error::Refused(format!("{}: {error}", name(file))),
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
    let mut beside = file.as_os_str().to_owned();
    beside.push(format!(".{}.new", std::process::id()));
    let beside = PathBuf::from(beside);
    let written = options.create_new(true).open(&beside).and_then(|mut new| {
        new.write_all(bytes)?;
        new.sync_all()?;
        fs::rename(&beside, file)
    });
    written.map_err(|error| {
        let _ = fs::remove_file(&beside);
        refused(&error)
    })
}

fn back(time: Timestamp, by: Duration) -> Timestamp {
    time.checked_sub(by).unwrap_or(Timestamp::MIN)
}

/// The editions that were in force at `start` or later, and those that records name.
fn editions(store: &Store, start: Timestamp, records: &[Violation]) -> Result<Vec<Edition>, Error> {
    let (mut editions, rest) = store.latest_editions(start, None, MOST_EDITIONS)?;
    if rest.is_some() {
        let most = MOST_EDITIONS >> 20;
        remark(&format!("only the latest {most} MiB of robots.txt files are considered"));
    }
    let named: BTreeSet<(&str, &str)> = records
        .iter()
        .flat_map(|record| {
            let (site, read) = (record.site.as_str(), record.robots_read.edition.as_deref());
            [Some(record.robots.edition.as_str()), read]
                .into_iter()
                .flatten()
                .map(move |id| (site, id))
        })
        .collect();
    for (site, id) in named {
        let is_it = |one: &Edition| one.id == *id && one.site.eq_ignore_ascii_case(site);
        if !editions.iter().any(is_it) {
            editions.extend(store.editions_by_id(id, Some(site))?.into_iter().filter(is_it));
        }
    }
    Ok(editions)
}

/// The sites that hosts belonged to at `start` or later.
fn chronicle(store: &Store, start: Timestamp, now: Timestamp) -> Result<Chronicle, Error> {
    let hosts = store.hosts(start)?.into_iter().map(|row| HostPeriod {
        host: row.host.to_string(),
        site: row.site.to_string(),
        from: row.from,
        until: row.until,
    });
    Ok(Chronicle::of(HashMap::new(), hosts.collect(), None, now))
}

/// The sites of the policy.
fn served<'a>(
    policy: &'a Policy,
    chronicle: &'a Chronicle,
    product_token: &str,
    now: Timestamp,
) -> Vec<Served<'a>> {
    let crawler = policy.catalogue.find(product_token);
    let name = crawler.map_or(Name::Declared(product_token), Name::Known);
    let sites = policy.sites.iter().map(|site| Served {
        site,
        inherited: chronicle.inherited(site, policy, now).collect(),
        is_bound_by_star: is_bound_by_star(&site.enforcement.star_binds, name),
    });
    sites.collect()
}

/// The counts by hour; `None` if the database has none for this time.
fn counts(store: &Store, filter: &Filter) -> Result<Option<Counts>, Error> {
    let question = Question {
        since: filter.since.unwrap_or(Timestamp::MIN),
        until: filter.until.unwrap_or(Timestamp::MAX),
        site: filter.site.clone(),
        product_token: filter.product_token.clone(),
        ..Question::default()
    };
    let counted = store.counted(&question)?;
    let sum = counted.iter().fold(Counts::default(), |sum, one| Counts {
        requests: sum.requests + one.requests,
        violations: sum.violations + one.violations,
        folded: sum.folded + one.folded,
        dropped: sum.dropped + one.dropped,
    });
    Ok((sum.requests > 0).then_some(sum))
}
