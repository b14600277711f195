//! `beadle tags`: the rules that response headers and an HTML document give a crawler.

use std::{
    io::{self, BufReader, Write},
    path::{Path, PathBuf},
};

use self::{response::Response, tag_rules::Report};
use clap_complete::ArgValueCompleter;

use crate::{
    base::{escape, product_token::ProductToken},
    program::console::{
        Error, Exit, Format, completions,
        input::{STANDARD_INPUT, name as name_of, open},
        json,
    },
};

mod response; // the parts of a response that have rules
mod tag_rules; // the rules for a crawler, with sources and findings
mod vocabulary; // the known rules

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
    let Some(name) = &args.product_token else { return vocabulary::list(args.format, out) };
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
    let response = match (&args.html, file) {
        (None, _) => Response::read_headers(io::stdin().lock())?,
        (_, None) => Response::read(io::stdin().lock(), STANDARD_INPUT)?,
        (_, Some(file)) => Response::read(BufReader::new(open(file)?), &name_of(file))?,
    };
    let report = Report::of(response, name, token.as_ref(), file);
    match args.format {
        Format::Json => json(out, &report)?,
        Format::Text => report.print(out)?,
    }
    Ok(Exit::Fine)
}
