//! `beadle tags`: the rules that response headers and an HTML document give a crawler.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
};

use clap_complete::ArgValueCompleter;
use serde::Serialize;
use serde_json::json;

use crate::{
    base::{diagnostic::Diagnostic, escape, product_token::ProductToken},
    formats::robots_tag::{self, Document, DocumentReader, RobotsTag, Rule, Scope},
    program::console::{
        Error, Exit, Format, completions,
        input::{STANDARD_INPUT, lines, open, refusal, too_large},
        json,
    },
    rules::policy::built_in_catalogue,
};

/// Show the rules that response headers and an HTML document give a crawler
///
/// Reads header lines from standard input (`Robots-Tag: …` and `X-Robots-Tag: …`; skips others).
/// Prints the rules that the crawler must follow, the source of each, and all errors in them:
///
///   curl -sI https://www.example.com/ | beadle tags --product-token Googlebot
///
/// With --html, also reads the document, for `<meta name="robots">` and `<meta name="googlebot">`:
///
///   curl -si https://www.example.com/ | beadle tags --product-token Googlebot --html
///   beadle tags --product-token Googlebot --html page.html
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// The crawler, by its product token; '*' for any other crawler.
    #[arg(long, short = 't', value_name = "TOKEN", required_unless_present = "rules", add = ArgValueCompleter::new(completions::tokens))]
    product_token: Option<String>,
    /// Also read an HTML document. Without FILE, standard input has the headers (optional), an
    /// empty line and the document. With FILE, standard input is not read.
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    html: Option<Option<PathBuf>>,
    /// List the known rules and the operators that document them.
    #[arg(long, conflicts_with_all = ["product_token", "html"])]
    rules: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let Some(name) = &args.product_token else { return list(args.format, out) };
    let refused = || {
        let name = escape::bounded(name.as_bytes(), 100);
        Error::Refused(format!("'{name}' is not a product token (write '*' for any crawler)"))
    };
    let token = (name != "*").then(|| ProductToken::new(name).ok_or_else(refused)).transpose()?;
    let file = args.html.as_ref().and_then(Option::as_deref).filter(|file| *file != Path::new("-"));
    let response = match (&args.html, file) {
        (None, _) => Response::read_headers(io::stdin().lock())?,
        (_, None) => Response::read(io::stdin().lock(), STANDARD_INPUT)?,
        (_, Some(file)) => Response::read(BufReader::new(open(file)?), &escape::path(file))?,
    };
    let report = Report::of(response, name, token.as_ref(), file);
    match args.format {
        Format::Json => json(out, &report)?,
        Format::Text => report.print(out)?,
    }
    Ok(Exit::Fine)
}

/// The largest response, in octets; crawlers read less of a document.
const MAX_RESPONSE: usize = 16 << 20;

/// The longest header line, in octets; the rest of a longer line counts as another line.
const MAX_LINE: u64 = 1 << 16;

/// The header field of draft-illyes-repext.
const FIELD: &str = "Robots-Tag";
/// The header field of today's crawlers.
const OLDER_FIELD: &str = "X-Robots-Tag";

#[derive(Default)]
struct Response {
    field: Vec<Vec<u8>>,
    older_field: Vec<Vec<u8>>,
    document: DocumentReader,
}

impl Response {
    /// All lines of standard input as headers, also of several responses.
    fn read_headers(input: impl BufRead) -> Result<Self, Error> {
        let mut response = Self::default();
        let mut input = input.take(MAX_RESPONSE as u64 + 1);
        for line in lines(&mut input, STANDARD_INPUT) {
            response.header(&line?);
        }
        complete(response, &input, STANDARD_INPUT)
    }

    /// Headers, an empty line, and a document; or a document alone. Of several responses (`curl
    /// -L`) the last one counts, because it has the document.
    fn read(input: impl BufRead, name: &str) -> Result<Self, Error> {
        let mut input = input.take(MAX_RESPONSE as u64 + 1);
        let response = Self::read_all(&mut input).map_err(|error| refusal(name, &error))?;
        complete(response, &input, name)
    }

    fn read_all(input: &mut impl BufRead) -> io::Result<Self> {
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
            // Read to the end, so that the writer's pipe does not break.
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
}

/// The response, unless it is larger than the limit.
fn complete<R>(response: Response, input: &io::Take<R>, name: &str) -> Result<Response, Error> {
    if input.limit() == 0 { Err(too_large(name, MAX_RESPONSE)) } else { Ok(response) }
}

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

const DOCUMENT: &str = "document";

#[derive(Serialize)]
struct Report {
    product_token: String,
    rules: Vec<String>,
    sources: Vec<Source>,
    diagnostics: Vec<Finding>,
}

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

impl Report {
    fn of(
        response: Response,
        name: &str,
        token: Option<&ProductToken>,
        file: Option<&Path>,
    ) -> Self {
        let field: Vec<&[u8]> = response.field.iter().map(Vec::as_slice).collect();
        let older: Vec<&[u8]> = response.older_field.iter().map(Vec::as_slice).collect();
        let (field, field_findings) = robots_tag::read(&field);
        let (older, older_findings) = robots_tag::read_legacy(&older);
        let catalogue = built_in_catalogue();
        let is_crawler =
            |name: &ProductToken| token == Some(name) || catalogue.find(name.as_str()).is_some();
        let Document { metas, diagnostics } = response.document.finish(is_crawler);
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
        Self { product_token, rules, sources, diagnostics: findings }
    }

    fn print(&self, out: &mut dyn Write) -> Result<(), Error> {
        let listed = |rules: &[String]| escape::text(rules.join(", ").as_bytes());
        let all = if self.rules.is_empty() { "no rule".to_owned() } else { listed(&self.rules) };
        writeln!(out, "{}: {all}", self.product_token)?;
        for source in &self.sources {
            let place = source.file.as_deref().unwrap_or(source.source);
            write!(out, "  {place}")?;
            if let (Some(line), Some(name)) = (source.line, &source.name) {
                write!(out, ":{line}: <meta name=\"{name}\">")?;
            }
            writeln!(out, ": {}", listed(&source.rules))?;
        }
        for Finding { source, diagnostic } in &self.diagnostics {
            let place = &diagnostic.place;
            let gap = if place.line.is_some() { "" } else { " " };
            match place.file {
                Some(_) => writeln!(out, "{diagnostic}")?,
                None => writeln!(out, "{source}:{gap}{diagnostic}")?,
            }
        }
        Ok(())
    }
}

/// The rules of one source for a crawler, sorted, in the spelling of that source.
fn rules_of(
    tag: &RobotsTag,
    token: Option<&ProductToken>,
    spelt: impl Fn(&Rule) -> String,
) -> Vec<String> {
    let rules = tag.restrictions(token).into_iter();
    rules.filter(|rule| rule.is_effective()).map(spelt).collect()
}

fn list(format: Format, out: &mut dyn Write) -> Result<Exit, Error> {
    for known in robots_tag::known_rules() {
        match format {
            Format::Json => {
                let row = json!({
                    "rule": known.name,
                    "meaning": known.meaning,
                    "honoured_by": known.honoured_by,
                    "registered": known.registered,
                });
                json(out, &row)?;
            }
            Format::Text => {
                let who = match known.honoured_by {
                    [] => "undocumented".to_owned(),
                    operators => operators.join(", "),
                };
                writeln!(out, "{:<21} {:<18} {}", known.name, who, known.meaning)?;
            }
        }
    }
    Ok(Exit::Fine)
}
