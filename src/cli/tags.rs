//! `beadle tags`: what response headers and the document's head tell a crawler.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::{
    cli::{Error, Exit, Format, input_lines, json},
    diagnostic::Diagnostic,
    escape,
    policy::built_in_catalogue,
    product_token::ProductToken,
    robots_tag::{self, Document, DocumentReader, RobotsTag, Rule, Scope},
};

/// The longest header line that is read as one, in octets.
const MAX_LINE: u64 = 1 << 16;

/// Tell what response headers, and a document's head, say to a crawler
///
/// Reads header lines from standard input (`Robots-Tag: …`, `X-Robots-Tag: …`; others are skipped)
/// and prints the rules that the crawler has to follow, where they stand, and what is wrong there:
///
///   curl -sI https://www.example.com/ | beadle tags --product-token Googlebot
///
/// With --html the document is read too, for `<meta name="robots">` and `<meta name="googlebot">`:
///
///   curl -si https://www.example.com/ | beadle tags --product-token Googlebot --html
///   beadle tags --product-token Googlebot --html page.html
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Whom the rules are for; '*' for a crawler that is not named.
    #[arg(long, short = 't', value_name = "TOKEN", required_unless_present = "rules")]
    product_token: Option<String>,
    /// Read an HTML document too: on standard input behind the headers and an empty line (there
    /// may be no headers), or in FILE; then standard input is not read.
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    html: Option<Option<PathBuf>>,
    /// List the rules that are known, and who says that it honours them.
    #[arg(long, conflicts_with_all = ["product_token", "html"])]
    rules: bool,
    /// How to print.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Serialize)]
struct Row {
    product_token: String,
    rules: Vec<String>,
    sources: Vec<Source>,
    diagnostics: Vec<Finding>,
}

/// A place that says something to the crawler.
#[derive(Serialize)]
struct Source {
    source: &'static str,
    /// The name of a `meta` element.
    name: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    rules: Vec<String>,
}

#[derive(Serialize)]
struct Finding {
    source: &'static str,
    #[serde(flatten)]
    diagnostic: Diagnostic,
}

const FIELD: &str = "Robots-Tag";
const OLDER_FIELD: &str = "X-Robots-Tag";
const DOCUMENT: &str = "document";

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let Some(name) = &args.product_token else { return list(args.format, out) };
    let token = if name == "*" {
        None
    } else {
        let refused = || {
            let name = escape::bounded(name.as_bytes(), 100);
            Error::Refused(format!("'{name}' is not a product token (write '*' for any crawler)"))
        };
        Some(ProductToken::new(name).ok_or_else(refused)?)
    };
    let file = args.html.as_ref().and_then(Option::as_deref).filter(|file| *file != Path::new("-"));
    let response =
        match (&args.html, file) {
            (None, _) => Response::read_headers()?,
            (_, None) => Response::read(io::stdin().lock())?,
            (_, Some(file)) => File::open(file)
                .and_then(|open| Response::read(BufReader::new(open)))
                .map_err(|error| Error::Refused(format!("{}: {error}", file.display())))?,
        };
    let row = response.tell(name, token.as_ref(), file);
    match args.format {
        Format::Json => json(out, &row)?,
        Format::Text => text(&row, out)?,
    }
    Ok(Exit::Fine)
}

fn text(row: &Row, out: &mut dyn Write) -> Result<(), Error> {
    let listed = |rules: &[String]| escape::text(rules.join(", ").as_bytes());
    let all = if row.rules.is_empty() { "no rule".to_owned() } else { listed(&row.rules) };
    writeln!(out, "{}: {all}", row.product_token)?;
    for source in &row.sources {
        let place = source.file.as_deref().unwrap_or(source.source);
        write!(out, "  {place}")?;
        if let (Some(line), Some(name)) = (source.line, &source.name) {
            write!(out, ":{line}: <meta name=\"{name}\">")?;
        }
        writeln!(out, ": {}", listed(&source.rules))?;
    }
    for Finding { source, diagnostic } in &row.diagnostics {
        let place = &diagnostic.place;
        let gap = if place.line.is_some() { "" } else { " " };
        match place.file {
            Some(_) => writeln!(out, "{diagnostic}")?,
            None => writeln!(out, "{source}:{gap}{diagnostic}")?,
        }
    }
    Ok(())
}

/// The parts of a response that hold rules.
#[derive(Default)]
struct Response {
    field: Vec<Vec<u8>>,
    older_field: Vec<Vec<u8>>,
    document: DocumentReader,
}

impl Response {
    /// All lines of standard input as headers, those of several responses too.
    fn read_headers() -> io::Result<Self> {
        let mut response = Self::default();
        for line in input_lines() {
            response.header(&line?);
        }
        Ok(response)
    }

