//! `beadle tags`: what response headers tell a crawler.

use std::io::Write;

use serde::Serialize;

use crate::{
    cli::{Error, Exit, Format, input_lines, json},
    diagnostic::Diagnostic,
    escape,
    product_token::ProductToken,
    robots_tag,
};

/// Tell what response headers say to a crawler
///
/// Reads header lines from standard input (`Robots-Tag: …`, `X-Robots-Tag: …`; others are skipped)
/// and prints the rules that the crawler has to follow, and what is wrong with the lines:
///
///   curl -sI https://www.example.com/ | beadle tags --product-token Googlebot
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Whom the headers are read for; '*' for a crawler that they don't name.
    #[arg(long, short = 't', value_name = "TOKEN", required_unless_present = "rules")]
    product_token: Option<String>,
    /// List the rules that are known, and who says that it honours them.
    #[arg(long, conflicts_with = "product_token")]
    rules: bool,
    /// How to print.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Serialize)]
struct Row {
    product_token: String,
    rules: Vec<String>,
    diagnostics: Vec<Diagnostic>,
}

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
    let (mut fields, mut legacy): (Vec<Vec<u8>>, Vec<Vec<u8>>) = (Vec::new(), Vec::new());
    for line in input_lines() {
        let line = line?;
        let Some(colon) = line.iter().position(|&b| b == b':') else { continue };
        let (field, value) = (&line[..colon], line[colon + 1..].to_vec());
        if field.trim_ascii().eq_ignore_ascii_case(b"robots-tag") {
            fields.push(value);
        } else if field.trim_ascii().eq_ignore_ascii_case(b"x-robots-tag") {
            legacy.push(value);
        }
    }
    let fields: Vec<&[u8]> = fields.iter().map(|line| line.trim_ascii()).collect();
    let legacy: Vec<&[u8]> = legacy.iter().map(|line| line.trim_ascii()).collect();
    let (field, mut diagnostics) = robots_tag::read(&fields);
    let (older, more) = robots_tag::read_legacy(&legacy);
    diagnostics.extend(more);
    let rules = robots_tag::effective(&field, &[&older], token.as_ref());
    let row = Row { product_token: escape::text(name.as_bytes()), rules, diagnostics };
    match args.format {
        Format::Json => json(out, &row)?,
        Format::Text => {
            let rules = if row.rules.is_empty() { "no rule".into() } else { row.rules.join(", ") };
            writeln!(out, "{}: {}", row.product_token, escape::text(rules.as_bytes()))?;
            for finding in &row.diagnostics {
                writeln!(out, "{finding}")?;
            }
        }
    }
    Ok(Exit::Fine)
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
