//! `beadle crawlers identify`: the claims of User-Agents.

use std::io::{self, Write};

use serde::Serialize;

use crate::{
    base::escape,
    program::console::{
        Error, Exit, Format,
        input::{STANDARD_INPUT, lines},
        json,
    },
    rules::crawlers::{Catalogue, Class, Name, SiteNames},
};

#[derive(Serialize)]
struct ClaimRow<'a> {
    user_agent: String,
    class: Class,
    product_token: Option<&'a str>,
    product_tokens: Vec<&'a str>,
}

/// Prints the claim of each User-Agent on standard input.
pub(super) fn identify(
    catalogue: &Catalogue,
    format: Format,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let no_names = SiteNames::new(catalogue, []);
    for line in lines(io::stdin().lock(), STANDARD_INPUT) {
        let line = line?;
        let claim = catalogue.identify(&line, &no_names);
        let row = ClaimRow {
            user_agent: escape::text(&line),
            class: claim.class(),
            product_token: claim.primary().map(Name::as_str),
            product_tokens: claim.tokens().map(Name::as_str).collect(),
        };
        match format {
            Format::Json => json(out, &row)?,
            Format::Text => {
                let tokens = row.product_tokens.join(", ");
                let tokens = if tokens.is_empty() { "-" } else { &tokens };
                writeln!(out, "{:<14} {:<24} {}", row.class, tokens, row.user_agent)?;
            }
        }
    }
    Ok(Exit::Fine)
}