    /// Headers, an empty line, and a document; or the document alone. Of several responses (`curl
    /// -L`) the last one counts, since it is the one with the document.
    fn read(mut input: impl BufRead) -> io::Result<Self> {
        let mut response = Self::default();
        let mut line = Vec::new();
        let mut is_first = true;
        loop {
            line.clear();
            input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
            if is_first && !is_status(&line) && !is_header(&line) {
                break;
            }
            if line.trim_ascii().is_empty() {
                line.clear();
                input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
                if !is_status(&line) {
                    break;
                }
            }
            if is_status(&line) {
                response = Self::default();
            }
            response.header(&line);
            is_first = false;
        }
        response.document.feed(&line);
        loop {
            let octets = input.fill_buf()?;
            let length = octets.len();
            if length == 0 {
                return Ok(response);
            }
            // Read to the end even where no more is wanted: who writes is not cut off.
            response.document.feed(octets);
            input.consume(length);
        }
    }

    fn header(&mut self, line: &[u8]) {
        let Some((name, value)) = split(line) else { return };
        if name.eq_ignore_ascii_case(FIELD.as_bytes()) {
            self.field.push(value.to_vec());
        } else if name.eq_ignore_ascii_case(OLDER_FIELD.as_bytes()) {
            self.older_field.push(value.to_vec());
        }
    }

    /// What all of it says to a crawler.
    fn tell(self, name: &str, token: Option<&ProductToken>, file: Option<&Path>) -> Row {
        let field: Vec<&[u8]> = self.field.iter().map(Vec::as_slice).collect();
        let older: Vec<&[u8]> = self.older_field.iter().map(Vec::as_slice).collect();
        let (field, field_findings) = robots_tag::read(&field);
        let (older, older_findings) = robots_tag::read_legacy(&older);
        let catalogue = built_in_catalogue();
        let is_crawler =
            |name: &ProductToken| token == Some(name) || catalogue.find(name.as_str()).is_some();
        let Document { metas, diagnostics } = self.document.finish(is_crawler);
        let file = file.map(|file| file.display().to_string());

        let mut older_tags = vec![&older];
        older_tags.extend(metas.iter().map(|meta| &meta.tag));
        let rules = robots_tag::effective(&field, &older_tags, token);
        let mut sources = Vec::new();
        let header = |source, rules| Source { source, name: None, file: None, line: None, rules };
        sources.push(header(FIELD, rules_of(&field, token, Rule::to_string)));
        sources.push(header(OLDER_FIELD, rules_of(&older, token, Rule::legacy)));
        sources.extend(metas.iter().map(|meta| Source {
            source: DOCUMENT,
            name: Some(match &meta.scope {
                Scope::Any => "robots".to_owned(),
                Scope::Token(token) => escape::text(token.as_str().as_bytes()),
            }),
            file: file.as_deref().map(|file| escape::text(file.as_bytes())),
            line: Some(meta.line),
            rules: rules_of(&meta.tag, token, Rule::legacy),
        }));
        sources.retain(|source| !source.rules.is_empty());

        let found = |source| move |diagnostic| Finding { source, diagnostic };
        let mut findings: Vec<Finding> = field_findings.into_iter().map(found(FIELD)).collect();
        findings.extend(older_findings.into_iter().map(found(OLDER_FIELD)));
        findings.extend(diagnostics.into_iter().map(|finding| {
            found(DOCUMENT)(match &file {
                Some(file) => finding.in_file(file),
                None => finding,
            })
        }));
        let product_token = escape::text(name.as_bytes());
        Row { product_token, rules, sources, diagnostics: findings }
    }
}

/// What one place says to a crawler, sorted, in the spelling of that place.
fn rules_of(
    tag: &RobotsTag,
    token: Option<&ProductToken>,
    spelt: impl Fn(&Rule) -> String,
) -> Vec<String> {
    let rules = tag.restrictions(token).into_iter();
    rules.filter(|rule| rule.is_effective()).map(spelt).collect()
}

/// The name and the value of a header line.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|octet| *octet == b':')?;
    let (name, value) = line.split_at_checked(colon)?;
    Some((name.trim_ascii(), value.get(1..).unwrap_or_default().trim_ascii()))
}

fn is_header(line: &[u8]) -> bool {
    let is_name = |name: &[u8]| name.iter().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(b));
    split(line).is_some_and(|(name, _)| !name.is_empty() && is_name(name))
}

fn is_status(line: &[u8]) -> bool {
    line.starts_with(b"HTTP/")
}

#[derive(Serialize)]
struct KnownRow {
    rule: &'static str,
    meaning: &'static str,
    honoured_by: &'static [&'static str],
    registered: bool,
}

fn list(format: Format, out: &mut dyn Write) -> Result<Exit, Error> {
    for known in robots_tag::known_rules() {
        let row = KnownRow {
            rule: known.name,
            meaning: known.meaning,
            honoured_by: known.honoured_by,
            registered: known.registered,
        };
        match format {
            Format::Json => json(out, &row)?,
            Format::Text => {
                let who = if row.honoured_by.is_empty() {
                    "nobody documents it".to_owned()
                } else {
                    row.honoured_by.join(", ")
                };
                writeln!(out, "{:<21} {:<18} {}", row.rule, who, row.meaning)?;
            }
        }
    }
    Ok(Exit::Fine)
}
