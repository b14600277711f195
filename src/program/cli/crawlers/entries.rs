//! `beadle crawlers list` and `show`: the entries of a catalogue.

use std::io::Write;

use serde_json::{Value, json};

use crate::{
    base::{escape, product_token::ProductToken},
    program::console::{Error, Exit, Format, json},
    rules::{
        crawlers::{Catalogue, Crawler, Purpose},
        policy::suggestion,
    },
};

fn row(crawler: &Crawler) -> Value {
    let mut row = json!({
        "product_token": crawler.product_token(),
        "aliases": crawler.aliases(),
        "operator": crawler.operator(),
        "purpose": crawler.purpose(),
        "kind": crawler.kind(),
        "governs": crawler.governs(),
        "status": crawler.status(),
        "documentation": crawler.documentation(),
        "contact": crawler.contact(),
        "honours": crawler.honours(),
        "falls_back_to": crawler.falls_back_to(),
        "ignores_star": crawler.ignores_star(),
    });
    let Value::Object(fields) = &mut row else { return row };
    if crawler.governs().is_empty() {
        fields.shift_remove("governs");
    }
    if let Some(list) = crawler.list() {
        fields.insert("list".to_owned(), json!(list));
    }
    if crawler.is_pending() {
        fields.insert("pending".to_owned(), json!(true));
    }
    row
}

pub(in crate::program::cli) fn purpose_of(name: &str) -> Result<Purpose, Error> {
    Purpose::from_name(name).ok_or_else(|| {
        let known = || Purpose::ALL.iter().map(|purpose| purpose.as_str());
        let hint = suggestion(name, known()).unwrap_or_else(|| {
            format!("the purposes are {}", known().collect::<Vec<_>>().join(", "))
        });
        let name = escape::bounded(name.as_bytes(), 100);
        Error::Refused(format!("no purpose '{name}' ({hint})"))
    })
}

/// Lists the entries of a purpose, or all.
pub(super) fn list(
    catalogue: &Catalogue,
    purpose: Option<&str>,
    format: Format,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let purpose = purpose.map(purpose_of).transpose()?;
    let wanted = |crawler: &&Crawler| purpose.is_none_or(|wanted| crawler.purpose() == wanted);
    for crawler in catalogue.iter().filter(wanted) {
        match format {
            Format::Json => json(out, &row(crawler))?,
            Format::Text => writeln!(
                out,
                "{:<28} {:<13} {}{}",
                crawler.product_token(),
                crawler.purpose().as_str(),
                crawler.operator().unwrap_or("-"),
                crawler.list_in_words().map(|list| format!(", from {list}")).unwrap_or_default()
            )?,
        }
    }
    Ok(Exit::Fine)
}

/// Shows one entry.
pub(super) fn show(
    catalogue: &Catalogue,
    name: &str,
    format: Format,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let Some(crawler) = catalogue.find(name) else {
        let hint = catalogue.closest(name).map_or_else(
            || "'beadle crawlers list' shows all of them".to_owned(),
            |close| format!("did you mean '{close}'?"),
        );
        let name = escape::bounded(name.as_bytes(), 100);
        return Err(Error::Refused(format!("no crawler named '{name}' is known ({hint})")));
    };
    if format == Format::Json {
        json(out, &row(crawler))?;
        return Ok(Exit::Fine);
    }
    let joined = |tokens: &[ProductToken]| {
        tokens.iter().map(ProductToken::as_str).collect::<Vec<_>>().join(", ")
    };
    writeln!(out, "{}", crawler.product_token())?;
    let groups = joined(&crawler.groups().cloned().collect::<Vec<_>>());
    let obeys = if crawler.ignores_star() { groups } else { format!("{groups}, then *") };
    for (label, value) in [
        ("also", joined(crawler.aliases())),
        ("operator", crawler.operator().unwrap_or_default().to_owned()),
        ("purpose", crawler.purpose().as_str().to_owned()),
        (
            "governs",
            crawler.governs().iter().map(Purpose::to_string).collect::<Vec<_>>().join(", "),
        ),
        ("group", obeys),
        ("contact", crawler.contact().unwrap_or_default().to_owned()),
        ("from", crawler.list_in_words().unwrap_or_default()),
        ("see", crawler.documentation().unwrap_or_default().to_owned()),
    ] {
        if !value.is_empty() {
            writeln!(out, "  {label:<9} {value}")?;
        }
    }
    Ok(Exit::Fine)
}
